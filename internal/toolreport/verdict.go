package toolreport

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// verdict is what is accepted of all readings of the output.
type verdict struct {
	report   Report
	names    []string // of the forms that the output has
	complete bool     // nothing was cut off, and no tool failed itself
	tally    tally
	tests    bool  // a document reports tests
	text     tally // what runners print as text besides documents
	exits    []int // codes with which a tool ends when it has found something
	counts   bool  // the exit code may be the number of findings
}

// judge decides which reading of the output is right. Documents come before text, and what
// the command names before what the output looks like.
func (r *Reader) judge(exit Exit) Report {
	v := verdict{complete: !exit.TimedOut}
	for _, s := range r.streams {
		v.document(s)
		v.objects(s.objects)
	}
	structured := len(v.names) > 0
	acceptText := func(candidate *reading, named, believed bool) {
		switch {
		case structured:
			v.acceptBesides(candidate, named, believed)
		case believed:
			v.accept(candidate.row.name, candidate.collector)
			v.tally.join(candidate.collector.tally)
			// The exit code of a command that only looks like the tool's may be another's.
			v.complete = v.complete && !candidate.collector.crashed && (named || exit.OK())
		}
	}
	for _, candidate := range r.readings {
		acceptText(candidate, r.named[candidate.row.name], r.hasFormOf(candidate))
	}
	for _, candidate := range r.recognisedTasks() {
		acceptText(candidate, false, true)
	}
	v.reconcile()
	if r.files != nil {
		v.report.Notes = append(v.report.Notes, r.files.notes...)
		if r.filesForm != "" {
			v.addFiles(r.files.tally, r.filesForm)
		}
	}
	if len(v.names) == 0 && r.generic != nil && r.tool.Check != "tests" {
		v.report.add(r.generic.collector)
	}
	for _, row := range rows() {
		if slices.Contains(v.names, row.name) || r.named[row.name] {
			v.exits, v.counts = append(v.exits, row.exits...), v.counts || row.counts
		}
	}
	report := v.report
	report.Findings = withoutRepeats(report.Findings)
	report.Tool = strings.Join(v.names, ", ")
	if r.tool.Check == "tests" {
		report.Tests = v.tally.tests(exit)
		if exit.OK() && report.Tests.Failed > 0 && v.tally.ended {
			report.Notes = append(report.Notes, fmt.Sprintf("the test runner reports failing tests (%d), although the command ended with exit code 0: let the command end with the runner's exit code", report.Tests.Failed))
		}
		if runner := r.runner(); runner != "" && exit.OK() && !v.tally.ended {
			report.Notes = append(report.Notes, runner+" ended with exit code 0, but without its totals: a test may have ended it early, as by a call of exit")
		}
	}
	found := len(report.Findings) > 0 && (v.counts || slices.Contains(v.exits, exit.Code))
	report.Explained = v.complete && len(v.names) > 0 && (exit.OK() || found)
	report.Mixed = !exit.OK() && (r.places.lost || r.programs > 1 && r.unknown)
	return report
}

// runner returns the test runner that the command names and that always prints totals at
// its end, "" if it names none.
func (r *Reader) runner() string {
	for _, candidate := range r.readings {
		if candidate.row.tests && !candidate.row.quiet && r.named[candidate.row.name] {
			return candidate.row.name
		}
	}
	return ""
}

// hasFormOf reports whether the output has the form of a text reading, as far as that can
// be seen. A tool that the command names may print nothing that only it prints; any
// other one is recognised by what only it prints.
func (r *Reader) hasFormOf(candidate *reading) bool {
	if !r.named[candidate.row.name] {
		if candidate.row.tests {
			return candidate.collector.recognised && r.believesUnnamedTests()
		}
		return len(r.named) == 0 && candidate.collector.recognised
	}
	// The command may name several rows, such as two forms of one runner, or a runner whose
	// reporter prints another's form.
	return candidate.collector.recognised || !candidate.row.tests || !slices.ContainsFunc(r.readings, func(o *reading) bool { return o.row.tests && o.collector.recognised })
}

// believesUnnamedTests reports whether a test runner that the command does not name may
// have printed what looks like it: a program that is not known may have started it, or the
// runner that is named prints another one's form. Otherwise, a test printed it.
func (r *Reader) believesUnnamedTests() bool {
	if r.tool.Check != "tests" || r.tool.Name != "" {
		return false
	}
	return r.unknown || !slices.ContainsFunc(r.readings, func(o *reading) bool { return r.named[o.row.name] && o.row.tests && o.collector.recognised })
}

// recognisedTasks ends the tasks and returns their readings that count.
func (r *Reader) recognisedTasks() []*reading {
	if r.tasks == nil {
		return nil
	}
	readings := r.tasks.end()
	if !r.believesUnnamedTests() {
		return nil
	}
	return readings
}

// document accepts a stream's document.
func (v *verdict) document(s *stream) {
	name, err := s.doc.read(s.collector)
	if name != "" {
		v.acceptStructured(name, s.collector)
		v.complete = v.complete && !s.collector.crashed
	} else {
		v.report.Notes = append(v.report.Notes, s.collector.notes...)
	}
	if err != nil && (name != "" || s.doc.data.Len() > maxText) {
		v.incomplete("the document in the output is incomplete: " + text.TruncateBytes(err.Error(), maxName))
	}
	if s.doc.tooLong {
		v.incomplete("the document in the output is longer than 64 MiB and was not read")
	}
}

// objects accepts a stream's lines of JSON.
func (v *verdict) objects(n *ndjson) {
	if n.form == "" {
		return
	}
	if n.form == "go test" {
		n.c.tool = n.form
	}
	v.acceptStructured(n.form, n.c)
	if n.unread > 0 && n.form == "safe outputs" {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%d lines that begin like a safe output are not JSON and were not read", n.unread))
	}
	if n.cut {
		v.incomplete("the last line of JSON in the output is cut off")
	}
}

// acceptBesides accepts what a tool prints as text besides a document.
func (v *verdict) acceptBesides(candidate *reading, named, believed bool) {
	c := candidate.collector
	if candidate.row.tests && c.recognised && believed {
		v.text.join(c.tally)
		if !v.tests && !slices.Contains(v.names, candidate.row.name) {
			v.names = append(v.names, candidate.row.name)
		}
	}
	if !named {
		return
	}
	v.complete = v.complete && !c.crashed
	// A test's failures are in both, and so is most else, except for code that cannot be compiled.
	if candidate.row.tests || c.broken && !v.report.Broken {
		v.report.add(c)
	}
}

// reconcile decides how many tests failed if both documents and runners' text report it.
// They agree, unless a test printed what passes for one of them: then the worse counts,
// so that nothing can be hidden in this way.
func (v *verdict) reconcile() {
	switch {
	case !v.text.ended && v.text.failed == 0:
	case !v.tests || v.text.failed > v.tally.failed:
		v.tally = v.text
	default:
		v.tally.noTests = v.tally.noTests && v.text.noTests
	}
}

// accept adds what was found, in a form of that name.
func (v *verdict) accept(name string, c *collector) {
	if !slices.Contains(v.names, name) {
		v.names = append(v.names, name)
	}
	v.report.add(c)
}

// acceptStructured adds what was found in JSON or XML.
func (v *verdict) acceptStructured(name string, c *collector) {
	v.accept(name, c)
	v.tests = v.tests || c.tally.ended || c.tally.failed > 0
	v.tally.join(c.tally)
	v.exits = append(v.exits, 1)
}

func (v *verdict) incomplete(note string) {
	v.complete = false
	v.report.Notes = append(v.report.Notes, note)
}

// add adds what was found.
func (p *Report) add(c *collector) {
	for _, f := range c.findings {
		if f.Tool == "" {
			f.Tool = c.tool
		}
		if len(p.Findings) < MaxFindings {
			p.Findings = append(p.Findings, f)
		} else {
			p.Omitted++
		}
	}
	p.Rules = append(p.Rules, c.rules...)
	p.Outside += c.outside
	p.Omitted += c.omitted
	p.Broken = p.Broken || c.broken
	p.Unparsed = append(p.Unparsed, slices.Collect(maps.Keys(c.unparsed))...)
	slices.Sort(p.Unparsed)
	p.Unparsed = slices.Compact(p.Unparsed)
	p.Notes = append(p.Notes, c.notes...)
}

// withoutRepeats removes the finding that a file is not formatted if the tool also
// reports which lines are not.
func withoutRepeats(findings []finding.Finding) []finding.Finding {
	exact := map[[2]string]bool{}
	for _, f := range findings {
		if f.Range.StartLine > 0 {
			exact[[2]string{f.Tool, f.Path}] = true
		}
	}
	return slices.DeleteFunc(findings, func(f finding.Finding) bool {
		return f.Range.StartLine == 0 && f.Message == Unformatted && exact[[2]string{f.Tool, f.Path}]
	})
}
