package reviewer

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

func TestWorkflowFindingsNameTheLine(t *testing.T) {
	flow := "on: [issues]\njobs:\n  a:\n    steps:\n    - run: |\n        true\n\n        echo ${{ github.event.issue.body }}\n    - run: echo ${{ github.head_ref }}\n"
	got := security(t, Config{}, File{Path: ".github/workflows/x.yaml", Text: flow}).Findings
	if len(got) != 2 || got[0].Range.StartLine != 8 || got[1].Range.StartLine != 9 {
		t.Errorf("%+v", got)
	}
	ignored := strings.Replace(flow, "    - run: echo", "    # airlock:ignore workflow/expression-injection the branch is ours\n    - run: echo", 1)
	if got := security(t, Config{}, File{Path: ".github/workflows/x.yaml", Text: ignored, Changed: []changes.Span{}}); len(got.Unchanged) != 1 || len(got.Suppressed) != 1 {
		t.Errorf("with a comment: %+v", got)
	}
	for path, want := range map[string]int{"action.yml": 2, "sub/action.yaml": 2, "other.yml": 0, ".github/workflows/sub/x.yml": 0} {
		if got := security(t, Config{}, File{Path: path, Text: flow}).Findings; len(got) != want {
			t.Errorf("%s: %d findings, want %d", path, len(got), want)
		}
	}
	for name, text := range map[string]string{"no YAML": "a: [", "nothing": "", "a list": "- a\n", "aliases": "a: &a {b: *a}\n", "deep": strings.Repeat("[", 9000)} {
		if got := security(t, Config{}, File{Path: "action.yml", Text: text}).Findings; len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
