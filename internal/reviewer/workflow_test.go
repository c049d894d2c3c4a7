package reviewer

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// TestExpressionsOfStrangersTexts asserts which expressions write a stranger's text into a script, in
// all the forms that GitHub takes.
func TestExpressionsOfStrangersTexts(t *testing.T) {
	deep := strings.Repeat("(", 10000) + "github.head_ref" + strings.Repeat(")", 10000)
	for expression, want := range map[string]bool{
		"github.event.issue['title']":                                             true,
		"github['event']['issue'][ 'Title' ]":                                     true,
		"GitHub.Event.Issue.TITLE":                                                true,
		"github . event\t.\u00a0issue\n. title":                                   true,
		"(github.event).issue.title":                                              true,
		"(github.event.pull_request || github.event.issue).title":                 true,
		"github.event[inputs.kind].title":                                         true,
		"github.event.*.title":                                                    true,
		"github.event.commits[0].message":                                         true,
		"github.event.commits[ * ].message":                                       true,
		"join(github.event.commits.*.author.name, ', ')":                          true,
		"github.event.commits.*.message[0]":                                       true,
		"toJSON(github.event.issue)":                                              true,
		"tojson( GITHUB )":                                                        true,
		"fromJSON(toJSON(github.event)).issue.title":                              true,
		"format('{0}', github.head_ref)":                                          true,
		"format('}}{0}''${{', github.head_ref)":                                   true,
		"github.event.workflow_run.head_commit.message":                           true,
		"github.event_name == 'push' && github.ref || github.head_ref":            true,
		"github.head_ref || +1":                                                   true, // GitHub reads the number, the parser does not
		"toJSON(github.event.issue) || .5":                                        true,
		deep:                                                                      true,
		"'" + strings.Repeat("é", 11000) + "' || github.head_ref":                 true,
		"github.event.issue.number":                                               false,
		"github.event.issue['number']":                                            false,
		"(github.event.pull_request || github.event.issue).number":                false,
		"toJSON(github.event.issue.labels)":                                       false,
		"join(github.event.issue.labels.*.name)":                                  false,
		"env.github.head_ref":                                                     false,
		"'github.head_ref'":                                                       false,
		"format('{0} github.event.issue.title', github.sha)":                      false,
		"contains(github.event.issue.title, format('{0}', 'a'))":                  false,
		"github.head_ref == 'main'":                                               false,
		"!github.head_ref":                                                        false,
		"github.head_ref && 'pull request' || 'push'":                             false,
		"startsWith(github.head_ref, 'a') && 'b' || github.event.repository.name": false,
		"hashFiles(github.head_ref)":                                              false,
		"github.sha || +1":                                                        false,
		"github.event.head_commit.timestamp":                                      false,
		strings.Repeat("(", 200000) + "github.sha" + strings.Repeat(")", 200000):  false,
		"github" + strings.Repeat(".a", 200000):                                   false,
		"github.sha }} github.head_ref ${{ 'github.head_ref'":                     false,
		"github.sha }} ' ${{ github.sha }} ' ${{ github.head_ref":                 true,
	} {
		script := "run: |\n  echo ${{ " + strings.ReplaceAll(expression, "\n", "\n  ") + " }}\n"
		got := security(t, Config{}, File{Path: "action.yml", Text: script}).Findings
		if (len(got) == 1) != want || len(got) > 1 {
			t.Errorf("%.100s: %+v, want a finding: %v", expression, got, want)
		}
	}
	if got := security(t, Config{}, File{Path: "action.yml", Text: "run: echo ${{ github.head_ref\n"}).Findings; len(got) != 0 {
		t.Errorf("an expression that does not end: %+v", got)
	}
}

// TestPrivilegedExpressions asserts that an expression has high precision if an event that strangers
// cause brings one of its texts.
func TestPrivilegedExpressions(t *testing.T) {
	for _, c := range []struct {
		event, expression string
		want              int
	}{
		{"issues", "github.event.issue['title']", 1},
		{"issues", "toJSON(GitHub.event)", 1},
		{"issue_comment", "github.event.*.body", 1},
		{"pull_request_target", "format('{0}', github.HEAD_REF)", 1},
		{"pull_request_target", "github.event.issue.title", 0},
		{"push", "toJSON(github)", 0},
		{"issues", "github.head_ref", 0},
	} {
		text := "on: " + c.event + "\njobs: {a: {steps: [{run: \"${{ " + c.expression + " }}\"}]}}\n"
		file := File{Path: ".github/workflows/a.yml", Text: text}
		if got := security(t, Config{MinPrecision: finding.PrecisionHigh}, file).Findings; len(got) != c.want {
			t.Errorf("%s on %s: %+v, want %d findings of high precision", c.expression, c.event, got, c.want)
		}
	}
}

// TestAliasesInWorkflows asserts that a script that an alias stands for is found where it is written
// and where it is used, so that a change of either blocks.
func TestAliasesInWorkflows(t *testing.T) {
	text := `on: &on [pull_request_target]
env:
  A: &a |
    true
    echo ${{ github.head_ref }}
  B: &b make
  C: &c ${{ github.event.pull_request['head'].sha }}
  D: &d actions/checkout@v4
  E: &e {ref: *c}
jobs:
  a:
    steps:
    - run: *a
    - run: *b
    - run: *a
    - {uses: *d, with: {ref: *c}}
    - uses: *d
      with: *e
`
	const script, checkout = "workflow/expression-injection", "workflow/untrusted-checkout"
	type at struct {
		line int
		rule string
	}
	var got []at
	for _, f := range security(t, Config{}, File{Path: ".github/workflows/a.yml", Text: text}).Findings {
		got = append(got, at{f.Range.StartLine, f.Rule})
	}
	want := []at{{5, script}, {7, checkout}, {9, checkout}, {13, script}, {15, script}, {16, checkout}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(at{})); diff != "" {
		t.Errorf("the findings differ (-want +got):\n%s", diff)
	}
}

// TestAliasesOnLongLines asserts that scripts and their aliases are found in linear time where each is
// on a long line. It took half a minute when each was looked for from the beginning of its line.
func TestAliasesOnLongLines(t *testing.T) {
	const n = 40_000
	var scripts, aliases strings.Builder
	for i := range n {
		fmt.Fprintf(&scripts, "&a%d '${{github.head_ref}}',", i)
		fmt.Fprintf(&aliases, "{run: *a%d},", n-1-i)
	}
	text := "a: [" + scripts.String() + "]\nb: [" + aliases.String() + "]\n"
	begun := time.Now()
	found := newReviewer(t, Config{}).workflow(File{Path: ".github/workflows/a.yml", Text: text})
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("a file of %d bytes took %s", len(text), took)
	}
	if len(found) != 2*n || found[0].Range.StartLine != 1 || found[1].Range.StartLine != 2 {
		t.Errorf("there are %d findings, the first %+v", len(found), found[:min(2, len(found))])
	}
}
