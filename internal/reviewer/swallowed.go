package reviewer

import (
	"strings"
)

// swallowed finds handlers of errors that do nothing and say nothing. Tests call on
// purpose what fails.
func (c *codeFile) swallowed() {
	if testPath.MatchString(c.path) {
		return
	}
	for i, t := range c.tokens {
		if t.kind != word {
			continue
		}
		body := 0
		switch w := c.written(i); {
		case w == "catch" && c.is(i-1, "}") && !c.cleansUp(i-1):
			if body = i + 1; c.is(body, "(") {
				if body = c.after(body); meant(c.written(body-2)) || c.answers(i+1) {
					continue
				}
			}
			if c.instead(i-1, body) || c.probes(i-1) {
				continue
			}
		case w == "except" && t.first && c.lang.name == "python":
			c.passes(i)
			continue
		case w == "rescue" && c.lang.ruby:
			c.rescues(i)
			continue
		case w == "if" && c.lang.name == "go" && t.first:
			if body = c.failed(i); body > 0 && c.is(c.after(body), "else") {
				continue // what holds without the error follows
			}
		case w == "Err" && c.lang.name == "rust":
			body = c.errArm(i)
		default:
			continue
		}
		if body > 0 && (c.is(body, "{") && c.is(body+1, "}") || c.is(body, "(") && c.is(body+1, ")")) && !c.commented(c.tokens[body].end, c.lineEnd(c.tokens[body+1].end)) {
			c.report("swallowed-error", t.start, t.end, "")
		}
	}
}

// meant reports names that say of an error that it does not matter.
func meant(name string) bool {
	return strings.HasPrefix(name, "ignore") || strings.HasPrefix(name, "expected") || name == "unused" || name == "_" || name == "__"
}

// failed returns the index of the body of Go's `if err != nil`, or 0.
func (c *codeFile) failed(i int) int {
	for j := i + 1; j+3 < len(c.tokens) && j < i+40; j = c.after(j) {
		if c.is(j, "err") && c.is(j+1, "!=") && c.is(j+2, "nil") && c.is(j+3, "{") {
			return j + 3
		}
		if c.is(j, "{") {
			break
		}
	}
	return 0
}

// errArm returns the index of what Rust does about every error, in
// `Err(_) => {}` and `if let Err(_) = f() {}`, or 0.
func (c *codeFile) errArm(i int) int {
	if !c.is(i+1, "(") || !c.is(i+2, "_") || !c.is(i+3, ")") {
		return 0
	}
	if c.is(i+4, "=>") {
		return i + 5
	}
	if !c.is(i-1, "let") || !c.is(i+4, "=") {
		return 0
	}
	for j := i + 5; j < min(len(c.tokens), i+60); j = c.after(j) {
		if c.is(j, "{") {
			return j
		}
	}
	return 0
}

// rescues reports a rescue of everything that is followed by its end.
func (c *codeFile) rescues(i int) {
	if !c.tokens[i].first {
		return // "f rescue nil" says what it gives instead
	}
	next := i + 1
	if c.is(next, "StandardError") || c.is(next, "Exception") {
		next++
	}
	name := ""
	if c.is(next, "=>") {
		name = c.written(next + 1)
		next += 2
	}
	if c.is(next, "nil") && c.tokens[next].first {
		next++
	}
	if c.is(next, "end") && c.tokens[next].first && !c.namedSoon(name, next) && !c.commented(c.tokens[i].end, c.tokens[next].start) {
		c.report("swallowed-error", c.tokens[i].start, c.tokens[i].end, "")
	}
}

// namedSoon reports whether a name occurs in the statement behind the word at index i,
// as that of an error does which is raised later.
func (c *codeFile) namedSoon(name string, i int) bool {
	for j := i + 1; name != "" && j < min(len(c.tokens), i+8); j++ {
		if c.is(j, name) {
			return true
		}
	}
	return false
}

// passes reports an except of everything whose only statement is pass.
func (c *codeFile) passes(i int) {
	colon := i + 1
	if c.is(colon, "Exception") || c.is(colon, "BaseException") {
		colon++
	}
	if !c.is(colon, ":") || !c.is(colon+1, "pass") || c.cleansUp(i) {
		return
	}
	end := len(c.text)
	if colon+2 < len(c.tokens) {
		next := c.tokens[colon+2]
		if !next.first || c.indent(colon+2) >= c.indent(colon+1) && c.tokens[colon+1].first {
			return
		}
		end = int(c.lines[c.line(next.start)-1])
	}
	if !c.commented(c.tokens[i].end, int32(end)) {
		c.report("swallowed-error", c.tokens[i].start, c.tokens[i].end, "")
	}
}

// lineEnd returns where the line of a byte ends.
func (c *codeFile) lineEnd(at int32) int32 {
	if n := c.line(at); n < len(c.lines) {
		return c.lines[n]
	}
	return int32(len(c.text))
}

// commented reports whether a comment stands between two bytes. It searches by halves.
func (c *codeFile) commented(from, to int32) bool {
	lo, hi := 0, len(c.source.comments)
	for lo < hi {
		if mid := (lo + hi) / 2; c.source.comments[mid].start < from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(c.source.comments) && c.source.comments[lo].start < to
}

// cleanups are calls at the end of something, whose failure nobody can do anything about.
var cleanups = set([]string{"close", "stop", "disconnect", "unlink", "unlinkSync", "remove", "rmdir", "rmSync", "kill", "destroy", "end", "terminate", "cancel",
	"release", "umount", "abort", "shutdown", "delete", "deleteIfExists", "unsubscribe", "cleanup", "off", "removeListener", "removeEventListener", "dispose"})

// nothing are the values of a name that is done with.
var nothing = set([]string{"null", "undefined", "None", "nil"})

// mostCleanup bounds the tokens of a block that cleans up.
const mostCleanup = 60

// cleansUp reports whether all that is tried cleans up: such calls, under conditions, and
// names that are given nothing. The block ends before the token at index end.
func (c *codeFile) cleansUp(end int) bool {
	begin := end - 1
	for c.lang.indented && begin > end-mostCleanup && begin > 0 && !(c.is(begin, "try") && c.indent(begin) == c.indent(end)) {
		begin--
	}
	if !c.lang.indented {
		if begin = int(c.tokens[end].pair); begin < 1 || !c.is(begin-1, "try") {
			return false
		}
	} else if begin++; !c.is(begin, ":") {
		return false
	}
	if end-begin > mostCleanup {
		return false
	}
	cleaned := false
	for i := begin + 1; i < end; {
		last := c.lastName(i)
		switch {
		case c.is(i, ";"), c.is(i, "{"), c.is(i, "}"), c.is(i, "await"), c.is(i, "else"):
			i++
		case c.is(i, "if") && c.lang.indented:
			for i < end && !c.is(i, ":") {
				i = c.after(i)
			}
			i++
		case c.is(i, "if") && c.is(i+1, "("):
			i = c.after(i + 1)
		case c.is(i, "del") && c.lang.indented && c.kindAt(i+1) == word:
			i += 2
		case c.kindAt(last) == word && c.is(last+1, "(") && cleanups[c.written(last)]:
			cleaned = true
			i = c.after(last + 1)
		case c.kindAt(last) == word && c.is(last+1, "=") && nothing[c.written(last+2)]:
			i = last + 3
		default:
			return false
		}
	}
	return cleaned
}

// lastName returns the index of the last name in the chain that begins with the token at
// index i: that of close in `((A) b.c()).close()`.
func (c *codeFile) lastName(i int) int {
	if c.is(i, "(") {
		i = c.after(i) - 1
	}
	for {
		switch {
		case (c.is(i+1, ".") || c.is(i+1, "?.")) && c.kindAt(i+2) == word:
			i += 2
		case c.is(i+1, "(") && c.is(c.after(i+1), "."):
			i = c.after(i+1) - 1
		default:
			return i
		}
	}
}

// answers reports whether the bracket at index i catches an error of Java that is the
// answer to what is tried: that a text is no number, that a file or a list has ended.
func (c *codeFile) answers(i int) bool {
	return c.lang.name == "java" && c.kindAt(i+1) == word && answering[c.written(i+1)] && c.kindAt(i+2) == word
}

var answering = set([]string{"NumberFormatException", "EOFException", "NoSuchElementException", "NoSuchFieldException", "NoSuchMethodException", "ClassNotFoundException",
	"NameNotFoundException", "DateTimeParseException"})

// probes reports whether a class of Java is asked for in the block that ends with the
// token at index end, which may not be there.
func (c *codeFile) probes(end int) bool {
	for i := max(int(c.tokens[end].pair)+1, end-longestExpression); c.lang.name == "java" && i < end; i++ {
		if w := c.written(i); w == "forName" || w == "classForName" || w == "loadClass" {
			return true
		}
	}
	return false
}

// instead reports whether what is tried returns a value, and the line behind the handler
// returns another one instead. The block that is tried ends at index end.
func (c *codeFile) instead(end, body int) bool {
	if body >= len(c.tokens) { // the file ends with the handler's head
		return false
	}
	next := c.after(body)
	if !c.is(next, "return") || c.tokens[end].pair < 0 {
		return false
	}
	for i := max(int(c.tokens[end].pair)+1, end-longestExpression); i < end; i++ {
		if c.is(i, "return") {
			return true
		}
	}
	return false
}
