package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestCheckNotesTheMissingGitDirectory where a command that failed may have needed it; it is left
// out each time, which nobody wants to read each time.
func TestCheckNotesTheMissingGitDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the commands run in the workspace itself
	}
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	for command, told := range map[string]bool{
		"git log":                        true,
		"echo 'no digits at all'; false": false,
		"echo github.com/a/b; false":     false,
	} {
		_, code, stderr := p.check(t, pullEvent(t, base, head), "--build-command", command)
		if code != 1 || strings.Contains(stderr, "Not copied to where the checks ran: .git (") != told {
			t.Errorf("%s: exit code %d\n%s", command, code, stderr)
		}
	}
}
