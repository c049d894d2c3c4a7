package phase_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
)

// TestAToolThatMayNotBeRun lies where the checks' own user cannot get, such as below
// root's home: each check that needs it says so, and what to do.
func TestAToolThatMayNotBeRun(t *testing.T) {
	job, _ := goJob(t)
	job.Input.MaxRetries = 0
	world := realWorld(t)
	world.Run = func(_ context.Context, spec command.Spec) (command.Result, error) {
		return command.Result{ExitCode: -1}, fmt.Errorf("cannot start %s: %w", spec.Program, fs.ErrPermission)
	}
	r := validate(t, job, phase.Config{}, world)
	for check, override := range map[phase.Check]string{phase.Formatter: "format_command", phase.Build: "build_command", phase.Tests: "test_command"} {
		c := checkOf(r, check)
		if said := strings.Join(c.Problems, "\n"); c.Status != phase.Fail || !strings.Contains(said, "install it for every user, or set "+override+" to another command") {
			t.Errorf("%s: %s, %q", check, c.Status, said)
		}
	}
}
