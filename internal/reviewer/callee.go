package reviewer

import "strings"

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
		case text:
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
		return len(parts) > n && same(parts[len(parts)-n:], pattern[1:])
	}
	return same(parts, pattern)
}

func same(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// extent is a run of tokens: from, included, to, excluded.
type extent struct{ from, to int }

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
