package toolreport

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// goEvents reads the events of go test -json.
type goEvents struct {
	c        *collector
	packages map[string]*goPackage
	compiler lineReader
	built    map[string][]string // what the compiler printed, by the import path that it built
	ran      bool                // a test ran and was not skipped, or a package failed
	ended    bool                // a package came to its end
}

func newGoEvents(c *collector) *goEvents {
	return &goEvents{c: c, packages: map[string]*goPackage{}, compiler: goCompilerForm.reader(c), built: map[string][]string{}}
}

// event reads one event, and reports whether the line is one.
func (g *goEvents) event(line []byte) bool {
	var e struct {
		Action, Package, Test, Output, ImportPath, FailedBuild string
	}
	if json.Unmarshal(line, &e) != nil {
		return false
	}
	for _, name := range []*string{&e.Package, &e.ImportPath, &e.FailedBuild, &e.Test} {
		*name = text.TruncateBytes(*name, maxName)
	}
	output := printable([]byte(strings.TrimSuffix(e.Output, "\n")))
	if strings.HasPrefix(e.Action, "build-") {
		if e.Action == "build-output" {
			g.compiler.line(text.TruncateBytes(output, maxText))
			if lines := g.built[e.ImportPath]; len(lines) < tailLines && len(g.built) < maxRunning && !strings.HasPrefix(output, "#") {
				g.built[e.ImportPath] = append(lines, text.TruncateBytes(output, maxName))
			}
		}
		return true
	}
	if e.Package == "" {
		return false
	}
	p := g.packages[e.Package]
	if p == nil {
		if len(g.packages) == maxRunning {
			g.c.tally.lost = true
			return true
		}
		p = newGoPackage()
		g.packages[e.Package] = p
	}
	switch e.Action {
	case "start", "bench":
	case "output":
		p.output(e.Test, output)
	case "run", "cont", "pause":
		p.crash = goCrash{}
		if t := p.test(e.Test); t != nil {
			t.paused = e.Action == "pause"
		}
	case "pass", "skip", "fail":
		if e.Action != "fail" {
			p.crash = goCrash{}
		}
		g.ran = g.ran || e.Test != "" && e.Action != "skip"
		g.endOne(p, e.Action == "fail", e.Package, e.Test, e.FailedBuild)
	default:
		return false
	}
	return true
}

// endOne ends a test, or a package if test is "".
func (g *goEvents) endOne(p *goPackage, failed bool, pkg, test, failedBuild string) {
	if test != "" {
		if failed {
			p.fail(test)
		} else {
			p.pass(test)
		}
		return
	}
	g.ended = true
	if failed || len(p.failing) > 0 { // a TestMain may hide that tests failed
		g.ran = true
		if failedBuild != "" {
			p.tail = g.built[failedBuild]
		}
		p.end(pkg, failedBuild == "", g.c)
	}
	delete(g.packages, pkg)
}

// end counts the failures in packages that did not finish.
func (g *goEvents) end() {
	g.compiler.end()
	for _, name := range slices.Sorted(maps.Keys(g.packages)) {
		p := g.packages[name]
		if len(p.failing) > 0 {
			p.byName = map[string]*goTest{} // how the other tests ended is not known
			for _, t := range p.failing {
				p.byName[t.name] = t
			}
			p.end(name, true, g.c)
		}
	}
	if g.ended {
		g.c.tally.ended = len(g.packages) == 0
		g.c.tally.noTests = !g.ran
	}
}

var (
	goResult  = containing("\t", `^(ok  |FAIL|\?   )\t(\S+)(?:\t| )?(.*)$`)
	goVerdict = containing("--- ", `^ *--- (FAIL|PASS|SKIP): (\S+) \(`)
	goRunning = starting("\t\t", `^\t\t(Test\S+|Example\S*|Fuzz\S+) \(`)
	goFrame   = starting("\t", `^\t(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	goPlace   = containing(".go:", `^\s*([^\s:/]+\.go):(\d+): `)
)

// goText reads what go test prints for people.
type goText struct {
	*collector
	pkg     *goPackage
	current string // the test that output belongs to
	ran     bool
	ended   bool
}

// openGoTest reads results from standard output, and the compiler's errors from standard error.
func openGoTest(c *collector) [2]lineReader {
	return [2]lineReader{&goText{collector: c, pkg: newGoPackage()}, goCompilerForm.reader(c)}
}

func (g *goText) line(line string) {
	if m := goResult.match(line); m != nil {
		g.ended, g.recognised = true, true
		switch {
		case m[1] == "FAIL":
			g.ran = true
			g.pkg.end(m[2], !strings.Contains(m[3], "[build failed]") && !strings.Contains(m[3], "[setup failed]"), g.collector)
		case m[1] == "ok  " && !strings.Contains(m[3], "[no tests to run]"):
			g.ran = true
			if len(g.pkg.failing) > 0 { // a TestMain may hide that tests failed
				g.pkg.end(m[2], true, g.collector)
			}
		}
		g.pkg, g.current = newGoPackage(), ""
		return
	}
	if m := goVerdict.match(line); m != nil {
		g.current = ""
		if m[1] == "FAIL" {
			g.pkg.fail(m[2])
			g.current = m[2]
		}
		return
	}
	if m := goRunning.match(line); m != nil && g.pkg.timedOut {
		g.pkg.test(m[1])
		return
	}
	if line == "FAIL" { // the tests came to their end: what looks like a crash was printed by one
		g.pkg.crash = goCrash{}
	} else if !strings.HasPrefix(line, "=== ") {
		if !strings.HasPrefix(line, "    ") {
			g.current = ""
		}
		g.pkg.output(g.current, line)
	}
}

func (g *goText) end() {
	if len(g.pkg.failing) > 0 { // the package did not finish
		g.pkg.end("", true, g.collector)
		g.ended = false
	}
	g.tally.ended = g.tally.ended || g.ended
	g.tally.noTests = g.ended && !g.ran
}

const (
	maxRunning = 10_000 // tests or packages that are kept at a time
	tailLines  = 12
)

// goPackage is what go test has reported about one package so far.
type goPackage struct {
	failing  []*goTest // in the order in which they failed, also tests with subtests
	byName   map[string]*goTest
	timedOut bool
	lost     int      // failures after maxRunning
	tail     []string // the first and the last lines that belong to no test
	crash    goCrash
}

// goCrash is how the process of a package's tests ended early, as far as it printed that.
type goCrash struct {
	message   string // its first line; "" if nothing was printed
	inTest    bool   // a test panicked, and is reported as failed; false for any other panic and for a fatal error
	positions []string
}

// maxFrames bounds how many frames are kept of a stack trace of Go, which prints at most 100.
const maxFrames = 100

// line reads a line that the tests have printed.
func (p *goCrash) line(line string) {
	if p.message == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		p.message, p.inTest = text.TruncateBytes(line, maxName), strings.Contains(line, "[recovered")
		return
	}
	if m := goFrame.match(line); p.message != "" && m != nil && len(p.positions) < maxFrames {
		p.positions = append(p.positions, m[1]+":"+m[2])
	}
}

// locate sets the message and the place of a failure that has no line: the innermost frame in the
// repository's own code.
func (p *goCrash) locate(c *collector, f *Failure) {
	if f.Line > 0 || p.message == "" {
		return
	}
	if !strings.Contains(f.Message, p.message) {
		f.Message = strings.TrimSpace(p.message + "\n" + f.Message)
	}
	for _, position := range p.positions {
		file, line, _ := cutLastColon(position)
		if !path.IsAbs(file) { // with -trimpath
			dir, ok := c.packageDir(path.Dir(file))
			if !ok {
				continue
			}
			file = path.Join(dir, path.Base(file))
		}
		if c.hasFile(file) && !strings.Contains(file, "/vendor/") {
			f.locate(file, line)
			return
		}
	}
}

// goTest is one test that failed, or has not ended.
type goTest struct {
	name     string
	failed   bool
	paused   bool
	isParent bool // a subtest failed, or has not ended
	tail     []string
}

func newGoPackage() *goPackage { return &goPackage{byName: map[string]*goTest{}} }

// test returns what is known of a test, which it adds if it is new; nil if there are too many.
func (p *goPackage) test(name string) *goTest {
	t := p.byName[name]
	if t == nil && len(p.byName) < maxRunning {
		t = &goTest{name: name}
		p.byName[name] = t
	}
	return t
}

func (p *goPackage) fail(name string) {
	t := p.test(name)
	if t == nil {
		p.lost++
	} else if !t.failed {
		t.failed = true
		p.failing = append(p.failing, t)
	}
}

// pass forgets a test that ended well.
func (p *goPackage) pass(name string) { delete(p.byName, name) }

// output keeps a line of a test's output, or of the package's if the test is not known.
func (p *goPackage) output(test, line string) {
	p.crash.line(line)
	if line == "FAIL" && test == "" {
		p.crash = goCrash{}
	}
	switch {
	case strings.HasPrefix(line, "panic: test timed out after "):
		p.timedOut = true
	case strings.HasPrefix(line, "=== "), strings.HasPrefix(strings.TrimLeft(line, " "), "--- "), strings.TrimSpace(line) == "":
		return
	}
	tail := &p.tail
	if t := p.byName[test]; t != nil {
		tail = &t.tail
	}
	if len(*tail) == tailLines { // keep the first lines and the last
		*tail = slices.Delete(*tail, tailLines/2, tailLines/2+1)
	}
	*tail = append(*tail, text.TruncateBytes(line, maxName))
}

// end counts a package that failed. It is a failure of its own if none of its tests
// explains it.
func (p *goPackage) end(pkg string, built bool, c *collector) {
	for _, t := range p.failing {
		p.markParents(t.name)
	}
	// Which of the lost failures are parents is not known any more.
	counted := p.lost > 0
	c.tally.failed += p.lost
	c.tally.lost = c.tally.lost || p.lost > 0
	failing := slices.DeleteFunc(slices.Clone(p.failing), func(t *goTest) bool { return t.isParent })
	for i, t := range failing {
		counted = true
		f := goFailure(c, pkg, t, Failed)
		if p.crash.inTest && i == len(failing)-1 { // the tests around it fail after it
			p.crash.locate(c, &f)
		}
		c.fail(f)
	}
	running := p.running()
	switch {
	case p.timedOut:
		for _, t := range running {
			counted = true
			c.fail(goFailure(c, pkg, t, Timeout))
		}
	case counted && p.crash.inTest: // the test that panicked is counted; the others were running at the same time
	case len(running) == 1:
		counted = true
		f := goFailure(c, pkg, running[0], Crash)
		p.crash.locate(c, &f)
		c.fail(f)
	case len(running) > 1 || p.crash.message != "":
		counted = false // which test it was is not known
	}
	if !counted {
		f := Failure{Unit: pkg, Cause: Crash, Message: strings.Join(p.tail, "\n")}
		if !built {
			f.Cause = Build
		}
		p.crash.locate(c, &f)
		c.fail(f)
	}
}

func (p *goPackage) markParents(name string) {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if parent := p.byName[name[:i]]; parent != nil {
			if parent.isParent {
				return
			}
			parent.isParent = true
		}
	}
}

// running returns the tests that have begun and not ended. It leaves out tests that are paused, or
// wait for their subtests.
func (p *goPackage) running() []*goTest {
	var running []*goTest
	for _, name := range slices.Sorted(maps.Keys(p.byName)) {
		if t := p.byName[name]; !t.failed && !t.paused {
			running = append(running, t)
		}
	}
	for _, t := range running {
		p.markParents(t.name)
	}
	return slices.DeleteFunc(running, func(t *goTest) bool { return t.isParent })
}

// goFailure describes a test's failure. It has a line if the test's output names one, and a file
// if the package's directory is known as well.
func goFailure(c *collector, pkg string, t *goTest, cause Cause) Failure {
	f := Failure{Name: t.name, Unit: pkg, Cause: cause}
	var message []string
	for _, line := range t.tail {
		if m := goPlace.match(line); m != nil && f.Line == 0 {
			if dir, ok := c.packageDir(pkg); ok {
				f.Path = path.Join(dir, m[1])
			}
			f.Line = atoi(m[2])
		}
		message = append(message, strings.TrimSpace(line))
	}
	f.Message = strings.Join(message, "\n")
	return f
}

// packageDir returns the directory of a Go package as an absolute path below the first
// root.
func (c *collector) packageDir(pkg string) (string, bool) {
	below, ok := strings.CutPrefix(pkg, c.module)
	if !ok || c.module == "" || below != "" && below[0] != '/' || len(c.places.roots) == 0 {
		return "", false
	}
	return path.Join(c.places.roots[0], c.places.dir, below), true
}
