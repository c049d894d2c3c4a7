package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// briefForm describes what is read of a runner's output: totals and, unless test is the zero pattern, a
// line for each failed test, with the details of the failure before or after it.
type briefForm struct {
	known  pattern // a line that only this runner prints
	end    pattern // one that it prints only at its end
	none   pattern // one by which it reports that it ran no test
	ran    pattern // group 1 is a number of tests, the others are how many of these did not run
	skip   pattern // a test of ran that did not run
	total  pattern // its groups are how many tests failed
	test   pattern // groups "name", and "path" and "line" where it has them
	before bool    // the details come before the line
	bare   bool    // no details are read
}

// Lines that only one of these runners prints, and only at its end.
var (
	ctestEnd   = containing("% tests passed, ", `^\d+% tests passed, \d+ tests? failed out of \d+$`)
	mesonEnd   = starting("Ok: ", `^Ok: +\d+ *$`)
	phpunitEnd = containing("ssertion", `^(?:OK \(\d+ tests?, \d+ assertions?\)|Tests: \d+, Assertions: \d+, .*\.)$`)
	bunEnd     = starting("Ran ", `^Ran \d+ tests? across \d+ files?\.`)
	denoEnd    = containing(" passed", `^(?:ok|FAILED) \| \d+ passed`)
	jasmineEnd = containing(" spec", `^\d+ specs?, \d+ failures?`)
)

// The forms of the runners whose output a briefReader reads.
var (
	ctestForm = briefForm{
		known: ctestEnd, end: ctestEnd, none: starting("No tests were found!!!", `^No tests were found!!!$`),
		ran: containing("% tests passed, ", `^\d+% tests passed, \d+ tests? failed out of (\d+)$`), skip: containing(" (Skipped)", `^\t *\d+ - .+ \(Skipped\)$`),
		total: containing("% tests passed, ", `^\d+% tests passed, (\d+) tests? failed out of `),
		test:  starting("\t", `^\t *\d+ - (?P<name>.+) \((?:Failed|Timeout|Not Run|Bad Command|SEGFAULT|ILLEGAL|INTERRUPT|NUMERICAL|OTHER_FAULT|[A-Z]\w* aborted)\)`), bare: true,
	}
	mesonForm = briefForm{
		known: mesonEnd, end: mesonEnd, none: starting("No suitable tests defined.", `^No suitable tests defined\.$`),
		ran:   containing(": ", `^(?:Ok|Expected Fail): +(\d+) *$`),
		total: containing(": ", `^(?:Fail|Unexpected Pass|Timeout): +(\d+) *$`),
		test:  containing("/", `^ *\d+/\d+ (?P<name>.+?) +(?:FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS) +[\d.]+s(?: |$)`), bare: true,
	}
	phpunitForm = briefForm{
		known: phpunitEnd, end: phpunitEnd, none: starting("No tests executed!", `^No tests executed!$`),
		ran:   containing("est", `^(?:OK \(|Tests: )(\d+)(?:.*?\bSkipped: (\d+))?(?:.*?\bIncomplete: (\d+))?`),
		total: starting("Tests: ", `^Tests: \d+, Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?`), bare: true,
	}
	bunForm = briefForm{
		known: bunEnd, end: bunEnd,
		total: starting(" ", `^ +(\d+) fail$`), test: starting("(fail) ", `^\(fail\) (?P<name>.+?)(?: \[[\d.]+m?s\])?$`), before: true,
	}
	denoForm = briefForm{
		known: denoEnd, end: denoEnd,
		none:  containing(" 0 passed", `^ok \| 0 passed`),
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
	ran     int     // tests that were not skipped
	counted bool    // there was a line with their number
	details Failure // read before the line that they belong to
}

func (r *briefReader) line(line string) {
	total, end, none := r.form.total.match(line), r.form.end.match(line) != nil, r.form.none.match(line) != nil
	r.recognised = r.recognised || none || r.form.known.match(line) != nil
	if m := r.form.ran.match(line); m != nil {
		r.counted = true
		r.ran += atoi(m[1])
		for _, n := range m[2:] {
			r.ran -= atoi(n)
		}
	}
	if r.form.skip.match(line) != nil {
		r.ran--
	}
	if total != nil {
		for _, n := range total[1:] {
			r.total += atoi(n)
		}
	}
	if end || none {
		r.tally.end(none)
	}
	if total != nil || end || none {
		r.current, r.details = nil, Failure{}
		return
	}
	if m := r.form.test.match(line); m != nil {
		r.test(m)
		return
	}
	if r.form.bare {
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
	details := r.details
	r.current, r.details = nil, Failure{}
	if r.seen[key] || len(r.seen) == maxRunning {
		return
	}
	r.seen[key] = true
	if r.form.before {
		f.Path, f.Line, f.Message = details.Path, details.Line, details.Message
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
	if r.counted && r.ran <= 0 && r.total == 0 {
		r.tally.noTests = true
	}
}
