package phase

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// grace is the time between asking a command to end and killing it.
const grace = 2 * time.Second

// run is one check at work.
type run struct {
	e     *engine
	at    *engine // of the place where its commands run: e, or that of a copy
	root  root
	plan  plan
	start time.Time
	way   candidate // the one that decides
	last  attempt   // the one that counts
	out   CheckResult
	// before is the root's files as they were, where a command may have written.
	before snapshot
	// readable reports that a style check's findings are all that the tool had to
	// say, so that their lines decide.
	readable bool
	edits    map[string][]toolreport.Edit // of a check that rewrites files
}

// check does one check of a root.
func (e *engine) check(ctx context.Context, r root, p plan) (*run, error) {
	w := &run{e: e, at: e, root: r, plan: p, start: e.world.Now(), out: CheckResult{Check: p.check, Status: Fail, ExitCode: -1}}
	switch {
	case p.skip != "":
		w.out.Status, w.out.ExitCode = Skipped, 0
		w.out.Notes = append(w.out.Notes, p.skip)
	case p.refuse != "":
		w.fail(p.refuse)
	default:
		if err := w.decide(ctx); err != nil {
			return w, err
		}
	}
	w.out.Duration = e.world.Now().Sub(w.start)
	w.tell(w.out.Status)
	return w, nil
}

func (w *run) tell(s Status) {
	w.e.tell(Event{Root: w.root.dir, Check: w.plan.check, Command: w.out.Command, Retries: w.out.Retries, Status: s, Elapsed: w.e.world.Now().Sub(w.start)})
}

// fail makes the check fail with one more problem. What only tests have, a
// count, is at least 1 then.
func (w *run) fail(problem string) {
	w.out.Status = Fail
	w.out.Problems = append(w.out.Problems, problem)
	if w.plan.check == Tests {
		w.out.Failing = max(w.out.Failing, 1)
	}
}

// decide runs the candidates until the tool of one is there, and retries that one.
func (w *run) decide(ctx context.Context) error {
	for i, c := range w.plan.candidates {
		w.way = c
		w.out.Command = c.check.line
		if c.check.nothing {
			w.out.Status, w.out.ExitCode = Pass, 0
			w.out.Notes = append(w.out.Notes, "no changed file for {files}: nothing was run")
			return nil
		}
		if c.writes && w.e.config.CheckOnly && c.check.line == c.fix.line {
			at, why := w.e.writable(ctx)
			if at == nil {
				w.fail(onlyWrites(c, why))
				return nil
			}
			w.at = at
		}
		w.tell("")
		if err := w.first(ctx, c); err != nil {
			return err
		}
		if w.last.missing == "" {
			break
		}
		if i == len(w.plan.candidates)-1 {
			w.missing()
			return nil
		}
	}
	retry := w.repeat
	if w.style() {
		retry = w.mend
	}
	if err := retry(ctx); err != nil {
		return err
	}
	if w.before != nil {
		w.out.Rewritten = w.before.rewritten(w.at.project.snapshot(w.root.dir))
	}
	w.judge()
	return nil
}

// onlyWrites says why a check cannot be done.
func onlyWrites(c candidate, why error) string {
	text := fmt.Sprintf("'%s' writes files and has no check form that is known: add a script 'format:check', or set format_command", c.check.line)
	if why != nil {
		text += fmt.Sprintf("; nor can it be run in a copy: %v", why)
	}
	return text
}

// first runs a candidate's check, and sees what a command that is not ours
// changes.
func (w *run) first(ctx context.Context, c candidate) (err error) {
	if !w.style() || c.check.tool != "" && !c.writes {
		w.last, err = w.at.once(ctx, w.root, w.plan.check, c.check)
		return err
	}
	w.watch()
	var texts map[string][]byte
	if c.writes && w.e.suggests() {
		texts = w.at.project.texts(w.root.files)
	}
	w.last, err = w.at.once(ctx, w.root, w.plan.check, c.check)
	w.rewrote(texts)
	return err
}

// style reports whether the check is the formatter or the linter, whose commands
// may change files.
func (w *run) style() bool { return w.plan.check == Formatter || w.plan.check == Linter }

// watch looks at the root's files before a command changes them.
func (w *run) watch() {
	if w.before == nil {
		w.before = w.at.project.snapshot(w.root.dir)
	}
}

// missing fails the check for want of a tool: of the first candidate, which is
// what people are expected to have.
func (w *run) missing() {
	first := w.plan.candidates[0].check
	m := MissingTool{Tool: w.last.missing, Check: w.plan.check, Command: first.line, Override: overrideName(w.plan.check)}
	if len(w.plan.candidates) > 1 {
		m.Tool = known("", first.line, "").args[0]
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("nor is there a tool for '%s'", w.way.check.line))
	}
	w.out.Command = first.line
	w.fail(lacking(m))
	w.e.miss(m)
}

// mend fixes and checks again while the check fails.
func (w *run) mend(ctx context.Context) error {
	for w.out.Retries < w.e.retries() && w.way.fix.line != "" && !w.last.passed(w.way.check) && !w.last.result.TimedOut && w.last.fault == "" {
		w.out.Retries++
		w.tell("")
		w.watch()
		fixed, err := w.at.once(ctx, w.root, w.plan.check, w.way.fix)
		if err != nil {
			return err
		}
		if fixed.missing != "" || fixed.fault != "" {
			w.out.Notes = append(w.out.Notes, fmt.Sprintf("'%s', which fixes, could not be run: %s", w.way.fix.line, fixed.missing+fixed.fault))
			return nil
		}
		if err := w.e.world.Wait(ctx, w.e.config.RetryDelay); err != nil {
			return err
		}
		if w.last, err = w.at.once(ctx, w.root, w.plan.check, w.way.check); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs a failing build or test once more, unchanged.
func (w *run) repeat(ctx context.Context) error {
	if w.e.job.Input.MaxRetries == 0 || w.last.passed(w.way.check) || w.last.result.TimedOut || w.last.fault != "" {
		return nil
	}
	w.out.Retries++
	w.tell("")
	first := w.last
	var err error
	if w.last, err = w.at.once(ctx, w.root, w.plan.check, w.way.check); err != nil {
		return err
	}
	if w.last.passed(w.way.check) {
		w.out.Flaky = true
		w.out.Failures = first.report.Tests.Failing
		w.out.Excerpt = first.report.FirstFailures
		w.out.Notes = append(w.out.Notes, flaky(w.out.Failures))
	}
	return nil
}
