package toolreport

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// cargoRun is what both streams of cargo test say together: the tests' results
// stand on standard output, cargo's and the compiler's own on standard error.
type cargoRun struct {
	c       *collector
	failed  int // by the results of targets
	ran     int
	broken  map[string]bool // targets that did not compile
	crashed int
	began   int  // targets that began to run tests
	stopped bool // at the first target that failed
	all     bool // every target ran
	results int
	listed  []Failure
	open    []Failure // of the target whose result is not known yet
	byName  map[string]int
}

func openCargoTest(c *collector) [2]lineReader {
	run := &cargoRun{c: c, broken: map[string]bool{}, byName: map[string]int{}}
	return [2]lineReader{
		&cargoResults{
			cargoRun: run, rustc: newRustc(c),
			test:   regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. FAILED$`),
			result: regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored`),
			block:  regexp.MustCompile(`^---- (.+) stdout ----$`),
			panic:  regexp.MustCompile(`^thread '.*' (?:\(\d+\) )?panicked at (?:'.*', )?([^:']+):(\d+):\d+:?$`),
		},
		&cargoErrors{
			cargoRun: run, rustc: newRustc(c),
			compile: regexp.MustCompile("^error: could not compile `([^`]+)` \\((.*?)\\)"),
			targets: regexp.MustCompile(`^error: \d+ targets? failed:`),
		},
	}
}

type cargoResults struct {
	*cargoRun
	rustc                      lineReader
	test, result, block, panic *regexp.Regexp
	now                        string // the test whose output is read
}

func (r *cargoResults) line(line string) {
	line = clip(line, maxText)
	if m := findAt(r.test, "test ", line); m != nil && r.now == "" {
		if len(r.open) < MaxFailures {
			r.byName[m[1]] = len(r.open)
			r.open = append(r.open, Failure{Name: m[1], Cause: Failed})
		}
		return
	}
	if m := findAt(r.result, "test result: ", line); m != nil && r.now == "" {
		r.results++
		r.c.recognised = true
		r.failed += number(m[2])
		r.ran += number(m[1]) + number(m[2]) + number(m[3])
		r.listed = append(r.listed, r.open[:min(len(r.open), MaxFailures-len(r.listed))]...)
		r.open, r.byName, r.now = nil, map[string]int{}, ""
		return
	}
	if r.now == "" && strings.HasPrefix(line, "running ") && (strings.HasSuffix(line, " tests") || line == "running 1 test") {
		r.began++
		return
	}
	if m := findAt(r.block, "---- ", line); m != nil {
		r.now = m[1]
		return
	}
	i, ok := r.byName[r.now]
	if !ok || r.now == "" {
		r.rustc.line(line)
		return
	}
	f := &r.open[i]
	if m := findAt(r.panic, "thread ", line); m != nil && f.Line == 0 {
		f.Path, f.Line, f.Message = m[1], number(m[2]), ""
	} else if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "note: ") && len(f.Message) < maxMessage/2 && !strings.HasPrefix(line, "failures:") {
		f.Message = strings.TrimSpace(f.Message + "\n" + text)
	} else if strings.HasPrefix(line, "failures:") {
		r.now = ""
	}
}

func (r *cargoResults) end() {
	r.rustc.end()
	t := &r.c.tally
	for _, f := range append(r.listed, r.open...) {
		r.c.fail(f)
	}
	t.failed = r.failed + len(r.open)
	for _, target := range slices.Sorted(maps.Keys(r.broken)) {
		r.c.fail(Failure{Unit: target, Cause: Build})
	}
	// A test that exits ends its target without a result, and cargo thinks well of it.
	r.crashed = max(r.crashed, r.began-r.results)
	for range r.crashed - min(r.crashed, len(r.open)) {
		r.c.fail(Failure{Cause: Crash, Message: "a test target's process ended before its result"})
	}
	t.closed = r.results > 0 && r.crashed == 0 && len(r.open) == 0 && (r.all || !r.stopped) && len(r.broken) == 0
	t.none = r.results > 0 && r.ran == 0 && t.failed == 0
}

type cargoErrors struct {
	*cargoRun
	rustc            lineReader
	compile, targets *regexp.Regexp
}

func (e *cargoErrors) line(line string) {
	line = clip(line, maxText)
	e.rustc.line(line)
	switch m := findAt(e.compile, "error: could not compile", line); {
	case m != nil && len(e.broken) < maxRunning:
		e.c.recognised = true
		// A library is compiled a second time for its own tests.
		e.broken[m[1]+" ("+strings.TrimSuffix(m[2], " test")+")"] = true
	case strings.HasPrefix(line, "error: test failed, to rerun pass"), strings.HasPrefix(line, "error: doctest failed, to rerun pass"):
		e.stopped = true
	case strings.Contains(line, "process didn't exit successfully: ") && !strings.Contains(line, "(exit status: 101)"):
		e.crashed++
		e.c.recognised = true
	case strings.HasPrefix(line, "error: ") && e.targets.MatchString(line):
		e.all = true
	}
}

func (e *cargoErrors) end() { e.rustc.end() }
