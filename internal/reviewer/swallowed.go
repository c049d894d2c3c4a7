package reviewer

import (
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// swallowed finds handlers of errors that do nothing and have no comment. It skips tests, which call
// functions that fail on purpose, and examples and scripts, which leave out everything that is not
// their subject.
func (c *codeFile) swallowed() {
	if testPath.MatchString(c.path) || isExample(c.path) || taskPath.MatchString(c.path) {
		return
	}
	testsBegin := c.testsBegin()
	for i, t := range c.tokens {
		if int(t.start) >= testsBegin {
			return
		}
		if t.kind == word && c.swallowsAt(i) {
			c.reportToken("swallowed-error", i, "")
		}
	}
}

// swallowsAt reports whether the word at index i begins a handler that does nothing.
func (c *codeFile) swallowsAt(i int) bool {
	body := 0
	switch lang := c.lang.name; c.written(i) {
	case "catch":
		body = c.catchBody(i)
	case "except":
		return lang == "python" && c.isEmptyExcept(i)
	case "rescue":
		return lang == "ruby" && c.isEmptyRescue(i)
	case "if":
		if lang == "go" {
			body = c.errBranch(i)
		}
	case "Err":
		if lang == "rust" {
			body = c.errArm(i)
		}
	}
	if body == 0 {
		return false
	}
	isEmpty := c.isSequence(body, "{", "}") || c.isSequence(body, "(", ")")
	return isEmpty && !c.hasCommentBefore(i) && !c.hasComment(c.tokens[body].end, c.lineEnd(c.tokens[body+1].end))
}

// catchBody returns the index of the block of the `catch (e) { … }` at index i, or 0 if that is not
// a handler or its error does not matter.
func (c *codeFile) catchBody(i int) int {
	tried := i - 1
	if !c.is(tried, "}") || c.cleansUp(tried) {
		return 0
	}
	body := i + 1
	if c.is(body, "(") {
		body = c.after(body)
		if isUnusedName(c.written(body-2)) || c.answersQuestion(i+1) {
			return 0
		}
	}
	if body >= len(c.tokens) || c.isAnnounced(int(c.tokens[tried].pair)-1) || c.returnsInstead(tried, body) || c.asksForClass(tried) || c.decidesLater(extent{int(c.tokens[tried].pair) + 1, tried}, c.after(body)) {
		return 0
	}
	return body
}

// decidesLater reports whether the tried block assigns to a variable whose old value serves after an
// error: a condition soon after the handler tests the variable, or it was given a default right
// before, or its new value is computed from the old one. next is the index of the token after the
// handler.
func (c *codeFile) decidesLater(tried extent, next int) bool {
	const (
		soon   = 40 // tokens after the handler
		before = 24 // tokens before what is tried
	)
	for i := tried.from; i+1 < min(tried.to, tried.from+longestExpression); i++ {
		if !c.isWord(i) || !c.is(i+1, "=") || !c.beginsStatement(i) {
			continue
		}
		if c.isOwnValue(i) || c.asksFor(c.written(i), extent{next, next + soon}) || c.isGiven(c.written(i), extent{max(0, tried.from-before), tried.from}) {
			return true
		}
	}
	return false
}

// announced matches comments above a try which say that its failure does not matter.
var announced = lazyregexp.New(`(?i)\b(ignor(e|es|ed|ing)|best[- ]effort|if it fails|may (fail|not)|might (fail|not)|does ?n.t matter|swallow)`)

// isAnnounced reports whether the comment above the try at index i says that a failure does not matter.
func (c *codeFile) isAnnounced(i int) bool {
	if !c.is(i, "try") {
		return false
	}
	above := c.commentEnding(c.line(c.tokens[i].start) - 1)
	isAnnounced, known := c.announced[above]
	if !known { // many a try may stand on one line
		isAnnounced = announced.MatchString(c.text[above.from:above.to])
		if c.announced == nil {
			c.announced = map[run]bool{}
		}
		c.announced[above] = isAnnounced
	}
	return isAnnounced
}

// isOwnValue reports whether the variable at index i is assigned an expression that contains it, as
// in a = parse(a): if that fails, it keeps its value.
func (c *codeFile) isOwnValue(i int) bool {
	x := c.expressionAt(i + 2)
	return c.any(x, func(j int) bool { return c.is(j, c.written(i)) && c.is(j-1, ".") == c.is(i-1, ".") })
}

// beginsStatement reports whether a statement begins with the word at index i, or with the dotted
// name that ends with the word.
func (c *codeFile) beginsStatement(i int) bool {
	_, begin := c.dottedName(i)
	return c.tokens[begin].first || c.isOneOf(begin-1, ";", "{", "const", "let", "var")
}

// asksFor reports whether a condition in an extent contains a name.
func (c *codeFile) asksFor(name string, x extent) bool {
	inCondition := false
	return c.any(x, func(i int) bool {
		switch {
		case c.isOneOf(i, "if", "unless", "while", "elif", "!"):
			inCondition = true
		case c.isOneOf(i, "{", ";") || c.lang.indented && c.tokens[i].first:
			inCondition = false
		case c.is(i, name):
			return inCondition || c.isOneOf(i+1, "||", "??", "?", "?.", "&&", "or", "and", "==", "===", "!=", "!==", "is", "if", "unless")
		}
		return false
	})
}

// isGiven reports whether a variable is assigned a value in an extent.
func (c *codeFile) isGiven(name string, x extent) bool {
	return c.any(x, func(i int) bool { return c.is(i, name) && c.is(i+1, "=") })
}

// isUnusedName reports whether the name of an error shows that it does not matter.
func isUnusedName(name string) bool {
	return strings.HasPrefix(name, "ignore") || strings.HasPrefix(name, "expected") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "unused")
}

// answering are errors of Java that answer a question, such as whether a text is a number, or
// whether a file or a list has ended. The last two have to be caught though they cannot happen,
// because each system has the encoding and the class says that it can be cloned.
var answering = wordSetOf(`NumberFormatException EOFException NoSuchElementException NoSuchFieldException NoSuchMethodException ClassNotFoundException NoClassDefFoundError
	NameNotFoundException DateTimeParseException UnsupportedEncodingException CloneNotSupportedException`)

// answersQuestion reports whether the bracket at index i catches only an error that is an answer, or
// one that cannot happen.
func (c *codeFile) answersQuestion(i int) bool {
	return c.lang.name == "java" && c.isWord(i+1) && answering[c.written(i+1)] && c.isWord(i+2)
}

// asksForClass reports whether Java code asks for a class that may not be there, in the
// block that ends with the token at index end.
func (c *codeFile) asksForClass(end int) bool {
	return c.lang.name == "java" && c.blockHas(end, "forName", "classForName", "loadClass", "getConstructor", "getMethod", "getDeclaredMethod", "getDeclaredField")
}

// returnsInstead reports whether the tried block returns, and the code after the handler shows what
// happens after an error. That code is a return, perhaps after the ends of blocks around the
// handler. If the tried block returns without a condition, any statement that follows the handler
// in the same block as the try suffices. The tried block ends at index end, and the handler's block
// begins at index body.
func (c *codeFile) returnsInstead(end, body int) bool {
	if body >= len(c.tokens) || c.tokens[end].pair < 0 || !c.blockHas(end, "return") {
		return false
	}
	next := c.after(body)
	inTried := extent{int(c.tokens[end].pair) + 1, end}
	if c.anyAtLevel(inTried, func(i int) bool { return c.is(i, "return") && c.tokens[i].first }) && next < len(c.tokens) && !c.is(next, "}") {
		return true // what follows is done instead
	}
	for c.is(next, "}") {
		next++
	}
	return c.is(next, "return")
}

// returnsInsteadOfPass is returnsInstead for Python. The handler's word except is at index i, and the
// token after the handler's block is at index next.
func (c *codeFile) returnsInsteadOfPass(i, next int) bool {
	begin := c.triedBegin(i, i-longestExpression)
	goesOn := next < len(c.tokens) && (c.is(next, "return") || c.indent(next) == c.indent(i))
	return begin > 0 && goesOn && c.any(extent{begin, i}, func(j int) bool { return c.is(j, "return") })
}

// blockHas reports whether one of some words is in the block that ends at index end.
func (c *codeFile) blockHas(end int, words ...string) bool {
	begin := max(int(c.tokens[end].pair)+1, end-longestExpression)
	return c.any(extent{begin, end}, func(i int) bool { return c.isOneOf(i, words...) })
}

var (
	// cleanups are functions that release something, whose failure has no remedy, or that make a
	// directory, which may exist.
	cleanups = wordSetOf("rmdir rmSync rmtree end umount abort off endwin curs_set nocbreak mkdir mkdirSync")
	// emptyValues are assigned to a variable that is no longer needed.
	emptyValues = wordSetOf("null undefined None nil")
)

// cleanupVerbs are such functions too, and begin the names of others: closeQuietly, unregisterJMX.
var cleanupVerbs = strings.Fields("close stop disconnect unlink remove kill destroy terminate cancel release shutdown delete unsubscribe cleanup dispose unregister unbind unBind rollback")

// isCleanup reports whether a function cleans up, by its name.
func isCleanup(name string) bool {
	return cleanups[name] || slices.ContainsFunc(cleanupVerbs, func(verb string) bool {
		rest, begins := strings.CutPrefix(name, verb)
		return begins && (rest == "" || rest[0] == '_' || 'A' <= rest[0] && rest[0] <= 'Z')
	})
}

// cleansUp reports whether the block that ends before the token at index end only cleans up: it
// calls functions that release something, also under conditions, and assigns empty values.
func (c *codeFile) cleansUp(end int) bool {
	const longest = 60 // tokens
	begin := c.triedBegin(end, end-longest)
	if begin < 1 || end-begin > longest {
		return false
	}
	cleaned := false
	for i := begin + 1; i < end; {
		last := c.lastName(i)
		switch {
		case c.isOneOf(i, ";", "{", "}", "await", "else"):
			i++
		case c.is(i, "if") && c.lang.indented:
			for i < end && !c.is(i, ":") {
				i = c.after(i)
			}
			i++
		case c.is(i, "if") && c.is(i+1, "("):
			i = c.after(i + 1)
		case c.isOneOf(i, "from", "import") && c.lang.indented:
			for i++; i < end && !c.tokens[i].first; {
				i++
			}
		case c.is(i, "del") && c.lang.indented && c.isWord(i+1):
			i += 2
		case c.isWord(last) && c.is(last+1, "(") && isCleanup(c.written(last)):
			cleaned = true
			i = c.after(last + 1)
		case c.isWord(last) && c.is(last+1, "=") && emptyValues[c.written(last+2)]:
			i = last + 3
		default:
			return false
		}
	}
	return cleaned
}

// triedBegin returns the index of the brace or colon that begins the body of a try, or 0 if there is
// none. The index end is that of the brace that closes the body or, in Python, of the word that begins
// the handler. In Python, triedBegin looks no further back than index least.
func (c *codeFile) triedBegin(end, least int) int {
	if !c.lang.indented {
		if begin := int(c.tokens[end].pair); c.is(begin-1, "try") {
			return begin
		}
		return 0
	}
	begin := end - 1
	for begin > max(least, 0) && !(c.is(begin, "try") && c.indent(begin) == c.indent(end)) {
		begin--
	}
	if !c.is(begin+1, ":") {
		return 0
	}
	return begin + 1
}

// lastName returns the index of the last name in the chain that begins with the token at
// index i: that of close in `((A) b.c()).close()`.
func (c *codeFile) lastName(i int) int {
	if c.is(i, "(") {
		i = c.after(i) - 1
	}
	for {
		switch {
		case c.isOneOf(i+1, ".", "?.") && c.isWord(i+2):
			i += 2
		case c.is(i+1, "(") && c.is(c.after(i+1), "."):
			i = c.after(i+1) - 1
		default:
			return i
		}
	}
}

// errBranch returns the index of the body of Go's `if err != nil`, or 0 if the condition of the if at
// index i does not end with that, or if there is an else.
func (c *codeFile) errBranch(i int) int {
	const longest = 40 // tokens
	if !c.tokens[i].first {
		return 0
	}
	for j := i + 1; j+3 < len(c.tokens) && j < i+longest && !c.is(j, "{"); j = c.after(j) {
		if body := j + 3; c.isSequence(j, "err", "!=", "nil", "{") && !c.is(c.after(body), "else") {
			return body
		}
	}
	return 0
}

// errArm returns the index of the block that handles every error in Rust, in
// `Err(_) => {}` and `if let Err(_) = f() {}`, or 0.
func (c *codeFile) errArm(i int) int {
	const longest = 60 // tokens
	if c.isSequence(i+1, "(", "_", ")", "=>") {
		if c.hasArmBefore(i) {
			return 0
		}
		return i + 5
	}
	if !c.is(i-1, "let") || !c.isSequence(i+1, "(", "_", ")", "=") {
		return 0
	}
	for j := i + 5; j < min(len(c.tokens), i+longest); j = c.after(j) {
		if c.is(j, "{") {
			return j
		}
	}
	return 0
}

// hasArmBefore reports whether the arm at index i follows another one for errors, and so handles
// only errors that the other arm does not match.
func (c *codeFile) hasArmBefore(i int) bool {
	const longest = 200 // tokens
	for j := i - 1; j > max(0, i-longest); j-- {
		switch {
		case c.kindAt(j) == closing && int(c.tokens[j].pair) >= 0:
			j = int(c.tokens[j].pair)
		case c.kindAt(j) == opening:
			return false
		case c.is(j, "Err"):
			return true
		}
	}
	return false
}

// isEmptyRescue reports whether the rescue at index i catches every error and does nothing about it,
// and nothing shows that the error does not matter.
func (c *codeFile) isEmptyRescue(i int) bool {
	if !c.tokens[i].first {
		return false // "f rescue nil" replaces the error by a value
	}
	next := i + 1
	if c.isOneOf(next, "StandardError", "Exception") {
		next++
	}
	name := ""
	if c.is(next, "=>") && c.isWord(next+1) {
		name = c.written(next + 1)
		next += 2
	}
	return c.is(next, "end") && c.tokens[next].first && !c.isUsedSoon(name, next) && !c.decidesLater(c.rescuedBlock(i), next+1) && !c.hasCommentBefore(i) && !c.hasComment(c.tokens[i].end, c.tokens[next].start)
}

// rescuedBlock returns the tokens before the rescue at index i, from the last line that is indented
// like it: that of its begin or def. It returns none if no such line is near.
func (c *codeFile) rescuedBlock(i int) extent {
	for j := i - 1; j >= max(0, i-longestExpression); j-- {
		if c.tokens[j].first && c.indent(j) == c.indent(i) {
			return extent{j, i}
		}
	}
	return extent{}
}

// isUsedSoon reports whether the name of an error occurs in the statement after the word
// at index i: raise error if error.
func (c *codeFile) isUsedSoon(name string, i int) bool {
	const longest = 8 // tokens
	return name != "" && c.any(extent{i + 1, i + longest}, func(i int) bool { return c.is(i, name) })
}

// isEmptyExcept reports whether the except at index i catches every error and contains only pass,
// and nothing shows that the error does not matter.
func (c *codeFile) isEmptyExcept(i int) bool {
	colon := i + 1
	if c.isOneOf(colon, "Exception", "BaseException") {
		colon++
	}
	pass, next := colon+1, colon+2
	if !c.tokens[i].first || !c.isSequence(colon, ":", "pass") || c.cleansUp(i) || c.returnsInsteadOfPass(i, next) || c.hasCommentBefore(i) {
		return false
	}
	if begin := c.triedBegin(i, i-longestExpression); begin > 0 && (c.decidesLater(extent{begin, i}, next) || c.isAnnounced(begin-1)) {
		return false
	}
	if c.is(next, "else") {
		return false // the code that depends on success is there
	}
	end := int32(len(c.text))
	if next < len(c.tokens) {
		if !c.tokens[next].first || c.tokens[pass].first && c.indent(next) >= c.indent(pass) {
			return false // another statement follows in the block
		}
		end = c.lines[c.line(c.tokens[next].start)-1]
	}
	return !c.hasComment(c.tokens[i].end, end)
}

// lineEnd returns where the line of a byte ends.
func (c *codeFile) lineEnd(offset int32) int32 {
	if n := c.line(offset); n < len(c.lines) {
		return c.lines[n]
	}
	return int32(len(c.text))
}

// hasCommentBefore reports whether a comment stands right before the handler that begins with the
// word at index i. It may also stand before the empty handlers right before that one, unless they are
// very many, because one comment may give the reason for all of them.
func (c *codeFile) hasCommentBefore(i int) bool {
	const mostHandlers = 20
	last := i - 1
	for handlers := 0; c.is(last, "}") && handlers < mostHandlers; {
		last--
		if c.is(last, "{") && c.is(last-1, ")") && c.is(int(c.tokens[last-1].pair)-1, "catch") {
			last = int(c.tokens[last-1].pair) - 2
			i = last + 1
			handlers++
		}
	}
	return last >= 0 && c.hasComment(c.lineEnd(c.tokens[last].end-1)-1, c.tokens[i].start)
}

// hasComment reports whether a comment begins between two bytes.
func (c *codeFile) hasComment(from, to int32) bool {
	i := sort.Search(len(c.comments), func(i int) bool { return c.comments[i].start >= from })
	return i < len(c.comments) && c.comments[i].start < to
}
