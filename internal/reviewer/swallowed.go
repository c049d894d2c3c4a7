package reviewer

import (
	"sort"
	"strings"
)

// swallowed finds handlers of errors that do nothing and have no comment. Tests call on
// purpose what fails.
func (c *codeFile) swallowed() {
	if testPath.MatchString(c.path) {
		return
	}
	for i, t := range c.tokens {
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
	return isEmpty && !c.hasComment(c.tokens[body].end, c.lineEnd(c.tokens[body+1].end))
}

// catchBody returns the index of the block of `catch (e) { … }`, or 0 if the error does not matter.
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
	if c.returnsInstead(tried, body) || c.asksForClass(tried) {
		return 0
	}
	return body
}

// isUnusedName reports whether the name of an error shows that it does not matter.
func isUnusedName(name string) bool {
	return strings.HasPrefix(name, "ignore") || strings.HasPrefix(name, "expected") || name == "unused" || name == "_" || name == "__"
}

// answering are errors of Java that are the answer to what is tried: that a text is not
// a number, that a file or a list has ended.
var answering = words(`NumberFormatException EOFException NoSuchElementException NoSuchFieldException NoSuchMethodException ClassNotFoundException
	NameNotFoundException DateTimeParseException`)

// answersQuestion reports whether the bracket at index i catches only such an error.
func (c *codeFile) answersQuestion(i int) bool {
	return c.lang.name == "java" && c.isWord(i+1) && answering[c.written(i+1)] && c.isWord(i+2)
}

// asksForClass reports whether Java code asks for a class that may not be there, in the
// block that ends with the token at index end.
func (c *codeFile) asksForClass(end int) bool {
	return c.lang.name == "java" && c.blockHas(end, "forName", "classForName", "loadClass")
}

// returnsInstead reports whether what is tried returns a value, and the line after the
// handler returns another one instead. The block that is tried ends at index end.
func (c *codeFile) returnsInstead(end, body int) bool {
	return body < len(c.tokens) && c.is(c.after(body), "return") && c.tokens[end].pair >= 0 && c.blockHas(end, "return")
}

// blockHas reports whether one of some words is in the block that ends at index end.
func (c *codeFile) blockHas(end int, words ...string) bool {
	begin := max(int(c.tokens[end].pair)+1, end-longestExpression)
	return c.any(extent{begin, end}, func(i int) bool { return c.isOneOf(i, words...) })
}

var (
	// cleanups are calls at the end of something, whose failure nobody can do anything about.
	cleanups = words(`close stop disconnect unlink unlinkSync remove rmdir rmSync kill destroy end terminate cancel
		release umount abort shutdown delete deleteIfExists unsubscribe cleanup off removeListener removeEventListener dispose`)
	// emptyValues are the values of a name that is not needed any more.
	emptyValues = words("null undefined None nil")
)

// cleansUp reports whether all that is tried cleans up: such calls, under conditions, and
// names that are given nothing. The block ends before the token at index end.
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
		case c.is(i, "del") && c.lang.indented && c.isWord(i+1):
			i += 2
		case c.isWord(last) && c.is(last+1, "(") && cleanups[c.written(last)]:
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

// triedBegin returns the index of the brace or the colon that begins the block that is
// tried and ends with the token at index end, or 0. It looks no further than to least.
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

// errBranch returns the index of the body of Go's `if err != nil`, or 0 if there is an else.
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

// errArm returns the index of what Rust does about every error, in
// `Err(_) => {}` and `if let Err(_) = f() {}`, or 0.
func (c *codeFile) errArm(i int) int {
	const longest = 60 // tokens
	if c.isSequence(i+1, "(", "_", ")", "=>") {
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

// isEmptyRescue reports whether a rescue of every error is followed by its end.
func (c *codeFile) isEmptyRescue(i int) bool {
	if !c.tokens[i].first {
		return false // "f rescue nil" has a value instead
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
	if c.is(next, "nil") && c.tokens[next].first {
		next++
	}
	return c.is(next, "end") && c.tokens[next].first && !c.isUsedSoon(name, next) && !c.hasComment(c.tokens[i].end, c.tokens[next].start)
}

// isUsedSoon reports whether the name of an error occurs in the statement after the word
// at index i: raise error if error.
func (c *codeFile) isUsedSoon(name string, i int) bool {
	const longest = 8 // tokens
	return name != "" && c.any(extent{i + 1, i + longest}, func(i int) bool { return c.is(i, name) })
}

// isEmptyExcept reports whether pass is the only statement of an except of every error.
func (c *codeFile) isEmptyExcept(i int) bool {
	colon := i + 1
	if c.isOneOf(colon, "Exception", "BaseException") {
		colon++
	}
	pass, next := colon+1, colon+2
	if !c.tokens[i].first || !c.isSequence(colon, ":", "pass") || c.cleansUp(i) {
		return false
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

// hasComment reports whether a comment begins between two bytes.
func (c *codeFile) hasComment(from, to int32) bool {
	i := sort.Search(len(c.comments), func(i int) bool { return c.comments[i].start >= from })
	return i < len(c.comments) && c.comments[i].start < to
}
