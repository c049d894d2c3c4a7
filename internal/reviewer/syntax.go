package reviewer

import (
	"slices"
	"strings"
)

// This file reads what all languages have in common: dotted names, chains of calls,
// arguments and where an expression ends. Each loop over tokens is bounded, so that the
// time stays linear in the file.
const (
	longestName       = 6    // parts of a dotted name
	longestChain      = 12   // links of a chain of calls
	mostArguments     = 16   // arguments of a call
	longestExpression = 400  // tokens of an expression before the last brackets in it
	longestSource     = 1000 // bytes of source that a rule's expressions read
)

// extent is a run of tokens: from is included, to is not.
type extent struct{ from, to int }

// sourceText returns an extent as the file has it, cut where it is too long.
func (s *source) sourceText(x extent) string {
	if x.from >= x.to || x.from >= len(s.tokens) {
		return ""
	}
	start, end := s.tokens[x.from].start, s.tokens[min(x.to, len(s.tokens))-1].end
	return s.text[start:min(end, start+longestSource)]
}

// any reports whether matches is true of one of the tokens of an extent, which is cut where it is
// too long.
func (s *source) any(x extent, matches func(i int) bool) bool {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(s.tokens)); i++ {
		if matches(i) {
			return true
		}
	}
	return false
}

// anyAtLevel is any for the tokens at the extent's own level, not those in its brackets, and does
// not cut the extent.
func (s *source) anyAtLevel(x extent, matches func(i int) bool) bool {
	for i := x.from; i < min(x.to, len(s.tokens)); i = s.after(i) {
		if matches(i) {
			return true
		}
	}
	return false
}

// isWord reports whether the token at index i, which may be out of range, is a word.
func (s *source) isWord(i int) bool { return s.kindAt(i) == word }

// inside returns what stands between the brackets that open at index i.
func (s *source) inside(i int) extent { return extent{i + 1, s.after(i) - 1} }

// dottedName returns the parts of the dotted name that ends with the word at index i,
// ["os" "path" "join"] of "os.path.join", and the index of its first token. What is not
// a word becomes an empty first part: ["" "query"] of "db().query".
func (s *source) dottedName(i int) (parts []string, begin int) {
	parts = append(parts, s.written(i))
	for begin = i; len(parts) < longestName && s.isOneOf(begin-1, ".", "?.", "::", "->"); {
		before := begin - 2
		if s.isWord(before) {
			parts, begin = append(parts, s.written(before)), before
			continue
		}
		parts = append(parts, "")
		switch s.kindAt(before) {
		case closing:
			begin = max(0, int(s.tokens[before].pair))
		case stringText:
			begin = before
		default: // ".x" of a chain that is not seen
			begin--
		}
		break
	}
	slices.Reverse(parts)
	return parts, begin
}

// chainStart returns the index of the first token of the chain of calls whose last name
// is the word at index i: that of Command in `Command::new("sh").arg`.
func (s *source) chainStart(i int) int {
	for range longestChain {
		if !s.isOneOf(i-1, ".", "?.", "&.", "::") {
			return i
		}
		before := i - 2
		if s.is(before, "?") { // f()?.g: Rust's way to pass an error on
			before--
		}
		switch s.kindAt(before) {
		case word:
			i = before
		case stringText:
			return before
		case closing:
			pair := int(s.tokens[before].pair)
			switch {
			case pair < 0:
				return i
			case s.opensString(pair):
				return pair
			case s.isWord(pair - 1): // f(a).b
				i = pair - 1
			case s.is(pair-1, "!") && s.isWord(pair-2): // format!(a).b
				i = pair - 2
			default: // (a).b
				i = pair
			}
		default:
			return i
		}
	}
	return i
}

// argument is one argument of a call.
type argument struct {
	name string // "" unless the argument is given by name: verify=False
	extent
}

// arguments returns the arguments of the call whose bracket is the token at index open.
func (s *source) arguments(open int) []argument {
	return s.argumentsIn(open+1, s.after(open)-1)
}

// argumentsIn returns the arguments that stand between two indexes. Its time is that of
// the tokens between them at their own level.
func (s *source) argumentsIn(from, end int) []argument {
	var list []argument
	for i := from; i <= end && len(list) < mostArguments; {
		if i < end && !s.is(i, ",") {
			i = s.after(i)
			continue
		}
		if i > from {
			a := argument{extent: extent{from, i}}
			if s.isWord(from) && i > from+2 && s.isOneOf(from+1, "=", ":") {
				a.name, a.from = s.written(from), from+2
			}
			list = append(list, a)
		}
		i++
		from = i
	}
	return list
}

// elements returns the elements of the first list in an extent, such as the three texts
// in `List.of("sh", "-c", line)`.
func (s *source) elements(x extent) []extent {
	var list []extent
	for i := x.from; i < min(x.to, len(s.tokens)); i++ {
		if s.tokens[i].kind != opening || s.opensString(i) || s.after(i) == i+2 {
			continue
		}
		for _, a := range s.arguments(i) {
			list = append(list, a.extent)
		}
		break
	}
	return list
}

// listBrace returns the index of the brace of a list, such as []string{"a"}, that begins
// with the bracket at index i; 0 if none does.
func (s *source) listBrace(i int) int {
	if !s.is(i, "[") {
		return 0
	}
	for j := s.after(i); j < min(len(s.tokens), i+8) && !s.tokens[j].first; j++ {
		switch {
		case s.is(j, "{"):
			return j
		case !s.isWord(j) && !s.isOneOf(j, ".", "*"):
			return 0
		}
	}
	return 0
}

// opensString reports whether the token at index i begins a string with holes, such as
// the first ` of `a ${b}` and the %( of %(a #{b}).
func (s *source) opensString(i int) bool {
	t := s.tokens[i]
	return t.kind == opening && (strings.IndexByte("\"'`", s.text[t.end-1]) >= 0 || s.text[t.start] == '%')
}

// plainLiteral returns the index of the literal without holes that an extent consists of.
func (s *source) plainLiteral(x extent) (i int, ok bool) {
	switch {
	case x.to == x.from+1: // 'a'
		return x.from, s.kindAt(x.from) == stringText
	case x.to == x.from+3: // `a`
		return x.from + 1, s.kindAt(x.from+1) == stringText && s.opensString(x.from)
	}
	return 0, false
}

// expressionAt returns the extent of the expression that begins at index from. It ends
// before a separator, a bracket that closes or another assignment, or at the end of a
// line that the next line does not continue.
func (s *source) expressionAt(from int) extent {
	i := from
	for i < len(s.tokens) && i-from < longestExpression {
		t := s.tokens[i]
		if t.kind == closing || t.kind == operator && endsExpression(s.written(i)) || t.first && i > from && !s.continuesLine(i) {
			break
		}
		i = s.after(i)
	}
	return extent{from, i}
}

// endsExpression reports whether an operator ends an expression: it separates or assigns.
func endsExpression(written string) bool {
	switch written {
	case ";", ",", "=", ":=", "+=", "<<=", "||=", "??=":
		return true
	}
	return false
}

// continuesLine reports whether the line that begins with the token at index i continues
// the expression before it.
func (s *source) continuesLine(i int) bool {
	if s.tokens[i-1].kind == operator && !s.isOneOf(i-1, "++", "--", "?", "!") {
		return true // a +
	}
	if s.tokens[i].kind == operator {
		return s.isOneOf(i, ".", "?.", "+", "?", ":", "||", "&&", "??", "%", `\`)
	}
	return s.lang.name == "javascript" && s.tokens[i].kind == opening && strings.HasPrefix(s.written(i), "`") // as in html`a`, with html on the line before
}
