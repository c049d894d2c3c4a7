package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// briefForm describes a runner that prints a line for each failed test and totals, with the
// details of a failure before or after its line.
type briefForm struct {
	known  pattern // a line that only this runner prints
	end    pattern // one that it prints only at its end
	total  pattern // group 1 is how many tests failed
	test   pattern // groups "name", and "path" and "line" where it has them
	before bool    // the details come before the line
}

// Lines that only one of these runners prints, and only at its end.
var (
	bunEnd     = starting("Ran ", `^Ran \d+ tests? across \d+ files?\.`)
	denoEnd    = containing(" passed", `^(?:ok|FAILED) \| \d+ passed`)
	jasmineEnd = containing(" spec", `^\d+ specs?, \d+ failures?`)
)

// The forms of the runners whose output a briefReader reads.
var (
	bunForm = briefForm{
		known: bunEnd, end: bunEnd,
		total: starting(" ", `^ +(\d+) fail$`), test: starting("(fail) ", `^\(fail\) (?P<name>.+?)(?: \[[\d.]+m?s\])?$`), before: true,
	}
	denoForm = briefForm{
		known: denoEnd, end: denoEnd,
		total: containing(" failed", `^FAILED \| \d+ passed.*? \| (\d+) failed`), test: containing(" => ", `^(?P<name>.+) => (?P<path>[^\s:]+):(?P<line>\d+):\d+$`),
	}
	jasmineForm = briefForm{
		known: jasmineEnd, end: jasmineEnd,
		total: containing(" spec", `^\d+ specs?, (\d+) failures?`), test: containing(") ", `^\d+\) (?P<name>.+)$`),
	}
	playwrightForm = briefForm{
		known: starting("Running ", `^Running \d+ tests? using \d+ workers?`), end: starting("  ", `^  \d+ (?:failed$|passed \()`),
		total: starting("  ", `^  (\d+) failed$`), test: starting("  ", `^  \d+\) (?:\[[^\]]+\] › )?(?P<path>[^\s:]+):(?P<line>\d+):\d+ › (?P<name>.+?)(?: ─+)?$`),
	}
)

// reader returns a reader of the form.
func (f *briefForm) reader(c *collector) lineReader {
	return &briefReader{form: f, collector: c, seen: map[string]bool{}}
}

// briefReader reads the output of a runner that a briefForm describes.
type briefReader struct {
	form *briefForm
	*collector
	failureList
	seen    map[string]bool // failed tests, which some runners list twice
	total   int
	details Failure // read before the line that they belong to
}

func (r *briefReader) line(line string) {
	total, end := r.form.total.match(line), r.form.end.match(line) != nil
	r.recognised = r.recognised || r.form.known.match(line) != nil
	if total != nil {
		r.total += atoi(total[1])
	}
	if end {
		r.tally.ended = true
	}
	if total != nil || end {
		r.current, r.details = nil, Failure{}
		return
	}
	if m := r.form.test.match(line); m != nil {
		r.test(m)
		return
	}
	to := r.current
	if r.form.before {
		to = &r.details
	}
	if to != nil {
		r.detail(to, line)
	}
}

// test begins a failed test, or ends it if its details came before.
func (r *briefReader) test(m []string) {
	group := func(name string) string {
		if i := r.form.test.compiled().SubexpIndex(name); i > 0 {
			return m[i]
		}
		return ""
	}
	f := Failure{Name: group("name"), Cause: Failed, Path: group("path"), Line: atoi(group("line")), Unit: group("path")}
	key := text.TruncateBytes(f.Name+"\x00"+f.Path, maxName)
	r.current = nil
	if r.seen[key] || len(r.seen) == maxRunning {
		return
	}
	r.seen[key] = true
	if r.form.before {
		f.Path, f.Line, f.Message = r.details.Path, r.details.Line, r.details.Message
		r.details = Failure{}
	}
	r.begin(f)
}

// detail reads a line about a failure: its message, and a stack frame, whose place is more
// exact than the test's.
func (r *briefReader) detail(f *Failure, line string) {
	if m := jsFrame.match(line); m != nil {
		if r.hasFile(m[1]) && (f.Line == 0 || f.Unit != "") && !inLibrary(m[1]) {
			f.Path, f.Line, f.Unit = m[1], atoi(m[2]), ""
		}
		return
	}
	line = strings.TrimSpace(line)
	if r.form.before && strings.HasPrefix(line, "error: ") {
		f.Message, f.Path, f.Line = line, "", 0 // what came before was printed by the test
		return
	}
	begins := !r.form.before && f.Message == "" && line != "" && !strings.HasSuffix(line, ":")
	continues := r.form.before && f.Message != "" && startsWithAny(line, []string{"Expected: ", "Received: "})
	if begins || continues {
		f.Message = strings.TrimSpace(text.TruncateBytes(f.Message+"\n"+line, maxMessage))
	}
}

func (r *briefReader) end() {
	if r.recognised {
		r.failTotal(r.list, r.total)
	}
}
