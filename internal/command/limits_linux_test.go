package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		attack  string
		limits  command.Limits
		refused string
	}{
		{"fill", command.Limits{FileSize: 1 << 20}, "file too large"},
		{"allocate", command.Limits{Memory: 512 << 20}, "cannot allocate memory"},
	} {
		spec := hostile(t, c.attack, "file")
		spec.Identity = nil // limits hold without a user of its own as well
		if r := run(t, spec); !r.OK() {
			t.Errorf("%s without a limit: %+v", c.attack, r)
		}
		spec.Limits = c.limits
		if r := run(t, spec); r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), c.refused) {
			t.Errorf("%s: exit code %d: %s%s", c.attack, r.ExitCode, r.Stdout, r.Stderr)
		}
	}
	spec := sh(t, "ulimit -n; ulimit -t; while :; do :; done")
	spec.Limits = command.Limits{OpenFiles: 123, CPU: time.Millisecond}
	if r := run(t, spec); r.Stdout.String() != "123\n1\n" || r.Signal == "" {
		t.Errorf("%+v", r)
	}
}
