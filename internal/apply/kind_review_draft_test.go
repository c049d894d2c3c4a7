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
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// viewer is the account of the tokens.
var viewer = githubtest.Account{Login: "github-actions[bot]", ID: 41898282}

// refusing returns a bench whose GitHub refuses review comments that contain "Refused".
func refusing(t *testing.T, o githubtest.Options) *bench {
	t.Helper()
	o.RefuseComment = func(body string) bool { return strings.Contains(body, "Refused") }
	return reviewBench(t, o)
}

// twenty returns twenty comments, of which GitHub refuses the first n.
func twenty(n int) (lines []string) {
	for i := range 20 {
		text := fmt.Sprintf("Good %d.", i)
		if i < n {
			text = fmt.Sprintf("Refused %d.", i)
		}
		lines = append(lines, reviewLine("main.go", 1+i%6, text))
	}
	return lines
}

// draftOf adds a pending review of the viewer with this body, and returns it.
func (b *bench) draftOf(body string) *githubtest.Review {
	r := &githubtest.Review{State: "PENDING", Author: viewer, Body: body}
	b.srv.Change(func(f *githubtest.Fixture) {
		pull := issueIn(*f, pullNumber).Pull
		pull.Reviews = append(pull.Reviews, r)
	})
	reviews := b.issue(pullNumber).Pull.Reviews
	return reviews[len(reviews)-1]
}

func allApplied(t *testing.T, results []Result) {
	t.Helper()
	for i, r := range results {
		if r.State != Applied {
			t.Errorf("item %d: %s(%s): %s", i, r.State, r.Code, r.Message)
		}
	}
}

// However many comments GitHub refuses, the others stand on their lines, and people are
// notified once.
func TestOneReviewIsOneReview(t *testing.T) {
	for refused, most := range map[int]int{1: 5, 10: 5, 20: 5} {
		b := refusing(t, githubtest.Options{})
		results := b.run(twenty(refused)...)
		allApplied(t, results)
		pull := b.issue(pullNumber).Pull
		if len(pull.Reviews) != 1 || pull.Reviews[0].State != "COMMENTED" || len(pull.Comments) != 20-refused || len(b.issue(pullNumber).Comments) != 0 {
			t.Fatalf("%d refused: %d reviews, %d comments", refused, len(pull.Reviews), len(pull.Comments))
		}
		for i := range refused {
			if section := fmt.Sprintf("**`main.go`, line %d**\n\nRefused %d.", 1+i%6, i); strings.Count(pull.Reviews[0].Body, section) != 1 {
				t.Errorf("%d refused: the body lacks %q:\n%s", refused, section, pull.Reviews[0].Body)
			}
			if !strings.Contains(results[i].Message, "GitHub did not accept its lines (Pull request review thread line must be part of the diff)") {
				t.Errorf("message %q", results[i].Message)
			}
		}
		for i, r := range results {
			if r.Object == nil || r.Object.ID != pull.Reviews[0].ID {
				t.Errorf("item %d points at %+v", i, r.Object)
			}
		}
		if got := operations(b.srv.Writes()); len(got) > most || got[len(got)-1] != "graphql/SubmitReview" {
			t.Errorf("%d refused: writes %v", refused, got)
		}
		writes := len(b.srv.Writes())
		b.cfg.Run.Attempt = 2
		for _, r := range b.run(twenty(refused)...) {
			if r.State != Adopted {
				t.Errorf("second attempt: %s(%s)", r.State, r.Code)
			}
		}
		if n := len(b.srv.Writes()); n != writes {
			t.Errorf("the second attempt wrote %v", operations(b.srv.Writes()[writes:]))
		}
	}
}

// A comment on one line, on several lines, on old lines or on a file is posted there by way of a
// pending review as well.
func TestPlacesInAPendingReview(t *testing.T) {
	b := refusing(t, githubtest.Options{})
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, pullNumber).Pull.Head.Fork = "somebody/repo" })
	b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = policy.OutsideFile })
	at := func(path string, n int, more map[string]any, body string) string {
		m := map[string]any{"type": "create-pull-request-review-comment", "path": path, "line": n, "body": body}
		for k, v := range more {
			m[k] = v
		}
		return line(m)
	}
	results := b.run(at("main.go", 5, map[string]any{"start_line": 2}, "Range."), at("main.go", 3, map[string]any{"side": "LEFT"}, "Old."),
		at("main.go", 4, map[string]any{"start_line": 3, "side": "LEFT"}, "Old range."), at("new name.go", 1, nil, "Renamed."),
		at("main.go", 99, nil, "On the file."), at("gone.go", 1, nil, "Nowhere."), at("main.go", 1, nil, "Refused."))
	allApplied(t, results)
	var got []string
	pull := b.issue(pullNumber).Pull
	for _, c := range pull.Comments {
		text, _, _ := strings.Cut(c.Body, "\n\n<!--")
		got = append(got, fmt.Sprintf("%s %s %d-%d %s %s: %s", c.Path, c.Subject, c.StartLine, c.Line, c.Side, c.StartSide, strings.ReplaceAll(text, "\n\n", " ")))
	}
	wanted := []string{"main.go line 2-5 RIGHT RIGHT: Range.", "main.go line 0-3 LEFT : Old.", "main.go line 3-4 LEFT LEFT: Old range.", "new name.go line 0-1 RIGHT : Renamed.",
		"main.go file 0-0 RIGHT : **Line 99** On the file."}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	if len(pull.Reviews) != 1 || !strings.Contains(pull.Reviews[0].Body, "Nowhere.") || !strings.Contains(pull.Reviews[0].Body, "Refused.") {
		t.Errorf("reviews %+v", pull.Reviews)
	}
	// The threads on lines and those on files are added by a request each.
	if got, wanted := operations(b.srv.Writes()), []string{"pulls/create-review", "graphql/AddThreads", "graphql/AddThreads", "graphql/SubmitReview"}; !cmp.Equal(got, wanted) {
		t.Errorf("writes %v, want %v", got, wanted)
	}
}

// The plan shows the requests that are sent for a review with comments on files, exactly except for
// the text of the pending review, which has the time.
func TestThePlanShowsAPendingReview(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = policy.OutsideFile })
	plan := b.plan(reviewLine("main.go", 99, "On the file."), reviewLine("main.go", 1, "Inside."))
	execute(context.Background(), b.deps, plan)
	sent := b.srv.Writes()
	planned := plan.Operations[0].Requests
	if len(planned) != len(sent) {
		t.Fatalf("%d requests are planned, %d were sent", len(planned), len(sent))
	}
	review := b.issue(pullNumber).Pull.Reviews[0]
	for i, r := range planned {
		body := strings.ReplaceAll(string(r.Body), "<review>", fmt.Sprintf("PRR_%d", review.ID))
		variables, _ := githubtest.Request{Body: []byte(body)}.JSON("variables").(map[string]any)
		if want := sent[i].JSON("variables"); variables != nil && !cmp.Equal(any(variables), want) {
			t.Errorf("request %d: planned %v, sent %v", i+1, variables, want)
		}
		if r.Method != sent[i].Method || r.Path != sent[i].Path {
			t.Errorf("request %d: planned %s %s, sent %s %s", i+1, r.Method, r.Path, sent[i].Method, sent[i].Path)
		}
		if got, want := (githubtest.Request{Body: r.Body}).JSON("commit_id"), sent[i].JSON("commit_id"); !cmp.Equal(got, want) {
			t.Errorf("request %d: planned for the commit %v, sent for %v", i+1, got, want)
		}
	}
}

// GitHub usually refuses a comment by an answer without a thread. If it reports an error instead, that
// also concerns this comment alone.
func TestAThreadThatIsRefusedWithAnError(t *testing.T) {
	b := refusing(t, githubtest.Options{})
	b.srv.SetFault(always("graphql/AddThreads", githubtest.Fault{After: true, Status: 200, Body: `{"data":{"t0":null,"t1":{"thread":{"id":"PRRT_1"}}},
		"errors":[{"type":"UNPROCESSABLE","path":["t0"],"message":"Line must be part of the diff"}]}`}))
	want(t, b.run(reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Good.")), "applied applied")
	pull := b.issue(pullNumber).Pull
	if len(pull.Reviews) != 1 || len(pull.Comments) != 1 || !strings.Contains(pull.Reviews[0].Body, "Refused.") {
		t.Errorf("reviews %+v, comments %+v", pull.Reviews, pull.Comments)
	}
}

// Where GitHub does not accept the body, the comments on lines are posted all the same.
func TestABodyThatGitHubRefuses(t *testing.T) {
	for name, lines := range map[string][]string{
		"with comments on lines": {reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Good.")},
		"alone":                  {reviewLine("main.go", 1, "Refused.")},
	} {
		b := refusing(t, githubtest.Options{})
		b.srv.SetFault(times(1, "graphql/SubmitReview", githubtest.Fault{Status: 200,
			Body: `{"data":{"submitPullRequestReview":null},"errors":[{"type":"UNPROCESSABLE","path":["submitPullRequestReview"],"message":"Body is not welcome"}]}`}))
		results := b.run(lines...)
		allApplied(t, results)
		i := b.issue(pullNumber)
		if len(i.Pull.Comments) != len(lines)-1 || len(i.Pull.Reviews) != len(lines)-1 || shown(i, "Refused.") != 1 || notifications(i) != 1 {
			t.Errorf("%s: %d comments on lines in %d reviews, conversation %+v", name, len(i.Pull.Comments), len(i.Pull.Reviews), i.Comments)
		}
		if alone := len(lines) == 1; alone != strings.Contains(results[0].Message, "did not accept the review's body (Body is not welcome)") {
			t.Errorf("%s: message %q", name, results[0].Message)
		}
		b.cfg.Run.Attempt = 2
		for _, r := range b.run(lines...) {
			if r.State != Adopted {
				t.Errorf("%s, second attempt: %s", name, r.State)
			}
		}
	}
}

// GitHub may take a comment and lose it, before or when the review is submitted.
func TestACommentThatGitHubLoses(t *testing.T) {
	for _, when := range []string{"graphql/Draft", "graphql/SubmitReview"} {
		t.Run(when, func(t *testing.T) {
			b := refusing(t, githubtest.Options{})
			lose := true
			b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Operation == when && lose {
					lose = false
					b.srv.Change(func(f *githubtest.Fixture) {
						p := issueIn(*f, pullNumber).Pull
						p.Comments = slices.DeleteFunc(p.Comments, func(c *githubtest.DiffComment) bool { return strings.HasPrefix(c.Body, "Lost.") })
					})
				}
				return githubtest.Fault{}
			})
			results := b.run(reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Lost."), reviewLine("main.go", 3, "Kept."))
			want(t, results, "applied applied applied")
			pull := b.issue(pullNumber).Pull
			if len(pull.Reviews) != 1 || len(pull.Comments) != 1 || strings.Count(pull.Reviews[0].Body, "Lost.") != 1 || strings.Count(pull.Reviews[0].Body, "Refused.") != 1 {
				t.Errorf("reviews %+v, comments %+v", pull.Reviews[0].Body, pull.Comments)
			}
			if !strings.Contains(results[1].Message, "because GitHub lost the comment") {
				t.Errorf("message %q", results[1].Message)
			}
			b.cfg.Run.Attempt = 2
			want(t, b.run(reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Lost."), reviewLine("main.go", 3, "Kept.")), "adopted adopted adopted")
		})
	}
}

// A draft that a person or another program wrote with the same account is never deleted. It blocks
// reviews, so after a while the comments are posted in the conversation.
func TestADraftOfSomebodyElse(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	draft := b.draftOf("My own thoughts.")
	begun := b.clock.Now()
	want(t, b.run(reviewLine("main.go", 1, "One."), reviewLine("main.go", 2, "Two.")), "applied applied")
	i := b.issue(pullNumber)
	if len(i.Pull.Reviews) != 1 || i.Pull.Reviews[0].ID != draft.ID || i.Pull.Reviews[0].Body != "My own thoughts." {
		t.Errorf("the draft is %+v", i.Pull.Reviews)
	}
	if len(i.Comments) != 1 || !strings.Contains(i.Comments[0].Body, "another review here that is not submitted yet") ||
		!strings.Contains(i.Comments[0].Body, "**`main.go`, line 1**\n\nOne.") || !strings.Contains(i.Comments[0].Body, "Two.") {
		t.Errorf("comments %+v", i.Comments)
	}
	if waited := b.clock.Now().Sub(begun); waited > 61*time.Second {
		t.Errorf("it waited %v", waited)
	}
	b.cfg.Run.Attempt = 2
	want(t, b.run(reviewLine("main.go", 1, "One."), reviewLine("main.go", 2, "Two.")), "adopted adopted")
}

// A pending review blocks only a new one: a run that posts none, and changes the text of a comment
// that is there, waits for nobody.
func TestADraftIsNotWaitedForWithoutAReview(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	one := []intake.OwnItem{found("one", 3)}
	want(t, b.runOwn(one), "applied")
	b.draftOf("My own thoughts.")
	one[0].Item.(*safeoutput.CreateReviewComment).Body = "Found one, in other words."
	start := b.push().clock.Now()
	want(t, b.runOwn(one), "applied")
	if waited := b.clock.Now().Sub(start); waited != 0 {
		t.Errorf("it waited %v", waited)
	}
	b.wantOnLines("Found one, in other words.")
}

// Another job that uses the same account is given time to end its review. If it does not, the
// review is deleted.
func TestADraftOfAnotherJobIsWaitedFor(t *testing.T) {
	other := strings.Repeat("7", 69)
	for name, ends := range map[string]bool{"it ends": true, "it was killed": false} {
		t.Run(name, func(t *testing.T) {
			b := reviewBench(t, githubtest.Options{})
			draft := b.draftOf("Airlock began this review.\n\n" + markdown.Marker(other))
			lists := 0
			b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Operation == "pulls/list-reviews" {
					if lists++; lists == 3 && ends {
						b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, pullNumber).Pull.Reviews[0].State = "COMMENTED" })
					}
				}
				return githubtest.Fault{}
			})
			want(t, b.run(reviewLine("main.go", 1, "One.")), "applied")
			i := b.issue(pullNumber)
			theirs := slices.ContainsFunc(i.Pull.Reviews, func(r *githubtest.Review) bool { return r.ID == draft.ID })
			if len(i.Pull.Comments) != 1 || len(i.Comments) != 0 || theirs != ends {
				t.Errorf("%d comments on lines, %d in the conversation, the other review is there: %v", len(i.Pull.Comments), len(i.Comments), theirs)
			}
		})
	}
}

// A run that was killed long ago does not complete its review, so nobody waits for it.
func TestAnOldDraftIsDeletedAtOnce(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	other := &reviewWork{group: strings.Repeat("7", keyLen), size: 3}
	b.draftOf(other.draftBody(b.clock.Now().Add(-time.Hour)))
	begun := b.clock.Now()
	want(t, b.run(reviewLine("main.go", 1, "One.")), "applied")
	if p := b.issue(pullNumber).Pull; len(p.Reviews) != 1 || p.Reviews[0].State != "COMMENTED" || b.clock.Now() != begun {
		t.Errorf("after %v: %+v", b.clock.Now().Sub(begun), p.Reviews)
	}
}

// Somebody who cleans up may delete a pending review that is being made.
func TestADraftThatSomebodyDeletes(t *testing.T) {
	for _, before := range []string{"graphql/AddThreads", "graphql/Draft", "graphql/SubmitReview"} {
		b := refusing(t, githubtest.Options{})
		gone := false
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation == before && !gone {
				gone = true
				b.srv.Change(func(f *githubtest.Fixture) {
					p := issueIn(*f, pullNumber).Pull
					p.Reviews, p.Comments = nil, nil
				})
			}
			return githubtest.Fault{}
		})
		want(t, b.run(reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Good.")), "applied applied")
		if p := b.issue(pullNumber).Pull; len(p.Reviews) != 1 || len(p.Comments) != 1 || p.Reviews[0].State != "COMMENTED" {
			t.Errorf("deleted before %s: %+v", before, p.Reviews)
		}
	}
}

// A workflow run that is stopped leaves no pending review behind.
func TestStoppedWhileAReviewIsPending(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "Refused."), reviewLine("main.go", 2, "Good.")}
	for n := 1; n < 40; n++ {
		b := refusing(t, githubtest.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		approved, _ := b.judge(lines...)
		results, err := b.process(ctx, &killer{next: b.srv.Transport(), left: n, cancel: cancel}, b.clock, approved)
		for _, r := range b.issue(pullNumber).Pull.Reviews {
			if r.State == "PENDING" {
				t.Errorf("stopped at request %d: a pending review is left: %s", n, states(results))
			}
		}
		b.cfg.Run.Attempt = 2
		b.invoke(b.srv.Transport(), lines)
		if text := b.allText(); strings.Count(text, "Refused.") != 1 || strings.Count(text, "Good.") != 1 {
			t.Errorf("stopped at request %d: lost or doubled:\n%s", n, text)
		}
		cancel()
		if err == nil && Count(results)[Applied] == 2 && len(b.srv.Requests()) < n {
			return
		}
	}
}

// Airlock's own comments are posted on lines or not at all, also by way of a pending review.
func TestOwnCommentsThatGitHubRefuses(t *testing.T) {
	refuse := func(texts ...string) githubtest.Options {
		return githubtest.Options{RefuseComment: func(body string) bool {
			return slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(body, s) })
		}}
	}
	b := ownBench(t, refuse("Found one"))
	want(t, b.runOwn([]intake.OwnItem{found("one", 3), found("two", 4)}), "skipped(outside-diff) applied")
	if p := b.issue(pullNumber).Pull; len(p.Reviews) != 1 || len(p.Comments) != 1 || strings.Contains(p.Reviews[0].Body, "Found one") {
		t.Errorf("reviews %+v", p.Reviews)
	}
	b = ownBench(t, refuse("Found"))
	want(t, b.runOwn([]intake.OwnItem{found("one", 3), found("two", 4)}), "skipped(outside-diff) skipped(outside-diff)")
	if p := b.issue(pullNumber).Pull; len(p.Reviews) != 0 {
		t.Errorf("an empty review was left: %+v", p.Reviews)
	}
}
