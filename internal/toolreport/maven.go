package toolreport

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// mavenReader reads Maven: the compiler's and checkstyle's lines, and what
// surefire says of tests.
type mavenReader struct {
	c        *collector
	compiler lineReader
	totals   *regexp.Regexp
	test     *regexp.Regexp
	crashed  map[string]bool
	crashes  bool // the next lines name crashed tests
	failed   int
	ran      int
	broken   bool
	skipped  bool // modules that were not built
	ended    bool
	now      *Failure
	all      []Failure
	totalled [2]int // tests and failures, by the last totals of the module
	naming   bool   // the next lines name a class's failures
}

func openMaven(c *collector) [2]lineReader {
	return each(func(c *collector) lineReader {
		f := form{
			formats:  []string{`[%tRROR] %f:[%l,%c] %m`, `[%tARNING] %f:[%l,%c] %m`, `[%tARN] %f:[%l,%c] %m`, `[%tRROR] %f:[%l] %m`, `[%tARN] %f:[%l] %m`},
			rule:     `^(?s)\((?P<category>\w+)\) (?P<rule>\w+): (?P<message>.*)$`,
			more:     []string{"  symbol:", "  location:", "[ERROR]   symbol:", "[ERROR]   location:"},
			severity: finding.High,
			broken:   func(f finding.Finding) bool { return f.Rule == "" && isError(f) },
		}
		return &mavenReader{
			c: c, compiler: text(f)(c)[0],
			totals:  regexp.MustCompile(`^\[(?:INFO|ERROR|WARNING)\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: \d+$`),
			test:    regexp.MustCompile(`^\[ERROR\] (.+?)(?: --)? +Time elapsed: .*<<< (?:FAILURE|ERROR)!`),
			crashed: map[string]bool{},
		}
	})(c)
}

func (r *mavenReader) line(line string) {
	line = clip(line, maxText)
	r.compiler.line(strings.Replace(line, "[ERROR]   ", "  ", 1))
	if m := find(r.totals, "] Tests run: ", line); m != nil {
		r.totalled = [2]int{number(m[1]), number(m[2]) + number(m[3])} // one before it was printed by a test
		r.now = nil
		return
	}
	if strings.HasPrefix(line, "[INFO] --- ") {
		r.module()
	}
	if strings.HasPrefix(line, "[ERROR] Tests run: ") {
		r.naming = strings.Contains(line, " <<< ")
		return
	}
	if m := find(r.test, "<<< ", line); m != nil && r.naming {
		r.now = nil
		if len(r.all) < MaxFailures {
			r.all = append(r.all, Failure{Name: m[1], Cause: Failed})
			r.now = &r.all[len(r.all)-1]
		}
		return
	}
	switch {
	case strings.HasPrefix(line, "[INFO] BUILD "):
		r.ended, r.c.recognised, r.now = true, true, nil
	case strings.HasPrefix(line, "[INFO] ") && strings.HasSuffix(line, " SKIPPED"):
		r.skipped = true
	case strings.HasPrefix(line, "[ERROR] COMPILATION ERROR"):
		r.broken = true
	case strings.HasPrefix(line, "[ERROR] Crashed tests:"):
		r.crashes = true
	case r.crashes:
		name := strings.TrimSpace(strings.TrimPrefix(line, "[ERROR]"))
		if r.crashes = name != "" && !strings.Contains(name, " "); r.crashes && len(r.crashed) < MaxFailures {
			r.crashed[name] = true
		}
	case r.now != nil && strings.HasPrefix(line, "["):
		r.now = nil
	case r.now != nil && strings.TrimSpace(line) != "" && len(r.now.Message) < maxName:
		r.now.Message = strings.TrimSpace(r.now.Message + "\n" + strings.TrimSpace(line))
	}
}

// module counts a module whose tests are over.
func (r *mavenReader) module() {
	r.ran += r.totalled[0]
	r.failed += r.totalled[1]
	r.totalled, r.naming = [2]int{}, false
}

func (r *mavenReader) end() {
	r.compiler.end()
	r.module()
	t := &r.c.tally
	before := t.failed
	for _, f := range r.all {
		r.c.fail(f)
	}
	t.failed = before + r.failed
	for _, name := range slices.Sorted(maps.Keys(r.crashed)) {
		r.c.fail(Failure{Unit: name, Cause: Crash})
	}
	if r.broken {
		r.c.fail(Failure{Cause: Build, Message: "the sources did not compile"})
	}
	if r.ended {
		t.closed = !r.skipped
		t.none = r.ran == 0 && t.failed == 0
	}
}
