package phase

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

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
	w.out.Gating, w.out.Old = w.e.lines.sort(findings, w.style() && w.e.config.NewOnly)
	if passed {
		w.out.Status, w.out.Gating, w.out.Old = Pass, nil, append(w.out.Old, w.out.Gating...)
		return
	}
	w.out.Excerpt = a.report.FirstFailures
	if w.readable && w.e.config.NewOnly && len(w.out.Gating) == 0 {
		w.out.Status = Pass
		w.out.Notes = append(w.out.Notes, oldOnly(len(w.out.Old)))
		return
	}
	if w.style() && !w.readable {
		w.out.Gating, w.out.Old = append(w.out.Gating, w.out.Old...), nil // its exit status decides
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
	case w.plan.check == Formatter && len(w.out.Gating) > 0 && a.explained() && !a.report.Broken:
		for _, f := range w.out.Gating {
			w.stillUnformatted(f.Path)
		}
	default:
		w.out.Problems = append(w.out.Problems, list(w.out.Gating)...)
		if !a.explained() || len(w.out.Gating) == 0 {
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
	w.out.Gating, w.out.Old = w.e.lines.sort(findings, w.e.config.NewOnly)
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
