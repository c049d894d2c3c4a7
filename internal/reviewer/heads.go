package reviewer

// longestHead bounds how many tokens before a brace are looked at for the end of a
// function's parameters.
const longestHead = 24

// notFunctions are words before brackets that begin no function.
var notFunctions = set([]string{"if", "for", "while", "switch", "catch", "with", "synchronized", "match", "try", "else"})

// notTypes are words that cannot stand in the type that a function returns.
var notTypes = set([]string{"return", "throw", "new", "try", "do", "else", "finally", "class", "interface", "enum", "extends", "case", "default", "yield", "await", "in", "of"})

// beginsBody reports whether the brace at index i begins the body of a function: a
// head was read, or an arrow or the brackets of parameters stand before it.
func (s *scopes) beginsBody(i int) bool {
	if s.pending {
		return true
	}
	if s.lang.indented || s.lang.name == "go" || s.lang.name == "rust" {
		return false
	}
	if s.is(i-1, "=>") {
		return true
	}
	end := s.headEnd(i)
	if end < 1 {
		return false
	}
	p := int(s.tokens[end].pair)
	if p < 1 || s.kindAt(p-1) != word || notFunctions[s.written(p-1)] {
		return false
	}
	s.head = function{name: s.written(p - 1)}
	s.parameters(p)
	s.pending = true
	return true
}

// headEnd returns the index of the bracket that ends the parameters before the brace at
// index i, 0 if there are none: "throws IOException" may stand in between, or ": Type".
func (s *scopes) headEnd(i int) int {
	for j := i - 1; j > 0 && j > i-longestHead; j-- {
		switch {
		case s.is(j, ")"):
			if j == i-1 || s.is(j+1, "throws") || s.is(j+1, ":") && j < i-2 {
				return j
			}
			return 0
		case s.kindAt(j) == word:
			if notTypes[s.written(j)] {
				return 0
			}
		case s.is(j, "]"), s.is(j, "}"):
			if j = int(s.tokens[j].pair); j < 0 {
				return 0
			}
		case s.is(j, ":"):
			if !s.is(j-1, ")") {
				return 0
			}
		case !s.is(j, ",") && !s.is(j, ".") && !s.is(j, "<") && !s.is(j, ">") && !s.is(j, "|") && !s.is(j, "&"):
			return 0
		}
	}
	return 0
}
