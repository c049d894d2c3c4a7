package reviewer

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
