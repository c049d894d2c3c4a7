package toolreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// verdict is what has been taken over of the ways in which the output was read.
type verdict struct {
	report Report
	names  []string // of the forms that the output has
	whole  bool     // nothing was cut off, and no tool failed itself
	tally  tally
	tests  bool  // a document told of tests
	text   tally // what runners said as text beside documents
	exits  []int
	counts bool // the exit code may be the number of what was found
}

// judge decides which of the ways in which the output was read is right: what
// documents say comes before what text says, and what the command names before
// what the output looks like.
func (r *Reader) judge(exit Exit) Report {
	v := verdict{whole: !r.isCut && !exit.TimedOut}
	for _, s := range r.streams {
		v.structured(s)
	}
	structured := len(v.names) > 0
	for _, rd := range r.readings {
		if structured {
			v.beside(rd, r.named[rd.row.name], r.believes(rd))
		} else if r.believes(rd) {
			v.take(rd.row.name, rd.c)
			v.tally.join(rd.c.tally)
			// The exit code of a command that only looks like the tool's may be another's.
			v.whole = v.whole && !rd.c.crashed && (r.named[rd.row.name] || exit.OK())
		}
	}
	v.settle()
	if len(v.names) == 0 && r.generic != nil && r.tool.Check != "tests" {
		v.report.add(r.generic.c) // lines that look like findings, of whichever tool
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
		report.Tests.Known = report.Tests.Known && !r.isCut
		if runner := r.runner(); runner != "" && exit.OK() && !v.tally.closed {
			report.Notes = append(report.Notes, runner+" ended with exit code 0, but without its totals: a test may have ended it early, as by a call of exit")
		}
	}
	found := len(report.Findings) > 0 && (v.counts || slices.Contains(v.exits, exit.Code))
	report.Explained = v.whole && len(v.names) > 0 && (exit.OK() || found)
	report.Mixed = !exit.OK() && (r.places.lost || r.programs > 1 && r.strange)
	if r.isCut {
		report.Notes = append(report.Notes, "a part of the output was not kept, so it was not read")
	}
	return report
}

// runner returns the test runner that the command names and that always prints
// totals at its end, "" if it names none.
func (r *Reader) runner() string {
	for _, rd := range r.readings {
		if rd.row.tests && !rd.row.quiet && r.named[rd.row.name] {
			return rd.row.name
		}
	}
	return ""
}

// believes reports whether the output has the form of a text reading, as far as
// can be told. A tool that the command names may print nothing that only it
// prints; another one is believed by its own words.
func (r *Reader) believes(rd *reading) bool {
	if !r.named[rd.row.name] {
		return len(r.named) == 0 && rd.c.recognised && (!rd.row.tests || r.tool.Check == "tests")
	}
	if rd.c.recognised || !rd.row.tests {
		return true
	}
	// One row of several that the command names, such as two forms of one runner.
	return !slices.ContainsFunc(r.readings, func(o *reading) bool { return r.named[o.row.name] && o.row.tests && o.c.recognised })
}

// structured takes over what stood in documents and lines of JSON.
func (v *verdict) structured(s *stream) {
	name, err := s.doc.read(s.docC)
	if name != "" {
		v.take(name, s.docC)
		v.join(s.docC.tally)
		v.whole = v.whole && !s.docC.crashed
		v.exits = append(v.exits, 1)
	} else {
		v.report.Notes = append(v.report.Notes, s.docC.notes...)
	}
	if err != nil && (name != "" || s.doc.data.Len() > maxText) {
		v.whole = false
		v.note("the document in the output is not whole: " + clip(err.Error(), maxName))
	}
	if s.doc.over {
		v.whole = false
		v.note("the document in the output is longer than 64 MiB and was not read")
	}
	if s.nd.form == "" {
		return
	}
	if s.nd.form == "go test" {
		s.nd.c.tool = s.nd.form
	}
	v.take(s.nd.form, s.nd.c)
	v.join(s.nd.c.tally)
	v.exits = append(v.exits, 1)
	if s.nd.unread > 0 && s.nd.form == "safe outputs" {
		v.note(fmt.Sprintf("%d lines that begin like a safe output are no JSON and were not read", s.nd.unread))
	}
	if s.nd.cut {
		v.whole = false
		v.note("the last line of JSON in the output is cut off")
	}
}

// beside takes over what a tool said as text beside a document.
func (v *verdict) beside(rd *reading, named, believed bool) {
	if rd.row.tests && rd.c.recognised && believed {
		v.text.join(rd.c.tally)
		if !v.tests && !slices.Contains(v.names, rd.row.name) {
			v.names = append(v.names, rd.row.name)
		}
	}
	if !named {
		return
	}
	v.whole = v.whole && !rd.c.crashed
	// What it said of tests is in both, and most else, but for code that cannot be compiled.
	if rd.row.tests || rd.c.broken && !v.report.Broken {
		v.report.add(rd.c)
	}
}

// settle decides how many tests failed where documents and runners' texts both
// tell it. They say the same, unless a test printed what passes for one of them:
// then the worse counts, so that nothing can be hidden in this way.
func (v *verdict) settle() {
	switch {
	case !v.text.closed && v.text.failed == 0:
	case !v.tests || v.text.failed > v.tally.failed:
		v.tally = v.text
	default:
		v.tally.none = v.tally.none && v.text.none
	}
}

// take takes over findings.
func (v *verdict) take(name string, c *collector) {
	if !slices.Contains(v.names, name) {
		v.names = append(v.names, name)
	}
	v.report.add(c)
}

func (v *verdict) join(t tally) {
	v.tests = v.tests || t.closed || t.failed > 0
	v.tally.join(t)
}

func (v *verdict) note(text string) { v.report.Notes = append(v.report.Notes, text) }

// add takes over what was found.
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
	p.Notes = append(p.Notes, c.notes...)
}

// withoutRepeats leaves out that a file is not formatted where the tool also says
// which lines are not.
func withoutRepeats(findings []finding.Finding) []finding.Finding {
	exact := map[string]bool{}
	for _, f := range findings {
		if f.Range.StartLine > 0 {
			exact[f.Tool+"\x00"+f.Path] = true
		}
	}
	return slices.DeleteFunc(findings, func(f finding.Finding) bool {
		return f.Range.StartLine == 0 && f.Message == Unformatted && exact[f.Tool+"\x00"+f.Path]
	})
}
