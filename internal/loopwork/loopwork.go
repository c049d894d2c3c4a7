// Package loopwork drives a fix loop on this machine: it runs the checks and the fixer, has the
// acceptance criteria verified, and watches for a person's commit.
package loopwork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// watchInterval is how often a work tree is looked at for a person's commit.
const watchInterval = time.Second

// Config has what the work of one loop needs.
type Config struct {
	// Fixer is the command that mends, and the work tree. Without a Command a person mends.
	Fixer  fixer.Config
	Cloned bool // the work tree is in a clone
	Wait   bool // wait for a person's decision
	// Validate runs the checks. It runs those that take long only if asked contains them. It is
	// required.
	Validate func(ctx context.Context, asked map[fixloop.Check]bool, log func(line string)) (*checkreport.Document, error)
	// Verify verifies the criteria. It is required where a loop has acceptance criteria.
	Verify   func(context.Context) (acceptance.Response, error)
	Criteria []acceptance.Criterion
	Gate     *doors.Gate // masks what is shown and kept; required
	Progress io.Writer   // what people read while the loop runs; required
}

// Hands do the work of one loop. They implement loops.Hands.
type Hands struct {
	Config
	book *loops.Book

	mu sync.Mutex // guards Progress
}

// Work implements loops.Hands.
func (h *Hands) Work(ctx context.Context, l loops.Loop, w fixloop.Work, send func(fixloop.Event) error) (fixloop.Event, bool) {
	if e, ok := h.moved(w); ok {
		return e, true
	}
	switch w.Kind {
	case fixloop.WorkStart:
		return fixloop.Event{Type: fixloop.EventStart, Head: h.head()}, true
	case fixloop.WorkValidate, fixloop.WorkRevalidate, fixloop.WorkFinal:
		return h.check(ctx, w)
	case fixloop.WorkAcceptance:
		return h.verify(ctx, w)
	case fixloop.WorkFix:
		if len(h.Fixer.Command) > 0 {
			return h.fix(ctx, l, w, send)
		}
		return h.watch(ctx, w)
	case fixloop.WorkDecide:
		if h.Wait {
			return h.watch(ctx, w)
		}
	}
	return fixloop.Event{}, false
}

// Deliver implements loops.Hands. It writes messages to Progress: in full if people have to act on
// them, otherwise as a line. It leaves out changes of a single check's status.
func (h *Hands) Deliver(_ context.Context, _ loops.Loop, m fixloop.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	show := h.Gate.TerminalText()
	at := m.Time.Local().Format("15:04:05")
	switch {
	case m.Type == fixloop.StatusChange:
		if m.Check == "" {
			fmt.Fprintf(h.Progress, "%s  %s\n", at, m.New)
		}
	case m.Type == fixloop.Escalation, m.Type == fixloop.FixRequest && len(h.Fixer.Command) == 0:
		fmt.Fprintf(h.Progress, "%s  %s\n\n%s\n", at, m.ID, show.Code(m.Markdown()))
	default:
		fmt.Fprintf(h.Progress, "%s  %s  %s → %s: %s\n", at, m.ID, m.From, m.To, show.Line(m.Summary))
	}
	return nil
}

// check runs the checks that are asked for.
func (h *Hands) check(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	asked := map[fixloop.Check]bool{}
	for _, c := range w.Checks {
		asked[c] = true
	}
	e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op}
	doc, err := h.Validate(ctx, asked, h.log)
	if ctx.Err() != nil {
		return e, false
	}
	if err != nil {
		for _, c := range w.Checks {
			e.Results = append(e.Results, fixloop.Result{Check: c, Status: fixloop.ResultError, Error: h.Gate.OneLine(err.Error())})
		}
		return e, true
	}
	for _, r := range doc.LoopResults() {
		if asked[r.Check] {
			e.Results = append(e.Results, r)
		}
	}
	return e, true
}

// verify verifies the acceptance criteria.
func (h *Hands) verify(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op}
	response, err := h.Verify(ctx)
	switch {
	case ctx.Err() != nil:
		return e, false
	case err != nil:
		e.Results = []fixloop.Result{{Check: fixloop.Acceptance, Status: fixloop.ResultError, Error: h.Gate.OneLine(err.Error())}}
		return e, true
	}
	doc := verdictreport.Document{Response: &response}
	for _, c := range h.Criteria {
		doc.Criteria = append(doc.Criteria, verdictreport.Criterion{ID: c.ID, Description: c.Description, Hint: c.Hint})
	}
	doc.Mask(h.Gate.Scanner().Mask)
	e.Results = []fixloop.Result{doc.LoopResult(true)}
	return e, true
}

// fix runs the command that fixes what the request lists. Its result is kept before it is applied,
// so that the command does not run again after a crash.
func (h *Hands) fix(ctx context.Context, l loops.Loop, w fixloop.Work, send func(fixloop.Event) error) (fixloop.Event, bool) {
	failed := func(why string) (fixloop.Event, bool) {
		return fixloop.Event{Type: fixloop.EventFixFailed, Iteration: w.Iteration, Text: why}, ctx.Err() == nil
	}
	// A refused start changes nothing: the loop goes on, and so does the fix.
	err := send(fixloop.Event{Type: fixloop.EventFixStarted, Iteration: w.Iteration})
	if _, refused := errors.AsType[*fixloop.Refused](err); err != nil && !refused {
		return failed(err.Error())
	}
	key := fmt.Sprintf("fix/%d/%d", w.Op, w.Attempt)
	result, err := h.keptFix(ctx, l.ID, key, func() (fixer.Result, error) { return fixer.Run(ctx, h.Fixer, *w.Request, w.Notice, w.Attempt) })
	switch {
	case err != nil:
		return failed(err.Error())
	case result.Failed != "":
		return failed(result.Failed)
	case result.Nonsense != "":
		return fixloop.Event{Type: fixloop.EventNonsense, Iteration: w.Iteration, Text: result.Nonsense}, true
	}
	if len(result.Refused) > 0 {
		return fixloop.Event{Type: fixloop.EventFixDone, Iteration: w.Iteration, Refused: result.Refused}, true
	}
	if err := result.Apply(ctx, h.Fixer); err != nil {
		return failed(err.Error())
	}
	return fixloop.Event{Type: fixloop.EventFixDone, Iteration: w.Iteration, Fixes: result.Fixes, Files: result.Paths()}, true
}

// keptFix returns the kept result of a fix, or calls run and keeps its result.
func (h *Hands) keptFix(ctx context.Context, id, key string, run func() (fixer.Result, error)) (result fixer.Result, err error) {
	body, known, err := h.book.Kept(ctx, id, key)
	if err != nil {
		return result, err
	}
	if !known {
		fresh, err := run()
		if err != nil {
			return fresh, err
		}
		raw, err := json.Marshal(fresh)
		if err != nil {
			return fresh, err
		}
		if body, err = h.book.Keep(ctx, id, key, string(raw)); err != nil {
			return fresh, err
		}
	}
	err = json.Unmarshal([]byte(body), &result)
	return result, err
}

// watch waits for a commit that the loop does not know.
func (h *Hands) watch(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for {
		if e, ok := h.unknownCommit(w); ok {
			return e, true
		}
		select {
		case <-ctx.Done():
			return fixloop.Event{}, false
		case <-look.C:
		}
	}
}

// Pushed returns the event of a commit that the loop does not know, if there is one and the loop
// waits for a person.
func (h *Hands) Pushed(w fixloop.Work) (fixloop.Event, bool) {
	waits := w.Kind == fixloop.WorkDecide || w.Kind == fixloop.WorkFix && len(h.Fixer.Command) == 0
	if !waits {
		return fixloop.Event{}, false
	}
	return h.unknownCommit(w)
}

// moved returns the event of a commit that the loop does not know, if there is one and the work is to
// check it.
func (h *Hands) moved(w fixloop.Work) (fixloop.Event, bool) {
	switch w.Kind {
	case fixloop.WorkValidate, fixloop.WorkRevalidate, fixloop.WorkFinal, fixloop.WorkAcceptance:
		return h.unknownCommit(w)
	}
	return fixloop.Event{}, false
}

// unknownCommit returns the event of the commit that is checked out, if the loop is at another one.
// That may be so after a person's decision, which need not name a commit. A loop that began without
// a commit has none to compare with, and gets no such event.
func (h *Hands) unknownCommit(w fixloop.Work) (fixloop.Event, bool) {
	head := h.head()
	return fixloop.Event{Type: fixloop.EventPush, Head: head}, head != "" && w.Head != "" && head != w.Head
}

// head returns the commit that is checked out, "" without one.
func (h *Hands) head() string {
	if !h.Cloned {
		return ""
	}
	clone, err := gitrepo.Locate(h.Fixer.Root)
	if err != nil {
		return ""
	}
	head, err := clone.Resolve("HEAD")
	if err != nil {
		return ""
	}
	return head
}

func (h *Hands) log(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.Progress, "airlock: %s\n", line)
}
