package toolreport

import "strings"

var (
	gradleTotals = containing(" completed, ", `^(\d+) tests? completed, (\d+) failed`)
	gradleTest   = containing(" FAILED", `^(\S.* > .+) FAILED$`)
	// gradleRan matches the task of tests: one that runs, or one whose tests need not run again.
	gradleRan  = containing("est", `^(?:> Task )?:(?:[\w.-]+:)*(?:test|\w*Tests?)(?: (UP-TO-DATE|FROM-CACHE))?$`)
	gradleTask = containing(" FAILED", `^(?:> Task )?(:[\w:-]*compile\w*) FAILED$`)
)

// gradleRun is what both streams of Gradle report together.
type gradleRun struct {
	*collector
	failed  int       // how many tests failed, by the totals if there were any
	counted bool      // there were totals
	ran     bool      // a task of tests was run
	same    bool      // a task of tests need not run again
	tests   []Failure // of single tests
	units   []Failure // of tasks and test processes
}

// gradleReader reads one of the streams.
type gradleReader struct {
	*gradleRun
	failureList
	compiler lineReader
	last     bool // it reads standard output, which is ended last
}

func openGradle(c *collector) [2]lineReader {
	run := &gradleRun{collector: c}
	return [2]lineReader{
		&gradleReader{gradleRun: run, compiler: javacForm.reader(c), last: true},
		&gradleReader{gradleRun: run, compiler: javacForm.reader(c)},
	}
}

func (r *gradleReader) line(line string) {
	r.compiler.line(strings.TrimPrefix(line, "[ant:checkstyle] "))
	if m := gradleTotals.match(line); m != nil {
		r.failed += atoi(m[2])
		r.counted, r.ran = true, true
		return
	}
	if m := gradleTask.match(line); m != nil {
		r.unit(Failure{Unit: m[1], Cause: Build})
		return
	}
	if m := gradleRan.match(line); m != nil {
		r.ran = r.ran || m[1] == ""
		r.same = r.same || m[1] != ""
		return
	}
	if m := gradleTest.match(line); m != nil && !strings.HasPrefix(line, "> Task") {
		r.begin(Failure{Name: m[1], Cause: Failed})
		return
	}
	switch {
	case strings.HasPrefix(line, "BUILD SUCCESSFUL in"), strings.HasPrefix(line, "BUILD FAILED in"):
		r.tally.ended, r.recognised = true, true
	case strings.HasPrefix(line, "> Process 'Gradle Test Executor"):
		r.unit(Failure{Cause: Crash, Message: line[2:]})
	case !strings.HasPrefix(line, "    "):
		r.current = nil
	default:
		r.describe(strings.TrimSpace(line), maxName)
	}
}

// unit keeps the failure of a task or a test process.
func (r *gradleRun) unit(f Failure) {
	if len(r.units) < MaxFailures {
		r.units = append(r.units, f)
	}
}

func (r *gradleReader) end() {
	r.compiler.end()
	r.tests = append(r.tests, r.list...)
	if !r.last {
		return
	}
	if !r.counted {
		r.failed = len(r.tests)
	}
	r.failTotal(r.tests, r.failed)
	r.failAll(r.units)
	if r.same && !r.ran {
		r.note("Gradle did not run the tests again: they passed before, and nothing has changed since")
	}
	r.tally.noTests = r.tally.ended && !r.ran && !r.same && r.tally.failed == 0
	r.tally.silent = r.ran && !r.counted
}
