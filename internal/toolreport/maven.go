package toolreport

import (
	"maps"
	"slices"
	"strings"
)

var (
	mavenTotals = containing("] Tests run: ", `^\[(?:INFO|ERROR|WARNING)\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$`)
	mavenTest   = containing("<<< ", `^\[ERROR\] (.+?)(?: --)? +Time elapsed: .*<<< (?:FAILURE|ERROR)!`)
)

// mavenReader reads Maven: the lines of the compiler and of checkstyle, and what
// surefire reports about tests.
type mavenReader struct {
	*collector
	failureList
	compiler     lineReader
	ran, failed  int                       // tests that were not skipped, in the modules that are over
	totals       struct{ ran, failed int } // the last that the module printed
	naming       bool                      // the next lines name a class's failures
	crashedNames map[string]bool           // classes whose process crashed
	namingCrash  bool                      // the next lines name such classes
	uncompiled   bool
	skipped      bool // modules were not built
	testsFailed  bool // Maven says so, even where it names no test
	ended        bool
}

func newMaven(c *collector) lineReader {
	return &mavenReader{collector: c, compiler: mavenForm.reader(c), crashedNames: map[string]bool{}}
}

func (r *mavenReader) line(line string) {
	r.compiler.line(strings.Replace(line, "[ERROR]   ", "  ", 1))
	if m := mavenTotals.match(line); m != nil {
		// Totals before these were printed by a test.
		r.totals.ran, r.totals.failed = atoi(m[1])-atoi(m[4]), atoi(m[2])+atoi(m[3])
		r.current = nil
		return
	}
	if strings.HasPrefix(line, "[INFO] --- ") {
		r.endModule()
	}
	if strings.HasPrefix(line, "[ERROR] Tests run: ") {
		r.naming = strings.Contains(line, " <<< ")
		return
	}
	if m := mavenTest.match(line); m != nil && r.naming {
		r.begin(Failure{Name: m[1], Cause: Failed})
		return
	}
	text := strings.TrimSpace(line)
	r.testsFailed = r.testsFailed || strings.HasPrefix(line, "[ERROR] Failed to execute goal ") && strings.Contains(line, "There are test failures")
	switch {
	case strings.HasPrefix(line, "[INFO] BUILD "):
		r.ended, r.recognised, r.current = true, true, nil
	case strings.HasPrefix(line, "[INFO] ") && strings.HasSuffix(line, " SKIPPED"):
		r.skipped = true
	case strings.HasPrefix(line, "[ERROR] COMPILATION ERROR"):
		r.uncompiled = true
	case strings.HasPrefix(line, "[ERROR] Crashed tests:"):
		r.namingCrash = true
	case r.namingCrash:
		name := strings.TrimSpace(strings.TrimPrefix(line, "[ERROR]"))
		r.namingCrash = name != "" && !strings.Contains(name, " ")
		if r.namingCrash && len(r.crashedNames) < MaxFailures {
			r.crashedNames[name] = true
		}
	case strings.HasPrefix(line, "["):
		r.current = nil
	case text != "":
		r.describe(text, maxName)
	}
}

// endModule counts a module whose tests are over.
func (r *mavenReader) endModule() {
	r.ran += r.totals.ran
	r.failed += r.totals.failed
	r.totals.ran, r.totals.failed, r.naming = 0, 0, false
}

func (r *mavenReader) end() {
	r.compiler.end()
	r.endModule()
	r.failTotal(r.list, r.failed)
	for _, name := range slices.Sorted(maps.Keys(r.crashedNames)) {
		r.fail(Failure{Unit: name, Cause: Crash})
	}
	if r.uncompiled {
		r.fail(Failure{Cause: Build, Message: "the sources did not compile"})
	}
	if r.ended {
		r.tally.ended = !r.skipped
		r.tally.noTests = r.ran <= 0 && r.tally.failed == 0 && !r.testsFailed
	}
}
