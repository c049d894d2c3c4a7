package reviewer

import "strings"

// stops are calls that stop a program for its debugger, by language.
var stops = map[string]map[string]bool{
	"python": set([]string{"breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "wdb.set_trace", "pdb.Pdb.set_trace"}),
	"ruby":   set([]string{"binding.pry", "binding.irb", "binding.break", "binding.b", "byebug", "debugger"}),
	"go":     set([]string{"runtime.Breakpoint"}),
}

// focusing and disabling are names of calls and marks of test runners.
var (
	focusing = set([]string{"it.only", "test.only", "describe.only", "context.only", "suite.only", "it.only.each", "test.only.each", "describe.only.each",
		"fit", "fdescribe", "fcontext", "FIt", "FDescribe", "FContext", "FWhen", "FEntry"})
	disabling = set([]string{"it.skip", "test.skip", "describe.skip", "context.skip", "suite.skip", "it.skip.each", "test.skip.each", "test.fixme",
		"xit", "xdescribe", "xtest", "xcontext", "xspecify", "PIt", "PDescribe", "PContext", "XIt", "XDescribe", "XContext",
		"@pytest.mark.skip", "@unittest.skip", "@skip", "@Disabled", "@Ignore", "@org.junit.Ignore", "@org.junit.jupiter.api.Disabled"})
	// skipping are calls that end a test; they switch it off where they stand first in it.
	skipping = set([]string{"t.Skip", "t.SkipNow", "t.Skipf", "b.Skip", "b.SkipNow", "skip", "pending", "pytest.skip"})
)

// rubyTests begin a test in Ruby's test runners.
var rubyTests = set([]string{"it", "test", "specify", "should", "scenario", "example"})

// leftovers finds what was left from debugging, and tests that do not run.
func (c *codeFile) leftovers() {
	inTest := testPath.MatchString(c.path)
	for i, t := range c.tokens {
		if t.kind != word {
			continue
		}
		called := c.is(i+1, "(") || c.lang.name == "rust" && c.is(i+1, "!") && c.is(i+2, "(")
		bare := c.lang.ruby && c.standsAlone(i)
		if !called && !bare && c.written(i)[0] != '@' && !c.is(i-1, ".") {
			c.markedTest(i, inTest)
			if c.lang.name == "javascript" && c.is(i, "debugger") && t.first && c.endsStatement(i+1) {
				c.report("breakpoint", t.start, t.end, "")
			}
			continue
		}
		parts, begin := c.name(i)
		name := strings.Join(parts, ".")
		if c.is(begin-1, "def") || c.is(begin-1, "func") || c.is(begin-1, "function") || c.is(begin-1, "fn") {
			continue
		}
		from := c.tokens[begin].start
		switch {
		case stops[c.lang.name][name] && (called || c.lang.ruby && c.tokens[begin].first && (len(parts) > 1 || c.endsStatement(i+1))):
			c.report("breakpoint", from, t.end, "")
		case !inTest:
			if called || bare {
				c.output(i, begin, name)
			}
		case (called || bare) && focusing[name]:
			c.report("focused-test", from, t.end, name)
		case (called || bare || name[0] == '@') && disabling[name], skipping[name] && c.tokens[begin].first && c.beginsTest(begin-1) && !c.skipsSometimes(i):
			if !c.excused(i) && !c.saysWhy(i+1) {
				c.report("disabled-test", from, t.end, name)
			}
		}
	}
}

// markedTest finds tests that a mark beside them switches off, or all others.
func (c *codeFile) markedTest(i int, inTest bool) {
	t := c.tokens[i]
	switch {
	case c.lang.name == "rust" && c.is(i, "ignore") && c.is(i-1, "[") && c.is(i-2, "#"):
		if !c.excused(i) {
			c.report("disabled-test", t.start, t.end, "#[ignore]")
		}
	case c.lang.ruby && inTest && c.is(i, "focus") && (c.is(i-1, ":") || c.is(i+1, ":") && c.is(i+2, "true")):
		c.report("focused-test", t.start, t.end, "focus")
	}
}

// standsAlone reports whether a Ruby name is a call without brackets: it begins its
// statement, and an argument or nothing follows it.
func (c *codeFile) standsAlone(i int) bool {
	if !c.tokens[i].first || c.is(i-1, ".") {
		return false
	}
	return c.endsStatement(i+1) || c.kindAt(i+1) == stringText || c.kindAt(i+1) == word || c.isString(i+1)
}

// endsStatement reports whether the token at index i is not part of the statement
// before it.
func (c *codeFile) endsStatement(i int) bool {
	return i >= len(c.tokens) || c.tokens[i].first || c.is(i, ";") || c.is(i, "if") || c.is(i, "unless")
}

// beginsTest reports whether a test begins behind the token at index i: the head of a
// function that takes Go's testing.T or B, of a test function of Python, or do.
func (c *codeFile) beginsTest(i int) bool {
	switch {
	case i < 1:
		return false
	case c.lang.ruby:
		begin := i
		for begin > 0 && !c.tokens[begin].first {
			begin--
		}
		return c.is(i, "do") && rubyTests[c.written(begin)]
	case c.lang.name == "python":
		return c.is(i, ":") && c.is(i-1, ")") && c.tokens[i-1].pair > 0 && strings.HasPrefix(c.written(int(c.tokens[i-1].pair)-1), "test")
	}
	if !c.is(i, "{") || !c.is(i-1, ")") || c.tokens[i-1].pair < 0 {
		return false
	}
	return strings.Contains(c.between(extent{int(c.tokens[i-1].pair), i}), "testing.")
}

// saysWhy reports whether the call in Python whose bracket is at index open gives a
// sentence as its reason, as @unittest.skip("…") does.
func (c *codeFile) saysWhy(open int) bool {
	if c.lang.name != "python" || !c.is(open, "(") {
		return false
	}
	for i := open + 1; i < c.after(open)-1; i++ {
		if c.tokens[i].kind == stringText && strings.Count(c.content(i), " ") >= 2 {
			return true
		}
	}
	return false
}

// skipsSometimes reports whether an if or unless follows the word at index i on its
// line, as in Ruby's `skip unless installed?`.
func (c *codeFile) skipsSometimes(i int) bool {
	for j := i + 1; c.lang.ruby && j < len(c.tokens) && !c.tokens[j].first; j = c.after(j) {
		if c.is(j, "if") || c.is(j, "unless") {
			return true
		}
	}
	return false
}
