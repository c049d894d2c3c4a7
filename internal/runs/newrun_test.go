package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/runs"
)

// TestNewRunRefuses asserts that a value that no server would take is refused with the name of its
// flag, and that no server is asked.
func TestNewRunRefuses(t *testing.T) {
	invalid, both := "a\xff", "x"
	for want, n := range map[string]runs.NewRun{
		"--prompt: it is not UTF-8":                             {Prompt: &invalid},
		"--parameters: they are not UTF-8":                      {Parameters: &invalid},
		"give one of them":                                      {Parameters: &both, Prompt: &both},
		"--idempotency-key: it is not 1 to 255":                 {Key: "a\nb"},
		"--idempotency-key: it is not 1 to 255 printable ASCII": {Key: strings.Repeat("x", runs.MaxKey+1)},
	} {
		n.Agent = "echo"
		_, _, err := n.Start(t.Context(), nil, strings.NewReader(""))
		var exit *exitcode.Error
		if !errors.As(err, &exit) || exit.Code != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error of usage with %q", n, err, want)
		}
	}
	raw := "-"
	if _, _, err := (runs.NewRun{Parameters: &raw}).Start(t.Context(), nil, strings.NewReader("{\"prompt\":\"\xff\"}")); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("from standard input: %v", err)
	}
}
