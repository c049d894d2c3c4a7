//go:build image

package main_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestImageLogIsNotObeyed is rule R9: no line of the log is a command of the
// agent's, whatever the agent wrote, and what the log level.
func TestImageLogIsNotObeyed(t *testing.T) {
	for _, c := range []struct{ name, config, staged, level string }{
		{"applied", hostileConfig("2"), "false", "info"},
		{"planned", hostileConfig("300"), "true", "debug"},
		{"not configured", "", "false", "debug"},
		{"denied", "noop:\n", "false", "debug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": hostileLines(t)})
			j.input("config", c.config, "staged", c.staged, "log-level", c.level)
			res := j.run()
			if res.code > 1 || !strings.Contains(res.stdout, "pwned") {
				t.Errorf("exit code %d, and the log shows nothing of the agent's:\n%.2000s%.2000s", res.code, res.stdout, res.stderr)
			}
			assertOwnCommands(t, res.stdout, secret)
			if len(obey(t, res.stderr)) > 0 {
				t.Errorf("commands on standard error:\n%s", res.stderr)
			}
			if out := j.outputs(); out["applied"] == "pwned" || len(out) > 40 {
				t.Errorf("outputs: %v", out)
			}
		})
	}
}
