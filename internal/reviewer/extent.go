package reviewer

import "strings"

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
