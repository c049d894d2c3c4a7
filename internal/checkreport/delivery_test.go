package checkreport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// surfaces returns what a maintainer sees of a delivery: each surface of GitHub with its text.
func surfaces(got map[safeoutput.Kind][]intake.Accepted, left []checkreport.Annotation) string {
	var b strings.Builder
	for _, a := range got[safeoutput.KindCreateReviewComment] {
		c := a.Item().(*safeoutput.CreateReviewComment)
		fmt.Fprintf(&b, "=== review comment on %s, line %d\n%s\n", c.Path, c.Line, c.Body)
	}
	for _, a := range got[safeoutput.KindCheckRun] {
		run := a.Item().(*safeoutput.CheckRun)
		fmt.Fprintf(&b, "=== check run: %s, %s\n%s\n--- details\n%s\n", run.Title, run.Conclusion, run.Summary, run.Text)
		for _, n := range run.Annotations {
			fmt.Fprintf(&b, "--- %s on %s, line %d: %s: %s\n", n.Level, n.Path, n.StartLine, n.Title, n.Message)
		}
	}
	for _, a := range got[safeoutput.KindStickyComment] {
		fmt.Fprintf(&b, "=== the comment\n%s\n", a.Item().(*safeoutput.StickyComment).Body)
	}
	for _, a := range left {
		fmt.Fprintf(&b, "=== the job's annotation on %s, line %d: %s: %s\n", a.Path, a.StartLine, a.Title, a.Message)
	}
	return b.String()
}

// onEverySurface returns a validation whose findings need every surface: b.go has what code
// scanning shows, a.go what review comments show, far.go lines that are not in the diff.
func onEverySurface() checkreport.Input {
	in := failing()
	far := finding.Finding{Check: "linter", Tool: "vet", Severity: finding.Medium, Message: "far away", Path: "api/far.go", Range: finding.Range{StartLine: 500}}
	alert := finding.Finding{Check: "security_review", Tool: "airlock", Rule: "go-tls", Severity: finding.High, Message: "TLS far away", Path: "api/far.go", Range: finding.Range{StartLine: 501}}
	linter, review := &in.Result.Roots[0].Checks[1], &in.Result.Reviews[1]
	linter.Blocking, review.Blocking = append(linter.Blocking, far), append(review.Blocking, alert)
	in.Result.Output.Checks.SecurityReview.Vulnerabilities = append(in.Result.Output.Checks.SecurityReview.Vulnerabilities, "TLS far away at api/far.go:501")
	in.Result.Output.Checks.Linter.Issues = append(in.Result.Output.Checks.Linter.Issues, "far away at api/far.go:500")
	return in
}

// near reports whether a line is in the diff: each is, but those of far.go.
func near(path string, _, _ int) bool { return path != "api/far.go" }

// linked selects all items, with the addresses that the comment links to.
func linked(t *testing.T) checkreport.ItemsInput {
	in := allItems(t)
	in.SummaryURL, in.AlertsURL = "https://github.com/octo/app/actions/runs/1", "https://github.com/octo/app/security/code-scanning?query=pr%3A7"
	return in
}

// TestWhatAMaintainerSees compares with golden files what GitHub shows of two validations. One
// fails, and is delivered three times: where everything works, where code scanning is off, and where
// a fork's token can write nothing. The other one passes.
func TestWhatAMaintainerSees(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]refusedKinds{
		"all": {}, "no-alerts": noAlerts,
		"fork": {safeoutput.KindCreateSecurityReport: true, safeoutput.KindCreateReviewComment: true, safeoutput.KindMinimiseComments: true, safeoutput.KindCheckRun: true, safeoutput.KindStickyComment: true},
	} {
		d := checkreport.New(onEverySurface()).Deliver(linked(t))
		got := deliver(t, d, refused, near)
		for kind := range refused {
			if kind != safeoutput.KindStickyComment { // kept, to compare what the comment would say
				delete(got, kind)
			}
		}
		golden(t, "surfaces."+name+".md", surfaces(got, d.Left()))
	}
	d := checkreport.New(passing()).Deliver(linked(t))
	golden(t, "surfaces.passing.md", surfaces(deliver(t, d, nil, near), d.Left()))
}

// TestEachFindingHasOnePlace asserts that every finding that blocks is shown exactly once next to
// its code, whatever GitHub refuses. Other findings are not shown there, and the comment repeats
// none.
func TestEachFindingHasOnePlace(t *testing.T) {
	t.Parallel()
	security, review, run := safeoutput.KindCreateSecurityReport, safeoutput.KindCreateReviewComment, safeoutput.KindCheckRun
	for _, refused := range []refusedKinds{{}, {security: true}, {review: true}, {run: true}, {security: true, review: true}, {review: true, run: true}, {security: true, run: true}, {security: true, review: true, run: true}} {
		for _, most := range []int{0, 1, 2, 20} {
			in := linked(t)
			in.ReviewComments = most
			doc := checkreport.New(onEverySurface())
			d := doc.Deliver(in)
			got := deliver(t, d, refused, near)
			seen := map[string][]string{}
			show := func(where, path string, line int) {
				at := fmt.Sprintf("%s:%d", path, line)
				seen[at] = append(seen[at], where)
			}
			if !refused[security] { // code scanning comments on what is in the diff
				show("code scanning", "api/b.go", 3)
			}
			if !refused[review] {
				for _, a := range got[review] {
					c := a.Item().(*safeoutput.CreateReviewComment)
					line := c.Line
					if c.StartLine > 0 {
						line = c.StartLine
					}
					show("review", c.Path, line)
				}
			}
			if !refused[run] {
				for _, a := range got[run][0].Item().(*safeoutput.CheckRun).Annotations {
					show("check run", a.Path, a.StartLine)
				}
			}
			for _, a := range d.Left() {
				if a.Path != "" {
					show("job", a.Path, a.StartLine)
				}
			}
			for _, f := range doc.Findings {
				at := fmt.Sprintf("%s:%d", f.Path, f.StartLine)
				want := 1
				if !f.Blocking {
					want = 0
				}
				if len(seen[at]) != want {
					t.Errorf("refused %v, at most %d comments: %s is shown in %q", refused, most, at, seen[at])
				}
			}
			comment := got[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment).Body
			for _, f := range doc.Findings {
				if strings.Contains(comment, f.Message) {
					t.Errorf("the comment repeats a finding: %q\n%s", f.Message, comment)
				}
			}
		}
	}
}

// TestAnUploadThatIsNotProcessedShowsNothing asserts that security findings get review comments
// as long as code scanning has not processed their upload, because it may still refuse it.
func TestAnUploadThatIsNotProcessedShowsNothing(t *testing.T) {
	t.Parallel()
	d := checkreport.New(onEverySurface()).Deliver(linked(t))
	if _, err := d.Next(nil, near); err != nil {
		t.Fatal(err)
	}
	items, err := d.Next([]checkreport.Outcome{{Kind: safeoutput.KindCreateSecurityReport, Shown: true, Unprocessed: true}}, near)
	if err != nil || !slices.ContainsFunc(items, func(o intake.OwnItem) bool {
		c, ok := o.Item.(*safeoutput.CreateReviewComment)
		return ok && c.Path == "api/b.go"
	}) {
		t.Errorf("%v, %d items", err, len(items))
	}
}

// TestACommentOfAnEarlierRunIsAPlace asserts that a finding beyond the limit of comments gets no
// annotation if an earlier run has commented on it. It also asserts that a comment is hidden if
// code scanning shows its finding now.
func TestACommentOfAnEarlierRunIsAPlace(t *testing.T) {
	t.Parallel()
	in := linked(t)
	in.ReviewComments = 1
	doc := checkreport.New(onEverySurface())
	d := doc.Deliver(in)
	next := func(outcomes ...checkreport.Outcome) safeoutput.Item {
		items, err := d.Next(outcomes, near)
		if err != nil || len(items) == 0 {
			t.Fatalf("%v, %d items", err, len(items))
		}
		return items[0].Item
	}
	next()
	asked := next(checkreport.Outcome{Kind: safeoutput.KindCreateSecurityReport, Shown: true}).(*safeoutput.CreateReviewComment)
	hide := next().(*safeoutput.MinimiseComments)
	alert := slices.IndexFunc(doc.Findings, func(f checkreport.Finding) bool { return f.Path == "api/b.go" })
	if diff := cmp.Diff([]string{hide.Keep[alert]}, hide.Moved); diff != "" || asked.Path == "api/b.go" {
		t.Errorf("asked for %s, moved %s", asked.Path, diff)
	}
	linter := slices.IndexFunc(doc.Findings, func(f checkreport.Finding) bool { return f.Path == "api/a.go" && f.Check == "linter" })
	run := next(checkreport.Outcome{Kind: safeoutput.KindMinimiseComments, Shown: true, Kept: map[int]string{linter: "https://github.com/octo/app/pull/7#old"}}).(*safeoutput.CheckRun)
	for _, a := range run.Annotations {
		if a.Path == "api/a.go" && a.StartLine == 6 {
			t.Errorf("%+v", a)
		}
	}
	comment := next(checkreport.Outcome{Kind: safeoutput.KindCheckRun, Shown: true, URL: "https://github.com/octo/app/runs/9"}).(*safeoutput.StickyComment)
	if !strings.Contains(comment.Body, "[`api/a.go:6`](https://github.com/octo/app/pull/7#old)") {
		t.Errorf("%s", comment.Body)
	}
}

// TestAReviewerThatFailedIsShown asserts that a problem which is about no finding, such as that a
// reviewer failed, is shown although its check has findings: in the details of the check run, or by
// the job if there is no check run. What the reviewer may have found before stays: its comments are
// not hidden, and no upload closes its alerts.
func TestAReviewerThatFailedIsShown(t *testing.T) {
	t.Parallel()
	const why = "The review could not be done: semgrep ended with exit code 2"
	in := failing()
	in.Result.Reviews[1].Problems = []string{why, phase.Describe(in.Result.Reviews[1].Blocking[0])}
	in.Result.Output.Checks.SecurityReview.Vulnerabilities = in.Result.Reviews[1].Problems
	for _, refused := range []refusedKinds{nil, {safeoutput.KindCheckRun: true}} {
		d := checkreport.New(in).Deliver(linked(t))
		got := deliver(t, d, refused, near)
		if len(got[safeoutput.KindCreateSecurityReport]) > 0 || slices.Contains(hidden(t, got), "security_review") {
			t.Errorf("an upload or hiding: %v", got)
		}
		comment := got[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment).Body
		run := got[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun).Text
		left := slices.ContainsFunc(d.Left(), func(a checkreport.Annotation) bool { return a.Message == why })
		if refused == nil && (!strings.Contains(comment, "<br>1 in [the check run]") || !strings.Contains(run, "- "+why+"\n") || strings.Contains(run, "db.Query") || left) {
			t.Errorf("the comment\n%s\nand the details\n%s", comment, run)
		}
		if refused != nil && (!strings.Contains(comment, "<br>1 in [the job summary]") || !left) {
			t.Errorf("the comment\n%s\nand in the log %+v", comment, d.Left())
		}
	}
}

// TestNoPlaceIsCountedTwice asserts that the problems that a list only counts, as in "and 299
// more", are not counted again if they are findings, because each finding has its annotation.
func TestNoPlaceIsCountedTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		problems []string
		want     string // in the comment, after the annotations
	}{
		"all are findings": {[]string{"m 0 at api/far.go:1", "and 299 more"}, "of the check run |"},
		"the command, too": {[]string{"m 0 at api/far.go:1", "and 299 more", "'go vet ./...' ended with exit code 2"}, "of the check run<br>1 in [the check run]"},
		"more than those":  {[]string{"m 0 at api/far.go:1", "and 301 more"}, "of the check run<br>2 in [the check run]"},
	} {
		in := failing()
		linter := &in.Result.Roots[0].Checks[1]
		linter.Blocking = nil
		for i := range 300 {
			linter.Blocking = append(linter.Blocking, finding.Finding{Check: "linter", Tool: "vet", Severity: finding.Medium, Message: fmt.Sprint("m ", i), Path: "api/far.go", Range: finding.Range{StartLine: i + 1}})
		}
		linter.Problems = c.problems
		in.Result.Output.Checks.Linter.Issues = c.problems
		got := deliver(t, checkreport.New(in).Deliver(linked(t)), nil, near)
		comment := got[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment).Body
		if !strings.Contains(comment, "[300 annotations](https://github.com/octo/app/check-run) "+c.want) {
			t.Errorf("%s:\n%s", name, comment)
		}
	}
}
