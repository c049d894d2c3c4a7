package reviewer

import (
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// breakpoints are calls that stop a program for its debugger, by language.
var breakpoints = map[string]wordSet{
	"python": words("breakpoint pdb.set_trace ipdb.set_trace pudb.set_trace wdb.set_trace pdb.Pdb.set_trace"),
	"ruby":   words("binding.pry binding.irb binding.break binding.b byebug debugger"),
	"go":     words("runtime.Breakpoint"),
}

// printers are calls that write for whoever runs the program, by language.
var printers = map[string]wordSet{
	"javascript": words("console.log console.debug console.info console.dir alert"),
	"python":     words("print pprint pprint.pprint pp"),
	"go":         words("fmt.Println fmt.Printf fmt.Print"),
	"ruby":       words("puts p pp ap"),
	"java":       words("System.out.println System.out.printf System.out.print System.err.println"),
	"rust":       words("println eprintln print eprint"),
}

// dumpers are calls that are only for debugging, by language.
var dumpers = map[string]wordSet{
	"python": words("ic"),
	"go":     words("spew.Dump litter.Dump"),
	"rust":   words("dbg"),
}

var (
	// focusing are calls and marks that switch the other tests off.
	focusing = words(`it.only test.only describe.only context.only suite.only it.only.each test.only.each describe.only.each
		fit fdescribe fcontext FIt FDescribe FContext FWhen FEntry`)
	// disabling are calls and marks that switch a test off.
	disabling = words(`it.skip test.skip describe.skip context.skip suite.skip it.skip.each test.skip.each test.fixme
		xit xdescribe xtest xcontext xspecify PIt PDescribe PContext XIt XDescribe XContext
		@pytest.mark.skip @unittest.skip @skip @Disabled @Ignore @org.junit.Ignore @org.junit.jupiter.api.Disabled`)
	// skipping are calls that end a test; they switch it off where they stand first in it.
	skipping = words("t.Skip t.SkipNow t.Skipf b.Skip b.SkipNow skip pending pytest.skip")
	// rubyTests are calls that begin a test in Ruby's test runners.
	rubyTests = words("it test specify should scenario example")
)

// leftovers finds what was left from debugging, and tests that do not run.
func (c *codeFile) leftovers() {
	inTest := testPath.MatchString(c.path)
	for i, t := range c.tokens {
		if t.kind != word {
			continue
		}
		called := c.is(i+1, "(") || c.lang.name == "rust" && c.isSequence(i+1, "!", "(") || c.isRubyCall(i)
		if called || c.written(i)[0] == '@' || c.is(i-1, ".") {
			c.leftoverCall(i, called, inTest)
		} else {
			c.leftoverWord(i, inTest)
		}
	}
}

// isRubyCall reports whether a Ruby name is a call without brackets: it begins its
// statement, and an argument or nothing follows it.
func (c *codeFile) isRubyCall(i int) bool {
	if !c.lang.ruby || !c.tokens[i].first || c.is(i-1, ".") {
		return false
	}
	return c.endsStatement(i+1) || c.kindAt(i+1) == stringText || c.isWord(i+1) || c.opensString(i+1)
}

// endsStatement reports whether the token at index i is not part of the statement before it.
func (c *codeFile) endsStatement(i int) bool {
	return i >= len(c.tokens) || c.tokens[i].first || c.isOneOf(i, ";", "if", "unless")
}

// leftoverCall judges a call, a member or a mark, whose name ends with the word at index i.
func (c *codeFile) leftoverCall(i int, called, inTest bool) {
	parts, begin := c.dottedName(i)
	if c.definesFunction(begin) {
		return
	}
	name := strings.Join(parts, ".")
	first := c.tokens[begin]
	report := func(id, sink string) { c.report(id, first.start, c.tokens[i].end, sink) }
	stopsWithoutBrackets := c.lang.ruby && first.first && (len(parts) > 1 || c.endsStatement(i+1))
	switch {
	case breakpoints[c.lang.name][name] && (c.is(i+1, "(") || stopsWithoutBrackets):
		report("breakpoint", "")
	case !inTest && !called:
	case !inTest && c.isDebugOutput(i, name):
		report("debug-output", name)
	case !inTest && printers[c.lang.name][name] && !c.isProgram():
		report("print-call", name)
	case !inTest:
	case called && focusing[name]:
		report("focused-test", name)
	case (called || name[0] == '@') && disabling[name], skipping[name] && first.first && c.beginsTest(begin-1) && !c.isConditionalCall(i):
		if !c.isExcused(i) && !c.givesReason(i+1) {
			report("disabled-test", name)
		}
	}
}

// leftoverWord judges a word that is not called: debugger, Rust's #[ignore], Ruby's :focus.
func (c *codeFile) leftoverWord(i int, inTest bool) {
	switch {
	case c.lang.name == "javascript" && c.is(i, "debugger") && c.tokens[i].first && c.endsStatement(i+1):
		c.reportToken("breakpoint", i, "")
	case c.lang.name == "rust" && c.isSequence(i-2, "#", "[", "ignore") && !c.isExcused(i):
		c.reportToken("disabled-test", i, "#[ignore]")
	case c.lang.ruby && inTest && c.is(i, "focus") && (c.is(i-1, ":") || c.isSequence(i+1, ":", "true")):
		c.reportToken("focused-test", i, "focus")
	}
}

// beginsTest reports whether a test begins after the token at index i: the head of a
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
	return c.is(i, "{") && c.is(i-1, ")") && c.tokens[i-1].pair >= 0 && strings.Contains(c.sourceText(extent{int(c.tokens[i-1].pair), i}), "testing.")
}

// isConditionalCall reports whether an if or unless follows the word at index i on its
// line, as in Ruby's `skip unless installed?`.
func (c *codeFile) isConditionalCall(i int) bool {
	return c.lang.ruby && c.anyAtLevel(extent{i + 1, c.lineTokensEnd(i + 1)}, func(i int) bool { return c.isOneOf(i, "if", "unless") })
}

// givesReason reports whether the call in Python whose bracket is at index open has a
// sentence as its reason: @unittest.skip("There is no cache to ask.")
func (c *codeFile) givesReason(open int) bool {
	return c.lang.name == "python" && c.is(open, "(") && c.any(c.inside(open), func(i int) bool {
		return c.tokens[i].kind == stringText && strings.Count(c.content(i), " ") >= 2
	})
}

// excuse matches reasons why a test is off until somebody asks for it: it is run by hand,
// measures, or needs what is not there; or there is no test.
var excuse = lazyregexp.New(`(?i)\b(run (the )?(tests? )?(manually|by hand)|benchmarks?|performance|requires|no tests)\b|--ignored\b`)

// isExcused reports whether the line of the token at index i, or the comment above it, names an
// issue or the reason why the test is off. Other marks of the test may stand in between.
func (c *codeFile) isExcused(i int) bool {
	const mostMarks = 6
	line := c.line(c.tokens[i].start)
	above := line - 1
	for above > max(0, line-mostMarks) && isMark(c.lineText(above)) {
		above--
	}
	for _, text := range []string{c.lineText(line), c.commentEnding(above)} {
		if notePlace.MatchString(text) || excuse.MatchString(text) {
			return true
		}
	}
	return false
}

// isMark reports whether a line is a mark, such as "@Test" or "#[test]".
func isMark(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}

// lineText returns a line, from 1, cut where it is too long.
func (c *codeFile) lineText(number int) string {
	line, _, _ := strings.Cut(c.text[c.lines[number-1]:], "\n")
	return line[:min(len(line), longestSource)]
}

// commentEnding returns the comment that ends on a line, with those right above it.
func (c *codeFile) commentEnding(line int) string {
	all := c.comments
	lastLine := func(i int) int { return c.line(all[i].end - 1) }
	last := sort.Search(len(all), func(i int) bool { return lastLine(i) >= line })
	if last == len(all) || lastLine(last) != line {
		return ""
	}
	first := last
	for first > 0 && last-first < longestNote && lastLine(first-1) == c.line(all[first].start)-1 {
		first--
	}
	return c.text[all[first].start:all[last].end]
}

var (
	// programPath matches paths of programs, whose work it is to print.
	programPath = lazyregexp.New(`(?i)(^|/)(bin|cli|cmd|commands?|scripts?|tools?|tasks?|examples?|samples?|demos?|docs?|bench(marks?)?)/|(^|/)(main|cli|index|setup|manage|build)\.\w+$|\.rake$`)
	// outcry matches texts that only show that the program came here: "here", ">>> 2".
	outcry = lazyregexp.New(`(?i)^[\W_]*(debug(ging)?|(i am |i'm |got |in |we get |we are )?here|reached( here)?|wtf|asdf+\w*|qwerty?|xxx+|yyy+|zzz+|aaa+|bbb+)[\W_]*\d*[\W_]*$|^[\W_]*(DEBUG|XXX+)\b\s*[:>-]`)
	// label matches a name as a label for its own value, with a place for it: "n = %v\n".
	label = lazyregexp.New(`^[\W_]*([A-Za-z_][\w.\[\]()]*)\s*(?:=+|:|->|=>)?\s*(?:(%[+#]?[a-z]|\{[^}]*\})|\\n|\W)*$`)
	// rawPlace matches the places that show a value as the program has it: %v, {:?}.
	rawPlace = lazyregexp.New(`^(%[+#]?v|\{:#?\?\}|)$`)
)

// isProgram reports whether the file is likely to belong to a program, which prints what
// its user asks for.
func (c *codeFile) isProgram() bool {
	return programPath.MatchString(c.path) || c.lang.name == "go" && c.isSequence(0, "package", "main")
}

// isDebugOutput reports whether the call of the word at index i prints something for
// nobody but the person who was debugging: "here", or a variable under its own name.
func (c *codeFile) isDebugOutput(i int, name string) bool {
	if dumpers[c.lang.name][name] && (c.lang.name != "python" || strings.Contains(c.text, "import ic")) {
		return true
	}
	if !printers[c.lang.name][name] {
		return false
	}
	list := c.printed(i)
	if len(list) == 0 {
		return false
	}
	first := list[0]
	text := ""
	literal, isPlain := c.plainLiteral(first.extent)
	if isPlain {
		text = c.content(literal)
	}
	switch {
	case isPlain && len(text) < 80 && outcry.MatchString(text): // print("here")
		return true
	case c.isProgram():
		return false
	case len(list) == 1 && c.is(first.from, "{") && c.after(first.from) == first.to && c.hasOnlyNames(first.from): // console.log({ user, items })
		return true
	case !isPlain:
		return first.name == "" && c.opensString(first.from) && c.labelsItself(first.from)
	case len(list) != 2 || len(text) > 80:
		return false
	}
	m := label.FindStringSubmatch(text)
	return m != nil && m[1] == c.sourceText(list[1].extent) && rawPlace.MatchString(m[2]) // print("user.name:", user.name)
}

// printed returns the arguments of the call of the word at index i.
func (c *codeFile) printed(i int) []argument {
	open := i + 1
	if c.is(open, "!") {
		open++
	}
	if c.is(open, "(") {
		return c.arguments(open)
	}
	return c.argumentsIn(open, c.lineTokensEnd(open))
}

// lineTokensEnd returns the index after the tokens from index i on that are on the same line or in
// brackets that open on it.
func (c *codeFile) lineTokensEnd(i int) int {
	for i < len(c.tokens) && !c.tokens[i].first {
		i = c.after(i)
	}
	return min(i, len(c.tokens))
}

// hasOnlyNames reports whether the braces that open at index i have only names in them.
func (c *codeFile) hasOnlyNames(i int) bool {
	x := c.inside(i)
	return c.any(x, c.isWord) && !c.any(x, func(i int) bool { return !c.isWord(i) && !c.is(i, ",") })
}

// labelsItself reports whether a Python string has a hole such as {x=}.
func (c *codeFile) labelsItself(i int) bool {
	return c.lang.name == "python" && c.anyAtLevel(c.inside(i), func(i int) bool {
		return c.tokens[i].kind == opening && c.is(c.after(i)-2, "=")
	})
}
