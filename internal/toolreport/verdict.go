package toolreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
)

// verdict is what is accepted of all readings of the output.
type verdict struct {
	report     Report
	names      []string // of the forms that the output has
	complete   bool     // nothing was cut off, and no tool failed itself
	structured bool     // the output has a document, or lines of JSON
	tally      tally
	tests      bool  // a document reports tests
	text       tally // what runners print as text next to documents
}

// judge decides which reading of the output is right. A document counts more than text, and a tool
// that the command names counts more than one that the output looks like.
func (r *Reader) judge(exit Exit) Report {
	v := verdict{complete: !exit.TimedOut}
	for _, s := range r.streams {
		v.document(s)
		v.objects(s.objects)
	}
	for _, t := range r.textReadings() {
		switch {
		case v.structured:
			v.acceptNextToDocument(t)
		case t.believed:
			v.acceptText(t, exit)
		}
	}
	v.reconcile()
	if r.files != nil {
		v.report.Notes = append(v.report.Notes, r.files.notes...)
		if r.filesForm != "" {
			files := r.files.tally
			files.noTests = files.noTests && !r.unreadFile
			v.addFiles(files, r.filesForm)
		}
	}
	if len(v.names) == 0 && r.generic != nil && r.tool.Check != "tests" {
		v.report.add(r.generic.collector)
	}
	report := v.report
	report.Findings = withoutRepeats(report.Findings)
	report.Tool = strings.Join(v.names, ", ")
	if r.tool.Check == "tests" {
		report.Tests = v.tally.tests(exit)
		report.Notes = append(report.Notes, r.doubts(v.tally, report.Tests, exit)...)
	}
	explained := exit.OK() || len(report.Findings) > 0 && r.exitsWithFindings(v, exit.Code)
	report.Explained = v.complete && len(v.names) > 0 && explained
	report.Mixed = !exit.OK() && (r.places.lost || r.programs > 1 && r.unknown)
	return report
}

// doubts returns notes on a command of tests that ended with exit code 0 although its
// output says otherwise.
func (r *Reader) doubts(counted tally, tests Tests, exit Exit) (notes []string) {
	if !exit.OK() {
		return nil
	}
	if tests.Failed > 0 && counted.ended {
		notes = append(notes, fmt.Sprintf("the test runner reports failing tests (%d), although the command ended with exit code 0: let the command end with the runner's exit code", tests.Failed))
	}
	if runner := r.runner(); runner != "" && !counted.ended {
		notes = append(notes, runner+" ended with exit code 0, but without its totals: a test may have ended it early, as by a call of exit")
	}
	return notes
}

// exitsWithFindings reports whether an exit code means that a tool has found something. The tools
// that count are those that the command names, and those whose form the output has. If the output is
// structured, the code 1 means that in any case.
func (r *Reader) exitsWithFindings(v verdict, code int) bool {
	if v.structured && code == 1 {
		return true
	}
	return slices.ContainsFunc(rows(), func(row row) bool {
		isTool := r.named[row.name] || slices.Contains(v.names, row.name)
		return isTool && (row.counts || slices.Contains(row.exits, code))
	})
}

// textReading is the reading of one tool's text.
type textReading struct {
	*reading
	named    bool // the command names the tool
	believed bool // the output is taken for the tool's
}

func (r *Reader) textReadings() (all []textReading) {
	for _, one := range r.readings {
		all = append(all, textReading{one, r.named[one.row.name], r.hasFormOf(one)})
	}
	for _, one := range r.recognisedTasks() {
		all = append(all, textReading{reading: one, believed: true})
	}
	return all
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

// hasFormOf reports whether the output seems to have the form of a text reading. A tool is
// recognised by lines that only it prints. Without such lines, a tool that the command names is
// believed too, unless it runs tests and the output is that of another test runner. If the
// command does not name the tool, such lines are not enough: for a test runner,
// believesUnnamedTests has to be true, and for any other tool, the command must name none.
func (r *Reader) hasFormOf(candidate *reading) bool {
	if !r.named[candidate.row.name] {
		if candidate.row.tests {
			return candidate.collector.recognised && r.believesUnnamedTests()
		}
		return len(r.named) == 0 && candidate.collector.recognised
	}
	if candidate.collector.recognised || !candidate.row.tests {
		return true
	}
	// The command may name several rows, such as two forms of one runner, or a runner whose
	// reporter prints another's form.
	return !slices.ContainsFunc(r.readings, func(o *reading) bool { return o.row.tests && o.collector.recognised })
}

// believesUnnamedTests reports whether output that looks like a test runner's counts as such
// although the command does not name the runner. It never counts if the check is not "tests", or if
// Tool.Name says which tool it is. Otherwise it counts if a program that is not known may have
// started the runner. It also counts if no runner that the command names is recognised, because
// the named runner may print another runner's form. If neither is so, a test printed the text.
func (r *Reader) believesUnnamedTests() bool {
	if r.tool.Check != "tests" || r.tool.Name != "" {
		return false
	}
	namedIsRecognised := slices.ContainsFunc(r.readings, func(o *reading) bool { return r.named[o.row.name] && o.row.tests && o.collector.recognised })
	return r.unknown || !namedIsRecognised
}

// recognisedTasks ends the tasks. It returns the readings in which a test runner was recognised,
// if unnamed test runners are believed.
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
		v.incomplete("the document in the output " + unread(err))
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
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("of the lines that begin like a safe output, %d could not be read as JSON", n.unread))
	}
	if n.cut {
		v.incomplete("the last line of JSON in the output is cut off")
	}
}

// acceptText accepts what a tool prints, where the output has no document.
func (v *verdict) acceptText(t textReading, exit Exit) {
	v.accept(t.row.name, t.collector)
	v.tally.join(t.collector.tally)
	// If only the output looks like the tool's, the exit code may be another's.
	v.complete = v.complete && !t.collector.crashed && (t.named || exit.OK())
}

// acceptNextToDocument accepts what a tool prints as text next to a document.
func (v *verdict) acceptNextToDocument(t textReading) {
	c := t.collector
	if t.row.tests && c.recognised && t.believed {
		v.text.join(c.tally)
		if !v.tests && !slices.Contains(v.names, t.row.name) {
			v.names = append(v.names, t.row.name)
		}
	}
	if !t.named {
		return
	}
	v.complete = v.complete && !c.crashed
	// Most of it is in the document, too. Only the text may show that code cannot be compiled.
	if t.row.tests || c.broken && !v.report.Broken {
		v.report.add(c)
	}
}

// reconcile decides how many tests failed if runners' text says how many. The text counts if no
// document reports tests. Otherwise the two differ if a test printed text that looks like a report.
// Then the larger number counts, so that a test cannot hide a failure.
func (v *verdict) reconcile() {
	switch {
	case !v.text.ended && v.text.failed == 0:
	case !v.tests || v.text.failed > v.tally.failed:
		v.tally = v.text
	default:
		v.tally.noTests = v.tally.noTests && v.text.noTests
	}
}

// addFiles adds what the test runners' report files say about the tests. If the files and the
// printed output differ, the larger number of failures counts, so that a forged report hides
// nothing. If both have the same number, the list that names more places is kept. A list of what
// was printed gets the places that the files name.
func (v *verdict) addFiles(files tally, form string) {
	printed := v.tally
	namesMore := files.failed == printed.failed && located(files.failing) > located(printed.failing)
	if files.failed > printed.failed || namesMore {
		v.tally.failed, v.tally.failing = files.failed, files.failing
	} else {
		placeBy(v.tally.failing, files.failing)
	}
	v.tally.ended = printed.ended || files.ended
	v.tally.lost = v.tally.lost || files.lost && files.failed >= printed.failed
	v.tally.noTests = files.noTests && (printed.noTests || printed.silent || !printed.ended)
	if len(v.names) == 0 {
		v.names = append(v.names, form)
	}
}

// located counts the failures whose place is known.
func located(failures []Failure) int {
	n := 0
	for _, f := range failures {
		if f.Path != "" && f.Line > 0 {
			n++
		}
	}
	return n
}

// placeBy sets the places of failures that have none, by failures of other lists of the same tests.
// Reports and printed lists join the names of a class and its test in different ways, so that only
// their words are compared.
func placeBy(failures, others []Failure) {
	words := func(name string) string {
		all := strings.FieldsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	known := map[string]Failure{}
	for _, f := range others {
		key := words(f.Name)
		if _, twice := known[key]; twice || f.Line == 0 || key == "" {
			f = Failure{}
		}
		known[key] = f
	}
	for i := range failures {
		f := &failures[i]
		if other := known[words(f.Name)]; f.Line == 0 && other.Line > 0 {
			f.Path, f.Line, f.Message = other.Path, other.Line, cmp.Or(f.Message, other.Message)
		}
	}
}

// accept adds a collector's findings. name is the name of the form in which they were found.
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
	v.structured = true
}

func (v *verdict) incomplete(note string) {
	v.complete = false
	v.report.Notes = append(v.report.Notes, note)
}

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

// withoutRepeats removes the finding that a file is not formatted if the tool also reports which
// lines are not. Of findings that differ at most in their tools, only the first stays: some tools
// print in the same form, so that a line is read as the finding of each.
func withoutRepeats(findings []finding.Finding) []finding.Finding {
	exact := map[[2]string]bool{}
	for _, f := range findings {
		if f.Range.StartLine > 0 && f.Message == UnformattedLines {
			exact[[2]string{f.Tool, f.Path}] = true
		}
	}
	seen := map[finding.Finding]bool{}
	return slices.DeleteFunc(findings, func(f finding.Finding) bool {
		same := f
		same.Tool = ""
		if seen[same] {
			return true
		}
		seen[same] = true
		return f.Range.StartLine == 0 && f.Message == Unformatted && exact[[2]string{f.Tool, f.Path}]
	})
}
