package reviewer

import (
	"regexp"
	"strings"
)

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

// printers are calls that write for whoever runs the program, by language.
var printers = map[string]map[string]bool{
	"javascript": set([]string{"console.log", "console.debug", "console.info", "console.dir", "alert"}),
	"python":     set([]string{"print", "pprint", "pprint.pprint", "pp"}),
	"go":         set([]string{"fmt.Println", "fmt.Printf", "fmt.Print"}),
	"ruby":       set([]string{"puts", "p", "pp", "ap"}),
	"java":       set([]string{"System.out.println", "System.out.printf", "System.out.print", "System.err.println"}),
	"rust":       set([]string{"println", "eprintln", "print", "eprint"}),
}

// dumpers are calls that nothing but debugging is for.
var dumpers = map[string]map[string]bool{
	"python": set([]string{"ic"}),
	"go":     set([]string{"spew.Dump", "litter.Dump"}),
	"rust":   set([]string{"dbg"}),
}

var (
	// programPath matches paths of programs, whose work it is to print.
	programPath = regexp.MustCompile(`(?i)(^|/)(bin|cli|cmd|commands?|scripts?|tools?|tasks?|examples?|samples?|demos?|docs?|bench(marks?)?)/|(^|/)(main|cli|index|setup|manage|build)\.\w+$|\.rake$`)
	// shout matches texts that say no more than that the program came here.
	shout = regexp.MustCompile(`(?i)^[\W_]*(debug(ging)?|(i am |i'm |got |in |we get |we are )?here|reached( here)?|wtf|asdf+\w*|qwerty?|xxx+|yyy+|zzz+|aaa+|bbb+)[\W_]*\d*[\W_]*$|^[\W_]*(DEBUG|XXX+)\b\s*[:>-]`)
	// label matches what may stand around a name that labels its own value.
	label = regexp.MustCompile(`^[\W_]*([A-Za-z_][\w.\[\]()]*)\s*(?:=+|:|->|=>)?\s*(?:(%[+#]?[a-z]|\{[^}]*\})|\\n|\W)*$`)
	// whole matches the formats that show a value as the program has it.
	whole = regexp.MustCompile(`^(%[+#]?v|\{:#?\?\}|)$`)
)

// output judges a call that writes: the word at index i ends its name, which begins
// at index begin.
func (c *codeFile) output(i, begin int, name string) {
	from, end := c.tokens[begin].start, c.tokens[i].end
	switch {
	case dumpers[c.lang.name][name] && (c.lang.name != "python" || strings.Contains(c.text, "import ic")):
		c.report("debug-output", from, end, name)
	case !printers[c.lang.name][name]:
	case c.debris(c.printed(i)):
		c.report("debug-output", from, end, name)
	case !c.program():
		c.report("print-call", from, end, name)
	}
}

// program reports whether the file is likely to belong to a program, which prints
// what its user asks for.
func (c *codeFile) program() bool {
	return programPath.MatchString(c.path) || c.lang.name == "go" && c.is(0, "package") && c.is(1, "main")
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
	end := open
	for end < len(c.tokens) && !c.tokens[end].first {
		end = c.after(end)
	}
	return c.argumentsIn(open, min(end, len(c.tokens)))
}

// debris reports whether what is printed tells something to nobody but the person
// who was debugging: "here", or a variable under its own name.
func (c *codeFile) debris(list []argument) bool {
	if len(list) == 0 {
		return false
	}
	first := list[0]
	if !c.program() && len(list) == 1 && c.is(first.from, "{") && c.after(first.from) == first.to && c.namesOnly(first.from) {
		return true // console.log({ user, items })
	}
	said, ok := c.plainText(first.extent)
	if !ok {
		return first.name == "" && !c.program() && c.isString(first.from) && c.labelsItself(first.from)
	}
	if len(said) < 80 && shout.MatchString(said) {
		return true
	}
	if len(list) != 2 || len(said) > 80 || c.program() {
		return false
	}
	m := label.FindStringSubmatch(said)
	return m != nil && m[1] == c.between(list[1].extent) && whole.MatchString(m[2])
}

// plainText returns what a literal without holes says that an extent consists of.
func (s *source) plainText(x extent) (said string, ok bool) {
	switch {
	case x.to == x.from+1 && s.kindAt(x.from) == stringText:
		return s.content(x.from), true
	case x.to == x.from+3 && s.isString(x.from) && s.kindAt(x.from+1) == stringText:
		return s.content(x.from + 1), true
	}
	return "", false
}

// namesOnly reports whether the braces that open at index i hold names only.
func (c *codeFile) namesOnly(i int) bool {
	names := 0
	for j := i + 1; j < c.after(i)-1; j++ {
		if c.kindAt(j) == word {
			names++
		} else if !c.is(j, ",") {
			return false
		}
	}
	return names > 0
}

// labelsItself reports whether a Python string has a hole such as {x=}.
func (c *codeFile) labelsItself(i int) bool {
	if c.lang.name != "python" {
		return false
	}
	for j := i + 1; j < c.after(i)-1; j = c.after(j) {
		if end := c.after(j) - 1; c.tokens[j].kind == open && c.is(end-1, "=") {
			return true
		}
	}
	return false
}

// excuse matches what says why a test is off until somebody asks for it: it is run by
// hand, measures, or needs what is not there; or that there is no test.
var excuse = regexp.MustCompile(`(?i)\b(run (the )?(tests? )?(manually|by hand)|benchmarks?|performance|requires|no tests)\b|--ignored\b`)

// mostMarks bounds how many lines with marks stand between a test's comment and one of them.
const mostMarks = 6

// excused reports whether the line of the token at index i, or the comment above it,
// names an issue or says why the test is off. Other marks of the test may stand in between.
func (c *codeFile) excused(i int) bool {
	number := c.line(c.tokens[i].start)
	if c.excusedBy(c.lineText(number)) {
		return true
	}
	above := number - 1
	for above > max(0, number-mostMarks) && isMark(c.lineText(above)) {
		above--
	}
	return c.excusedBy(c.commentEnding(above))
}

func (c *codeFile) excusedBy(said string) bool {
	return noted.MatchString(said) || excuse.MatchString(said)
}

// isMark reports lines such as "@Test" and "#[test]".
func isMark(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}

// lineText returns a line, from 1, cut where it is too long.
func (c *codeFile) lineText(number int) string {
	line, _, _ := strings.Cut(c.text[c.lines[number-1]:], "\n")
	return line[:min(len(line), longestSource)]
}

// commentEnding returns the comments whose last line is a line, with those right above.
func (c *codeFile) commentEnding(number int) string {
	all := c.source.comments
	last := -1
	for lo, hi := 0, len(all); lo < hi; {
		mid := (lo + hi) / 2
		switch end := c.line(all[mid].end - 1); {
		case end == number:
			last, lo = mid, hi
		case end < number:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	if last < 0 {
		return ""
	}
	first := last
	for first > 0 && last-first < longestNote && c.line(all[first-1].end-1) == c.line(all[first].start)-1 {
		first--
	}
	return c.text[all[first].start:all[last].end]
}
