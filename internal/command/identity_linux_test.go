package command_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestIdentity asserts the other user as root, and a clear failure otherwise.
func TestIdentity(t *testing.T) {
	spec := command.Spec{Program: "/bin/sh", Args: []string{"-c", "id -u; id -g; id -G"}, Env: []string{path}, Dir: "/", Identity: &command.Identity{UID: 65532, GID: 65532}}
	r, err := command.Run(t.Context(), spec)
	if os.Getuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "cannot start") {
			t.Errorf("without root: %v", err)
		}
		return
	}
	if err != nil || r.Stdout.String() != "65532\n65532\n65532\n" {
		t.Errorf("%q, %v", r.Stdout, err)
	}
}
