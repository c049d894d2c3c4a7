package apply

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// mishap is one thing that goes wrong with a request.
type mishap struct {
	name  string
	fault githubtest.Fault
	// Two things can happen instead of a fault. kill ends the process before the request is sent
	// or, with after, once it took effect. stop cancels the process's context.
	kill, after, stop bool
	// lie is set where the answer says that nothing happened, and something did.
	lie bool
}

// jsonAnswer returns an answer that replaces GitHub's. after is set where the request takes effect
// nevertheless.
func jsonAnswer(status int, body string, after bool) githubtest.Fault {
	return githubtest.Fault{Status: status, Body: body, After: after, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
}

// mishaps returns all that can go wrong at a request, sorted by name.
func mishaps() []mishap {
	html := githubtest.Fault{Status: 502, Body: "<html><body>Unicorn!</body></html>", Header: http.Header{"Content-Type": {"text/html"}}}
	htmlAfter := html
	htmlAfter.After = true
	list := []mishap{
		{name: "304", fault: githubtest.Fault{Status: 304}},
		{name: "304, after the effect", fault: githubtest.Fault{Status: 304, After: true}},
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
		{name: "503, after the effect, and listed 25 s later", fault: unlisted(githubtest.ServerError(503, true))},
		{name: "an empty answer", fault: jsonAnswer(200, "", false)},
		{name: "an empty answer, after the effect", fault: jsonAnswer(200, "", true)},
		{name: "null", fault: jsonAnswer(200, "null", false)},
		{name: "null, after the effect", fault: jsonAnswer(200, "null", true)},
		{name: "{}, after the effect", fault: jsonAnswer(200, "{}", true)},
		{name: "cut", fault: githubtest.Fault{Cut: true}},
		{name: "cut, after the effect", fault: githubtest.Fault{Cut: true, After: true}},
		{name: "cut, after the effect, and listed 25 s later", fault: unlisted(githubtest.Fault{Cut: true, After: true})},
		{name: "cut in the answer", fault: githubtest.Fault{CutBody: true}},
		{name: "cut, the effect 4 s later", fault: githubtest.Fault{Late: 4 * time.Second}},
		{name: "cut, the effect 25 s later", fault: githubtest.Fault{Late: 25 * time.Second}},
		{name: "slow", fault: githubtest.Fault{Delay: 20 * time.Second}},
		{name: "slow, after the effect", fault: githubtest.Fault{Delay: 20 * time.Second, After: true}},
		{name: "time-out", fault: githubtest.Fault{Delay: timeout}},
		{name: "time-out, after the effect", fault: githubtest.Fault{Delay: timeout, After: true}},
		{name: "delivered twice", fault: githubtest.Fault{Twice: true}},
		{name: "listed 25 s later", fault: unlisted(githubtest.Fault{})},
		{name: "a list without the newest", fault: githubtest.Fault{Hide: 1}},
		{name: "a list in the opposite order", fault: githubtest.Fault{Reverse: true}},
		{name: "a list whose pages move on", fault: githubtest.Fault{Shift: 1}},
		{name: "a list whose pages move back", fault: githubtest.Fault{Shift: -1}},
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
		"data of a mutation null":      `{"data":{"submitPullRequestReview":null,"deletePullRequestReview":null,"t0":null,"t1":null,"node":null,"createDiscussion":null,"addDiscussionComment":null,"minimizeComment":null,"createCommitOnBranch":null}}`,
		"data and an error below":      `{"data":{"t0":{"thread":{"id":"PRRT_1"}},"submitPullRequestReview":{"pullRequestReview":null}},"errors":[{"message":"odd","path":["t0","thread","id"]}]}`,
		"data and an unprocessable":    `{"data":{"t0":{"thread":null}},"errors":[{"type":"UNPROCESSABLE","message":"odd","path":["t1"]}]}`,
		"a message instead of data":    `{"message":"You have exceeded a secondary rate limit."}`,
		"a review that is pending yet": `{"data":{"submitPullRequestReview":{"pullRequestReview":{"state":"PENDING"}}}}`,
	} {
		list = append(list, mishap{name: name, fault: jsonAnswer(200, body, false)})
		if !strings.Contains(body, "limit") { // GitHub refuses what is over a limit before it takes effect
			// Without data, nothing was carried out (GraphQL, 7.1.2).
			refused := !strings.Contains(body, `"data"`) || strings.Contains(body, "NOT_FOUND") || strings.Contains(body, "FORBIDDEN") || strings.Contains(body, "UNPROCESSABLE")
			list = append(list, mishap{name: name + ", after the effect", fault: jsonAnswer(200, body, true), lie: refused})
		}
	}
	slices.SortFunc(list, func(a, b mishap) int { return strings.Compare(a.name, b.name) })
	return list
}

// unlisted returns a fault after which lists show late what the request creates.
func unlisted(f githubtest.Fault) githubtest.Fault {
	f.Unlisted = 25 * time.Second
	return f
}

// faultScene is a repository in which items are applied.
type faultScene struct {
	name  string
	begin func(t *testing.T) faultPlay
	// plausible reports whether a mishap is played. If it is nil, each is.
	plausible func(mishap) bool
}

// faultPlay is a scene that is being played.
type faultPlay struct {
	*bench
	approved []policy.Approved
	// check returns what is wrong. It is called after each process: one in which something goes wrong
	// and a second one in which nothing does, or only one in which nothing does.
	check func(processEnd) []string
}

// processEnd is how a process ended.
type processEnd struct {
	results []Result // nil where it was killed or could not begin
	err     error    // why it could not begin
	log     []string
	mishap  mishap
	last    bool // nothing went wrong in it, and no other process follows
}

// faultCell is one thing that goes wrong at one request of one scene.
type faultCell struct {
	scene     faultScene
	at        int // the request, from 0
	own       int // which of the process's own requests it is, from 1; the others are git's
	operation string
	mishap    mishap
	times     int // how many requests of the operation it meets
}

// String describes the cell.
func (c faultCell) String() string {
	return fmt.Sprintf("%s, request %d (%s), %s, at most %d times", c.scene.name, c.at+1, c.operation, c.mishap.name, c.times)
}

// allCells plays all combinations, which takes minutes.
var allCells = flag.Bool("faults.all", false, "play every fault at every request of every scene")

// oneScene is the beginning of the names of the scenes that are played.
var oneScene = flag.String("faults.scene", "", "play only the scenes whose name begins with this")

// playFaults lets each request of each scene go wrong in each way, once or from then on. It plays n
// of these cells, drawn at random but the same for each -chaos.seed, unless all are asked for.
func playFaults(t *testing.T, scenes []faultScene, n uint64) {
	t.Helper()
	var cells []faultCell
	for _, scene := range scenes {
		if !strings.HasPrefix(scene.name, *oneScene) {
			continue
		}
		own := 0
		for at, operation := range scene.requests(t) {
			isGit := strings.HasPrefix(operation, "git-http/")
			if !isGit {
				own++
			}
			for _, m := range mishaps() {
				if scene.plausible != nil && !scene.plausible(m) || isGit && (m.kill || m.stop) {
					continue
				}
				cells = append(cells, faultCell{scene, at, own, operation, m, 1})
				if !m.kill && !m.stop {
					cells = append(cells, faultCell{scene, at, own, operation, m, 1000})
				}
			}
		}
	}
	if !*allCells {
		rand.New(rand.NewPCG(max(*chaosSeed, 1), 19)).Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:min(int(schedules(t, n)), len(cells))]
	}
	for _, c := range cells {
		if problems := c.play(t); len(problems) > 0 {
			t.Errorf("%s:\n   %s", c, strings.Join(problems, "\n   "))
		}
	}
}

// requests returns the operations of the requests that are sent when nothing goes wrong.
func (s faultScene) requests(t *testing.T) []string {
	t.Helper()
	p := s.begin(t)
	p.srv.ResetRequests()
	results, log, err := p.draftProcess(t.Context(), p.srv.Transport(), p.clock, p.approved)
	requests := operations(p.srv.Requests())
	if problems := p.check(processEnd{results: results, err: err, log: log, last: true}); len(problems) > 0 {
		t.Fatalf("%s: without faults it ends with %s, %v:\n   %s", s.name, states(results), err, strings.Join(problems, "\n   "))
	}
	return requests
}

// play plays the cell, and one process without faults after it. It returns what is wrong.
func (c faultCell) play(t *testing.T) []string {
	t.Helper()
	p := c.scene.begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rt := p.srv.Transport()
	switch {
	case c.mishap.kill:
		rt = &killer{next: rt, left: c.own, after: c.mishap.after}
	case c.mishap.stop:
		rt = &killer{next: rt, left: c.own, cancel: cancel}
	default:
		var mu sync.Mutex // git's requests come from other processes
		n, left := 0, c.times
		p.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if n++; n <= c.at || r.Operation != c.operation || left == 0 {
				return githubtest.Fault{}
			}
			left--
			return c.mishap.fault
		})
	}
	results, log, err := p.draftProcess(ctx, rt, p.clock, p.approved)
	problems := p.check(processEnd{results: results, err: err, log: log, mishap: c.mishap})
	p.srv.SetFault(nil)
	p.clock.Advance(time.Minute)
	p.cfg.Run.Attempt++
	results, log, err = p.draftProcess(t.Context(), p.srv.Transport(), p.clock, p.approved)
	return append(problems, p.check(processEnd{results: results, err: err, log: log, mishap: c.mishap, last: true})...)
}
