package reviewer

import (
	"regexp"
	"strings"
)

// stops are calls that stop a program for its debugger, by language.
var stops = map[string][]string{
	"python": {"breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace"},
	"ruby":   {"binding.pry", "binding.irb", "byebug"},
	"go":     {"runtime.Breakpoint"},
}

// focusing and disabling are names of calls of test runners.
var (
	focusing  = set([]string{"it.only", "test.only", "describe.only", "context.only", "suite.only", "fit", "fdescribe", "fcontext"})
	disabling = set([]string{"it.skip", "test.skip", "describe.skip", "context.skip", "xit", "xdescribe", "xtest", "xcontext",
		"@pytest.mark.skip", "@unittest.skip", "@skip"})
)

// leftovers finds what was left from debugging, and tests that do not run.
func (c *codeFile) leftovers() {
	inTest := testPath.MatchString(c.path)
	for i, t := range c.tokens {
		if t.kind != word {
			continue
		}
		if c.lang.name == "javascript" && c.is(i, "debugger") && t.first && (c.is(i+1, ";") || i+1 == len(c.tokens) || c.tokens[i+1].first) {
			c.report("breakpoint", t.start, t.end, "")
		}
		called := c.is(i+1, "(")
		if !called && !c.lang.ruby && !strings.HasPrefix(c.written(i), "@") && !c.is(i-1, ".") {
			continue
		}
		parts, begin := c.name(i)
		name := strings.Join(parts, ".")
		if c.is(begin-1, "def") || c.is(begin-1, "func") || c.is(begin-1, "function") {
			continue
		}
		for _, s := range stops[c.lang.name] {
			if name == s && (called || c.lang.ruby) {
				c.report("breakpoint", c.tokens[begin].start, t.end, "")
			}
		}
		switch {
		case !inTest:
		case called && focusing[name]:
			c.report("focused-test", c.tokens[begin].start, t.end, name)
		case (called || strings.HasPrefix(name, "@")) && disabling[name]:
			c.report("disabled-test", c.tokens[begin].start, t.end, name)
		}
	}
}

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
		case w == "catch" && c.is(i-1, "}"):
			if body = i + 1; c.is(body, "(") {
				body = c.after(body)
			}
		case w == "except" && t.first && c.lang.name == "python":
			c.passes(i)
			continue
		default:
			continue
		}
		if c.is(body, "{") && c.is(body+1, "}") && !c.commented(c.tokens[body].end, c.tokens[body+1].start) {
			c.report("swallowed-error", t.start, t.end, "")
		}
	}
}

// passes reports an except of everything whose only statement is pass.
func (c *codeFile) passes(i int) {
	colon := i + 1
	if c.is(colon, "Exception") || c.is(colon, "BaseException") {
		colon++
	}
	if !c.is(colon, ":") || !c.is(colon+1, "pass") {
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

// unreachable finds a statement behind one that leaves its block.
func (c *codeFile) unreachable() {
	for i, t := range c.tokens {
		if t.kind != word || !t.first || !leaves(c.written(i)) || i == 0 || c.lang.ruby || c.lang.name == "rust" {
			continue
		}
		braces := !c.lang.indented
		if braces && !c.is(i-1, ";") && !c.is(i-1, "{") && !c.is(i-1, "}") || braces && c.is(i-1, "}") && c.lang.name != "go" {
			continue // it may belong to an if without braces
		}
		x := extent{i, c.statementEnd(i)}
		if braces && !c.is(x.to, ";") && c.lang.name != "go" {
			continue
		}
		next := x.to
		if c.is(next, ";") {
			next++
		}
		if next >= len(c.tokens) || !c.tokens[next].first || x.to-i >= longestExpression || c.tokens[next].kind != word {
			continue
		}
		if !braces && c.indent(next) != c.indent(i) {
			continue
		}
		switch c.written(next) {
		case "case", "default", "function", "class", "var", "async", "elif", "else", "except", "finally":
			continue
		}
		if c.is(next+1, ":") {
			continue // a label
		}
		c.report("unreachable-code", c.tokens[next].start, c.tokens[next].end, "")
	}
}

// statementEnd returns the index behind the statement that begins with the word at
// index i. Where blocks are told by their indentation that is the first token of
// the next line, unless brackets or a backslash hold the lines together.
func (c *codeFile) statementEnd(i int) int {
	next := i + 1
	if !c.lang.indented {
		if next < len(c.tokens) && c.tokens[next].first && c.lang.name != "javascript" {
			return next // nothing is returned; the next line is a statement of its own
		}
		return c.expression(next).to
	}
	for next < len(c.tokens) && next-i < longestExpression && (!c.tokens[next].first || c.is(next-1, "\\")) {
		next = c.after(next)
	}
	return next
}

func leaves(w string) bool {
	return w == "return" || w == "throw" || w == "raise" || w == "break" || w == "continue"
}

var (
	note     = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	noted    = regexp.MustCompile(`#\d+|https?://|\b[A-Z][A-Z0-9]+-\d+\b|\bGH-\d+`)
	codeLine = regexp.MustCompile(`[;{}]\s*$|^\s*(if|for|while|return|const|let|var|def|func|import)\b.*[({:;=]|^\s*[\w.]+\s*(=|:=|\+=)\s*\S|^\s*[\w.]+\(.*\)\s*$`)
)

// comments finds notes without an issue, and code that was commented out.
func (c *codeFile) comments() {
	run, code, begin, last := 0, 0, token{}, 0
	flush := func() {
		if run >= 3 && code*5 >= run*4 {
			c.report("commented-code", begin.start, begin.end, "")
		}
		run, code = 0, 0
	}
	for _, t := range c.source.comments {
		said := c.text[t.start:t.end]
		if m := note.FindStringIndex(said); m != nil && !noted.MatchString(said) {
			c.report("todo-without-issue", t.start+int32(m[0]), t.start+int32(m[1]), said[m[0]:m[1]])
		}
		line := c.line(t.start)
		if !t.first || line != last+1 {
			flush()
		}
		if last = line; !t.first || strings.HasPrefix(said, "/*") {
			continue
		}
		if run == 0 {
			begin = t
		}
		if run++; codeLine.MatchString(strings.TrimLeft(said, "/#! ")) {
			code++
		}
	}
	flush()
}
