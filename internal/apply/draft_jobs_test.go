package apply

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// reviewJob is one of two jobs that review the same pull request with one account.
type reviewJob struct {
	bench    *bench
	approved []policy.Approved
	texts    []string
	group    string // begins the marker of its pending review
	ended    bool
	results  []Result
	log      []string
}

// jobsCell is a schedule of two jobs. GitHub does not take the review of either in one request.
type jobsCell struct {
	person bool          // a person who uses the account has begun a review, and not submitted it
	begin  int           // the request of the first job at which the second begins
	prefer int           // the job that goes on where both can
	slow   time.Duration // what each request of the first job takes
	killed int           // the job that is killed, -1 for none
	at     int           // at this request
	after  bool          // after its effect
}

// String describes the cell.
func (c jobsCell) String() string {
	killed := "no job is killed"
	if c.killed >= 0 {
		killed = fmt.Sprintf("job %d is killed at request %d (after its effect: %t)", c.killed+1, c.at, c.after)
	}
	return fmt.Sprintf("person's draft %t, job 2 begins at request %d of job 1, job %d goes first, slow by %v, %s", c.person, c.begin, c.prefer+1, c.slow, killed)
}

// TestTwoJobsReviewAtOnce lets two jobs with one account review a pull request at the same moment.
// Either job may go first, and one of them may be killed before or after any request. Each text must
// be seen once, and each job must post one review. No pending review of a job may be left, and
// nobody may delete one that a person or a job at work has begun.
func TestTwoJobsReviewAtOnce(t *testing.T) {
	t.Parallel()
	const requests = 18 // more than either job sends when nothing goes wrong
	var cells []jobsCell
	for _, person := range []bool{false, true} {
		for begin := range requests {
			for prefer := range 2 {
				for _, slow := range []time.Duration{0, 2 * time.Second} {
					cells = append(cells, jobsCell{person, begin, prefer, slow, -1, 0, false})
					for killed := range 2 {
						for at := range requests {
							cells = append(cells, jobsCell{person, begin, prefer, slow, killed, at + 1, false}, jobsCell{person, begin, prefer, slow, killed, at + 1, true})
						}
					}
				}
			}
		}
	}
	every := 89
	if *allCells {
		every = 1
	} else if testing.Short() {
		every = 997
	}
	for i := 0; i < len(cells); i += every {
		if problems := cells[i].play(t); len(problems) > 0 {
			t.Errorf("%s:\n   %s", cells[i], strings.Join(problems, "\n   "))
		}
	}
}

// newJob returns a job whose comments begin with a word.
func newJob(b *bench, name, word string) *reviewJob {
	one := *b
	one.cfg.Run.Job = name
	j := &reviewJob{bench: &one}
	lines := []string{reviewLine("main.go", 1, word+" is refused.")}
	j.texts = []string{word + " is refused."}
	for n := range 3 {
		text := fmt.Sprintf("%s %d.", word, n)
		lines, j.texts = append(lines, reviewLine("main.go", 2+n, text)), append(j.texts, text)
	}
	j.approved, _ = one.judge(lines...)
	entries, err := entriesOf(one.cfg, one.ev, j.approved)
	if err != nil {
		b.t.Fatal(err)
	}
	j.group = reviewKey(entries)
	return j
}

// owner returns which job began a pending review, -1 for none of them.
func (c jobsCell) owner(jobs []*reviewJob, draft *githubtest.Review) int {
	for k, j := range jobs {
		if strings.Contains(draft.Body, j.group) {
			return k
		}
	}
	return -1
}

// watched is the transport of a job, each of whose requests takes some time.
type watched struct {
	next  http.RoundTripper
	clock githubapi.Clock
	slow  time.Duration
	check func(*http.Request) // sees each request before it is sent
}

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	w.check(req)
	if w.slow > 0 {
		_ = w.clock.Sleep(req.Context(), w.slow)
	}
	return w.next.RoundTrip(req)
}

// deletion returns what a request sends if it deletes a pending review, and nil for another request.
func deletion(t *testing.T, req *http.Request) []byte {
	t.Helper()
	if req.Body == nil {
		return nil
	}
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		t.Error(err)
	}
	req.Body = io.NopCloser(bytes.NewReader(sent))
	if !bytes.Contains(sent, []byte("mutation DeleteReview")) {
		return nil
	}
	return sent
}

// play plays the cell, and then the killed job again. It returns what is wrong.
func (c jobsCell) play(t *testing.T) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true, RefuseComment: func(body string) bool { return strings.Contains(body, "refused") }}).on("pull_request", pullNumber)
	jobs := []*reviewJob{newJob(b, "one", "First"), newJob(b, "two", "Second")}
	if c.person {
		b.draftOf(strangersDraft)
	}
	s := &stage{clock: b.clock}
	sent := make([]int, len(jobs))
	s.held = func(a *actor) bool { return a == s.all[1] && sent[0] < c.begin && !jobs[0].ended }
	s.next = func(ready []*actor) *actor {
		if preferred := s.all[c.prefer]; slices.Contains(ready, preferred) {
			return preferred
		}
		return ready[0]
	}
	for k, j := range jobs {
		s.add(b.srv.Transport(), func(a *actor) {
			var rt http.RoundTripper = a
			if c.killed == k {
				rt = &killer{next: rt, left: c.at, after: c.after}
			}
			slow := time.Duration(0)
			if k == 0 {
				slow = c.slow
			}
			rt = watched{next: rt, clock: a, slow: slow, check: func(req *http.Request) {
				sent[k]++
				deleted := deletion(t, req)
				if deleted == nil {
					return
				}
				for _, d := range b.issue(pullNumber).Pull.Reviews {
					named := bytes.Contains(deleted, fmt.Appendf(nil, `"PRR_%d"`, d.ID))
					if owner := c.owner(jobs, d); d.State == "PENDING" && named && owner != k && (owner < 0 || !jobs[owner].ended) {
						say("job %d deletes a pending review of a person or of a job at work: %q", k+1, d.Body)
					}
				}
			}}
			j.results, j.log, _ = j.bench.draftProcess(context.Background(), rt, a, j.approved)
			j.ended = true
		})
	}
	s.play()
	for k, j := range jobs {
		if j.results == nil && k != c.killed {
			say("job %d has no results", k+1)
		}
		for i, r := range j.results {
			if r.State != Applied {
				say("job %d: %q is %s(%s): %s", k+1, j.texts[i], r.State, r.Code, r.Message)
			}
		}
	}
	if c.killed >= 0 && jobs[c.killed].results == nil {
		b.clock.Advance(time.Minute)
		j := jobs[c.killed]
		j.bench.cfg.Run.Attempt = 2
		j.results, j.log, _ = j.bench.draftProcess(t.Context(), b.srv.Transport(), b.clock, j.approved)
	}
	i := b.issue(pullNumber)
	for _, j := range jobs {
		for _, text := range j.texts {
			if n := shown(i, text); n != 1 {
				say("%q is there %d times: %s\n%s", text, n, states(j.results), strings.Join(j.log, "\n"))
			}
		}
	}
	if n := len(draftsLeft(i)); n > 0 {
		say("%d pending reviews are left", n)
	}
	if n := notifications(i); n != len(jobs) {
		say("people were notified %d times", n)
	}
	persons := 0
	for _, r := range i.Pull.Reviews {
		if r.State == "PENDING" && r.Body == strangersDraft {
			persons++
		}
	}
	if c.person != (persons == 1) {
		say("%d reviews of the person are pending", persons)
	}
	return problems
}
