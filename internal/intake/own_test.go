package intake

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

const commit = "0123456789012345678901234567890123456789"

// collectOwn returns what Own makes of items. Its limit would drop any review comment of an agent.
func collectOwn(t *testing.T, items ...OwnItem) ([]Accepted, []Rejected) {
	t.Helper()
	accepted, rejected, err := Own(items, Config{Max: map[safeoutput.Kind]int{safeoutput.KindCreateReviewComment: 0}})
	if err != nil {
		t.Fatal(err)
	}
	if len(accepted)+len(rejected) != len(items) {
		t.Fatalf("%d items in, %d and %d out", len(items), len(accepted), len(rejected))
	}
	return accepted, rejected
}

func checkRun(notes ...safeoutput.CheckAnnotation) *safeoutput.CheckRun {
	return &safeoutput.CheckRun{Name: "checks", HeadSHA: commit, Conclusion: "failure", Title: "1 finding", Summary: "One.", Annotations: notes}
}

// TestOwnItemsAreCleaned asserts that own items are cleaned, because they quote the
// output of tools, which the pull request's code may control.
func TestOwnItemsAreCleaned(t *testing.T) {
	hostile := "Ask @octocat, who fixes #1 <!-- hidden -->\x1b[31m\xff"
	note := safeoutput.CheckAnnotation{Path: "./a//b.go", StartLine: 1, EndLine: 1, Level: "warning", Title: "two\nlines", Message: hostile}
	in := []OwnItem{
		{Item: &safeoutput.CreateReviewComment{Path: "a.go", Line: 3, Body: hostile}, Stable: "finding/1"},
		{Item: &safeoutput.StickyComment{Name: "checks", Body: hostile}, Stable: "checks"},
		{Item: func() safeoutput.Item { c := checkRun(note); c.Summary, c.Text = hostile, hostile; return c }()},
		{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}}},
	}
	before := safeoutput.Clone(in[2].Item)
	accepted, rejected := collectOwn(t, in...)
	if len(rejected) > 0 {
		t.Fatalf("rejected %+v", rejected)
	}
	if diff := cmp.Diff(before, in[2].Item); diff != "" {
		t.Errorf("the caller's item was changed:\n%s", diff)
	}
	for i, a := range accepted {
		if !a.Own() || a.Stable() != in[i].Stable || a.Line() != 0 {
			t.Errorf("item %d: own %t, stable %q, line %d", i, a.Own(), a.Stable(), a.Line())
		}
		for _, text := range a.Item().Texts() {
			got := *text.Value
			if strings.Contains(got, "\x1b") || !utf8.ValidString(got) || text.Mode == safeoutput.Body && (strings.Contains(got, " @octocat") || strings.Contains(got, "<!--")) {
				t.Errorf("%s: %s is %q", a.Item().Kind(), text.Field, got)
			}
		}
	}
	if len(accepted[1].Notes().Redactions) == 0 {
		t.Error("the notes do not report what was cleaned")
	}
	got := accepted[2].Item().(*safeoutput.CheckRun).Annotations[0]
	if got.Path != "a/b.go" || got.Title != "two lines" {
		t.Errorf("the annotation is at %q, titled %q", got.Path, got.Title)
	}
}

// TestOnlyOwnMakesOwnItems asserts that a line of a file cannot make an own item, and that an
// agent's limits do not apply to own items.
func TestOnlyOwnMakesOwnItems(t *testing.T) {
	if accepted, _ := collectOwn(t, OwnItem{Item: &safeoutput.CreateReviewComment{Path: "a.go", Line: 3, Body: "b"}}); len(accepted) != 1 {
		t.Error("an agent's limit dropped a comment of ours")
	}
	res := collect(t, Config{}, `{"type":"create-pull-request-review-comment","path":"a.go","line":3,"body":"b","own":true,"origin":"airlock","stable":"finding/1"}`)
	if a := res.Accepted[0]; a.Own() || a.Stable() != "" {
		t.Error("a line claims to be ours")
	}
	for _, kind := range []string{"check-run", "check_run", "sticky-comment", "sticky_comment", "minimise-comments", "minimise_comments"} {
		item := `{"type":"` + kind + `","name":"checks","body":"b","scopes":["finding"],"keep":[]}`
		for _, text := range []string{item, `{"items":[` + item + `],"errors":[]}`} {
			res := collect(t, Config{}, text)
			if len(res.Accepted) > 0 || len(res.Rejected) != 1 || res.Rejected[0].Kind != "" {
				t.Errorf("%s: accepted %d, rejected %+v", text, len(res.Accepted), res.Rejected)
			}
		}
	}
}

func TestOwnRefuses(t *testing.T) {
	bad := func(f func(*safeoutput.CheckRun)) safeoutput.Item { c := checkRun(); f(c); return c }
	tests := []struct {
		item safeoutput.Item
		want string
	}{
		{nil, "there is no item"},
		{&safeoutput.CreateReviewComment{Path: "../a", Line: 1, Body: "b"}, "create-pull-request-review-comment: 'path' ('../a') must not contain '..'"},
		{&safeoutput.CreateReviewComment{Path: "a", Line: 1}, "create-pull-request-review-comment: 'body': '' must not be blank"},
		{&safeoutput.CreateReviewComment{Path: "a\xff", Line: 1, Body: "b"}, "the item cannot be written"},
		{&safeoutput.StickyComment{Name: "checks", Body: "<!-- -->"}, "sticky-comment: 'body' must not be blank"},
		{&safeoutput.StickyComment{Body: "b"}, "sticky-comment: 'name' must not be blank"},
		{&safeoutput.MinimiseComments{Scopes: []string{"a/b"}}, "minimise-comments: 'scopes[0]' ('a/b') must be the part of stable names before their first '/'"},
		{bad(func(c *safeoutput.CheckRun) { c.HeadSHA = "main" }), "check-run: 'head_sha' ('main') must be a commit's full id"},
		{bad(func(c *safeoutput.CheckRun) { c.Conclusion = "maybe" }), "check-run: 'conclusion' ('maybe') must be success, failure or neutral"},
		{bad(func(c *safeoutput.CheckRun) { c.Summary = " " }), "check-run: 'summary' must not be blank"},
	}
	for _, tt := range tests {
		_, rejected := collectOwn(t, OwnItem{Item: tt.item})
		got := errorsOf(Result{Rejected: rejected})
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) && !strings.Contains(s, "Line 0") }) {
			t.Errorf("%+v: %q, want %q", tt.item, got, tt.want)
		}
	}
}

// TestOddAnnotationsAreLeftOut asserts that annotations that GitHub would reject are left
// out, so that the check run is created, and that a message which is too long is cut.
func TestOddAnnotationsAreLeftOut(t *testing.T) {
	good := safeoutput.CheckAnnotation{Path: "a.go", StartLine: 1, EndLine: 1, Level: "notice", Message: strings.Repeat("é", maxAnnotation)}
	odd := func(f func(*safeoutput.CheckAnnotation)) safeoutput.CheckAnnotation { c := good; f(&c); return c }
	accepted, _ := collectOwn(t, OwnItem{Item: checkRun(
		odd(func(a *safeoutput.CheckAnnotation) { a.Path = "/etc/passwd" }),
		odd(func(a *safeoutput.CheckAnnotation) { a.EndLine = 0 }),
		good,
		odd(func(a *safeoutput.CheckAnnotation) { a.Level = "error" }),
		odd(func(a *safeoutput.CheckAnnotation) { a.Message = "\x00" }),
		odd(func(a *safeoutput.CheckAnnotation) { a.Path = "a\xff" }),
	)})
	notes := accepted[0].Item().(*safeoutput.CheckRun).Annotations
	if len(notes) != 1 || len(notes[0].Message) > maxAnnotation || !bytes.HasSuffix([]byte(notes[0].Message), []byte("é…")) {
		t.Errorf("%d annotations, the first message %d bytes long", len(notes), len(notes[0].Message))
	}
	var noted []string
	for _, r := range accepted[0].Notes().Redactions {
		if r.Rule == RuleAnnotation {
			noted = append(noted, r.Field)
		}
	}
	if diff := cmp.Diff([]string{"annotations[0]", "annotations[1]", "annotations[3]", "annotations[4]", "annotations[5]"}, noted); diff != "" {
		t.Errorf("the fields with notes (-want +got):\n%s", diff)
	}
}
