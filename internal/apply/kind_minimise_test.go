package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// findings returns the items that a workflow run has for these findings: a review comment for
// each, and an item that resolves the comments of all other findings.
func findings(names ...string) []intake.OwnItem {
	lines := []int{1, 2, 3, 4, 5, 6, 20, 21, 22, 23} // lines of the diff
	var items []intake.OwnItem
	var keep []string
	for i, n := range names {
		items = append(items, found(n, lines[i%len(lines)]))
		keep = append(keep, "finding/"+n)
	}
	return append(items, intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}, Keep: keep}})
}

// onLines describes the comments on the pull request's lines: their texts, and whether they
// are hidden.
func (b *bench) onLines() []string {
	var out []string
	for _, c := range b.issue(pullNumber).Pull.Comments {
		text := strings.Join(strings.Fields(c.Body[:strings.Index(c.Body, "<!--")]), " ")
		if c.Minimized != "" {
			text += " (" + c.Minimized + ")"
		}
		out = append(out, text)
	}
	return out
}

func (b *bench) wantOnLines(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.onLines()); diff != "" {
		b.t.Errorf("comments on lines (-want +got):\n%s", diff)
	}
}

// commit moves the pull request on to a new head, which the next workflow run checks.
func (b *bench) commit(n int) {
	sha := fmt.Sprintf("%040x", n)
	b.srv.Change(func(f *githubtest.Fixture) {
		p := issueIn(*f, pullNumber).Pull
		p.Earlier = append(p.Earlier, githubtest.Revision{SHA: p.Head.SHA, Files: p.Files})
		p.Head.SHA = sha
	})
	b.ev.Head.SHA = sha
	b.push()
}

// allFine asserts that every item was done or there already.
func allFine(t *testing.T, results []Result) {
	t.Helper()
	for _, r := range results {
		if r.State != Applied && r.State != Adopted {
			t.Errorf("%s: %s(%s): %s", r.Kind, r.State, r.Code, r.Message)
		}
	}
}

func TestTenPushesWithTheSameFindings(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	var names []string
	for n := range 10 {
		names = append(names, fmt.Sprint("no ", n))
	}
	for n := range 10 {
		b.commit(n + 1)
		allFine(t, b.runOwn(append(findings(names...), sticky(fmt.Sprintf("Of push %d.", n))...)))
	}
	if got := operations(b.srv.Writes()); count(got, "pulls/create-review") != 1 || count(got, "issues/create-comment") != 1 || count(got, "issues/update-comment") != 9 || len(got) != 11 {
		t.Errorf("writes %v", got)
	}
	if n := len(b.onLines()); n != 10 {
		t.Errorf("%d comments on lines", n)
	}
	if diff := cmp.Diff([]string{"Of push 9."}, b.bodies()); diff != "" {
		t.Errorf("the conversation (-want +got):\n%s", diff)
	}
}

// A finding's comment is hidden when the finding is gone, shown again when it comes
// back, and neither is done twice.
func TestFixedFindingsAreResolved(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one", "two")))
	b.commit(1)
	for range 3 {
		allFine(t, b.push().runOwn(findings("two")))
		b.wantOnLines("Found one. *The checks of 0000000 no longer find this.* (resolved)", "Found two.")
	}
	b.commit(2)
	for range 3 {
		results := b.push().runOwn(findings("two", "one"))
		allFine(t, results)
		if results[1].Object == nil || results[1].Object.ID != b.issue(pullNumber).Pull.Comments[0].ID {
			t.Errorf("the result points at %+v", results[1].Object)
		}
		b.wantOnLines("Found one.", "Found two.")
	}
	results := b.push().runOwn(findings())
	allFine(t, results)
	for _, note := range results[0].Notes {
		if shown, _ := b.cfg.Sanitizer.Plain(note); shown != note {
			t.Errorf("people read the note %q as %q", note, shown)
		}
	}
	got := operations(b.srv.Writes())
	for op, want := range map[string]int{"pulls/create-review": 1, "graphql/MinimizeComment": 3, "graphql/UnminimizeComment": 1, "pulls/update-review-comment": 4} {
		if count(got, op) != want {
			t.Errorf("%d times %s, want %d", count(got, op), op, want)
		}
	}
}

// A comment that was written by another account, workflow, job, matrix leg or scope, or by an
// agent, is never hidden, changed or taken for ours, whatever it looks like.
func TestResolvingTouchesNoOther(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one"), reviewLine("main.go", 4, "An agent's.")))
	stranger := githubtest.Account{Login: "mallory", ID: 666}
	b.srv.Change(func(f *githubtest.Fixture) {
		p := issueIn(*f, pullNumber).Pull
		copied := *p.Comments[slices.IndexFunc(p.Comments, func(c *githubtest.DiffComment) bool { return strings.HasPrefix(c.Body, "Found one.") })]
		copied.ID, copied.Author = 1, stranger
		p.Comments = append([]*githubtest.DiffComment{&copied}, p.Comments...)
		quoted := copied // ours, but the marker is not the last line
		quoted.ID, quoted.Author, quoted.Body = 2, f.Viewer, copied.Body+"\n\nA quotation."
		p.Comments = append(p.Comments, &quoted)
	})
	run := b.cfg.Run
	for _, change := range []func(){
		func() { b.cfg.Run.WorkflowPath = ".github/workflows/other.yml" },
		func() { b.cfg.Run.Job = "other" },
		func() { b.cfg.Run.MatrixIndex = 1 },
	} {
		b.cfg.Run.WorkflowPath, b.cfg.Run.Job, b.cfg.Run.MatrixIndex = run.WorkflowPath, run.Job, run.MatrixIndex
		change()
		allFine(t, b.push().runOwn(findings("one")))
	}
	b.cfg.Run.WorkflowPath, b.cfg.Run.Job, b.cfg.Run.MatrixIndex = run.WorkflowPath, run.Job, run.MatrixIndex
	other := found("one", 3)
	other.Stable = "other/one"
	allFine(t, b.push().runOwn([]intake.OwnItem{other}))
	before := b.issue(pullNumber).Pull.Comments
	allFine(t, b.push().runOwn(findings()))
	changed := 0
	for i, c := range b.issue(pullNumber).Pull.Comments {
		if diff := cmp.Diff(before[i], c); diff != "" {
			if changed++; !strings.HasPrefix(before[i].Body, "Found one.") || c.Author == stranger || c.ID == 2 {
				t.Errorf("another's comment was changed:\n%s", diff)
			}
		}
	}
	if changed != 1 {
		t.Errorf("%d comments were resolved, want 1", changed)
	}
}

// A comment is kept if its finding is beyond this run's limit.
func TestFindingsBeyondTheLimitAreKept(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.pol.Own.ReviewComments = 2
	want(t, b.runOwn(findings("one", "two", "three")), "applied applied skipped(own-limit) applied")
	b.commit(1)
	// Two new findings come before the two old ones now. No item asks for "two", but the list of
	// comments to keep names it.
	items := findings("three", "four", "one", "two")
	items[3] = items[4]
	want(t, b.runOwn(items[:4]), "applied applied adopted applied")
	b.wantOnLines("Found one.", "Found two.", "Found three.", "Found four.")
}

// A comment that the run asks for is kept although keep does not name it: two findings with
// one name are two comments.
func TestAskedForIsKept(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	items := []intake.OwnItem{found("one", 3), found("one", 4), {Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}}}}
	for range 2 {
		allFine(t, b.push().runOwn(items))
		b.wantOnLines("Found one.", "Found one.")
	}
	allFine(t, b.push().runOwn(items[1:]))
	if got := operations(b.srv.Writes()); count(got, "graphql/MinimizeComment") != 1 {
		t.Errorf("writes %v", got)
	}
}

// A comment that somebody answered stays visible, and its text says that it is resolved.
func TestAnsweredCommentsStayVisible(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one")))
	b.srv.Change(func(f *githubtest.Fixture) {
		p := issueIn(*f, pullNumber).Pull
		p.Comments = append(p.Comments, &githubtest.DiffComment{Path: "main.go", Line: 1, Body: "Is it? <!-- -->", InReplyTo: p.Comments[0].ID})
	})
	allFine(t, b.push().runOwn(findings()))
	b.wantOnLines("Found one. *The checks of aaaaaaa no longer find this.*", "Is it?")
	if got := operations(b.srv.Writes()); count(got, "graphql/MinimizeComment") != 0 {
		t.Errorf("writes %v", got)
	}
}

// A workflow run that ends late resolves nothing that a later one wrote, and shows
// nothing again that a later one resolved.
func TestLateRunResolvesNothing(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.cfg.Run.ID = 200
	allFine(t, b.runOwn(findings("one", "two")))
	b.cfg.Run.ID = 150
	allFine(t, b.runOwn(findings("one")))
	b.wantOnLines("Found one.", "Found two.")
	b.cfg.Run.ID = 300
	allFine(t, b.runOwn(findings("one")))
	b.cfg.Run.ID = 250
	allFine(t, b.runOwn(findings("one", "two")))
	b.wantOnLines("Found one.", "Found two. *The checks of aaaaaaa no longer find this.* (resolved)")
}

// A later workflow run removes the duplicates that two runs wrote at the same moment, except for one
// that was answered.
func TestDoubledFindings(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	early, late := b.planOf(b.approve(findings("one", "two"))), b.push().planOf(b.approve(findings("one", "two")))
	allFine(t, execute(t.Context(), b.deps, early))
	allFine(t, execute(t.Context(), b.deps, late))
	b.wantOnLines("Found one.", "Found two.", "Found one.", "Found two.")
	b.srv.Change(func(f *githubtest.Fixture) { // the second "two" has been answered
		p := issueIn(*f, pullNumber).Pull
		p.Comments = append(p.Comments, &githubtest.DiffComment{Path: "main.go", Line: 2, Body: "Is it? <!-- -->", InReplyTo: p.Comments[3].ID})
	})
	allFine(t, b.push().runOwn(findings("one", "two")))
	b.wantOnLines("Found one.", "Found two.", "Found two.", "Is it?")
}

// A dry run shows the exact requests. Without a token it is not known what is there.
func TestResolvingIsPlanned(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("back", "gone")))
	allFine(t, b.push().runOwn(findings("gone")))
	b.srv.ResetRequests()
	b.push().cfg.DryRun = true
	plan := b.planOf(b.approve(findings("back")))
	var got []string
	for _, op := range plan.Operations {
		for _, r := range op.Requests {
			got = append(got, r.Method+" "+r.Path)
		}
	}
	first := b.issue(pullNumber).Pull.Comments[0].ID
	edit := "PATCH /repos/octo/repo/pulls/comments/"
	if diff := cmp.Diff([]string{"POST /graphql", edit + fmt.Sprint(first), "POST /graphql", edit + fmt.Sprint(first+1)}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	want(t, execute(t.Context(), b.deps, plan), "staged staged")
	if n := len(b.srv.Writes()); n != 0 {
		t.Errorf("%d writes", n)
	}
	b.token, b.deps.GitHub = "", nil
	plan = b.planOf(b.approve(findings("back")))
	if op := plan.Operations[1]; len(op.Requests) != 0 || len(op.Notes) == 0 {
		t.Errorf("without a token: %+v", op)
	}
}

// Killed before or after any of its requests, a workflow run is completed by its
// next attempt, and by the next workflow run as well.
func TestResolvingIsCompleted(t *testing.T) {
	wanted := []string{"Found back.", "Found gone. *The checks of aaaaaaa no longer find this.* (resolved)", "Found kept.", "Found new."}
	for _, next := range []string{"attempt", "run"} {
		for n, ended := 1, false; !ended; n++ {
			for _, after := range []bool{false, true} {
				b := ownBench(t, githubtest.Options{Lag: 5 * time.Second})
				allFine(t, b.runOwn(findings("back", "gone", "kept")))
				allFine(t, b.push().runOwn(findings("gone", "kept")))
				b.push()
				approved := b.approve(findings("back", "kept", "new"))
				first, _ := b.process(context.Background(), &killer{next: b.srv.Transport(), left: n, after: after}, b.clock, approved)
				if next == "run" {
					b.push()
				} else {
					b.cfg.Run.Attempt = 2
				}
				results, err := b.process(context.Background(), b.srv.Transport(), b.clock, approved)
				if err != nil {
					t.Fatal(err)
				}
				allFine(t, results)
				b.wantOnLines(wanted...)
				ended = first != nil
			}
			if n > 60 {
				t.Fatal("it never ended")
			}
		}
	}
}

func TestResolvingWhereAnswersAreLost(t *testing.T) {
	faults := map[string]githubtest.Fault{"cut before": {Cut: true}, "cut after": {Cut: true, After: true}, "502": githubtest.ServerError(502, false)}
	for _, op := range []string{"graphql/MinimizeComment", "graphql/UnminimizeComment", "pulls/update-review-comment", "pulls/create-review"} {
		for name, f := range faults {
			t.Run(op+" "+name, func(t *testing.T) {
				b := ownBench(t, githubtest.Options{})
				allFine(t, b.runOwn(findings("back", "gone")))
				allFine(t, b.push().runOwn(findings("gone")))
				b.srv.SetFault(once(op, f))
				allFine(t, b.push().runOwn(findings("back", "new")))
				b.wantOnLines("Found back.", "Found gone. *The checks of aaaaaaa no longer find this.* (resolved)", "Found new.")
			})
		}
	}
}

// TestResolvingInterrupted asserts that a comment which was not resolved is told of, although the
// write before it succeeded.
func TestResolvingInterrupted(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one", "two", "three")))
	plan := b.push().planOf(b.approve(findings("three")))
	ctx, cancel := context.WithCancel(t.Context())
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "pulls/update-review-comment" {
			cancel()
		}
		return githubtest.Fault{}
	})
	r := execute(ctx, b.deps, plan)
	if len(r) != 2 || r[1].State == Applied || !strings.Contains(r[1].Message, "only 1 of 2 review comments could be resolved") {
		t.Errorf("%+v", r)
	}
}

func TestResolvingWithoutPermission(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn(findings("one", "two", "three")))
	b.srv.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read"}}}
	})
	b.srv.ResetRequests()
	r := b.push().runOwn(findings("three"))
	want(t, r, "adopted failed(permission)")
	if !strings.Contains(r[1].Message, "pull-requests: write") || len(b.srv.Writes()) != 1 {
		t.Errorf("after %d writes: %s", len(b.srv.Writes()), r[1].Message)
	}
	b.ev.Fork = true
	want(t, b.push().runOwn(findings("three")), "adopted skipped(fork-read-only)")
}
