package reviewer

import (
	"slices"
	"strings"
)

// longestName bounds how many parts of a dotted name are looked at.
const longestName = 6

// name returns the parts of the dotted name that ends with the word at index i:
// os, path, join of "os.path.join". A part that is no word, such as a call, is
// "". begin is the index of its first token.
func (s *source) name(i int) (parts []string, begin int) {
	parts = append(parts, s.written(i))
	for begin = i; len(parts) < longestName; {
		dot := begin - 1
		if !s.is(dot, ".") && !s.is(dot, "?.") && !s.is(dot, "::") && !s.is(dot, "->") {
			break
		}
		before := dot - 1
		switch s.kindAt(before) {
		case word:
			parts, begin = append(parts, s.written(before)), before
			continue
		case closing:
			parts, begin = append(parts, ""), max(0, int(s.tokens[before].pair))
		case stringText:
			parts, begin = append(parts, ""), before
		default: // ".x" of a chain that is not seen
			parts, begin = append(parts, ""), dot
		}
		break
	}
	for l, r := 0, len(parts)-1; l < r; l, r = l+1, r-1 {
		parts[l], parts[r] = parts[r], parts[l]
	}
	return parts, begin
}

// named reports whether the parts are those of a pattern; a pattern's first part
// may be "*", for one part or more.
func named(parts, pattern []string) bool {
	if pattern[0] == "*" {
		n := len(pattern) - 1
		return len(parts) > n && slices.Equal(parts[len(parts)-n:], pattern[1:])
	}
	return slices.Equal(parts, pattern)
}

// argument is one argument of a call.
type argument struct {
	name string // of one that is given by name
	extent
}

// mostArguments bounds how many arguments of a call are looked at.
const mostArguments = 16

// arguments returns the arguments of the call whose bracket is the token at index open.
func (s *source) arguments(open int) []argument {
	return s.argumentsIn(open+1, s.after(open)-1)
}

// argumentsIn returns the arguments that stand between two indices. It takes no
// longer than there are tokens between them at their own level.
func (s *source) argumentsIn(from, end int) []argument {
	var list []argument
	for i := from; i <= end && len(list) < mostArguments; {
		if i < end && !s.is(i, ",") {
			i = s.after(i)
			continue
		}
		if i > from {
			a := argument{extent: extent{from, i}}
			if s.kindAt(from) == word && i > from+2 && (s.is(from+1, "=") || s.is(from+1, ":")) {
				a.name, a.from = s.written(from), from+2
			}
			list = append(list, a)
		}
		i++
		from = i
	}
	return list
}

// longestChain bounds how many links of a chain of calls are followed.
const longestChain = 12

// chain returns the index of the first token of the chain whose last name is the
// word at index i: that of Command in `Command::new("sh").arg`.
func (s *source) chain(i int) int {
	for range longestChain {
		if dot := i - 1; !s.is(dot, ".") && !s.is(dot, "?.") && !s.is(dot, "&.") && !s.is(dot, "::") {
			return i
		}
		before := i - 2
		if s.is(before, "?") { // Rust's way to pass an error on
			before--
		}
		switch s.kindAt(before) {
		case word:
			i = before
		case stringText:
			return before
		case closing:
			pair := int(s.tokens[before].pair)
			if pair < 0 {
				return i
			}
			switch i = pair; {
			case s.isString(pair):
				return i
			case s.kindAt(pair-1) == word:
				i = pair - 1
			case s.is(pair-1, "!") && s.kindAt(pair-2) == word:
				i = pair - 2
			}
		default:
			return i
		}
	}
	return i
}

// extent is a run of tokens: from, included, to, excluded.
type extent struct{ from, to int }

// longestSource bounds how many bytes of source a rule's expressions read.
const longestSource = 1000

// between returns the source of an extent, cut where it is too long.
func (s *source) between(e extent) string {
	if e.from >= e.to || e.from >= len(s.tokens) {
		return ""
	}
	start, end := s.tokens[e.from].start, s.tokens[min(e.to, len(s.tokens))-1].end
	return s.text[start:min(end, start+longestSource)]
}

// expression returns the extent of the value that begins at index from: up to a
// separator, a bracket that closes, another assignment, or the end of a line
// behind which nothing says that it goes on.
func (s *source) expression(from int) extent {
	i := from
	for i < len(s.tokens) && i-from < longestExpression {
		t := s.tokens[i]
		w := s.written(i)
		if t.kind == closing || t.kind == op && (w == ";" || w == "," || assigns(w)) {
			break
		}
		if t.first && i > from && !s.goesOn(i) {
			break
		}
		i = s.after(i)
	}
	return extent{from, i}
}

// longestExpression bounds the tokens of a value at its own level and those
// inside its first brackets.
const longestExpression = 400

// goesOn reports whether the line that begins with the token at index i goes on
// with what stood before.
func (s *source) goesOn(i int) bool {
	before, here := s.tokens[i-1], s.tokens[i]
	if before.kind == op && s.written(i-1) != "++" && s.written(i-1) != "--" && s.written(i-1) != "?" && s.written(i-1) != "!" {
		return true
	}
	if here.kind != op {
		return s.lang.name == "javascript" && here.kind == open && strings.HasPrefix(s.written(i), "`")
	}
	switch s.written(i) {
	case ".", "?.", "+", "?", ":", "||", "&&", "??", "%", "\\":
		return true
	}
	return false
}

func assigns(w string) bool {
	switch w {
	case "=", ":=", "+=", "<<=", "||=", "??=":
		return true
	}
	return false
}

// list returns the index of the brace of a list, such as []string{"a"}, that begins
// with the bracket at index i; 0 if none does.
func (s *source) list(i int) int {
	if !s.is(i, "[") {
		return 0
	}
	for j := s.after(i); j < min(len(s.tokens), i+8) && !s.tokens[j].first; j++ {
		switch {
		case s.is(j, "{"):
			return j
		case s.kindAt(j) != word && !s.is(j, ".") && !s.is(j, "*"):
			return 0
		}
	}
	return 0
}

// isString reports whether the token at index i begins a string with holes.
func (s *source) isString(i int) bool {
	t := s.tokens[i]
	if t.kind != open {
		return false
	}
	switch s.text[t.end-1] {
	case '"', '\'', '`':
		return true
	}
	return s.text[t.start] == '%'
}

// elements returns those of the first list in an extent, such as the last three
// texts in `List.of("sh", "-c", line)`.
func (s *source) elements(x extent) []extent {
	var list []extent
	for i := x.from; i < min(x.to, len(s.tokens)); i++ {
		if s.tokens[i].kind != open || s.isString(i) || s.after(i) == i+2 {
			continue
		}
		for _, a := range s.arguments(i) {
			list = append(list, a.extent)
		}
		break
	}
	return list
}
