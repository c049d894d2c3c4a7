package loopwork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/verify"
)

// Start describes a loop to begin, or to go on with if it is open. An open loop keeps its title and
// its limits.
type Start struct {
	Key                   // required, without Ordinal; Given.Dir counts instead of Dir, unless it is nil
	Title  string         // the pull request's, for the log
	Limits fixloop.Limits // required: Iterations, Fix, Validation and Grace; revalidations have as long as validations
	Given  Given
	Wait   bool // wait for a person's decision
}

// check returns an error for limits that are too small, which the protocol would replace by its
// defaults or reject, and for a directory outside of a git repository: no change there could be found,
// and the loop would be escalated at once.
func (s Start) check() error {
	limits := s.Limits
	if limits.Iterations < 1 {
		return fmt.Errorf("--max-iterations: %d is not positive: give at least 1", limits.Iterations)
	}
	for _, limit := range []struct {
		flag string
		time time.Duration
	}{{"fix-timeout", limits.Fix}, {"check-timeout", limits.Validation}, {"grace", limits.Grace}} {
		if limit.time < time.Second {
			return fmt.Errorf("--%s: %s is too short: give at least 1s", limit.flag, limit.time)
		}
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	if _, ok := checks.FindRoot(dir); !ok {
		return fmt.Errorf("%s is not in a git repository: check the pull request out first, or name its clone with --dir", dir)
	}
	return nil
}

// Deps are what a loop needs of the process.
type Deps struct {
	Getenv  func(string) string // required
	Environ []string            // required: the entire environment
	// Gate returns the gate as the owner configures it in a file; "" is the usual file. Gate is
	// required; its errors carry their exit code.
	Gate     func(policy string) (*doors.Gate, error)
	Version  string
	Progress io.Writer    // required: for what people read while the loop runs
	Log      *slog.Logger // required: the engine's
	// Refuse receives the violations of a validation request that is not valid, as JSON. It is
	// required.
	Refuse io.Writer
	// Read reads at most limit+1 bytes of a file that the user names; "-" is standard input. It is
	// required for Given.Request.
	Read func(name string, limit int64) ([]byte, error)
}

// Run drives a loop until it has ended or, unless s.Wait is set, waits for a person. It returns the
// loop's status, and shows it to people as well. Its errors carry their exit code.
func (s Start) Run(ctx context.Context, deps Deps) (loops.Status, error) {
	if s.Given.Dir != nil {
		s.Dir = *s.Given.Dir
	}
	var err error
	if s.Repository, err = s.repositoryName(deps.Getenv); err == nil {
		err = s.check()
	}
	if err != nil {
		return loops.Status{}, exitcode.UsageError(err)
	}
	if s.Given.Request != nil {
		message, err := verify.ReadMessage(deps.Read, "--request", *s.Given.Request)
		if err != nil {
			return loops.Status{}, err
		}
		s.Given.Request = new(string(message))
	}
	st, err := store.OpenNamed(ctx, s.Store, deps.Getenv, loops.Schema)
	if err != nil {
		return loops.Status{}, err
	}
	l, err := s.run(ctx, st, deps)
	if err != nil {
		return loops.Status{}, verify.Refuse(err, doors.EnvironmentScanner(deps.Getenv).Mask, deps.Refuse, deps.Progress)
	}
	status := loops.Status{Loop: l}
	fmt.Fprintf(deps.Progress, "airlock: %s\n%s\n", status.Headline(), status.NextStep())
	return status, nil
}

// run is Run on a store, which it closes. Its errors carry their exit code, unless one is an
// acceptance.InvalidError: the validation request is not valid.
func (s Start) run(ctx context.Context, st *store.Store, deps Deps) (loops.Loop, error) {
	p, err := s.prepare(ctx, st, deps)
	if err != nil {
		st.Close()
		return loops.Loop{}, err
	}
	var hands *Hands
	d, err := loops.Open(ctx, st, loops.Config{Name: loops.OfOne(p.id), Logger: deps.Log,
		Hands: func(b *loops.Book) loops.Hands { hands = &Hands{Config: p.work, book: b}; return hands },
		Waits: func(why error) { s.showWait(deps.Progress, why) }})
	if errors.Is(err, engine.ErrRunning) {
		return loops.Loop{}, exitcode.UsageError(fmt.Errorf("another process drives %s already: 'airlock loop status --issue %d' shows how far it is", p.id, s.Issue))
	}
	if err != nil {
		return loops.Loop{}, exitcode.FailedError(err)
	}
	defer d.Close()
	return s.drive(ctx, d, hands, p.settings)
}

// prepared is a loop that can be driven.
type prepared struct {
	id       string
	settings settings
	work     Config
}

// prepare finds the open loop or the number of the next one, its settings, and its work.
func (s Start) prepare(ctx context.Context, st *store.Store, deps Deps) (p prepared, err error) {
	book := loops.NewBook(st)
	l, err := book.Find(ctx, s.Repository, s.Issue, 0)
	if err != nil && !errors.Is(err, loops.ErrNoLoop) {
		return p, exitcode.FailedError(err)
	}
	isOpen, err := book.IsOpen(ctx, l)
	if err != nil {
		return p, exitcode.FailedError(err)
	}
	var open *loops.Loop // nil where the next one begins
	if isOpen {
		open, p.id = &l, l.ID
	} else {
		p.id = loops.NextID(s.Repository, s.Issue, l.State.Loop().Ordinal)
	}
	if p.settings, err = s.Given.settings(open, deps.Getenv); err != nil {
		return p, exitcode.UsageError(err)
	}
	if p.settings.Evidence != "" {
		if err := verify.CheckEvidence(p.settings.Evidence); err != nil {
			return p, err
		}
	}
	if isOpen && s.Given.Request != nil && *s.Given.Request != "" && !l.State.Loop().Acceptance {
		return p, exitcode.UsageError(fmt.Errorf("--request: the open loop has begun without acceptance criteria: end it with 'airlock loop decide --issue %d abort', and start the next one with them", s.Issue))
	}
	p.work, err = p.settings.work(deps)
	p.work.Wait = s.Wait
	return p, err
}

// work returns the configuration of the loop's work.
func (s settings) work(deps Deps) (Config, error) {
	dir, err := filepath.EvalSymlinks(s.Dir) // the package isolate follows no link
	if err != nil {
		return Config{}, exitcode.UsageError(err)
	}
	root, cloned := checks.FindRoot(dir)
	if len(s.Fixer) > 0 && !cloned {
		return Config{}, exitcode.UsageError(fmt.Errorf("--fixer: git has to find out what a fixer changes, and there is no clone at %s: check the repository out, or make one with 'git init' and a commit", s.Dir))
	}
	gate, err := deps.Gate(s.Policy)
	if err != nil {
		return Config{}, err
	}
	var request acceptance.Request
	if s.Request != "" {
		if request, err = acceptance.ReadRequest([]byte(s.Request)); err != nil {
			return Config{}, err
		}
	}
	cfg, scanner := gate.SafeOutputs(), gate.Scanner()
	return Config{
		Fixer:  fixer.Config{Command: s.Fixer, Root: root, Environ: deps.Environ, Pass: s.PassEnv, PathList: action.PathList(deps.Getenv), Mask: scanner.Mask, Rules: fixer.RulesOf(cfg, scanner)},
		Cloned: cloned, Gate: gate, Progress: deps.Progress, Criteria: request.Criteria,
		Validate: func(ctx context.Context, asked map[fixloop.Check]bool, log func(string)) (*checkreport.Document, error) {
			owner := cfg.Checks
			owner.SkipBuild = owner.SkipBuild || !asked[fixloop.Build]
			owner.SkipTests = owner.SkipTests || !asked[fixloop.Tests]
			in, err := checks.DirectoryInput(s.Dir, nil, owner)
			if err != nil {
				return nil, err
			}
			request := checks.Request{Input: in, Base: s.Base, Checks: owner, Runner: action.Snapshot(deps.Getenv), Version: deps.Version}
			doc, _, err := request.Validate(ctx, checks.Deps{Getenv: deps.Getenv, Environ: deps.Environ, Scanner: scanner, Log: log}, nil)
			return doc, err
		},
		Verify: func(ctx context.Context) (acceptance.Response, error) {
			return verify.Run(ctx, verify.Config{Request: request, Trust: acceptance.Owner, Dir: s.Dir, Acceptance: cfg.Acceptance, Checks: cfg.Checks,
				Evidence: s.Evidence, Changes: checks.ChangeSource{Base: s.Base}}, deps.verification(gate))
		},
	}, nil
}

// verification returns the dependencies of a verification of acceptance criteria.
func (deps Deps) verification(gate *doors.Gate) verify.Deps {
	log := func(line string) { fmt.Fprintf(deps.Progress, "airlock: %s\n", line) }
	return verify.NewDeps(checks.Deps{Getenv: deps.Getenv, Environ: deps.Environ, Scanner: gate.Scanner(), Log: log}, gate)
}

// drive begins the loop or goes on with it, until it has ended or, unless s.Wait is set, waits for a
// person.
func (s Start) drive(ctx context.Context, d *loops.Driver, hands *Hands, settings settings) (loops.Loop, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return loops.Loop{}, exitcode.FailedError(err)
	}
	loop := fixloop.Loop{Repository: s.Repository, Issue: s.Issue, Title: s.Title, Limits: s.Limits, Acceptance: settings.Request != ""}
	loop.Limits.Revalidation = loop.Limits.Validation
	l, begun, err := d.Start(ctx, loop, raw, loops.OfOne)
	if err != nil {
		loop.Ordinal = 1 // in place of the valid one that Start gives it
		if _, invalid := fixloop.New(loop); invalid != nil {
			return l, exitcode.UsageError(err)
		}
		return l, exitcode.FailedError(err)
	}
	if !begun {
		hands.log("going on with " + fixloop.NewLog(l.State, nil, time.Now()).Headline())
		if e, ok := hands.Pushed(l.State.Work()); ok { // a commit that was made meanwhile is the manual fix
			err := d.Apply(ctx, l.ID, "push/"+e.Head, e)
			if _, refused := errors.AsType[*fixloop.Refused](err); err != nil && !refused {
				return l, exitcode.FailedError(err)
			}
		}
	}
	l, err = d.Wait(ctx, l.ID, !s.Wait)
	if ctx.Err() != nil {
		return l, exitcode.FailedError(fmt.Errorf("interrupted; the loop stays open, and 'airlock loop start --issue %d' goes on", s.Issue))
	}
	if err != nil {
		return l, exitcode.FailedError(fmt.Errorf("%w; the loop stays open, and then 'airlock loop start --issue %d' goes on", err, s.Issue))
	}
	return l, nil
}

// showWait shows why the loop waits, and how to stop it; without a reason, that it goes on.
func (s Start) showWait(w io.Writer, why error) {
	if why == nil {
		fmt.Fprintln(w, "airlock: the store answers again: the loop goes on")
		return
	}
	fmt.Fprintf(w, "airlock: the loop waits: %s; Ctrl-C ends the waiting, the loop stays open, and 'airlock loop start --issue %d' goes on with it\n", text.OneLine(why.Error()), s.Issue)
}
