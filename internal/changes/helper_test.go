//go:build linux

package changes_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// gitIn runs git in a directory that the test wrote, and returns what it prints.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	res, err := command.Run(t.Context(), command.Spec{Program: "git", Args: args, Dir: dir, Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + dir,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"}})
	if err != nil || !res.OK() {
		t.Fatalf("git %v: %v %s", args, err, res.Stderr)
	}
	return strings.TrimSpace(res.Stdout.String())
}
