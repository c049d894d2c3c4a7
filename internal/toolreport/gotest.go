package toolreport

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// goEvents reads the events of go test -json.
type goEvents struct {
	c        *collector
	packages map[string]*goPackage
	build    lineReader          // compiler errors
	said     map[string][]string // what the compiler said, by the import path it built
	ran      bool                // a package had tests
	ended    bool                // a package came to its end
}

func newGoEvents(c *collector) *goEvents {
	return &goEvents{c: c, packages: map[string]*goPackage{}, build: goCompiler(c), said: map[string][]string{}}
}

// goCompiler reads the errors of Go's compiler.
func goCompiler(c *collector) lineReader {
	return text(form{formats: goFormats(), prefix: "vet: ", more: []string{"\t"}, severity: finding.High, broken: isError})(c)[0]
}

// event reads one event. It is false for what is none.
func (g *goEvents) event(line []byte) bool {
	var e struct {
		Action, Package, Test, Output, ImportPath, FailedBuild string
	}
	if json.Unmarshal(line, &e) != nil {
		return false
	}
	e.Package, e.ImportPath = clip(e.Package, maxName), clip(e.ImportPath, maxName)
	output := plain([]byte(strings.TrimSuffix(e.Output, "\n")))
	if strings.HasPrefix(e.Action, "build-") {
		if e.Action == "build-output" {
			g.build.line(output)
			if said := g.said[e.ImportPath]; len(said) < tailLines && len(g.said) < maxRunning && !strings.HasPrefix(output, "#") {
				g.said[e.ImportPath] = append(said, clip(output, maxName))
			}
		}
		return true
	}
	if e.Package == "" {
		return false
	}
	p := g.packages[e.Package]
	if p == nil && len(g.packages) == maxRunning {
		g.c.tally.lost = true
		return true
	}
	if p == nil {
		p = newGoPackage()
		g.packages[e.Package] = p
	}
	switch e.Action {
	case "start", "bench":
	case "output":
		p.say(e.Test, output)
	case "run", "cont", "pause":
		if t := p.test(e.Test); t != nil {
			t.paused = e.Action == "pause"
		}
	case "pass", "skip", "fail":
		g.over(p, e.Action, e.Package, e.Test, e.FailedBuild)
	default:
		return false
	}
	return true
}

// over ends a test or a package.
func (g *goEvents) over(p *goPackage, action, pkg, test, failedBuild string) {
	switch {
	case test != "" && action == "fail":
		g.ran = true
		p.fail(test)
	case test != "":
		g.ran = true
		p.pass(test)
	default:
		g.ended = true
		if action == "fail" {
			if failedBuild != "" {
				p.tail = g.said[failedBuild]
			}
			p.end(pkg, failedBuild == "", g.c)
			g.ran = true
		}
		delete(g.packages, pkg)
	}
}

// end counts what failed in packages that did not come to their end.
func (g *goEvents) end() {
	g.build.end()
	for _, name := range slices.Sorted(maps.Keys(g.packages)) {
		p := g.packages[name]
		if len(p.failing) > 0 {
			p.byName = keepFailing(p)
			p.end(name, true, g.c)
		}
	}
	if g.ended {
		g.c.tally.closed = len(g.packages) == 0
		g.c.tally.none = !g.ran
	}
}

func keepFailing(p *goPackage) map[string]*goTest {
	kept := map[string]*goTest{}
	for _, t := range p.failing {
		kept[t.name] = t
	}
	return kept
}

// goText reads what go test prints for people.
type goText struct {
	c       *collector
	pkg     *goPackage
	last    string // the test that output belongs to
	result  *regexp.Regexp
	verdict *regexp.Regexp
	running *regexp.Regexp
	ran     bool
	ended   bool
}

// openGoTest reads results from standard output, and the compiler's errors from
// both streams, as standard error has them.
func openGoTest(c *collector) [2]lineReader {
	return [2]lineReader{&goText{
		c: c, pkg: newGoPackage(),
		result:  regexp.MustCompile(`^(ok  |FAIL|\?   )\t(\S+)(?:\t| )?(.*)$`),
		verdict: regexp.MustCompile(`^ *--- (FAIL|PASS|SKIP): (\S+) \(`),
		running: regexp.MustCompile(`^\t\t(Test\S+|Example\S*|Fuzz\S+) \(`),
	}, goCompiler(c)}
}

func (g *goText) line(line string) {
	line = clip(line, maxText)
	if m := find(g.result, "\t", line); m != nil {
		g.ended, g.c.recognised = true, true
		switch {
		case m[1] == "FAIL":
			g.ran = true
			g.pkg.end(m[2], !strings.Contains(m[3], "[build failed]") && !strings.Contains(m[3], "[setup failed]"), g.c)
		case m[1] == "ok  " && !strings.Contains(m[3], "[no tests to run]"):
			g.ran = true
		}
		g.pkg, g.last = newGoPackage(), ""
		return
	}
	if m := find(g.verdict, "--- ", line); m != nil {
		if m[1] == "FAIL" {
			g.pkg.fail(m[2])
			g.last = m[2]
		} else {
			g.last = ""
		}
		return
	}
	if m := findAt(g.running, "\t\t", line); m != nil && g.pkg.timedOut {
		g.pkg.test(m[1])
		return
	}
	if line != "FAIL" && !strings.HasPrefix(line, "=== ") {
		if !strings.HasPrefix(line, "    ") {
			g.last = ""
		}
		g.pkg.say(g.last, line)
	}
}

func (g *goText) end() {
	if len(g.pkg.failing) > 0 { // the package did not come to its end
		g.pkg.end("", true, g.c)
		g.ended = false
	}
	g.c.tally.closed = g.c.tally.closed || g.ended
	g.c.tally.none = g.ended && !g.ran
}

// goPackage is what go test has said of one package so far.
type goPackage struct {
	failing  []*goTest // that failed, in this order, those with subtests included
	byName   map[string]*goTest
	timedOut bool
	lost     int      // failures over maxRunning
	tail     []string // the last lines that belong to no test
}

// goTest is one test that failed, or has not ended.
type goTest struct {
	name   string
	failed bool
	paused bool
	parent bool // a subtest failed, or has not ended
	tail   []string
}

const (
	maxRunning = 10_000 // tests or packages that are kept at a time
	tailLines  = 12
)

func newGoPackage() *goPackage { return &goPackage{byName: map[string]*goTest{}} }

// test returns what is known of a test; nil where there are too many.
func (p *goPackage) test(name string) *goTest {
	name = clip(name, maxName)
	t := p.byName[name]
	if t == nil && len(p.byName) < maxRunning {
		t = &goTest{name: name}
		p.byName[name] = t
	}
	return t
}

func (p *goPackage) fail(name string) *goTest {
	t := p.test(name)
	if t == nil {
		p.lost++
	} else if !t.failed {
		t.failed = true
		p.failing = append(p.failing, t)
	}
	return t
}

// pass forgets a test that ended well.
func (p *goPackage) pass(name string) { delete(p.byName, clip(name, maxName)) }

// say keeps a line of a test's output, or of the package's where test is "".
func (p *goPackage) say(test, line string) {
	switch {
	case strings.HasPrefix(line, "panic: test timed out after "):
		p.timedOut = true
	case strings.HasPrefix(line, "=== "), strings.HasPrefix(strings.TrimLeft(line, " "), "--- "), strings.TrimSpace(line) == "":
		return
	}
	to := &p.tail
	if t := p.byName[test]; t != nil {
		to = &t.tail
	}
	if len(*to) == tailLines {
		copy((*to)[tailLines/2:], (*to)[tailLines/2+1:]) // the first lines and the last
		*to = (*to)[:tailLines-1]
	}
	*to = append(*to, clip(line, maxName))
}

// end counts a package that failed. It is a unit of its own where none of its
// tests is to blame.
func (p *goPackage) end(pkg string, built bool, c *collector) {
	for _, t := range p.failing {
		p.markParents(t.name)
	}
	// Which of those are parents is not known any more.
	counted := p.lost > 0
	c.tally.failed += p.lost
	c.tally.lost = c.tally.lost || p.lost > 0
	for _, t := range p.failing {
		if !t.parent {
			counted = true
			c.fail(goFailure(c, pkg, t, Failed))
		}
	}
	running := p.running()
	switch {
	case p.timedOut:
		for _, t := range running {
			counted = true
			c.fail(goFailure(c, pkg, t, Timeout))
		}
	case !counted && len(running) == 1:
		counted = true
		c.fail(goFailure(c, pkg, running[0], Crash))
	}
	if !counted {
		cause := Crash
		if !built {
			cause = Build
		}
		c.fail(Failure{Unit: pkg, Cause: cause, Message: strings.Join(p.tail, "\n")})
	}
}

func (p *goPackage) markParents(name string) {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if parent := p.byName[name[:i]]; parent != nil {
			if parent.parent {
				return
			}
			parent.parent = true
		}
	}
}

// running returns the tests that have begun and not ended, without those that
// wait for their subtests.
func (p *goPackage) running() []*goTest {
	var open []*goTest
	for _, t := range p.byName {
		if !t.failed && !t.paused {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *goTest) int { return strings.Compare(a.name, b.name) })
	for _, t := range open {
		p.markParents(t.name)
	}
	return slices.DeleteFunc(open, func(t *goTest) bool { return t.parent })
}

// goFailure names a test's failure and, where the package's folder is known, its
// place.
func goFailure(c *collector, pkg string, t *goTest, cause Cause) Failure {
	f := Failure{Name: t.name, Unit: pkg, Cause: cause}
	place := regexp.MustCompile(`^\s*([^\s:/]+\.go):(\d+): `)
	var said []string
	for _, l := range t.tail {
		if m := place.FindStringSubmatch(l); m != nil && f.Line == 0 {
			if dir, ok := c.packageDir(pkg); ok {
				f.Path = path.Join(dir, m[1])
			}
			f.Line = number(m[2])
		}
		said = append(said, strings.TrimSpace(l))
	}
	f.Message = strings.Join(said, "\n")
	return f
}

// packageDir returns the folder of a Go package, as an absolute path below the
// first root.
func (c *collector) packageDir(pkg string) (string, bool) {
	if len(c.places.roots) == 0 {
		return "", false
	}
	best, dir := "", ""
	for module, at := range c.modules {
		if (pkg == module || strings.HasPrefix(pkg, module+"/")) && len(module) > len(best) {
			best, dir = module, at
		}
	}
	if best == "" {
		return "", false
	}
	return path.Join(c.places.roots[0], dir, strings.TrimPrefix(pkg, best)), true
}
