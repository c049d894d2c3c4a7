package reviewer

import (
	"regexp"
	"strings"
)

// unreachable finds a statement behind one that leaves its block.
func (c *codeFile) unreachable() {
	for i, t := range c.tokens {
		if t.kind != word || !t.first || !c.leaves(i) || i == 0 {
			continue
		}
		braces := !c.lang.indented
		if braces && !c.is(i-1, ";") && !c.is(i-1, "{") && !c.is(i-1, "}") || braces && c.is(i-1, "}") && c.lang.name != "go" && c.lang.name != "rust" {
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
		if !braces && c.indent(next) != c.indent(i) || c.reached(next) || c.lang.ruby && c.conditional(x) {
			continue
		}
		c.report("unreachable-code", c.tokens[next].start, c.tokens[next].end, "")
	}
}

// reached reports whether the word at index i begins what is reached otherwise, or is
// known before it: a branch, a label, a function.
func (c *codeFile) reached(i int) bool {
	switch c.written(i) {
	case "case", "default", "function", "class", "var", "async", "elif", "else", "except", "finally",
		"end", "elsif", "when", "in", "rescue", "ensure", "def", "fn", "struct", "enum", "impl", "use", "mod", "const", "static", "type":
		return true
	}
	return c.is(i+1, ":")
}

// conditional reports whether a Ruby statement says when it counts.
func (c *codeFile) conditional(x extent) bool {
	for i := x.from + 1; i < x.to; i = c.after(i) {
		if c.kindAt(i) == word && modifies(c.written(i)) {
			return true
		}
	}
	return false
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

// leaves reports whether the statement that begins at index i leaves its block.
func (c *codeFile) leaves(i int) bool {
	switch c.written(i) {
	case "return", "break":
		return !c.is(i+1, "=")
	case "next":
		return c.lang.ruby && !c.is(i+1, "=")
	case "raise": // tests do so on purpose, to see what happens before the code behind it
		return c.lang.indented && !c.is(i+1, "=") && !testPath.MatchString(c.path)
	case "throw":
		return !c.lang.ruby && !c.lang.indented
	case "continue":
		return !c.lang.ruby
	}
	return false
}

var (
	note = regexp.MustCompile(`\b(TODO|FIXME)\b|^\W*(XXX)\b(: |[^:])|\bXXX: `)
	// noted is what says where or when the note will be found again: an issue, an
	// address, or the version with which it goes.
	noted = regexp.MustCompile(`#\d+|https?://|\b[A-Z][A-Z0-9]+-\d+\b|\bGH-\d+|(?i:\bissue ?\d+)|\w/pull/\d+|(?i:\b(remov|drop|replac|updat|requires?\b|once\b|when\b|until\b)).*(\d\.[\dx]|\bv\d|(?i:\bpy\d))`)
	// noNote is what has a note's word and is none: what an editor writes above a stub, what
	// points at another note, and the word in quotation marks.
	noNote   = regexp.MustCompile(`(?i:\bauto-?generated\b|\bsearch (and see|this)\b|\b(another|that) (TODO|FIXME)\b)|["'\x60](TODO|FIXME|XXX)\b|\b(TODO|FIXME|XXX)["'\x60|]`)
	codeLine = regexp.MustCompile(`[;{}]\s*$|^\s*(if|for|while|return|const|let|var|def|func|import)\b.*[({:;=]|^\s*[\w.]+\s*(=|:=|\+=)\s*\S|^\s*[\w.]+\(.*\)\s*$`)
)

// longestNote is how many comments that follow each other make one note.
const longestNote = 5

// wholeNote returns a comment with those that go on with it in the next lines.
func (c *codeFile) wholeNote(i int) string {
	all := c.source.comments
	last := i
	for last+1 < len(all) && last < i+longestNote && all[last+1].first && c.line(all[last+1].start) == c.line(all[last].start)+1 &&
		!note.MatchString(c.text[all[last+1].start:all[last+1].end]) {
		last++
	}
	return strings.ReplaceAll(c.text[all[i].start:all[last].end], "\n", " ")
}

// goesOnFrom reports whether a comment stands alone on its line, and is below one with a
// note that is found: each of these lines may begin with the note's word again.
func (c *codeFile) goesOnFrom(i int) bool {
	all := c.source.comments
	if i == 0 || !all[i].first || !all[i-1].first || c.line(all[i].start) != c.line(all[i-1].start)+1 {
		return false
	}
	return note.MatchString(c.text[all[i-1].start:all[i-1].end]) && !noted.MatchString(c.wholeNote(i-1))
}

// comments finds notes without an issue, and code that was commented out.
func (c *codeFile) comments() {
	run, code, begin, last := 0, 0, token{}, 0
	flush := func() {
		if run >= 3 && code*5 >= run*4 {
			c.report("commented-code", begin.start, begin.end, "")
		}
		run, code = 0, 0
	}
	for i, t := range c.source.comments {
		said := c.text[t.start:t.end]
		if m := note.FindStringIndex(said); m != nil && !c.goesOnFrom(i) && !noNote.MatchString(said) && !noted.MatchString(c.wholeNote(i)) {
			word := strings.Trim(said[m[0]:m[1]], "/#*:! \t\n")
			c.report("todo-without-issue", t.start+int32(m[0]), t.start+int32(m[1]), word[:min(len(word), 5)])
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
