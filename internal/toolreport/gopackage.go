package toolreport

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

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
