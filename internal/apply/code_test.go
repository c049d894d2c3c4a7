package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestFetchFaults asserts that a fetch that failed is tried again, like a read of the API, and that
// one that fails each time does not keep an issue from being created.
func TestFetchFaults(t *testing.T) {
	t.Parallel()
	for n, state := range map[int]string{1: "applied applied", 99: "failed(unreachable) applied"} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
		b.srv.SetFault(times(n, "git-http/upload-pack", githubtest.Fault{Status: 502}))
		want(t, b.run(aPull, anIssue), state)
	}
}

// TestMessagesSwitchNoWorkflowsOff asserts that title and text of a pull request, which become the
// message of a merge, cannot skip workflows, also where a marker divides the words.
func TestMessagesSwitchNoWorkflowsOff(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	words := strings.NewReplacer("Mend the demo", "Mend the demo [skip ci]", "broken.", "`[skip<!-- airlock:v1 key=00 --> ci]`")
	want(t, b.run(words.Replace(aPull)), "applied")
	pull := b.pulls()[0]
	if pull.Title != "Mend the demo (skip ci)" {
		t.Errorf("the title is %q", pull.Title)
	}
	if !strings.Contains(pull.Body, "`(skip ci)`") {
		t.Errorf("the text is %q", pull.Body)
	}
}
