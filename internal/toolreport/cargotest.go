package toolreport

import (
	"maps"
	"slices"
	"strings"
)

var (
	cargoTest    = starting("test ", `^test (.+?)(?: - should panic)? \.\.\. FAILED$`)
	cargoResult  = starting("test result: ", `^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; \d+ ignored`)
	cargoBlock   = starting("---- ", `^---- (.+) stdout ----$`)
	cargoPanic   = starting("thread ", `^thread '.*' (?:\(\d+\) )?panicked at (?:'.*', )?([^:']+):(\d+):\d+:?$`)
	cargoCompile = starting("error: could not compile", "^error: could not compile `([^`]+)` \\((.*?)\\)")
	cargoTargets = starting("error: ", `^error: \d+ targets? failed:`)
)

// cargoRun is what both streams of cargo test report together: standard output has the
// tests' results, standard error the messages of cargo and the compiler.
type cargoRun struct {
	*collector
	uncompiled map[string]bool // targets that did not compile
	crashes    int             // of test processes
	stopped    bool            // a target failed, which ends the run unless all is set
	all        bool            // every target ran
}

func openCargoTest(c *collector) [2]lineReader {
	run := &cargoRun{collector: c, uncompiled: map[string]bool{}}
	return [2]lineReader{
		&cargoResults{cargoRun: run, rustc: newRustc(c), byName: map[string]int{}},
		&cargoErrors{cargoRun: run, rustc: newRustc(c)},
	}
}

// cargoResults reads standard output.
type cargoResults struct {
	*cargoRun
	rustc   lineReader
	failed  int            // in the results of targets
	ran     int            // tests that were not ignored, in the results of targets
	began   int            // targets that began to run tests
	results int            // targets with a result
	listed  []Failure      // of targets with a result
	open    []Failure      // of the target whose result is not known yet
	byName  map[string]int // indexes in open
	test    string         // the one whose output is read
}

func (r *cargoResults) line(line string) {
	if r.test == "" && r.result(line) {
		return
	}
	if m := cargoBlock.match(line); m != nil {
		r.test = m[1]
		return
	}
	if r.test != "" && (strings.HasPrefix(line, "failures:") || strings.HasPrefix(line, "successes:")) { // the output of tests ends
		r.test = ""
		return
	}
	i, ok := r.byName[r.test]
	if !ok {
		r.rustc.line(line)
		return
	}
	f := &r.open[i]
	if m := cargoPanic.match(line); m != nil && f.Line == 0 {
		f.Path, f.Line, f.Message = m[1], atoi(m[2]), ""
		return
	}
	if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "note: ") && len(f.Message) < maxMessage/2 {
		f.Message = strings.TrimSpace(f.Message + "\n" + text)
	}
}

// result reads a line outside the output of tests. It reports whether the line is about
// a test or a target.
func (r *cargoResults) result(line string) bool {
	if m := cargoTest.match(line); m != nil {
		if len(r.open) < MaxFailures {
			r.byName[m[1]] = len(r.open)
			r.open = append(r.open, Failure{Name: m[1], Cause: Failed})
		}
		return true
	}
	if m := cargoResult.match(line); m != nil {
		r.results++
		r.recognised = true
		r.failed += atoi(m[2])
		r.ran += atoi(m[1]) + atoi(m[2])
		r.listed = append(r.listed, r.open[:min(len(r.open), MaxFailures-len(r.listed))]...)
		r.open, r.byName = nil, map[string]int{}
		return true
	}
	if strings.HasPrefix(line, "running ") && (strings.HasSuffix(line, " tests") || line == "running 1 test") {
		r.began++
		return true
	}
	return false
}

func (r *cargoResults) end() {
	r.rustc.end()
	r.failAll(append(r.listed, r.open...))
	r.tally.failed = r.failed + len(r.open)
	for _, target := range slices.Sorted(maps.Keys(r.uncompiled)) {
		r.fail(Failure{Unit: target, Cause: Build})
	}
	// A test that calls exit ends its target without a result, and cargo reports success.
	crashed := max(r.crashes, r.began-r.results)
	for range max(crashed-len(r.open), 0) { // a failed test of a target stands for its crash
		r.fail(Failure{Cause: Crash, Message: "a test target's process ended before its result"})
	}
	r.tally.ended = r.results > 0 && crashed == 0 && len(r.open) == 0 && (r.all || !r.stopped) && len(r.uncompiled) == 0
	r.tally.noTests = r.results > 0 && r.ran == 0 && r.tally.failed == 0
}

// cargoErrors reads standard error.
type cargoErrors struct {
	*cargoRun
	rustc lineReader
}

func (e *cargoErrors) line(line string) {
	e.rustc.line(line)
	switch m := cargoCompile.match(line); {
	case m != nil && len(e.uncompiled) < maxRunning:
		e.recognised = true
		// A library is compiled a second time for its own tests.
		e.uncompiled[m[1]+" ("+strings.TrimSuffix(m[2], " test")+")"] = true
	case strings.HasPrefix(line, "error: test failed, to rerun pass"), strings.HasPrefix(line, "error: doctest failed, to rerun pass"):
		e.stopped = true
	case strings.Contains(line, "process didn't exit successfully: ") && !strings.Contains(line, "(exit status: 101)"):
		e.crashes++
		e.recognised = true
	case cargoTargets.match(line) != nil:
		e.all = true
	}
}

func (e *cargoErrors) end() { e.rustc.end() }
