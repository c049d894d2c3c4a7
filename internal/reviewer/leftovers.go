package reviewer

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// breakpoints are calls that stop a program for its debugger, by language.
var breakpoints = map[string]wordSet{
	"python": wordSetOf("breakpoint pdb.set_trace ipdb.set_trace pudb.set_trace wdb.set_trace pdb.Pdb.set_trace"),
	"ruby":   wordSetOf("binding.pry binding.irb binding.break binding.b byebug debugger"),
	"go":     wordSetOf("runtime.Breakpoint"),
}

// printers are calls that print for the user of the program, by language.
var printers = map[string]wordSet{
	"javascript": wordSetOf("console.log console.debug console.info console.dir alert"),
	"python":     wordSetOf("print pprint pprint.pprint pp"),
	"go":         wordSetOf("fmt.Println fmt.Printf fmt.Print"),
	"ruby":       wordSetOf("puts p pp ap"),
	"java":       wordSetOf("System.out.println System.out.printf System.out.print System.err.println"),
	"rust":       wordSetOf("println eprintln print eprint"),
}

// dumpers are calls that are only for debugging, by language.
var dumpers = map[string]wordSet{
	"python": wordSetOf("ic"),
	"go":     wordSetOf("spew.Dump litter.Dump"),
	"rust":   wordSetOf("dbg"),
}

var (
	// focusing are calls and marks that switch the other tests off.
	focusing = wordSetOf(`it.only test.only describe.only context.only suite.only it.only.each test.only.each describe.only.each
		fit fdescribe fcontext FIt FDescribe FContext FWhen FEntry`)
	// disabling are calls and marks that switch a test off.
	disabling = wordSetOf(`it.skip test.skip describe.skip context.skip suite.skip it.skip.each test.skip.each test.fixme
		xit xdescribe xtest xcontext xspecify PIt PDescribe PContext XIt XDescribe XContext
		@pytest.mark.skip @unittest.skip @skip @Disabled @Ignore @org.junit.Ignore @org.junit.jupiter.api.Disabled`)
	// skipping are calls that end a test, and that switch it off where they are its first statement.
	skipping = wordSetOf("t.Skip t.SkipNow t.Skipf b.Skip b.SkipNow skip pending pytest.skip")
	// rubyTests are calls that begin a test in Ruby's test runners.
	rubyTests = wordSetOf("it test specify should scenario example")
)

// leftovers finds code that is left from debugging, and tests that do not run.
func (c *codeFile) leftovers() {
	inTest := testPath.MatchString(c.path)
	c.importsIC = strings.Contains(c.text, "import ic")
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
	if breakpoints[c.lang.name][name] && (c.is(i+1, "(") || stopsWithoutBrackets) {
		if !c.asksForDebugging(i) {
			report("breakpoint", "")
		}
		return
	}
	if !inTest {
		switch {
		case called && c.isDebugOutput(i, name) && !c.asksForDebugging(i):
			report("debug-output", name)
		case called && printers[c.lang.name][name] && !c.isProgram():
			report("print-call", name)
		}
		return
	}
	disabled := disabling[name] && !runnerInput.MatchString(c.path) && (called || name[0] == '@' && !c.lang.ruby && !c.is(i+1, ".")) && !c.mayRun(i, name) && !c.overridesTest(i, name)
	skipped := skipping[name] && first.first && c.beginsTest(begin-1) && !c.isConditionalCall(i)
	switch {
	case called && focusing[name] && !runnerInput.MatchString(c.path):
		c.reportForm("focused-test", c.focusPrecision(i), first.start, c.tokens[i].end, name)
	case (disabled || skipped) && !c.isExcused(i) && !(c.takesReason(name) && c.givesReason(i+1)):
		c.reportDisabled(begin, i, name)
	}
}

// testCalls are calls that begin a test, by the first part of their name.
var testCalls = wordSetOf("it test It Specify Entry")

// focusPrecision returns the precision of the report that the word at index i focuses on a test or on
// a group. It is medium where the file has no other test that the focus switches off. In Ruby it is
// always medium, because a focus has an effect only by a setting in another file.
func (c *codeFile) focusPrecision(i int) finding.Precision {
	if c.lang.ruby {
		return finding.PrecisionMedium
	}
	if c.tests == nil {
		c.tests = []int{}
		for j, t := range c.tokens {
			if t.kind == word && testCalls[c.written(j)] && !c.is(j-1, ".") && (c.is(j+1, "(") || c.isSequence(j+1, ".", "each")) {
				c.tests = append(c.tests, j)
			}
		}
	}
	focused := extent{i, i + 1}
	if c.is(i+1, "(") {
		focused.to = c.after(i + 1)
	}
	first, _ := slices.BinarySearch(c.tests, focused.from)
	after, _ := slices.BinarySearch(c.tests, focused.to)
	if first > 0 || after < len(c.tests) {
		return c.reviewer.byID["focused-test"].Precision
	}
	return finding.PrecisionMedium
}

// reportDisabled reports a test that is off, at the tokens from begin to last. The precision is
// low for a new test, which is seldom off by mistake: it measures something, or waits for a
// service. A test is not new if the change left the line below alone.
func (c *codeFile) reportDisabled(begin, last int, sink string) {
	form := finding.PrecisionLow
	end := last
	if c.takesReason(sink) && c.is(last+1, "(") {
		end = c.after(last+1) - 1
	}
	if below := c.line(c.tokens[end].end-1) + 1; c.file.hadLines(below, below) {
		form = c.reviewer.byID["disabled-test"].Precision
	}
	c.reportForm("disabled-test", form, c.tokens[begin].start, c.tokens[last].end, sink)
}

// runnerInput matches files that are input of a test runner's own tests, and files of which only
// the types are checked.
var runnerInput = lazyregexp.New(`(?i)(^|/)(sample_?tests?|skipped|fixtures?)/|\.test-d\.ts$`)

// aboutSkipping matches titles of a test runner's own tests about skipping.
var aboutSkipping = lazyregexp.New(`(?i)["'\x60][^"'\x60]*\b(should not run|(should|will) (be )?skip(ped)?|skipped (because|if|when)|pending)\b`)

// mayRun reports whether a call such as test.skip or test.fixme, whose name ends with the word at
// index i, skips only under a condition: test.skip(isWindows, "why"), and test.skip() below an if.
// A call that switches a test off begins with the test's title. mayRun also reports true if that
// title is about skipping.
func (c *codeFile) mayRun(i int, name string) bool {
	if c.lang.name != "javascript" || !strings.HasSuffix(name, ".skip") && !strings.HasSuffix(name, ".fixme") {
		return false
	}
	list := c.arguments(i + 1)
	if len(list) == 0 {
		return c.isUnderCondition(i)
	}
	first := list[0].extent
	if c.kindAt(first.from) == stringText || c.opensString(first.from) {
		if aboutSkipping.MatchString(c.lineText(c.line(c.tokens[i].start))) {
			return true
		}
		return c.isUnderCondition(i) && len(list) == 1 // the text is the reason
	}
	const longestHead = 8 // tokens of a function's parameters
	isFunction := func(x extent) bool {
		return c.any(extent{x.from, min(x.to, x.from+longestHead)}, func(i int) bool { return c.isOneOf(i, "=>", "function") })
	}
	hasTitle := len(list) > 1 && !isFunction(first) && isFunction(list[1].extent) // in a variable, and the test's function follows
	return !hasTitle
}

// isUnderCondition reports whether the statement that has the word at index i is the first one below
// an if.
func (c *codeFile) isUnderCondition(i int) bool {
	_, begin := c.dottedName(i)
	if c.is(begin-1, "{") {
		begin--
	}
	return c.is(begin-1, ")") && int(c.tokens[begin-1].pair) > 0 && c.is(int(c.tokens[begin-1].pair)-1, "if")
}

// overridesTest reports whether a mark of Java, the word at index i, switches off an empty test, or
// an inherited test, which cannot be left out in another way.
func (c *codeFile) overridesTest(i int, name string) bool {
	const longest = 40 // tokens of a method's head
	if c.lang.name != "java" || name[0] != '@' {
		return false
	}
	for j := i - 1; j > max(0, i-longest) && !c.isOneOf(j, "{", "}", ";"); j-- {
		if c.is(j, "@Override") {
			return true
		}
	}
	for j := i + 1; j < min(len(c.tokens), i+longest); j++ {
		switch {
		case c.is(j, "@Override"):
			return true
		case c.is(j, "{"):
			return c.is(j+1, "}")
		}
	}
	return false
}

// leftoverWord judges a word that is not called: debugger, Rust's #[ignore], Ruby's :focus.
func (c *codeFile) leftoverWord(i int, inTest bool) {
	switch {
	case c.lang.name == "javascript" && c.is(i, "debugger") && c.tokens[i].first && c.endsStatement(i+1) && !c.asksForDebugging(i):
		c.reportToken("breakpoint", i, "")
	case c.lang.name == "rust" && c.isSequence(i-2, "#", "[", "ignore") && !c.isExcused(i) && !c.isSentence(i+2):
		c.reportDisabled(i, i, "#[ignore]")
	case c.lang.ruby && inTest && c.is(i, "focus") && (c.is(i-1, ":") || c.isSequence(i+1, ":", "true")) && !c.filtersTests(i):
		c.reportForm("focused-test", c.focusPrecision(i), c.tokens[i].start, c.tokens[i].end, "focus")
	}
}

// filtersTests reports whether the line of the token at index i configures how RSpec treats marked
// tests, as config.filter_run focus: true does, or asks for a mark, as metadata[:focus] does.
func (c *codeFile) filtersTests(i int) bool {
	line := c.lineText(c.line(c.tokens[i].start))
	return strings.Contains(line, "filter_run") || strings.Contains(line, "metadata")
}

// beginsTest reports whether the body of a test begins after the token at index i: after the
// head of a function that takes Go's testing.T or B, of a test function of Python, or, in
// Ruby, after do.
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

// isConditionalCall reports whether, in Ruby, an if or unless follows the word at index i on its
// line, as in `skip unless installed?`.
func (c *codeFile) isConditionalCall(i int) bool {
	return c.lang.ruby && c.anyAtLevel(extent{i + 1, c.lineTokensEnd(i + 1)}, func(i int) bool { return c.isOneOf(i, "if", "unless") })
}

// takesReason reports whether the argument of a call or mark that switches a test off is the
// reason, not the test's title: @Disabled, t.Skip.
func (c *codeFile) takesReason(name string) bool {
	return name[0] == '@' || skipping[name]
}

// givesReason reports whether one of the arguments in the brackets at index open is a sentence:
// @unittest.skip("There is no cache to ask."). Without brackets, the argument is at that index.
func (c *codeFile) givesReason(open int) bool {
	if c.is(open, "(") {
		return c.any(c.inside(open), c.isSentence)
	}
	return c.isSentence(open)
}

// isSentence reports whether the token at index i is a literal of more than one word.
func (c *codeFile) isSentence(i int) bool {
	if i < len(c.tokens) && c.opensString(i) {
		i++
	}
	return c.kindAt(i) == stringText && strings.Contains(strings.TrimSpace(c.content(i)), " ")
}

// onRequest matches reasons for which a test runs only on request: it is run by hand, measures
// something, or needs something that is not there; or there is no test.
var onRequest = lazyregexp.New(`(?i)\b(run (the )?(tests? )?(manually|by hand)|benchmarks?|performance|requires|no tests)\b|--ignored\b`)

// skipReason matches comments that explain why a test is off.
var skipReason = lazyregexp.New(`(?i)\b(skip\w*|disabled?|disabling|ignored?|enable|because|since|not (supported|implemented|available)|does ?n.t)\b`)

// isExcused reports whether the line of the token at index i, or a comment above it, on it or right
// below it, names an issue or the reason why the test is off. Other marks of the test, or the head
// of a test that skips itself, may stand between the comment above and the line.
func (c *codeFile) isExcused(i int) bool {
	const mostMarks = 6
	line := c.line(c.tokens[i].start)
	above := line - 1
	for above > max(0, line-mostMarks) && (isMark(c.lineText(above)) || above == line-1 && c.skipsInside(i) && opensBlock(c.lineText(above))) {
		above--
	}
	comments := []run{c.commentEnding(above), c.commentAfter(i)}
	if line < len(c.lines) && beginsComment.MatchString(c.lineText(line+1)) { // xit("a", () => { // see #3
		comments = append(comments, c.lineRun(line+1))
	}
	if c.readExcuse(c.lineRun(line)).isPlace {
		return true
	}
	words, fails := 0, false
	for _, comment := range comments {
		e := c.readExcuse(comment)
		if e.isPlace || e.isReason {
			return true
		}
		words, fails = words+e.words, fails || e.fails
	}
	return words >= fewestReason && !fails
}

// run is a run of bytes: from is included, to is not.
type run struct{ from, to int32 }

// lineRun returns the bytes of a line, from 1, as lineText does.
func (c *codeFile) lineRun(number int) run {
	begin := c.lines[number-1]
	return run{begin, begin + int32(len(c.lineText(number)))}
}

// excuse is what a text says about a test that is off.
type excuse struct {
	isPlace  bool // it names an issue, or says what the test needs to run
	isReason bool // it explains why the test is off
	fails    bool // it says that the test fails
	words    int
}

// readExcuse reads an excuse, once for each run: there may be many tests at one comment.
func (c *codeFile) readExcuse(r run) excuse {
	e, known := c.excuses[r]
	if !known {
		text := c.text[r.from:r.to]
		e = excuse{notePlace.MatchString(text) || onRequest.MatchString(text), skipReason.MatchString(text), noReason.MatchString(text), countWords(text)}
		if c.excuses == nil {
			c.excuses = map[run]excuse{}
		}
		c.excuses[r] = e
	}
	return e
}

// commentAfter returns the comment after the token at index i on its line, or nothing.
func (c *codeFile) commentAfter(i int) run {
	n := sort.Search(len(c.comments), func(n int) bool { return c.comments[n].start >= c.tokens[i].end })
	if n == len(c.comments) || c.line(c.comments[n].start) != c.line(c.tokens[i].start) {
		return run{}
	}
	return run{c.comments[n].start, c.comments[n].end}
}

// countWords returns how many words a text has. Where people write without blanks, two characters
// count as a word.
func countWords(text string) int {
	characters := 0
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			characters++
		}
	}
	return len(strings.Fields(text)) + characters/2
}

// fewestReason is the number of words from which a comment counts as the reason why a test is off,
// even if skipReason does not match it.
const fewestReason = 7

// beginsComment matches lines that are comments.
var beginsComment = lazyregexp.New(`^\s*(//|#|\*)`)

// noReason matches comments that say that a test fails. Their length does not make them a reason.
var noReason = lazyregexp.New(`(?i)\b(fail(s|ing|ed)?|broken|flaky|fix(me)?)\b`)

// skipsInside reports whether the word at index i is a call by which a test skips itself: t.Skip().
func (c *codeFile) skipsInside(i int) bool {
	return c.lang.name != "javascript" && strings.HasPrefix(strings.ToLower(c.written(i)), "skip")
}

// opensBlock reports whether a block begins at the end of a line.
func opensBlock(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, "{") || strings.HasSuffix(line, ":") || strings.HasSuffix(line, " do")
}

// isMark reports whether a line is a mark, such as "@Test" or "#[test]".
func isMark(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}

// commentEnding returns the comment that ends on a line, with those right above it, or nothing.
func (c *codeFile) commentEnding(line int) run {
	all := c.comments
	lastLine := func(i int) int { return c.line(all[i].end - 1) }
	last := sort.Search(len(all), func(i int) bool { return lastLine(i) >= line })
	if last == len(all) || lastLine(last) != line {
		return run{}
	}
	first := last
	for first > 0 && last-first < longestNote && lastLine(first-1) == c.line(all[first].start)-1 {
		first--
	}
	return run{all[first].start, all[last].end}
}

var (
	// programPath matches paths of programs, whose work it is to print.
	programPath = lazyregexp.New(`(?i)(^|/)(bin|cli|cmd|commands?|scripts?|tools?|tasks?|examples?|samples?|demos?|docs?|bench(marks?)?)/|(^|/)(main|cli|index|setup|manage|build)\.\w+$|\.rake$`)
	// outcry matches texts that only show that the program reached a line, such as "here" and
	// ">>> here 2", and texts that are marked as debugging, such as "DEBUG: x".
	outcry = lazyregexp.New(`(?i)^[\W_]*(debug(ging)?|(i am |i'm |got |in |we get |we are )?here|reached( here)?|wtf|asdf+\w*|qwerty?|xxx+|yyy+|zzz+|aaa+|bbb+)[\W_]*\d*[\W_]*$|^[\W_]*(DEBUG|XXX+)\b\s*[:>-]`)
	// label matches a name that labels its own value, with a placeholder: "n = %v\n".
	label = lazyregexp.New(`^[\W_]*([A-Za-z_][\w.\[\]()]*)\s*(?:=+|:|->|=>)?\s*(?:(%[+#]?[a-z]|\{[^}]*\})|\\n|\W)*$`)
	// rawPlace matches placeholders that show a value as the program has it: %v, {:?}; and "".
	rawPlace = lazyregexp.New(`^(%[+#]?v|\{:#?\?\}|)$`)
)

// isProgram reports whether the file is likely to belong to a program, whose work it is to
// print.
func (c *codeFile) isProgram() bool {
	return programPath.MatchString(c.path) || c.lang.name == "go" && c.isSequence(0, "package", "main")
}

// isDebugOutput reports whether the call of the word at index i prints something that helps
// only in debugging: "here", or a variable under its own name.
func (c *codeFile) isDebugOutput(i int, name string) bool {
	if dumpers[c.lang.name][name] && (c.lang.name != "python" || c.importsIC) {
		return !isExample(c.path)
	}
	if !printers[c.lang.name][name] || isExample(c.path) {
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
		return !c.passesOn(list[1:])
	case c.isProgram(), taskPath.MatchString(c.path):
		return false
	case len(list) == 1 && c.is(first.from, "{") && c.after(first.from) == first.to && c.hasOnlyNames(first.from): // console.log({ user, items })
		return true
	case !isPlain:
		return first.name == "" && c.opensString(first.from) && c.labelsItself(first.from) && !c.isSaying(first.from)
	case len(list) != 2 || len(text) > 80:
		return false
	}
	m := label.FindStringSubmatch(text)
	return m != nil && m[1] == c.sourceText(list[1].extent) && rawPlace.MatchString(m[2]) // print("user.name:", user.name)
}

// passesOn reports whether one of the arguments is a spread list, as in a logger's
// log: (...args) => console.log("[debug]", ...args).
func (c *codeFile) passesOn(list []argument) bool {
	return slices.ContainsFunc(list, func(a argument) bool { return c.isOneOf(a.from, "...", "*") })
}

// isSaying reports whether the string with placeholders that opens at index i is a message: it
// has several words outside of them.
func (c *codeFile) isSaying(i int) bool {
	const fewest = 2 // words
	n := 0
	for j := i + 1; j < c.after(i)-1; j = c.after(j) {
		if c.tokens[j].kind == stringText {
			n += len(strings.Fields(c.content(j)))
		}
	}
	return n >= fewest
}

// debugSwitch matches names, and keys of the environment and of settings, that switch debugging on.
var debugSwitch = lazyregexp.New(`(?i)debug|break|pdb|^(os\.)?environ$|^getenv$|^ENV$`)

// asksForDebugging reports whether a condition shortly before the word at index i is about
// debugging.
func (c *codeFile) asksForDebugging(i int) bool {
	const longest, longestCondition = 60, 8 // tokens
	return c.any(extent{max(0, i-longest), i}, func(j int) bool {
		return c.isOneOf(j, "if", "elsif", "elif", "unless") && c.any(extent{j + 1, min(i, j+longestCondition)}, func(k int) bool {
			switch c.kindAt(k) {
			case word:
				return debugSwitch.MatchString(c.written(k))
			case stringText:
				return debugSwitch.MatchString(c.content(k))
			}
			return false
		})
	})
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

// hasOnlyNames reports whether the braces that open at index i contain only names.
func (c *codeFile) hasOnlyNames(i int) bool {
	x := c.inside(i)
	return c.any(x, c.isWord) && !c.any(x, func(i int) bool { return !c.isWord(i) && !c.is(i, ",") })
}

// labelsItself reports whether a Python string contains a placeholder such as {x=}.
func (c *codeFile) labelsItself(i int) bool {
	return c.lang.name == "python" && c.anyAtLevel(c.inside(i), func(i int) bool {
		return c.tokens[i].kind == opening && c.is(c.after(i)-2, "=")
	})
}
