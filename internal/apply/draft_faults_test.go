package apply

import (
	"context"
	"flag"
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

// draftFault is one thing that goes wrong with a request of a review.
type draftFault struct {
	name  string
	fault githubtest.Fault
	// kill and stop end the process, and ctx, instead.
	kill, after, stop bool
}

// jsonAnswer is an answer that replaces GitHub's.
func jsonAnswer(status int, body string, after bool) githubtest.Fault {
	return githubtest.Fault{Status: status, Body: body, After: after, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
}

// draftFaults are what goes wrong at each request.
func draftFaults() []draftFault {
	html := githubtest.Fault{Status: 502, Body: "<html><body>Unicorn!</body></html>", Header: http.Header{"Content-Type": {"text/html"}}}
	htmlAfter := html
	htmlAfter.After = true
	list := []draftFault{
		{name: "401", fault: jsonAnswer(401, `{"message":"Bad credentials"}`, false)},
		{name: "403", fault: jsonAnswer(403, `{"message":"Resource not accessible by integration"}`, false)},
		{name: "403 without a word", fault: githubtest.Fault{Status: 403}},
		{name: "404", fault: githubtest.NotThere()},
		{name: "409", fault: jsonAnswer(409, `{"message":"Conflict"}`, false)},
		{name: "410", fault: jsonAnswer(410, `{"message":"Gone"}`, false)},
		{name: "422 line", fault: githubtest.OutsideDiff()},
		{name: "422 as objects", fault: jsonAnswer(422, `{"message":"Validation Failed","errors":[{"resource":"PullRequestReviewComment","field":"line","code":"invalid"}]}`, false)},
		{name: "422 without a word", fault: githubtest.Fault{Status: 422}},
		{name: "422 as a page", fault: githubtest.Fault{Status: 422, Body: "<html>no</html>"}},
		{name: "422 too long", fault: jsonAnswer(422, `{"message":"Unprocessable Entity","errors":["Body is too long (maximum is 65536 characters)"]}`, false)},
		{name: "422 pending", fault: jsonAnswer(422, `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`, false)},
		{name: "422 too quick", fault: githubtest.TooQuick()},
		{name: "422 commit", fault: jsonAnswer(422, `{"message":"Unprocessable Entity","errors":["The commit is not part of the pull request"]}`, false)},
		{name: "429", fault: githubtest.BareLimit(429, 3)},
		{name: "429 without a header", fault: githubtest.BareLimit(429, -1)},
		{name: "secondary limit", fault: githubtest.SecondaryLimit(403, 30)},
		{name: "secondary limit without a header", fault: githubtest.SecondaryLimit(403, -1)},
		{name: "a limit for hours", fault: githubtest.PrimaryLimit(403, noon.Add(5*time.Hour))},
		{name: "500", fault: githubtest.ServerError(500, false)},
		{name: "502 as a page", fault: html},
		{name: "502 as a page, after the effect", fault: htmlAfter},
		{name: "503, after the effect", fault: githubtest.ServerError(503, true)},
		{name: "an empty answer", fault: jsonAnswer(200, "", false)},
		{name: "an empty answer, after the effect", fault: jsonAnswer(200, "", true)},
		{name: "null", fault: jsonAnswer(200, "null", false)},
		{name: "null, after the effect", fault: jsonAnswer(200, "null", true)},
		{name: "{}, after the effect", fault: jsonAnswer(200, "{}", true)},
		{name: "cut", fault: githubtest.Fault{Cut: true}},
		{name: "cut, after the effect", fault: githubtest.Fault{Cut: true, After: true}},
		{name: "cut in the answer", fault: githubtest.Fault{CutBody: true}},
		{name: "cut, the effect 4 s later", fault: githubtest.Fault{Late: 4 * time.Second}},
		{name: "cut, the effect 25 s later", fault: githubtest.Fault{Late: 25 * time.Second}},
		{name: "time-out", fault: githubtest.Fault{Delay: timeout}},
		{name: "time-out, after the effect", fault: githubtest.Fault{Delay: timeout, After: true}},
		{name: "killed", kill: true},
		{name: "killed, after the effect", kill: true, after: true},
		{name: "stopped", stop: true},
	}
	for name, body := range map[string]string{
		"data null":                    `{"data":null}`,
		"data null and an error":       `{"data":null,"errors":[{"message":"Something went wrong while executing your query."}]}`,
		"an error without data":        `{"errors":[{"message":"Something is odd"}]}`,
		"errors null":                  `{"errors":[null]}`,
		"GraphQL's not found":          `{"data":{"node":null,"submitPullRequestReview":null,"deletePullRequestReview":null,"t0":null},"errors":[{"type":"NOT_FOUND","path":["node"],"message":"Could not resolve to a node"}]}`,
		"GraphQL's forbidden":          `{"data":{"submitPullRequestReview":null},"errors":[{"type":"FORBIDDEN","path":["submitPullRequestReview"],"message":"Resource not accessible by integration"}]}`,
		"GraphQL's refusal":            `{"data":{"submitPullRequestReview":null},"errors":[{"type":"UNPROCESSABLE","path":["submitPullRequestReview"],"message":"Body is odd"}]}`,
		"GraphQL's failure":            `{"data":null,"errors":[{"type":"INTERNAL","message":"Something went wrong"}]}`,
		"GraphQL's limit":              `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded for installation ID 1."}]}`,
		"data of a mutation null":      `{"data":{"submitPullRequestReview":null,"deletePullRequestReview":null,"t0":null,"t1":null,"node":null}}`,
		"data and an error below":      `{"data":{"t0":{"thread":{"id":"PRRT_1"}},"submitPullRequestReview":{"pullRequestReview":null}},"errors":[{"message":"odd","path":["t0","thread","id"]}]}`,
		"data and an unprocessable":    `{"data":{"t0":{"thread":null}},"errors":[{"type":"UNPROCESSABLE","message":"odd","path":["t1"]}]}`,
		"a message instead of data":    `{"message":"You have exceeded a secondary rate limit."}`,
		"a review that is pending yet": `{"data":{"submitPullRequestReview":{"pullRequestReview":{"state":"PENDING"}}}}`,
	} {
		list = append(list, draftFault{name: name, fault: jsonAnswer(200, body, false)})
		if !strings.Contains(body, "limit") { // GitHub refuses what is over a limit before it takes effect
			list = append(list, draftFault{name: name + ", after the effect", fault: jsonAnswer(200, body, true)})
		}
	}
	slices.SortFunc(list, func(a, b draftFault) int { return strings.Compare(a.name, b.name) })
	return list
}

// draftScene is the state of a repository in which a review is made.
type draftScene struct {
	name   string
	onFile bool // there is a comment on a file, too
	setUp  func(b *bench)
}

// draftLines are comments of which GitHub refuses the first: more than one request can add.
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
func (b *bench) draftProcess(ctx context.Context, rt http.RoundTripper, clock Clock, approved []policy.Approved) (results []Result, log []string, err error) {
	results, err = b.loggedProcess(ctx, rt, clock, approved, func(line string) { log = append(log, line) })
	return results, log, err
}

// TestFaultsOnReviewsThatArePending lets each request of a review, of which GitHub refuses a line,
// go wrong in each way, once or from then on, in one scene after the other. Each comment must be
// seen once or be told as failed with its text, people are notified once, and no pending review
// is left without a word. The next run must complete what is missing.
func TestFaultsOnReviewsThatArePending(t *testing.T) {
	t.Parallel()
	scenes, faults := draftScenes(), draftFaults()
	requests := map[string][]string{}
	for _, scene := range scenes {
		calm := scene.begin(t)
		results, _, err := calm.draftProcess(t.Context(), calm.srv.Transport(), calm.clock, calm.approved)
		if err != nil || Count(results)[Applied] != len(calm.texts) {
			t.Fatalf("%s: without faults it ends with %s, %v", scene.name, states(results), err)
		}
		requests[scene.name] = operations(calm.srv.Requests())
	}
	var cells []draftCell
	for _, scene := range scenes {
		for at, operation := range requests[scene.name] {
			for _, f := range faults {
				cells = append(cells, draftCell{scene, at, operation, f, 1})
				if !f.kill && !f.stop {
					cells = append(cells, draftCell{scene, at, operation, f, 1000})
				}
			}
		}
	}
	// One cell in a prime number meets every request, every fault and every scene.
	every := 97
	if *allCells {
		every = 1
	} else if testing.Short() {
		every = 1009
	}
	for i := 0; i < len(cells); i += every {
		if problems := cells[i].play(t); len(problems) > 0 {
			t.Errorf("%s:\n   %s", cells[i], strings.Join(problems, "\n   "))
		}
	}
}

// allCells plays all combinations, which takes minutes.
var allCells = flag.Bool("faults.all", false, "play every fault at every request of a review in every scene")

// draftCell is one thing that goes wrong at one request of one scene.
type draftCell struct {
	scene     draftScene
	at        int // the request, from 0
	operation string
	fault     draftFault
	times     int // how many requests of the operation it meets
}

// String describes the cell.
func (c draftCell) String() string {
	return fmt.Sprintf("%s, request %d (%s), %s, at most %d times", c.scene.name, c.at+1, c.operation, c.fault.name, c.times)
}

// draftPlay is a scene that is being played.
type draftPlay struct {
	*bench
	approved []policy.Approved
	texts    []string
	before   int // pending reviews of Airlock's at the beginning
}

func (scene draftScene) begin(t *testing.T) draftPlay {
	t.Helper()
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true, RefuseComment: func(body string) bool { return strings.Contains(body, "refused") }}).on("pull_request", pullNumber)
	if scene.setUp != nil {
		scene.setUp(b)
	}
	lines, texts := draftLines(scene)
	approved, _ := b.judge(lines...)
	b.srv.ResetRequests()
	return draftPlay{b, approved, texts, len(draftsLeft(b.issue(pullNumber)))}
}

// play plays the cell, and one run without faults after it. It returns what is wrong.
func (c draftCell) play(t *testing.T) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	p := c.scene.begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rt := p.srv.Transport()
	switch {
	case c.fault.kill:
		rt = &killer{next: rt, left: c.at + 1, after: c.fault.after}
	case c.fault.stop:
		rt = &killer{next: rt, left: c.at + 1, cancel: cancel}
	default:
		n, left := 0, c.times
		p.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if n++; n <= c.at || r.Operation != c.operation || left == 0 {
				return githubtest.Fault{}
			}
			left--
			return c.fault.fault
		})
	}
	results, log, err := p.draftProcess(ctx, rt, p.clock, p.approved)
	i := p.issue(pullNumber)
	if err == nil && results == nil && !c.fault.kill {
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
	if n := len(draftsLeft(i)); (n > p.before || n > 0 && Count(results)[Applied] > 0) && results != nil && !strings.Contains(told, "not submit") {
		say("%d pending reviews are left without a word: %s\n%s", n, states(results), strings.Join(log, "\n"))
	}
	if n := notifications(i); n > 1 {
		say("people were notified %d times", n)
	}
	p.srv.SetFault(nil)
	p.clock.Advance(time.Minute)
	p.cfg.Run.Attempt++
	results, _, err = p.draftProcess(t.Context(), p.srv.Transport(), p.clock, p.approved)
	i = p.issue(pullNumber)
	for _, text := range p.texts {
		if n := shown(i, text); n != 1 {
			say("after the next run %q is there %d times: %s, %v", text, n, states(results), err)
		}
	}
	if n := len(draftsLeft(i)); n > 0 {
		say("after the next run %d pending reviews are left", n)
	}
	if n := notifications(i); n > 1 {
		say("after the next run people were notified %d times: %s", n, states(results))
	}
	return problems
}
