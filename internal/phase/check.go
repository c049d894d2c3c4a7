package phase

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// run is one running check of a root.
type run struct {
	e      *engine
	where  *engine // where its commands run: e, or the engine of the copy
	root   root
	plan   plan
	ran    []*run // the checks of the root that came before
	start  time.Time
	chosen candidate // the first whose tool is installed
	shared attempt   // the last attempt of its command, which may do another check too
	last   attempt   // the part of shared that belongs to this check, and decides its result
	out    CheckResult
	// before is a snapshot of the root's files from before a command that may write to them, and
	// after is one from the end of the check.
	before, after snapshot
	// readable reports that a formatter's or linter's findings are all that it reported, and that
	// they name files that exist. Their lines decide the result then.
	readable bool
	edits    map[string][]toolreport.Edit // of a check that rewrites files
}

// check does one check of a root. ran are the root's checks that have run before, and retries is
// how many retries this check has already had.
func (e *engine) check(ctx context.Context, r root, p plan, ran []*run, retries int) (*run, error) {
	w := &run{e: e, where: e, root: r, plan: p, ran: ran, start: e.deps.Now(), out: CheckResult{Check: p.check, Status: Fail, ExitCode: -1, Retries: retries}}
	switch {
	case p.skip != "":
		w.skip(p.skip)
	case p.refuse != "":
		w.fail(p.refuse)
	case len(p.candidates) == 0:
		w.unconfigured()
	default:
		if err := w.decide(ctx); err != nil {
			return w, err
		}
	}
	w.out.Duration = e.deps.Now().Sub(w.start)
	w.progress(w.out.Status)
	return w, nil
}

func (w *run) progress(s Status) {
	w.e.progress(Event{Root: w.root.dir, Check: w.plan.check, Command: w.out.Command, Retries: w.out.Retries, Status: s, NotRun: w.out.NotRun, Elapsed: w.e.deps.Now().Sub(w.start)})
}

func (w *run) note(format string, args ...any) {
	w.out.Notes = append(w.out.Notes, fmt.Sprintf(format, args...))
}

// fail makes the check fail with one more problem. Failed tests count at least 1.
func (w *run) fail(problem string) {
	w.out.Status = Fail
	w.out.Problems = append(w.out.Problems, problem)
	if w.plan.check == Tests {
		w.out.Failing = max(w.out.Failing, 1)
	}
}

// isStyle reports whether the check is the formatter or the linter, whose commands may
// change files.
func (w *run) isStyle() bool { return w.plan.check == Formatter || w.plan.check == Linter }

// decide runs the command of the check, again where that may help (a formatter or linter after a
// fix), and judges how it ended.
func (w *run) decide(ctx context.Context) error {
	if ran, err := w.choose(ctx); !ran || err != nil {
		return err
	}
	if old := w.unfollowed(); old > 0 {
		w.out.Status, w.out.ExitCode, w.out.Command, w.out.NotRun = Pass, 0, "", NotConfigured
		w.note("not configured: '%s', which the project's files do not name, also finds problems on lines that did not change (%d): the project does not follow it, so it decides nothing; "+
			"add its configuration (docs/check-tools.md lists them), or set %s", w.chosen.check.line, old, overrideName(w.plan.check))
		return nil
	}
	if len(w.plan.others) > 0 {
		w.note("the project's files name %s, too, which did not run: set %s to a command that runs all", strings.Join(w.plan.others, " and "), overrideName(w.plan.check))
	}
	retry := w.repeat
	if w.isStyle() {
		retry = w.fix
	}
	if err := retry(ctx); err != nil {
		return err
	}
	if w.before != nil {
		w.after = w.where.project.refresh(w.root.dir, w.before)
		w.out.Rewritten = w.before.rewritten(w.after)
	}
	w.judge()
	return nil
}

// choose runs the candidates until the tool of one is installed. ran is false if none was run to
// its end: then the check has its result.
func (w *run) choose(ctx context.Context) (ran bool, err error) {
	for _, c := range w.plan.candidates {
		w.chosen = c
		w.out.Command = c.check.line
		if c.check.noFile {
			w.out.Status, w.out.ExitCode = Pass, 0
			w.note("no changed file for {files}: nothing was run")
			return false, nil
		}
		if c.writes && w.e.config.CheckOnly && c.check.line == c.fix.line {
			where, err := w.e.writable(ctx)
			if where == nil {
				w.fail(onlyWrites(c, err))
				return false, nil
			}
			w.where = where
		}
		w.progress("")
		if err := w.try(ctx, c); err != nil {
			return false, err
		}
		if w.last.missing == "" {
			return true, nil
		}
	}
	if w.plan.unconfigured != "" {
		w.unconfigured()
	} else {
		w.failMissing()
	}
	return false, nil
}

// skip passes the check without running anything. Only build and tests can get the status Skipped;
// a formatter or linter gets Pass.
func (w *run) skip(why string) {
	w.out.Status, w.out.ExitCode = Skipped, 0
	if w.isStyle() {
		w.out.Status, w.out.NotRun = Pass, NotAsked
	}
	w.note("%s", why)
}

// unconfigured passes the check without having run anything: nothing names a tool for it.
func (w *run) unconfigured() {
	w.out.Status, w.out.ExitCode, w.out.Command, w.out.NotRun = Pass, 0, "", NotConfigured
	w.note("%s", w.plan.unconfigured)
}

// unfollowed returns how many problems a tool found on lines that did not change, if the project
// does not name the tool. If there are any, the project does not follow the tool. It returns 0 if
// the project names the tool, if the check passed, and if the findings may be incomplete or it is
// not known which lines changed.
func (w *run) unfollowed() int {
	if w.plan.unconfigured == "" || w.e.job.Diff == nil || w.last.passed(w.chosen.check) || !w.last.explained() {
		return 0
	}
	_, old := w.e.lines.split(w.last.report.Findings, true)
	return len(old)
}

// onlyWrites describes the problem of a check whose only command writes files.
func onlyWrites(c candidate, err error) string {
	problem := fmt.Sprintf("'%s' writes files and has no check form that is known: add a script 'format:check', or set format_command", c.check.line)
	if err != nil {
		problem += fmt.Sprintf("; nor can it be run in a copy: %v", err)
	}
	return problem
}

// attempt runs a command of the check. The error is that of engine.attempt.
func (w *run) attempt(ctx context.Context, c commandLine) (attempt, error) {
	a, err := w.where.attempt(ctx, w.root, w.plan.check, c)
	for _, n := range a.notes {
		if !slices.Contains(w.out.Notes, n) {
			w.note("%s", n)
		}
	}
	return a, err
}

// runCheck runs the check of a candidate. If the same command has also done another check, and this
// check is not being retried, runCheck reads the result of that run instead of running the command
// again.
func (w *run) runCheck(ctx context.Context, c candidate) (err error) {
	other := slices.IndexFunc(w.ran, func(o *run) bool {
		return c.part != nil && o.chosen.part != nil && o.shared.ran && o.chosen.check.line == c.check.line
	})
	if other >= 0 && w.out.Retries == 0 {
		w.shared = w.ran[other].shared
	} else {
		w.shared, err = w.attempt(ctx, c.check)
	}
	if err != nil {
		return err
	}
	w.last = w.shared.forCheck(c.part, string(w.plan.check))
	if w.e.config.Test != "" && w.onlyOthersFailed(w.e.config.Test) {
		w.last.clean = true
	}
	return nil
}

// try runs a candidate's check. If the check is a formatter or linter whose tool toolreport has to
// detect, or which writes, try also records which files the command changes.
func (w *run) try(ctx context.Context, c candidate) (err error) {
	if !w.isStyle() || c.check.tool != "" && !c.writes {
		return w.runCheck(ctx, c)
	}
	w.watch()
	var texts map[string][]byte
	if c.writes && w.e.suggests() {
		texts = w.where.project.texts(w.root.files)
	}
	err = w.runCheck(ctx, c)
	w.noteEdits(texts)
	return err
}

// watch takes a snapshot of the root's files before a command changes them. If the check
// before it has just taken one, nothing has run since, and that one serves.
func (w *run) watch() {
	if w.before != nil {
		return
	}
	if n := len(w.ran); n > 0 && w.ran[n-1].after != nil && w.ran[n-1].where == w.where {
		w.before = w.ran[n-1].after
		return
	}
	w.before = w.where.project.snapshot(w.root.dir, w.where.knownStamps())
}

// failMissing fails the check because a tool is missing. It names the tool of the first candidate,
// because people are expected to have this one.
func (w *run) failMissing() {
	first := w.plan.candidates[0].check
	m := MissingTool{Tool: w.last.missing, Check: w.plan.check, Command: first.line, Override: overrideName(w.plan.check)}
	if len(w.plan.candidates) > 1 {
		m.Tool = first.args[0]
		w.note("there is no tool for '%s' either", w.chosen.check.line)
	}
	w.out.Command = first.line
	w.fail(missingProblem(m))
	w.e.addMissing(m)
}

// mayRetry reports whether the last attempt failed, and another one may pass.
func (w *run) mayRetry() bool {
	return !w.last.passed(w.chosen.check) && !w.last.result.TimedOut && w.last.fault == ""
}

// repeat runs a failed build or test again, unchanged.
func (w *run) repeat(ctx context.Context) (err error) {
	if w.e.job.Input.MaxRetries == 0 || !w.mayRetry() {
		return nil
	}
	w.out.Retries++
	w.progress("")
	first := w.last
	if err := w.runCheck(ctx, w.chosen); err != nil {
		return err
	}
	if w.last.passed(w.chosen.check) {
		w.out.Flaky = true
		w.out.Failures = first.report.Tests.Failing
		w.out.Excerpt = first.report.FirstFailures
		w.note("%s", flakyNote(w.out.Failures))
	}
	return nil
}

// judge turns the last attempt into the check's result.
func (w *run) judge() {
	w.noteLast()
	last, report := w.last, w.last.report
	findings := slices.Clone(report.Findings)
	finding.SetFingerprints(findings)
	passed := last.passed(w.chosen.check)
	if passed && w.chosen.writes && w.e.config.CheckOnly && len(w.out.Rewritten) > 0 {
		w.failRewritten()
		return
	}
	if passed && !last.clean && report.Tests.Failed > 0 {
		if file := w.editedCommand(); file != "" {
			w.out.Excerpt, w.out.Failing, w.out.Failures = report.FirstFailures, report.Tests.Failed, report.Tests.Failing
			w.fail(fmt.Sprintf("'%s' ended with exit code 0, although tests fail, and the change edits how it runs (%s): let it end with the test runner's exit code", w.chosen.check.line, file))
			return
		}
	}
	w.out.Blocking = findings
	if w.isStyle() {
		isComplete := last.explained() && !w.broken() && report.Outside+report.Omitted == 0
		w.readable = isComplete && len(findings) > 0 && w.allExist(findings)
		w.out.Blocking, w.out.Old = w.splitStyle(findings)
	}
	if passed && w.chosen.part != nil && !last.result.OK() {
		w.note("all findings of '%s' belong to the other check that it does", w.chosen.check.line)
	}
	if passed {
		w.out.Status, w.out.Blocking, w.out.Old = Pass, nil, append(w.out.Old, w.out.Blocking...)
		if w.e.config.Test != "" && w.selectedNone(w.e.config.Test) {
			w.out.NoTests = true
		}
		return
	}
	w.out.Excerpt = report.FirstFailures
	if w.readable && w.e.config.NewOnly && len(w.out.Blocking) == 0 {
		w.passOldOnly()
		return
	}
	switch {
	case !w.isStyle() || w.readable: // the lines have decided
	case w.e.config.NewOnly && last.explained() && w.broken():
		w.out.Blocking, w.out.Old = withErrors(w.out.Blocking, w.out.Old)
	default:
		w.out.Blocking, w.out.Old = append(w.out.Blocking, w.out.Old...), nil // the exit code decides
	}
	w.explain()
}

// noteLast records how the last attempt ended, and what was left out of its report.
func (w *run) noteLast() {
	result, report := w.last.result, w.last.report
	w.out.ExitCode, w.out.TimedOut = result.ExitCode, result.TimedOut
	w.out.Notes = append(w.out.Notes, report.Notes...)
	if result.Lingered {
		w.note("a process that the command left behind was still running; what it wrote later was not read")
	}
	if report.Omitted > 0 {
		w.note("it found more than is kept: %s left out", text.Count(report.Omitted, "finding"))
	}
	if report.Outside > 0 {
		w.note("findings in files outside the repository were left out: %d", report.Outside)
	}
	if w.plan.check == Tests && report.Tests.None {
		w.out.NoTests = true
		w.note("no tests were run")
	}
}

// withErrors adds compilers' errors on old lines to the findings that count, because a change can
// cause an error elsewhere. It returns the other old findings as rest.
func withErrors(blocking, old []finding.Finding) (counting, rest []finding.Finding) {
	for _, f := range old {
		if f.Rule == "typecheck" || f.Severity == finding.High && (f.Rule == "" || compilerCode.MatchString(f.Rule)) {
			blocking = append(blocking, f)
		} else {
			rest = append(rest, f)
		}
	}
	return blocking, rest
}

// compilerCode matches the codes of errors of rustc.
var compilerCode = lazyregexp.New(`^E\d+$`)

// splitStyle separates the findings of a formatter or linter that count from old ones. In a changed
// file that could not be parsed, all findings count, because the parser may report the error on any
// line.
func (w *run) splitStyle(findings []finding.Finding) (blocking, old []finding.Finding) {
	blocking, rest := w.e.lines.split(findings, w.e.config.NewOnly)
	for _, f := range rest {
		if slices.Contains(w.last.report.Unparsed, f.Path) && w.e.lines.touch(finding.Finding{Path: f.Path}) {
			blocking = append(blocking, f)
		} else {
			old = append(old, f)
		}
	}
	return blocking, old
}

// broken reports whether code could not be compiled. Some findings are missing then. With NewOnly,
// it matters only if a changed file may belong to this code, which documents and files of other
// languages do not.
func (w *run) broken() bool {
	if !w.last.report.Broken || !w.e.config.NewOnly {
		return w.last.report.Broken
	}
	return slices.ContainsFunc(w.root.files, func(name string) bool {
		language := languageOfFile(name)
		return language.family() == w.root.language.family() || language == "" && !isDocument(name)
	})
}

// isDocument reports whether a file's name is that of a text for people, which nothing
// compiles.
func isDocument(name string) bool {
	return slices.Contains([]string{".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc"}, strings.ToLower(path.Ext(name)))
}

// passOldOnly passes the check although it found something: all of it is old.
func (w *run) passOldOnly() {
	w.out.Status = Pass
	if len(w.out.Old) == 1 {
		w.note("1 problem is on a line that did not change")
	} else {
		w.note("%d problems are on lines that did not change", len(w.out.Old))
	}
}

// allExist reports whether each finding names a file that exists, or one outside the working
// directory. A finding without such a file may be about changed lines, for example if the file's
// name contains a newline.
func (w *run) allExist(findings []finding.Finding) bool {
	known := map[string]bool{}
	for _, f := range findings {
		name, below := inside(w.e.prefix, f.Path)
		if f.Path != "" && !below {
			continue // outside the working directory, where nothing is looked at
		}
		exists := cached(known, name, func(name string) bool {
			info, err := w.e.project.root.Lstat(name)
			return err == nil && !info.IsDir()
		})
		if f.Path == "" || !exists {
			return false
		}
	}
	return true
}

// noTestsCode is the exit code of pytest and, since Python 3.12, of unittest if there is
// no test.
const noTestsCode = 5

// explain fails the check, and lists why.
func (w *run) explain() {
	w.out.Status = Fail
	last := w.last
	switch {
	case w.plan.check == Tests:
		w.explainTests()
	case w.plan.check == Formatter && len(w.out.Blocking) > 0 && last.explained() && !w.broken() && len(last.report.Unparsed) == 0:
		for _, f := range w.out.Blocking {
			w.failUnformatted(f.Path)
		}
	default:
		w.out.Problems = append(w.out.Problems, list(w.out.Blocking)...)
		if !last.explained() || len(w.out.Blocking) == 0 {
			w.fail(last.ending(w.chosen.check, w.e.config.TimeLimit) + summarise(last.report.FirstFailures))
		}
	}
}

// explainTests fails the tests, and explains why.
func (w *run) explainTests() {
	tests := w.last.report.Tests
	w.out.Failing, w.out.Failures = max(tests.Failed, 1), tests.Failing
	problem := w.last.ending(w.chosen.check, w.e.config.TimeLimit)
	switch {
	case w.out.NoTests && w.last.result.ExitCode == noTestsCode:
		problem += ": no tests were run; add one, or leave the tests out by skip_tests"
	case len(w.out.Failures) == 0: // otherwise they are the explanation
		problem += summariseEnd(w.last.report.FirstFailures)
	}
	w.fail(problem)
}

// failRewritten judges a formatter or linter that was to change nothing and rewrote files.
// Each of the files is a finding, whose lines are not known yet.
func (w *run) failRewritten() {
	message := toolreport.Unformatted
	if w.plan.check == Linter {
		message = fmt.Sprintf("The linter's command, '%s', changes the file.", w.chosen.check.line)
	}
	var findings []finding.Finding
	for _, f := range w.out.Rewritten {
		findings = append(findings, finding.Finding{
			Check: string(w.plan.check), Tool: cmp.Or(w.last.report.Tool, string(w.plan.check)), Severity: finding.Low,
			Message: message, Path: path.Join(w.e.prefix, w.root.dir, f),
		})
	}
	finding.SetFingerprints(findings)
	w.readable = true
	w.out.Blocking, w.out.Old = w.e.lines.split(findings, w.e.config.NewOnly)
	w.rejudge()
}

// rejudge replaces the problems of a formatter or linter by those of w.out.Blocking. With NewOnly,
// it passes the check if there are none.
func (w *run) rejudge() {
	w.out.Problems = nil
	if w.e.config.NewOnly && len(w.out.Blocking) == 0 {
		w.passOldOnly()
		return
	}
	if w.plan.check == Linter {
		w.out.Status, w.out.Problems = Fail, list(w.out.Blocking)
		return
	}
	for _, f := range w.out.Blocking {
		w.failUnformatted(f.Path)
	}
}

// failUnformatted fails the check with a problem for a file, unless it has this one or maxProblems.
func (w *run) failUnformatted(file string) {
	problem := fmt.Sprintf(unformatted, file)
	if w.out.Retries > 0 {
		problem = fmt.Sprintf(stillUnformatted, file, w.out.Retries)
	}
	if !slices.Contains(w.out.Problems, problem) && len(w.out.Problems) < maxProblems {
		w.fail(problem)
	}
}
