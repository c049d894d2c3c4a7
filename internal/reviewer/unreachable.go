package reviewer

// unreachable finds a statement after one that leaves its block. It skips examples, which show code
// that fails. It also skips Java: the compiler refuses unreachable code, so a finding would be
// wrong.
func (c *codeFile) unreachable() {
	if c.lang.name == "java" || isExample(c.path) {
		return
	}
	for i, t := range c.tokens {
		if i == 0 || t.kind != word || !t.first || !c.leavesBlock(i) || !c.standsInBlock(i) {
			continue
		}
		leaving := extent{i, c.statementEnd(i)}
		next := leaving.to
		endsInSemicolon := c.is(next, ";")
		if endsInSemicolon {
			next++
		}
		switch {
		case !endsInSemicolon && !c.lang.indented && c.lang.name != "go": // it may go on in the next line
		case leaving.to-i >= longestExpression: // its end was not found
		case !c.isWord(next) || !c.tokens[next].first || c.isReachedOtherwise(next):
		case c.lang.indented && c.indent(next) != c.indent(i): // the next one is in another block
		case c.lang.ruby && c.isConditional(leaving):
		default:
			c.reportToken("unreachable-code", next, "")
		}
	}
}

// leavesBlock reports whether the statement that begins at index i leaves its block.
func (c *codeFile) leavesBlock(i int) bool {
	switch c.written(i) {
	case "return", "break":
		return !c.isOneOf(i+1, "=", "?") // "break?: boolean" is a member of a type
	case "next":
		return c.lang.ruby && !c.is(i+1, "=")
	case "raise": // a test may raise an error before other code on purpose
		return c.lang.indented && !c.is(i+1, "=") && !testPath.MatchString(c.path)
	case "throw":
		return !c.lang.ruby && !c.lang.indented && !testPath.MatchString(c.path)
	case "continue":
		return !c.lang.ruby && !c.is(i+1, "?")
	}
	return false
}

// standsInBlock reports whether the statement that begins at index i cannot belong to an
// if without braces.
func (c *codeFile) standsInBlock(i int) bool {
	return c.lang.indented || c.isOneOf(i-1, ";", "{") || c.is(i-1, "}") && (c.lang.name == "go" || c.lang.name == "rust")
}

// isReachedOtherwise reports whether the word at index i begins code that is reached in another
// way, such as a branch or a label, or a declaration, such as a function.
func (c *codeFile) isReachedOtherwise(i int) bool {
	switch c.written(i) {
	case "case", "default", "function", "class", "var", "async", "elif", "else", "except", "finally",
		"yield", // which makes a generator of the function, though it is never reached
		"end", "elsif", "when", "in", "rescue", "ensure", "def", "fn", "struct", "enum", "impl", "use", "mod", "const", "static", "type":
		return true
	}
	return c.is(i+1, ":")
}

// isConditional reports whether a Ruby statement has a modifier: return 1 if a.
func (c *codeFile) isConditional(x extent) bool {
	return c.anyAtLevel(extent{x.from + 1, x.to}, func(i int) bool { return c.isWord(i) && rubyModifiers[c.written(i)] })
}

// statementEnd returns the index after the statement that begins with the word at index
// i. In a language without braces that is the first token of the next line, unless
// brackets or a backslash join the lines.
func (c *codeFile) statementEnd(i int) int {
	next := i + 1
	if !c.lang.indented {
		if next < len(c.tokens) && c.tokens[next].first {
			return next // the word is the entire statement
		}
		return c.expressionAt(next).to
	}
	for next < len(c.tokens) && next-i < longestExpression && (!c.tokens[next].first || c.is(next-1, `\`)) {
		next = c.after(next)
	}
	return next
}
