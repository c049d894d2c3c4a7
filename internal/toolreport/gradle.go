package toolreport

import (
	"regexp"
	"strings"
)

// gradleRun is what both streams of Gradle say together.
type gradleRun struct {
	c       *collector
	totals  *regexp.Regexp
	test    *regexp.Regexp
	task    *regexp.Regexp
	failed  int
	counted bool
	ended   bool
	ran     bool
	units   []Failure
	all     []Failure
}

type gradleReader struct {
	*gradleRun
	compiler lineReader
	now      *Failure
	out      bool
}

func openGradle(c *collector) [2]lineReader {
	run := &gradleRun{
		c:      c,
		totals: regexp.MustCompile(`^(\d+) tests? completed, (\d+) failed`),
		test:   regexp.MustCompile(`^(\S.* > .+) FAILED$`),
		task:   regexp.MustCompile(`^(?:> Task )?(:[\w:-]*compile\w*) FAILED$`),
	}
	compiler := text(javacForm())
	return [2]lineReader{&gradleReader{gradleRun: run, compiler: compiler(c)[0], out: true}, &gradleReader{gradleRun: run, compiler: compiler(c)[1]}}
}

func (r *gradleReader) line(line string) {
	line = clip(line, maxText)
	r.compiler.line(strings.TrimPrefix(line, "[ant:checkstyle] "))
	if m := find(r.totals, " completed, ", line); m != nil {
		r.failed += number(m[2])
		r.counted, r.ran = true, true
		return
	}
	if m := find(r.task, " FAILED", line); m != nil {
		if len(r.units) < MaxFailures {
			r.units = append(r.units, Failure{Unit: m[1], Cause: Build})
		}
		return
	}
	if m := find(r.test, " FAILED", line); m != nil && !strings.HasPrefix(line, "> Task") {
		r.now = nil
		if len(r.all) < MaxFailures {
			r.all = append(r.all, Failure{Name: m[1], Cause: Failed})
			r.now = &r.all[len(r.all)-1]
		}
		return
	}
	switch {
	case strings.HasPrefix(line, "BUILD SUCCESSFUL in"), strings.HasPrefix(line, "BUILD FAILED in"):
		r.ended, r.c.recognised = true, true
	case line == ":test" || strings.HasPrefix(line, "> Task ") && strings.HasSuffix(line, ":test"):
		r.ran = true
	case strings.HasPrefix(line, "> Process 'Gradle Test Executor") && len(r.units) < MaxFailures:
		r.units = append(r.units, Failure{Cause: Crash, Message: line[2:]})
	case !strings.HasPrefix(line, "    "):
		r.now = nil
	case r.now != nil && len(r.now.Message) < maxName:
		r.now.Message = strings.TrimSpace(r.now.Message + "\n" + strings.TrimSpace(line))
	}
}

// end is called for standard error first; standard output then counts.
func (r *gradleReader) end() {
	r.compiler.end()
	if !r.out {
		return
	}
	t := &r.c.tally
	for _, f := range r.all {
		r.c.fail(f)
	}
	if r.counted {
		t.failed = r.failed
	}
	for _, f := range r.units {
		r.c.fail(f)
	}
	t.closed = r.ended
	t.none = r.ended && !r.ran && t.failed == 0
}
