package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func sticky(body string) []intake.OwnItem {
	return []intake.OwnItem{{Item: &safeoutput.StickyComment{Name: "checks", Body: body}}}
}

func stickyIfThere(body string) []intake.OwnItem {
	return []intake.OwnItem{{Item: &safeoutput.StickyComment{Name: "checks", Body: body, OnlyUpdate: true}}}
}

// bodies returns the first line of each comment in the pull request's conversation.
func (b *bench) bodies() []string {
	var out []string
	for _, c := range b.issue(pullNumber).Comments {
		text, _, _ := strings.Cut(c.Body, "\n")
		out = append(out, text)
	}
	return out
}

// push moves on to the next workflow run of the same job, an hour later.
func (b *bench) push() *bench {
	b.cfg.Run.ID++
	b.clock.Advance(time.Hour)
	b.ev.Time = b.clock.Now().Add(-10 * time.Minute)
	return b
}

func TestStickyCommentIsOne(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.cfg.Run.URL = "" // so that the footer is the same in each workflow run
	want(t, b.runOwn(stickyIfThere("All is well.")), "applied")
	if n := len(b.srv.Writes()); n != 0 {
		t.Fatalf("%d writes although there is nothing to publish", n)
	}
	for n := range 10 {
		r := b.push().runOwn(sticky(fmt.Sprintf("There are %d findings.", n/2)))
		want(t, r, map[bool]string{true: "applied", false: "adopted"}[n%2 == 0])
		if r[0].Object == nil || r[0].Object.URL == "" {
			t.Errorf("push %d: the result does not say where", n)
		}
	}
	want(t, b.push().runOwn(stickyIfThere("All is well again.")), "applied")
	if diff := cmp.Diff([]string{"All is well again."}, b.bodies()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	got := operations(b.srv.Writes())
	if count(got, "issues/create-comment") != 1 || count(got, "issues/update-comment") != 5 || len(got) != 6 {
		t.Errorf("writes %v", got)
	}
}

// Only the comment of this workflow, job, matrix leg and name is changed, and never one of
// another account, whatever it looks like.
func TestStickyCommentTouchesNoOther(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	want(t, b.runOwn(sticky("First.")), "applied")
	first := b.issue(pullNumber).Comments[0].Body
	stranger := githubtest.Account{Login: "mallory", ID: 666}
	b.srv.Change(func(f *githubtest.Fixture) { // the imitation is older than ours
		i := f.Issues[slices.IndexFunc(f.Issues, func(i *githubtest.Issue) bool { return i.Number == pullNumber })]
		i.Comments = append([]*githubtest.Comment{{ID: 1, Body: first, Author: stranger}}, i.Comments...)
	})
	run := b.cfg.Run
	for name, change := range map[string]func(){
		"workflow": func() { b.cfg.Run.WorkflowPath = ".github/workflows/other.yml" },
		"job":      func() { b.cfg.Run.Job = "other" },
		"leg":      func() { b.cfg.Run.MatrixIndex = 1 },
	} {
		b.cfg.Run = run
		change()
		want(t, b.push().runOwn(sticky("Of another "+name+".")), "applied")
	}
	b.cfg.Run = run
	other := []intake.OwnItem{{Item: &safeoutput.StickyComment{Name: "other", Body: "Of another name."}}}
	want(t, b.push().runOwn(other), "applied")
	want(t, b.push().runOwn(sticky("Second.")), "applied")
	got := b.bodies()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"First.", "Of another job.", "Of another leg.", "Of another name.", "Of another workflow.", "Second."}, got); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	if c := b.issue(pullNumber).Comments[0]; c.Author != stranger || c.Body != first {
		t.Errorf("the stranger's comment became %q", c.Body)
	}
}

// A workflow run that ends late does not replace the text of one that was started after it.
func TestLateRunLeavesTheNewerText(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.cfg.Run.ID = 200
	want(t, b.runOwn(sticky("Of 200.")), "applied")
	b.cfg.Run.ID = 150
	want(t, b.runOwn(sticky("Of 150.")), "adopted")
	b.cfg.Run.ID = 200 // a re-run of the newest run may change the text
	b.cfg.Run.Attempt = 2
	want(t, b.runOwn(sticky("Of 200, again.")), "applied")
	if diff := cmp.Diff([]string{"Of 200, again."}, b.bodies()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

func TestStickyCommentSurvives(t *testing.T) {
	t.Run("two workflow runs at once", func(t *testing.T) {
		b := ownBench(t, githubtest.Options{})
		early, late := b.planOf(b.approve(sticky("A."))), b.push().planOf(b.approve(sticky("B.")))
		want(t, execute(t.Context(), b.deps, early), "applied")
		want(t, execute(t.Context(), b.deps, late), "applied")
		want(t, b.push().runOwn(sticky("C.")), "applied")
		if diff := cmp.Diff([]string{"C."}, b.bodies()); diff != "" {
			t.Errorf("comments (-want +got):\n%s", diff)
		}
	})
	t.Run("removed between looking and writing", func(t *testing.T) {
		b := ownBench(t, githubtest.Options{})
		want(t, b.runOwn(sticky("A.")), "applied")
		plan := b.push().planOf(b.approve(sticky("B.")))
		b.srv.Change(func(f *githubtest.Fixture) {
			for _, i := range f.Issues {
				i.Comments = nil
			}
		})
		want(t, execute(t.Context(), b.deps, plan), "applied")
		if diff := cmp.Diff([]string{"B."}, b.bodies()); diff != "" {
			t.Errorf("comments (-want +got):\n%s", diff)
		}
	})
	t.Run("reported missing although it is there", func(t *testing.T) {
		b := ownBench(t, githubtest.Options{})
		want(t, b.runOwn(sticky("A.")), "applied")
		b.srv.SetFault(always("issues/update-comment", githubtest.NotThere()))
		want(t, b.push().runOwn(sticky("B.")), "failed(not-found)")
		if diff := cmp.Diff([]string{"A."}, b.bodies()); diff != "" {
			t.Errorf("comments (-want +got):\n%s", diff)
		}
	})
	for _, op := range []string{"issues/create-comment", "issues/update-comment"} {
		for _, lost := range []githubtest.Fault{{Cut: true}, {Cut: true, After: true}} {
			t.Run(fmt.Sprintf("the answer to %s is lost, after=%t", op, lost.After), func(t *testing.T) {
				b := ownBench(t, githubtest.Options{})
				if op == "issues/update-comment" {
					want(t, b.runOwn(sticky("A.")), "applied")
					b.push()
				}
				b.srv.SetFault(once(op, lost))
				want(t, b.runOwn(sticky("B.")), "applied")
				if diff := cmp.Diff([]string{"B."}, b.bodies()); diff != "" {
					t.Errorf("comments (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestStickyCommentWithoutPermission(t *testing.T) {
	readOnly := func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"pull_requests": "read", "contents": "read"}}}
	}
	b := ownBench(t, githubtest.Options{})
	b.srv.Change(readOnly)
	r := b.runOwn(sticky("A."))
	want(t, r, "failed(permission)")
	if !strings.Contains(r[0].Message, "the token lacks the permission issues: write, or pull-requests: write") {
		t.Errorf("the message does not name the missing permission: %s", r[0].Message)
	}
	b.ev.Fork = true
	r = b.runOwn(sticky("A."))
	want(t, r, "skipped(fork-read-only)")
	if f := r[0].Fallback; f == nil || f.To != ToSummary || f.Text != "A." {
		t.Errorf("the text is shown at %+v", f)
	}
}

// A dry run shows the exact request, and a run without a token what it would do.
func TestStickyCommentIsPlanned(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	want(t, b.runOwn(sticky("A.")), "applied")
	b.push().cfg.DryRun = true
	b.srv.ResetRequests()
	plan := b.planOf(b.approve(sticky("B.")))
	if r := plan.Operations[0].Requests; len(r) != 1 || r[0].Method != "PATCH" || !strings.Contains(string(r[0].Body), "B.") {
		t.Errorf("requests %+v", r)
	}
	want(t, execute(t.Context(), b.deps, plan), "staged")
	b.cfg.DryRun, b.pol.Own.Staged = false, true
	// The agent's item comes first.
	want(t, b.runOwn(sticky("B."), `{"type":"add-issue-comment","body":"An agent's."}`), "applied staged")
	b.token, b.deps.GitHub = "", nil
	plan = b.planOf(b.approve(sticky("B.")))
	if r := plan.Operations[0].Requests; len(r) != 1 || r[0].Method != "POST" {
		t.Errorf("without a token: requests %+v", r)
	}
	if diff := cmp.Diff([]string{"issues/create-comment"}, operations(b.srv.Writes())); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// revision returns an item with the text of a loop's comment.
func revision(name, body string, n int) intake.OwnItem {
	return intake.OwnItem{Item: &safeoutput.StickyComment{Name: name, Body: body, Revision: n}}
}

func TestACommentWithARevisionBelongsToNoJob(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	want(t, b.runOwn([]intake.OwnItem{revision("loop/7-1", "It fails.", 3)}), "applied")
	b.cfg.Run.WorkflowPath, b.cfg.Run.Job = ".github/workflows/other.yml", "other"
	b.push()
	want(t, b.runOwn([]intake.OwnItem{revision("loop/7-1", "It passes.", 5)}), "applied")
	if r := b.push().runOwn([]intake.OwnItem{revision("loop/7-1", "It is being fixed.", 4)}); r[0].State != Adopted {
		t.Errorf("an older text has replaced a newer one: %+v", r[0])
	}
	if diff := cmp.Diff([]string{"It passes."}, b.bodies()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

func TestAnOutdatedCommentIsHiddenOnce(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	old := []intake.OwnItem{{Item: &safeoutput.StickyComment{Name: "loop/FIXREQ-7-1", Body: "-", Revision: 9, Outdated: true}}}
	want(t, b.runOwn(old), "applied")
	want(t, b.runOwn([]intake.OwnItem{revision("loop/FIXREQ-7-1", "Please fix.", 3)}), "applied")
	want(t, b.push().runOwn(old), "applied")
	c := b.issue(pullNumber).Comments[0]
	if c.Minimized != "outdated" || !strings.HasPrefix(c.Body, "Please fix.\n") {
		t.Errorf("%q, %q", c.Minimized, c.Body)
	}
	writes := len(b.srv.Writes())
	want(t, b.push().runOwn(old), "applied")
	if len(b.srv.Writes()) != writes {
		t.Error("the comment is hidden twice")
	}
}
