package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/verdictreport"
	"github.com/agent-airlock/airlock/internal/verify"
)

// watchInterval is how often a work tree is looked at for a person's commit.
const watchInterval = time.Second

// loopHands do the work of one loop on this machine: they run the checks and the fixer,
// and watch for a person's commit.
type loopHands struct {
	env      Environment
	settings loopSettings
	root     string // of the work tree
	cloned   bool
	config   config.SafeOutputs
	gate     *doors.Gate
	request  acceptance.Request // with the settings' acceptance criteria, if there are any
	wait     bool               // wait for a person's decision
	book     *loops.Book        // set before the first work

	mu sync.Mutex // guards standard error
}

func newLoopHands(env Environment, s loopSettings, wait bool) (*loopHands, error) {
	h := &loopHands{env: env, settings: s, wait: wait}
	h.root, h.cloned = checks.FindRoot(s.Dir)
	if len(s.Fixer) > 0 && !h.cloned {
		return nil, exitcode.UsageError(fmt.Errorf("--fixer: what a fixer changes is found out by git, and there is no clone at %s: check the repository out, or make one with 'git init' and a commit", s.Dir))
	}
	var err error
	if h.config, err = loadConfig(env, s.Config); err != nil {
		return nil, err
	}
	if s.Request != "" {
		if h.request, err = acceptance.ReadRequest([]byte(s.Request)); err != nil {
			return nil, refuseMessage(env, err)
		}
	}
	h.gate, err = newGate(env, h.config, false, ownRepository(env))
	return h, err
}

// Work implements loops.Hands.
func (h *loopHands) Work(ctx context.Context, l loops.Loop, w fixloop.Work, tell func(fixloop.Event) error) (fixloop.Event, bool) {
	switch w.Kind {
	case fixloop.WorkStart:
		return fixloop.Event{Type: fixloop.EventStart, Head: h.head()}, true
	case fixloop.WorkValidate, fixloop.WorkRevalidate, fixloop.WorkFinal:
		return h.check(ctx, w)
	case fixloop.WorkAcceptance:
		return h.verify(ctx, w)
	case fixloop.WorkFix:
		if len(h.settings.Fixer) > 0 {
			return h.fix(ctx, l, w, tell)
		}
		return h.watch(ctx, w)
	case fixloop.WorkDecide:
		if h.wait {
			return h.watch(ctx, w)
		}
	}
	return fixloop.Event{}, false
}

// Deliver implements loops.Hands: it writes messages to standard error, and those on which people
// have to act in full.
func (h *loopHands) Deliver(_ context.Context, _ loops.Loop, m fixloop.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	show := h.gate.TerminalText()
	at := m.Time.Local().Format("15:04:05")
	switch {
	case m.Type == fixloop.StatusChange:
		if m.Check == "" {
			fmt.Fprintf(h.env.Stderr, "%s  %s\n", at, m.New)
		}
	case m.Type == fixloop.Escalation, m.Type == fixloop.FixRequest && len(h.settings.Fixer) == 0:
		fmt.Fprintf(h.env.Stderr, "%s  %s\n\n%s\n", at, m.ID, show.Code(m.Markdown()))
	default:
		fmt.Fprintf(h.env.Stderr, "%s  %s  %s → %s: %s\n", at, m.ID, m.From, m.To, show.Line(m.Summary))
	}
	return nil
}

// check runs the checks that are asked for.
func (h *loopHands) check(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	asked := map[fixloop.Check]bool{}
	for _, c := range w.Checks {
		asked[c] = true
	}
	e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op}
	doc, err := h.validate(ctx, asked)
	if ctx.Err() != nil {
		return e, false
	}
	if err != nil {
		for _, c := range w.Checks {
			e.Results = append(e.Results, fixloop.Result{Check: c, Status: fixloop.ResultError, Error: h.gate.OneLine(err.Error())})
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

// validate runs the checks, without those that take long and are not asked for.
func (h *loopHands) validate(ctx context.Context, asked map[fixloop.Check]bool) (*checkreport.Document, error) {
	owner := h.config.Checks
	owner.SkipBuild = owner.SkipBuild || !asked[fixloop.Build]
	owner.SkipTests = owner.SkipTests || !asked[fixloop.Tests]
	f := checkFlags{dir: h.settings.Dir, base: h.settings.Base, given: func(string) bool { return false }}
	request, release, err := f.request(ctx, h.env, owner)
	if release != nil {
		defer release()
	}
	if err != nil {
		return nil, err
	}
	return checks.Run(ctx, request, checks.Deps{Getenv: h.env.Getenv, Environ: h.env.Environ, Scanner: h.gate.Scanner(), Log: h.log})
}

// verify verifies the acceptance criteria.
func (h *loopHands) verify(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op}
	cfg := h.config
	response, err := verify.Run(ctx, verify.Config{Request: h.request, Trust: acceptance.Owner, Dir: h.settings.Dir, Acceptance: cfg.Acceptance, Checks: cfg.Checks,
		Evidence: h.settings.Evidence, Changes: checks.ChangeSource{Base: h.settings.Base}}, verifyDeps(h.env, h.gate))
	switch {
	case ctx.Err() != nil:
		return e, false
	case err != nil:
		e.Results = []fixloop.Result{{Check: fixloop.Acceptance, Status: fixloop.ResultError, Error: h.gate.OneLine(err.Error())}}
		return e, true
	}
	doc := verdictreport.Document{Response: &response}
	for _, c := range h.request.Criteria {
		doc.Criteria = append(doc.Criteria, verdictreport.Criterion{ID: c.ID, Description: c.Description, Hint: c.Hint})
	}
	doc.Mask(h.gate.Scanner().Mask)
	e.Results = []fixloop.Result{doc.LoopResult(true)}
	return e, true
}

// fix runs the command that fixes what the request lists. Its result is kept before it is applied,
// so that the command does not run again after a crash.
func (h *loopHands) fix(ctx context.Context, l loops.Loop, w fixloop.Work, tell func(fixloop.Event) error) (fixloop.Event, bool) {
	failed := func(why string) (fixloop.Event, bool) {
		return fixloop.Event{Type: fixloop.EventFixFailed, Iteration: w.Iteration, Text: why}, ctx.Err() == nil
	}
	var refused *fixloop.Refused
	if err := tell(fixloop.Event{Type: fixloop.EventFixStarted, Iteration: w.Iteration}); err != nil && !errors.As(err, &refused) {
		return failed(err.Error())
	}
	cfg := fixer.Config{Command: h.settings.Fixer, Root: h.root, Environ: h.env.Environ, Pass: h.settings.PassEnv, PathList: h.env.gitPath(), Mask: h.gate.Scanner().Mask, Rules: fixer.RulesOf(h.config, h.gate.Scanner())}
	key := fmt.Sprintf("fix/%d/%d", w.Op, w.Attempt)
	result, err := h.keptFix(ctx, l.ID, key, func() (fixer.Result, error) { return fixer.Run(ctx, cfg, *w.Request, w.Notice, w.Attempt) })
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
	if err := result.Apply(ctx, cfg); err != nil {
		return failed(err.Error())
	}
	return fixloop.Event{Type: fixloop.EventFixDone, Iteration: w.Iteration, Fixes: result.Fixes, Files: result.Paths()}, true
}

// keptFix returns the kept result of a fix, or calls run and keeps its result.
func (h *loopHands) keptFix(ctx context.Context, id, key string, run func() (fixer.Result, error)) (result fixer.Result, err error) {
	body, known, err := h.book.Kept(ctx, id, key)
	if err != nil {
		return result, err
	}
	if !known {
		if result, err = run(); err != nil {
			return result, err
		}
		raw, err := json.Marshal(result)
		if err != nil {
			return result, err
		}
		if body, err = h.book.Keep(ctx, id, key, string(raw)); err != nil {
			return result, err
		}
	}
	return result, json.Unmarshal([]byte(body), &result)
}

// watch waits for a commit that the loop does not know.
func (h *loopHands) watch(ctx context.Context, w fixloop.Work) (fixloop.Event, bool) {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for {
		if e, ok := h.pushed(w); ok {
			return e, true
		}
		select {
		case <-ctx.Done():
			return fixloop.Event{}, false
		case <-look.C:
		}
	}
}

// pushed returns the event of a commit that the loop does not know, if there is one and it
// waits for a person.
func (h *loopHands) pushed(w fixloop.Work) (fixloop.Event, bool) {
	head := h.head()
	waits := w.Kind == fixloop.WorkDecide || w.Kind == fixloop.WorkFix && len(h.settings.Fixer) == 0
	return fixloop.Event{Type: fixloop.EventPush, Head: head}, waits && head != "" && w.Head != "" && head != w.Head
}

// head returns the commit that is checked out, "" without one.
func (h *loopHands) head() string {
	if !h.cloned {
		return ""
	}
	clone, err := gitrepo.Locate(h.root)
	if err != nil {
		return ""
	}
	head, err := clone.Resolve("HEAD")
	if err != nil {
		return ""
	}
	return head
}

func (h *loopHands) log(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.env.Stderr, "airlock: %s\n", line)
}
