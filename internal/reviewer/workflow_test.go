package reviewer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
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

// TestWorkflowFindingsNameTheLineInEachStyle asserts that a finding is on the line of its expression
// in each way in which YAML writes a text.
func TestWorkflowFindingsNameTheLineInEachStyle(t *testing.T) {
	const expression = "${{ github.event.issue.title }}"
	for name, script := range map[string]string{
		"plain":                         "X",
		"plain, on the next line":       "\n        X",
		"plain, lines":                  "echo a\n        echo b\n\n        echo é X\n        d # e",
		"after comments":                "# a\n\n        # b\n        echo X",
		"single quotes":                 "'echo ''a''\n\n      ''''  X'",
		"double quotes":                 `"echo \"a\n\n\x0a\u0020\t\_\L\\` + "\n\n      " + `é\U0001F600  \` + "\n   X \n  d\"",
		"literal":                       "|\n        echo a\n\n        X\n        d",
		"literal, indented":             "|2-  # a\n          echo a\n        X",
		"folded":                        ">\n        echo a\n        echo b\n        X\n        d",
		"folded, stripped":              ">-\n        echo a\n        X",
		"folded, kept":                  ">+ # a\n\n\n        echo a\n        X\n\n",
		"folded, with blank lines":      ">\n        echo a\n\n\n        echo b\n        X",
		"folded, with deeper lines":     ">\n        echo a\n        echo b\n          echo c\n          echo d\n        echo e\n        X",
		"folded, indented":              ">2\n          echo a\n          echo b\n        # echo c\n          X",
		"folded, before a comment":      ">\n        echo a\n        X\n     # echo b",
		"with a tag":                    "!!str >\n        echo a\n        X",
		"with an anchor":                "&a\n       # b > c\n\n       >-\n        echo a\n        X",
		"with both, quoted":             "&a !<tag:yaml.org,2002:str>\n       'echo a\n\n       b X'",
		"another line that YAML counts": "# a\u2028# b\u0085# c\n        echo d\u2028         e\n        X",
	} {
		text := "\ufeffon: issues\njobs:\n  é:\n    steps:\n    - {name: é, if: always()}\n    - run: " + script + "\n"
		text = strings.Replace(text, "X", expression, 1)
		before, _, _ := strings.Cut(text, expression)
		want := strings.Count(before, "\n") + 1
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(text, "\n", end)
			got := security(t, Config{}, File{Path: "action.yml", Text: text}).Findings
			if len(got) != 1 || got[0].Range.StartLine != want || got[0].Range.EndLine != want {
				t.Errorf("%s: %+v, want one finding on line %d of %q", name, got, want, text)
			}
		}
	}
	flow := `on: pull_request_target
jobs: {a: {steps: [{run: 'a
 ${{ github.head_ref }} ${{ github.head_ref }}
 b ${{ github.head_ref }}', uses: actions/checkout@v4, with: {ref: 'é

 ${{ github.head_ref }}', script: "\
 ${{ github.head\
 _ref }}"}}]}}
`
	var got []finding.Range
	for _, f := range security(t, Config{}, File{Path: "action.yml", Text: flow}).Findings {
		got = append(got, f.Range)
	}
	want := []finding.Range{{StartLine: 3, EndLine: 3}, {StartLine: 4, EndLine: 4}, {StartLine: 6, EndLine: 6}, {StartLine: 7, EndLine: 8}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in a flow mapping: the ranges differ (-want +got):\n%s", diff)
	}
}

// TestExpressionOnSeveralLines asserts that an expression is found if it has ends of lines, which
// GitHub skips as white space.
func TestExpressionOnSeveralLines(t *testing.T) {
	for _, style := range []string{"|", ">"} {
		text := "on: issues\nrun: " + style + "\n  echo ${{ contains(\n  github.head_ref, 'a') }}\n  echo ${{\n\n    github.event.issue.title }}\n"
		got := security(t, Config{}, File{Path: "action.yml", Text: text}).Findings
		if want := (finding.Range{StartLine: 5, EndLine: 7}); len(got) != 1 || got[0].Range != want {
			t.Errorf("with %s: %+v, want one finding with the range %+v", style, got, want)
		}
	}
}
