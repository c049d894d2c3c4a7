package apply

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestReconcilingKeepsOne(t *testing.T) {
	lines := []string{anIssue, aComment, aDiscussion}
	t.Run("a second run at the same moment", func(t *testing.T) {
		a := newBench(t, fixture(), githubtest.Options{Lag: 20 * time.Second})
		a.cfg.Run.SelfHosted = true
		plan := a.plan(lines...)
		other := a.plan(lines...) // has seen nothing of the first
		want(t, execute(context.Background(), a.deps, plan), "applied applied applied")
		results := execute(context.Background(), a.deps, other)
		want(t, results, "applied applied applied")
		st := a.srv.State()
		open := 0
		for _, i := range st.Issues {
			if i.Title == "Crash on start" && i.State == "open" {
				open++
			}
		}
		if open != 1 || len(a.issue(issueNumber).Comments) != 1 || len(st.Discussions) != 2 {
			t.Errorf("%d issues, %d comments, %d discussions are left", open, len(a.issue(issueNumber).Comments), len(st.Discussions)-1)
		}
		for _, r := range results {
			if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "written twice") {
				t.Errorf("%s: nothing says so: %q", r.Kind, r.Notes)
			}
		}
		if results[0].Object.Number == 0 || a.issue(results[0].Object.Number).State != "open" {
			t.Errorf("the result points at %+v", results[0].Object)
		}
		a.cfg.Run.Attempt, a.cfg.Run.SelfHosted = 3, false
		writes := len(a.srv.Writes())
		want(t, a.run(lines...), "adopted adopted adopted")
		if len(a.srv.Writes()) != writes {
			t.Error("what was reconciled is reconciled again")
		}
	})
	t.Run("not without a reason", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		start := b.clock.Now()
		want(t, b.run(lines...), "applied applied applied")
		if d := b.clock.Now().Sub(start); d != 0 {
			t.Errorf("it waited %v", d)
		}
		if n := count(operations(b.srv.Requests()), "issues/list-for-repo"); n != 1 {
			t.Errorf("%d listings", n)
		}
	})
	t.Run("a re-run before the first's writes are listed", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{Lag: 29 * time.Second})
		want(t, b.run(lines...), "applied applied applied")
		b.cfg.Run.Attempt = 2
		start := b.clock.Now()
		want(t, b.run(lines...), "adopted adopted adopted")
		if n := len(b.issue(issueNumber).Comments); n != 1 {
			t.Errorf("%d comments", n)
		}
		if d := b.clock.Now().Sub(start); d != listLag {
			t.Errorf("it waited %v", d)
		}
		start = b.clock.Now()
		want(t, b.run(lines...), "adopted adopted adopted")
		if d := b.clock.Now().Sub(start); d != 0 {
			t.Errorf("it waited %v although everything was there", d)
		}
	})
	t.Run("reviews", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{Lag: 20 * time.Second}).on("pull_request", pullNumber)
		b.cfg.Run.SelfHosted = true
		lines := []string{reviewLine("main.go", 3, "Inline."), reviewLine("main.go", 333, "Outside.")}
		one, two := b.plan(lines...), b.plan(lines...)
		want(t, execute(context.Background(), b.deps, one), "applied applied")
		want(t, execute(context.Background(), b.deps, two), "applied applied")
		text := b.allText()
		if strings.Count(text, "Inline.") != 1 || strings.Count(text, "Outside.") != 1 {
			t.Errorf("text stands there twice:\n%s", text)
		}
	})
}

// TestTwoRunsOnOneAttempt lets two runs plan before either has written anything: on a later
// attempt, as two calls that nothing distinguishes, and as both.
func TestTwoRunsOnOneAttempt(t *testing.T) {
	lines := []string{anIssue, aComment, aDiscussion}
	for name, set := range map[string]func(*event.Run){
		"both on attempt 2":                   func(r *event.Run) { r.Attempt = 2 },
		"two calls of one name":               func(r *event.Run) { r.Shared = true },
		"two calls of one name, on attempt 3": func(r *event.Run) { r.Attempt, r.Shared = 3, true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{Lag: listLag})
			set(&b.cfg.Run)
			one, two := b.plan(lines...), b.plan(lines...)
			want(t, execute(context.Background(), b.deps, one), "applied applied applied")
			before := len(b.srv.Requests())
			results := execute(context.Background(), b.deps, two)
			want(t, results, "applied applied applied")
			for _, r := range results {
				if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "written twice") {
					t.Errorf("%s: nothing says so: %q", r.Kind, r.Notes)
				}
			}
			open := 0
			for _, i := range b.srv.State().Issues {
				if i.Title == "Crash on start" && i.State == "open" {
					open++
				}
			}
			if open != 1 || len(b.issue(issueNumber).Comments) != 1 || len(b.srv.State().Discussions) != 2 {
				t.Errorf("%d issues, %d comments, %d discussions are left", open, len(b.issue(issueNumber).Comments), len(b.srv.State().Discussions)-1)
			}
			reads := 0
			for _, r := range b.srv.Requests()[before:] {
				if !r.Write {
					reads++
				}
			}
			if reads > 3 {
				t.Errorf("the second look took %d requests", reads)
			}
		})
	}
}

// TestTheSecondLookTakesThreeRequests writes an issue, a discussion, a review, and comments on an
// issue and on a pull request.
func TestTheSecondLookTakesThreeRequests(t *testing.T) {
	b := anyTarget(newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber))
	b.cfg.Run.Shared = true
	lines := []string{anIssue, aComment, aDiscussion, reviewLine("main.go", 3, "Inline."), reviewLine("main.go", 333, "Outside."),
		line(map[string]any{"type": "add-issue-comment", "body": "On the pull request.", "issue_number": pullNumber})}
	one, two := b.plan(lines...), b.plan(lines...)
	execute(context.Background(), b.deps, one)
	before := b.clock.Now()
	results := execute(context.Background(), b.deps, two)
	if n := Count(results)[Applied]; n != len(lines) {
		t.Errorf("the results are %s", states(results))
	}
	var look []string
	for _, r := range b.srv.Requests() {
		if r.At.Before(before.Add(listLag)) {
			continue
		}
		if r.Write {
			break // what was found is removed
		}
		look = append(look, r.Operation)
	}
	if want := []string{"issues/list-for-repo", "issues/list-comments-for-repo", "graphql/Recent"}; !slices.Equal(look, want) {
		t.Errorf("the second look asks for %q", look)
	}
	text := b.allText()
	for _, s := range []string{"Inline.", "Outside.", "On the pull request."} {
		if n := strings.Count(text, s); n != 1 {
			t.Errorf("%q is there %d times", s, n)
		}
	}
}

// TestAFirstAttemptWaitsLess asserts how long a run waits before its second look.
func TestAFirstAttemptWaitsLess(t *testing.T) {
	for _, c := range []struct {
		attempt int
		shared  bool
		min     time.Duration
		max     time.Duration
	}{{1, false, 0, 2 * time.Second}, {1, true, 3 * time.Second, 10 * time.Second}, {2, false, listLag, 2 * listLag}, {2, true, listLag, 2 * listLag}} {
		b := anyTarget(newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber))
		b.cfg.Run.Shared, b.cfg.Run.Attempt, b.cfg.FirstLook = c.shared, c.attempt, 3*time.Second
		plan := b.plan(aComment)
		before := b.clock.Now()
		execute(context.Background(), b.deps, plan)
		if took := b.clock.Now().Sub(before); took < c.min || took > c.max {
			t.Errorf("attempt %d, shared %v: it took %v", c.attempt, c.shared, took)
		}
	}
}

// TestCovered compares objects whose keys end with the hexadecimal digits of the members that they
// carry, one bit for each.
func TestCovered(t *testing.T) {
	g := groupKey("review")
	obj := func(bits string) Object { return Object{Type: objReview, key: g + bits} }
	for _, tt := range []struct {
		name string
		o    Object
		kept []Object
		want bool
	}{
		{"the first", obj("f0"), nil, false},
		{"an equal one", obj("a1"), []Object{obj("a1")}, true},
		{"a part", obj("20"), []Object{obj("a1")}, true},
		{"something more", obj("a3"), []Object{obj("a1")}, false},
		{"two together", obj("c3"), []Object{obj("81"), obj("42")}, true},
		{"an object without members", obj(""), []Object{obj("")}, true},
	} {
		if got := covered(tt.o, tt.kept); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// Whoever can read an issue can copy its marker. A copy is neither adopted nor reconciled: what
// is not ours is never closed or removed, whatever its id.
func TestReconcilingLeavesForgedMarkersAlone(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.cfg.Run.SelfHosted = true
	lines := []string{anIssue, aComment, aDiscussion}
	first := b.run(lines...)
	want(t, first, "applied applied applied")
	stranger := githubtest.Account{Login: "mallory", ID: 666}
	b.srv.Change(func(f *githubtest.Fixture) {
		var body string
		for _, i := range f.Issues {
			if i.Number == first[0].Object.Number {
				body = i.Body
			}
		}
		f.Issues = append(f.Issues, &githubtest.Issue{ID: 1, Number: 950, Title: "forged", Body: body, State: "open", Author: stranger, CreatedAt: noon, UpdatedAt: noon})
		c := f.Issues[0].Comments[0]
		f.Issues[0].Comments = append(f.Issues[0].Comments, &githubtest.Comment{ID: 2, Body: c.Body, Author: stranger, CreatedAt: noon, UpdatedAt: noon},
			&githubtest.Comment{ID: 9999999, Body: c.Body, Author: stranger, CreatedAt: noon, UpdatedAt: noon})
		d := *f.Discussions[len(f.Discussions)-1]
		d.ID, d.Number, d.Author = 3, 951, stranger
		f.Discussions = append(f.Discussions, &d)
	})
	b.cfg.Run.Attempt = 2
	writes := len(b.srv.Writes())
	second := b.run(lines...)
	want(t, second, "adopted adopted adopted")
	for i := range second {
		if second[i].Object.URL != first[i].Object.URL {
			t.Errorf("adopted %s, made %s", second[i].Object.URL, first[i].Object.URL)
		}
	}
	// A new item of the same kinds reconciles the lists that contain the forgeries.
	b.run(`{"type":"create-issue","title":"Another","body":"B"}`, `{"type":"add-issue-comment","body":"Another.","issue_number":5}`)
	for _, w := range b.srv.Writes()[writes:] {
		if w.Method == "DELETE" || w.Method == "PATCH" {
			t.Errorf("%s %s", w.Method, w.Path)
		}
	}
}

// Somebody who closed the first of two equal issues has chosen the second.
func TestReconcilingLeavesAnIssueThatSomebodyChose(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	first := b.run(anIssue)
	want(t, first, "applied")
	b.srv.Change(func(f *githubtest.Fixture) {
		made := f.Issues[len(f.Issues)-1]
		second := *made
		second.ID, second.Number = made.ID+1000, 960
		made.State = "closed"
		f.Issues = append(f.Issues, &second)
	})
	b.cfg.Run.Attempt = 2
	want(t, b.run(anIssue), "adopted")
	if b.issue(960).State != "open" {
		t.Error("none of them is open any more")
	}
}

func TestDoublesThatAreThereAlreadyAreRemoved(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	first := b.run(anIssue, aComment, aDiscussion)
	double := func(f *githubtest.Fixture) {
		issue, comment, disc := *f.Issues[len(f.Issues)-1], *f.Issues[0].Comments[0], *f.Discussions[len(f.Discussions)-1]
		issue.ID, issue.Number, comment.ID, disc.ID, disc.Number = 9001, 901, 9002, 9003, 902
		f.Issues = append(f.Issues, &issue)
		f.Issues[0].Comments = append(f.Issues[0].Comments, &comment)
		f.Discussions = append(f.Discussions, &disc)
	}
	b.srv.Change(double)
	b.cfg.Run.Attempt = 2
	second := b.run(anIssue, aComment, aDiscussion)
	want(t, second, "adopted adopted adopted")
	for i, r := range second {
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "written twice") {
			t.Errorf("%s: notes %q", r.Kind, r.Notes)
		}
		if r.Object.URL != first[i].Object.URL {
			t.Errorf("%s: kept %s, not the first", r.Kind, r.Object.URL)
		}
	}
	if b.issue(901).State != "closed" || len(b.issue(issueNumber).Comments) != 1 || len(b.srv.State().Discussions) != 2 {
		t.Error("a double is left")
	}
	writes := len(b.srv.Writes())
	want(t, b.run(anIssue, aComment, aDiscussion), "adopted adopted adopted")
	if n := len(b.srv.Writes()); n != writes {
		t.Errorf("what was reconciled is reconciled again: %v", operations(b.srv.Writes()[writes:]))
	}
}
