package toolreport

import (
	"encoding/json"
	"maps"
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
