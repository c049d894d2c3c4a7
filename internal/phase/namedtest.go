package phase

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// testsNamed returns how the tests of one name run in a root: the language's own test
// command with the option that selects tests. The name is an argument, which no shell
// reads.
func (p *project) testsNamed(name string, in Input, r root) plan {
	planned := plan{check: Tests}
	switch {
	case in.SkipTests:
		planned.refuse = "the tests are left out by skip_tests"
		return planned
	case in.TestCommand != "":
		planned.refuse = fmt.Sprintf("'%s' replaces the language's tests, and how it selects one is not known: use a command instead of test:%s", in.TestCommand, name)
		return planned
	case strings.HasPrefix(name, "-"):
		planned.refuse = "the name of a test does not begin with '-'"
		return planned
	}
	own := p.commands(r)
	if own.err != nil {
		planned.refuse = "package.json cannot be read: " + own.err.Error()
		return planned
	}
	for _, c := range own.tests {
		selecting := selection(c.check, p.testScriptText(r), name)
		if selecting == nil {
			continue
		}
		line := c.check
		line.args = slices.Concat(c.check.args, selecting)
		if line.tool == "go test" { // flags stand before packages
			line.args = slices.Concat([]string{"go", "test"}, toolreport.Flags(line.tool), selecting, []string{"./..."})
		}
		line.line = shown(strings.Fields(c.check.line), selecting)
		planned.candidates = append(planned.candidates, candidate{check: line})
	}
	switch {
	case len(own.tests) == 0:
		planned.refuse = cmp.Or(own.lostTests, own.noTests, "package.json has no test script")
	case len(planned.candidates) == 0:
		planned.refuse = fmt.Sprintf("how '%s' selects a test is not known: use a command instead of test:%s", own.tests[0].check.line, name)
	}
	return planned
}

// testScriptText returns what a root's package.json runs as its tests, "" if there is nothing.
func (p *project) testScriptText(r root) string {
	if r.language.family() != JavaScript {
		return ""
	}
	m := p.manifest(r.dir)
	return m.scripts[m.testScript()]
}

// selection returns the arguments by which a test command runs only the tests of one
// name, nil if they are not known.
func selection(c commandLine, script, name string) []string {
	switch c.tool {
	case "go test":
		var parts []string
		for part := range strings.SplitSeq(strings.ReplaceAll(name, " ", "_"), "/") {
			parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
		}
		return []string{"-run", strings.Join(parts, "/")}
	case "pytest":
		if strings.Contains(name, "::") || strings.HasSuffix(name, ".py") {
			return []string{name}
		}
		return []string{"-k", name}
	case "unittest":
		return []string{"-k", name}
	case "cargo test":
		return []string{"--", name}
	case "rspec":
		return []string{"-e", name}
	case "minitest":
		return []string{"TESTOPTS=--name=" + name}
	case "maven":
		return []string{"-Dtest=" + name}
	case "gradle":
		return []string{"--tests", name}
	}
	var option []string
	switch {
	case strings.Contains(script, "jest"), strings.Contains(script, "vitest"):
		option = []string{"-t", name}
	case strings.Contains(script, "mocha"):
		option = []string{"-g", name}
	case strings.Contains(script, "node --test"):
		option = []string{"--test-name-pattern=" + regexp.QuoteMeta(name)}
	default:
		return nil
	}
	if c.args[0] == "npm" {
		return append([]string{"--"}, option...)
	}
	return option
}

// shown writes a command as people would.
func shown(words, selecting []string) string {
	for _, w := range selecting {
		if strings.ContainsAny(w, " \t'\"$&|;<>()*?[]#~`\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

var (
	// passedAny matches what test runners print only if a test has passed: with a name that selects
	// none, those of JavaScript end with exit code 0, and count the others as skipped.
	passedAny = lazyregexp.New(`"Action":"pass","Package":"[^"]*","Test":|\b[1-9][0-9]* (?:passed|passing)\b|\bpass [1-9]`)
	// skippedAny matches what go test, pytest and cargo test print of a test that was skipped, or that
	// failed as expected.
	skippedAny = lazyregexp.New(`"Action":"skip","Package":"[^"]*","Test":|\b[1-9][0-9]* (?:skipped|ignored|xfailed)\b`)
)

// selectedNone reports whether a run of named tests that passed has run none of them.
func (w *run) selectedNone() bool {
	printed := w.last.result.Stdout.String() + w.last.result.Stderr.String()
	if passedAny.MatchString(printed) {
		return false
	}
	tells := slices.Contains([]string{"go test", "pytest", "cargo test"}, w.chosen.check.tool)
	return w.root.language.family() == JavaScript || tells && skippedAny.MatchString(printed)
}
