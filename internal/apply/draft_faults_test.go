package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// draftScene is the state of a repository in which a review is made.
type draftScene struct {
	name   string
	onFile bool // there is a comment on a file, too
	setUp  func(b *bench)
}

// draftLines returns more comments than one request can add. GitHub refuses the first of them.
func draftLines(scene draftScene) (lines, texts []string) {
	add := func(line int, text string) {
		lines, texts = append(lines, reviewLine("main.go", line, text)), append(texts, text)
	}
	add(1, "This is refused.")
	for i := range githubapi.MaxThreads + 2 {
		add(1+i%6, fmt.Sprintf("Good %d.", i))
	}
	if scene.onFile {
		add(99, "On the file.")
	}
	return lines, texts
}

// shown returns how often people see a text on the pull request.
func shown(i *githubtest.Issue, text string) (n int) {
	for _, r := range i.Pull.Reviews {
		if r.State == "PENDING" {
			continue
		}
		n += strings.Count(r.Body, text)
		for _, c := range i.Pull.Comments {
			if c.ReviewID == r.ID {
				n += strings.Count(c.Body, text)
			}
		}
	}
	for _, c := range i.Comments {
		n += strings.Count(c.Body, text)
	}
	return n
}

// notifications returns how often people were notified.
func notifications(i *githubtest.Issue) int {
	return len(i.Comments) + len(slices.DeleteFunc(slices.Clone(i.Pull.Reviews), func(r *githubtest.Review) bool { return r.State == "PENDING" }))
}

// draftsLeft returns the pending reviews that a person did not write.
func draftsLeft(i *githubtest.Issue) []*githubtest.Review {
	return slices.DeleteFunc(slices.Clone(i.Pull.Reviews), func(r *githubtest.Review) bool { return r.State != "PENDING" || r.Body == strangersDraft })
}

func draftScenes() []draftScene {
	return []draftScene{
		{name: "plain"},
		{name: "with a comment on a file", onFile: true, setUp: func(b *bench) {
			b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = policy.OutsideFile })
		}},
		{name: "fork", setUp: func(b *bench) {
			b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, pullNumber).Pull.Head.Fork = "somebody/repo" })
			b.ev.Head.Repo, b.ev.Fork = "somebody/repo", true
		}},
		{name: "stale draft of this job", setUp: func(b *bench) {
			lines, _ := draftLines(draftScene{})
			b.invoke(&killer{next: b.srv.Transport(), left: 9}, lines) // before it adds comments
			if b.cfg.Run.Attempt = 2; len(draftsLeft(b.issue(pullNumber))) != 1 {
				b.t.Fatal("the run that was killed left no pending review")
			}
		}},
		{name: "stale draft of another run", setUp: func(b *bench) {
			other := &reviewWork{group: strings.Repeat("7", keyLen), size: 3}
			b.draftOf(other.draftBody(b.clock.Now().Add(-time.Hour)))
		}},
		{name: "another account's draft", setUp: func(b *bench) {
			b.srv.Change(func(f *githubtest.Fixture) {
				p := issueIn(*f, pullNumber).Pull
				p.Reviews = append(p.Reviews, &githubtest.Review{State: "PENDING", Author: githubtest.Account{Login: "octocat", ID: 583231}, Body: strangersDraft})
			})
		}},
		{name: "a person's draft of the same account", setUp: func(b *bench) { b.draftOf(strangersDraft) }},
	}
}

// draftProcess is process, and returns what it logs as well.
func (b *bench) draftProcess(ctx context.Context, rt http.RoundTripper, clock githubapi.Clock, approved []policy.Approved) (results []Result, log []string, err error) {
	results, err = b.loggedProcess(ctx, rt, clock, approved, func(line string) { log = append(log, line) })
	return results, log, err
}

// TestFaultsOnReviewsThatArePending posts a review with a line that GitHub refuses. In each scene,
// each of its requests goes wrong in each way, once or from then on. Each comment must be seen
// once, or be reported as failed with its text. People must be notified at most once, and a pending
// review that is left must be reported. The next run must complete what is missing.
func TestFaultsOnReviewsThatArePending(t *testing.T) {
	t.Parallel()
	var scenes []faultScene
	for _, s := range draftScenes() {
		scenes = append(scenes, faultScene{name: s.name, begin: s.begin, plausible: isPlayedInDrafts})
	}
	playFaults(t, scenes, 70)
}

// isPlayedInDrafts reports whether a mishap is played. Two are not, because a review cannot be
// protected from them: a request that arrives twice adds its comments twice (docs/limits.md), and a
// list may never show the pending review of an earlier run.
func isPlayedInDrafts(m mishap) bool { return !m.fault.Twice && m.fault.Hide == 0 }

// draftPlay is a scene that is being played.
type draftPlay struct {
	*bench
	texts  []string
	before int // pending reviews of Airlock's at the beginning
}

func (scene draftScene) begin(t *testing.T) faultPlay {
	t.Helper()
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true, RefuseComment: func(body string) bool { return strings.Contains(body, "refused") }}).on("pull_request", pullNumber)
	if scene.setUp != nil {
		scene.setUp(b)
	}
	lines, texts := draftLines(scene)
	approved, _ := b.judge(lines...)
	b.srv.ResetRequests()
	p := draftPlay{b, texts, len(draftsLeft(b.issue(pullNumber)))}
	return faultPlay{b, approved, p.check}
}

// check returns what is wrong after a process.
func (p draftPlay) check(end processEnd) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	i, results := p.issue(pullNumber), end.results
	drafts, notified := draftsLeft(i), notifications(i)
	if end.last {
		for _, text := range p.texts {
			if n := shown(i, text); n != 1 {
				say("after the next run %q is there %d times: %s, %v", text, n, states(results), end.err)
			}
		}
		if len(drafts) > 0 {
			say("after the next run %d pending reviews are left", len(drafts))
		}
		if notified > 1 {
			say("after the next run people were notified %d times: %s", notified, states(results))
		}
		return problems
	}
	if end.err == nil && results == nil && !end.mishap.kill {
		say("it has no results")
	}
	told := ""
	for k, r := range results {
		text, n := p.texts[k], shown(i, p.texts[k])
		told += strings.Join(r.Notes, " ")
		switch done := r.State == Applied || r.State == Adopted; {
		case done && n != 1, r.Code == string(githubapi.Ambiguous) && n > 1, !done && r.Code != string(githubapi.Ambiguous) && n != 0:
			say("%q is %s(%s) and there %d times: %s", text, r.State, r.Code, n, r.Message)
		case !done && (r.Fallback == nil || r.Fallback.Text != text):
			say("%q is %s(%s), and its text is not kept", text, r.State, r.Code)
		}
	}
	if (len(drafts) > p.before || len(drafts) > 0 && Count(results)[Applied] > 0) && results != nil && !strings.Contains(told, "not submit") {
		say("%d pending reviews are left without a word: %s\n%s", len(drafts), states(results), strings.Join(end.log, "\n"))
	}
	if notified > 1 {
		say("people were notified %d times", notified)
	}
	return problems
}
