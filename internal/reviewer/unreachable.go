package reviewer

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
