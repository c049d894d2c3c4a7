package phase

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
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
	w := &run{e: e, at: e, root: r, plan: p, start: e.deps.Now(), out: CheckResult{Check: p.check, Status: Fail, ExitCode: -1}}
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
	w.out.Duration = e.deps.Now().Sub(w.start)
	w.tell(w.out.Status)
	return w, nil
}

func (w *run) tell(s Status) {
	w.e.tell(Event{Root: w.root.dir, Check: w.plan.check, Command: w.out.Command, Retries: w.out.Retries, Status: s, Elapsed: w.e.deps.Now().Sub(w.start)})
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
		if err := w.e.deps.Wait(ctx, w.e.config.RetryDelay); err != nil {
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

// judge turns the last run into the check's result.
func (w *run) judge() {
	a, check := w.last, w.plan.check
	w.out.ExitCode, w.out.TimedOut = a.result.ExitCode, a.result.TimedOut
	w.out.Notes = append(w.out.Notes, a.report.Notes...)
	if a.result.Lingered {
		w.out.Notes = append(w.out.Notes, "a process that the command left behind was still running; what it wrote later was not read")
	}
	if n := a.report.Omitted; n > 0 {
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("it found more than is kept: %d findings were left out", n))
	}
	if n := a.report.Outside; n > 0 {
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("findings in files outside the repository were left out: %d", n))
	}
	if check == Tests && a.report.Tests.None {
		w.out.NoTests = true
		w.out.Notes = append(w.out.Notes, "no tests were run")
	}
	findings := slices.Clone(a.report.Findings)
	finding.SetFingerprints(findings)
	passed := a.passed(w.way.check)
	if passed && w.way.writes && w.e.config.CheckOnly && len(w.out.Rewritten) > 0 {
		w.unformatted()
		return
	}
	w.readable = w.style() && a.explained() && !a.report.Broken && a.report.Outside+a.report.Omitted == 0 && len(findings) > 0 && w.allThere(findings)
	w.out.Blocking, w.out.Old = w.e.lines.sort(findings, w.style() && w.e.config.NewOnly)
	if passed {
		w.out.Status, w.out.Blocking, w.out.Old = Pass, nil, append(w.out.Old, w.out.Blocking...)
		return
	}
	w.out.Excerpt = a.report.FirstFailures
	if w.readable && w.e.config.NewOnly && len(w.out.Blocking) == 0 {
		w.out.Status = Pass
		w.out.Notes = append(w.out.Notes, oldOnly(len(w.out.Old)))
		return
	}
	if w.style() && !w.readable {
		w.out.Blocking, w.out.Old = append(w.out.Blocking, w.out.Old...), nil // its exit status decides
	}
	w.failed(a)
}

// allThere reports whether each finding names a file of the project. One that does not,
// as where a name holds the end of a line, may be about lines that changed.
func (w *run) allThere(findings []finding.Finding) bool {
	there := map[string]bool{}
	for _, f := range findings {
		name, below := inside(w.e.prefix, f.Path)
		if f.Path != "" && !below {
			continue // beside the working directory, where nothing is looked at
		}
		known, looked := there[name]
		if !looked {
			info, err := w.e.project.at.Lstat(name)
			known = f.Path != "" && err == nil && !info.IsDir()
			there[name] = known
		}
		if !known {
			return false
		}
	}
	return true
}

// noTestsCode is the exit code of pytest and, since Python 3.12, of unittest where there
// is no test.
const noTestsCode = 5

// failed says why a check failed.
func (w *run) failed(a attempt) {
	w.out.Status = Fail
	switch {
	case w.plan.check == Tests:
		w.out.Failing = max(a.report.Tests.Failed, 1)
		w.out.Failures = a.report.Tests.Failing
		why := ended(w.way.check, a, w.e.config.TimeLimit)
		switch {
		case w.out.NoTests && a.result.ExitCode == noTestsCode:
			why += ": no tests were run; add one, or leave the tests out by skip_tests"
		case len(w.out.Failures) == 0: // else they say it
			why += gist(a.report.FirstFailures)
		}
		w.fail(why)
	case w.plan.check == Formatter && len(w.out.Blocking) > 0 && a.explained() && !a.report.Broken:
		for _, f := range w.out.Blocking {
			w.stillUnformatted(f.Path)
		}
	default:
		w.out.Problems = append(w.out.Problems, list(w.out.Blocking)...)
		if !a.explained() || len(w.out.Blocking) == 0 {
			w.fail(ended(w.way.check, a, w.e.config.TimeLimit) + gist(a.report.FirstFailures))
		}
	}
}

// unformatted judges a formatter that changed files where none should change: each
// of them is a finding, of which no line is known yet.
func (w *run) unformatted() {
	var findings []finding.Finding
	for _, f := range w.out.Rewritten {
		findings = append(findings, finding.Finding{
			Check: string(Formatter), Tool: cmp.Or(w.last.report.Tool, "formatter"), Severity: finding.Low,
			Message: toolreport.Unformatted, Path: path.Join(w.e.prefix, w.root.dir, f),
		})
	}
	finding.SetFingerprints(findings)
	w.readable = true
	w.out.Blocking, w.out.Old = w.e.lines.sort(findings, w.e.config.NewOnly)
	w.rejudge()
}

// stillUnformatted names a file once.
func (w *run) stillUnformatted(file string) {
	text := fmt.Sprintf("File %s has formatting issues", file)
	if w.out.Retries > 0 {
		text = fmt.Sprintf("File %s still has formatting issues after %d retries", file, w.out.Retries)
	}
	if !slices.Contains(w.out.Problems, text) && len(w.out.Problems) < maxProblems {
		w.fail(text)
	}
}
