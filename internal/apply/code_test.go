package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestFetchFaults asserts that a fetch that failed is tried again, like a read of the API.
func TestFetchFaults(t *testing.T) {
	t.Parallel()
	for times, state := range map[int]string{1: "applied applied", 99: "failed(unreachable) applied"} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
		left := times
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation != "git-http/upload-pack" || left == 0 {
				return githubtest.Fault{}
			}
			left--
			return githubtest.Fault{Status: 502}
		})
		want(t, b.run(aPull, anIssue), state)
	}
}

// TestMessagesSwitchNoWorkflowsOff asserts that the title of a pull request, which becomes part of
// the message of a merge, cannot skip workflows.
func TestMessagesSwitchNoWorkflowsOff(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(strings.ReplaceAll(aPull, "Mend the demo", "Mend the demo [skip ci]")), "applied")
	if got := b.pulls()[0].Title; got != "Mend the demo (skip ci)" {
		t.Errorf("the title is %q", got)
	}
}
