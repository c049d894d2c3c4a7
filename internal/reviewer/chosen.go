package reviewer

import "strings"

// What follows finds values that a function of the reviewed file has chosen, and those that Rust's
// parse has made of a text.

// isChooser reports whether the file has functions with this name, and each of them returns a
// literal wherever it returns, whatever its arguments are.
func (e *evaluator) isChooser(name string) bool {
	if e.choosers == nil {
		e.choosers = map[string]bool{}
		for i := range e.tokens {
			if name, body, ok := e.functionAt(i); ok {
				before, known := e.choosers[name]
				e.choosers[name] = (before || !known) && e.returnsLiterals(body)
			}
		}
	}
	return e.choosers[name]
}

// functionAt returns the name and the body of the function that begins with the token at index i: with
// its keyword, in Java with its name.
func (e *evaluator) functionAt(i int) (name string, body extent, ok bool) {
	at := i
	switch {
	case e.lang.name == "java":
		if !e.isWord(i-1) && !e.isOneOf(i-1, ">", "]") || e.isOneOf(i-1, "new", "else", "return") {
			return "", extent{}, false
		}
	case !e.isWord(i) || !e.isOneOf(i, e.lang.functions...):
		return "", extent{}, false
	case e.lang.name == "go" && e.is(i+1, "("): // a method
		at = e.after(i + 1)
	default:
		at++
	}
	if !e.isWord(at) || !e.is(at+1, "(") {
		return "", extent{}, false
	}
	begin := e.after(at + 1)
	if e.lang.indented {
		return e.written(at), extent{begin, e.indentedEnd(i)}, true
	}
	const longestType = 12 // tokens
	for end := min(len(e.tokens), begin+longestType); begin < end && !e.isOneOf(begin, ";", "}"); begin = e.after(begin) {
		if e.is(begin, "{") {
			return e.written(at), e.inside(begin), true
		}
	}
	return "", extent{}, false
}

// returnsLiterals reports whether the body of a function returns literals only, and at least one.
func (e *evaluator) returnsLiterals(body extent) bool {
	if body.to-body.from > longestExpression || e.lang.name == "rust" {
		return false // the body is not read to its end, or returns its last expression without "return"
	}
	returns := 0
	isOther := e.any(body, func(i int) bool {
		switch {
		case e.is(i, "=>") && e.lang.name == "javascript", e.isWord(i) && e.isOneOf(i, e.lang.functions...), e.is(i, "yield"):
			return true // a function in it has returns of its own
		case !e.isWord(i) || !e.is(i, "return"):
			return false
		}
		returns++
		end := e.literalEnd(i + 1)
		isLiteral := end > 0 && (end >= body.to || e.tokens[end].first && !e.continuesLine(end) || e.isOneOf(end, ";", "}"))
		return !isLiteral && !e.choosesLiteral(extent{i + 1, body.to})
	})
	return returns > 0 && !isOther
}

// textTypes are types of Rust whose values may contain any text that they were parsed from.
var textTypes = wordSetOf("String PathBuf OsString Cow Box Rc Arc Url Uri Value")

// parsed returns the value that Rust's parse makes of another one, as in a.parse::<T>() and
// let b: T = a.parse(): it is harmless unless T is not found or may contain any text. open is the
// index of the call's bracket, and start that of the operand.
func (e *evaluator) parsed(operand value, start, open int) value {
	from, to := open-1, open-1 // of T
	if e.is(open-1, ">") {
		for from > start && !e.is(from, "::") {
			from--
		}
	} else if to = start - 1; e.is(to, "=") {
		const longestType = 12 // tokens
		for from = to - 1; from > to-longestType && from > 0 && !e.isOneOf(from, ":", ";", "{"); {
			from--
		}
		if !e.is(from, ":") {
			return operand
		}
	} else {
		return operand
	}
	if e.any(extent{from, to}, func(i int) bool { return e.isWord(i) && textTypes[e.written(i)] || e.is(i, "_") }) {
		return operand
	}
	return harmless()
}

// afterTypes returns the index after the types that a call of Rust is given at index i, as in
// parse::<T>(); 0 if there are none.
func (e *evaluator) afterTypes(i int) int {
	if e.lang.name != "rust" || !e.is(i, "::") || !e.is(i+1, "<") {
		return 0
	}
	const longestTypes = 24 // tokens
	depth := 0
	for j := i + 1; j < min(len(e.tokens), i+longestTypes); j++ {
		depth += strings.Count(e.operatorAt(j), "<") - strings.Count(strings.TrimPrefix(e.operatorAt(j), "-"), ">")
		if depth <= 0 {
			return j + 1
		}
	}
	return 0
}

// operatorAt returns the operator at index i, "" if there is none.
func (e *evaluator) operatorAt(i int) string {
	if e.tokens[i].kind != operator {
		return ""
	}
	return e.written(i)
}
