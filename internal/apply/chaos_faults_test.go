package apply

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// killer is a transport that ends its goroutine at the nth request, like a process that is
// killed: before the request is sent, or after it took effect. If cancel is not nil, it calls
// cancel instead, like an interruption, and sends the request.
type killer struct {
	next   http.RoundTripper
	left   int
	after  bool
	cancel func()
}

// RoundTrip implements http.RoundTripper.
func (k *killer) RoundTrip(req *http.Request) (*http.Response, error) {
	if k.left--; k.left != 0 {
		return k.next.RoundTrip(req)
	}
	if k.cancel != nil {
		k.cancel()
		return k.next.RoundTrip(req)
	}
	if k.after {
		if resp, err := k.next.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	runtime.Goexit()
	return nil, nil
}

// timeout is a delay that no client waits for.
const timeout = 10 * time.Minute

// drawFault chooses what goes wrong with a request. Whatever it is, a write that takes effect
// is listed at most listLag after the answer should have come. lag is how late the server lists
// every write.
func drawFault(r *rand.Rand, req githubtest.Request, now time.Time, lag time.Duration) (string, githubtest.Fault) {
	after := r.IntN(2) == 0
	when := map[bool]string{false: "before", true: "after"}[after] + " the effect"
	seconds := r.IntN(90)
	limit := []int{http.StatusForbidden, http.StatusTooManyRequests}[r.IntN(2)]
	switch r.IntN(13) {
	case 0:
		d := time.Duration(r.IntN(25)) * time.Second
		return fmt.Sprintf("slow by %v %s", d, when), githubtest.Fault{Delay: d, After: after}
	case 1:
		status := 500 + []int{0, 2, 3}[r.IntN(3)]
		return fmt.Sprintf("%d %s", status, when), githubtest.ServerError(status, after)
	case 2:
		return "time-out " + when, githubtest.Fault{Delay: timeout, After: after}
	case 3:
		return "cut " + when, githubtest.Fault{Cut: true, After: after}
	case 4:
		return "cut in the answer", githubtest.Fault{CutBody: true}
	case 5:
		return fmt.Sprintf("secondary limit %d, %d s", limit, seconds), githubtest.SecondaryLimit(limit, seconds)
	case 6:
		return fmt.Sprintf("secondary limit %d without a header", limit), githubtest.SecondaryLimit(limit, -1)
	case 7:
		return fmt.Sprintf("primary limit %d, %d s", limit, seconds), githubtest.PrimaryLimit(limit, now.Add(time.Duration(seconds)*time.Second))
	case 8:
		if strings.HasPrefix(req.Operation, "graphql/") {
			return "GraphQL's limit", githubtest.GraphQLLimit()
		}
		if req.Write {
			return "too quick", githubtest.TooQuick()
		}
		if limit == http.StatusForbidden {
			return fmt.Sprintf("403 without GitHub's words, %d s", seconds), githubtest.BareLimit(limit, seconds)
		}
		return "429 without GitHub's words or a header", githubtest.BareLimit(limit, -1)
	case 9:
		return "404", githubtest.NotThere()
	case 10:
		return "not JSON " + when, githubtest.NotJSON(after)
	case 11:
		garbage := r.IntN(5)
		answers := []string{`{"id":`, `{}`, `null`, `[null]`, `{"message":"ok"}`}
		if strings.HasPrefix(req.Operation, "graphql/") {
			answers = []string{`{"data":{"x":{"y":1}},"errors":[{"message":"Something is odd"}]}`, `{"errors":[null]}`,
				`{"data":null,"errors":[{"message":"Something is odd","path":["x","y"]}]}`, `{"errors":{"message":"odd"}}`, `{"data":{"x":null}}`}
		}
		return "garbage " + answers[garbage], githubtest.Fault{Garbage: answers[garbage]}
	}
	late := max(time.Second, time.Duration(r.Int64N(int64(listLag-lag)+1)))
	if late+lag > listLag {
		return "cut " + when, githubtest.Fault{Cut: true, After: after}
	}
	return fmt.Sprintf("cut, effect %v later", late), githubtest.Fault{Late: late}
}

// stranger is somebody else who works in the repository at the same time.
type stranger struct {
	acts int // how often act was called
	left int // comments that are still there
}

func (s *stranger) account() githubtest.Account { return githubtest.Account{Login: "mallory", ID: 666} }

// act deletes an earlier comment, or adds a comment and now and then an issue. That shifts the
// pages of lists.
func (s *stranger) act(r *rand.Rand, f *githubtest.Fixture, now time.Time) {
	s.acts++
	i := issueIn(*f, []int{issueNumber, pullNumber}[r.IntN(2)])
	if r.IntN(2) == 0 {
		for k, c := range i.Comments {
			if c.Author == s.account() {
				i.Comments = slices.Delete(i.Comments, k, k+1)
				s.left--
				return
			}
		}
	}
	s.left++
	i.Comments = append(i.Comments, &githubtest.Comment{Body: fmt.Sprintf("Thought %d.", s.acts), Author: s.account(), CreatedAt: now, UpdatedAt: now})
	i.UpdatedAt = now
	if r.IntN(3) == 0 {
		f.Issues = append(f.Issues, &githubtest.Issue{Title: fmt.Sprintf("Thought %d.", s.acts), Author: s.account(), CreatedAt: now, UpdatedAt: now})
	}
}
