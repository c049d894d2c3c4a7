package reviewer

import "strings"

// literal reads a string, a character or a regular expression, if one begins here.
func (s *scanner) literal() bool {
	c := s.text[s.at]
	prefix := s.prefixLength()
	for _, q := range s.lang.quotes {
		behind := s.at + prefix
		if !strings.HasPrefix(s.text[behind:], q.open) || q.prefix != "" && !strings.ContainsAny(s.text[s.at:behind], q.prefix) {
			continue
		}
		q.raw = q.raw || strings.ContainsAny(s.text[s.at:behind], "rR")
		from := behind + len(q.open)
		if q.hole != "" {
			s.openString(q, from)
			return true
		}
		to, end := s.textEnd(q, from)
		s.addText(from, to, end)
		return true
	}
	switch {
	case s.lang.name == "rust" && c == '\'':
		return s.rustCharacter()
	case c == '/' && s.lang.regexes && s.regexMayBegin():
		return s.regex()
	case c == '<' && s.lang.ruby:
		return s.hereBegin()
	case c == '%' && s.lang.ruby && s.regexMayBegin():
		return s.percent()
	}
	return false
}

// prefixLength returns how many letters stand here before a quote.
func (s *scanner) prefixLength() int {
	n := 0
	for n < 2 && s.at+n < len(s.text) && strings.IndexByte(s.lang.prefixes, s.text[s.at+n]) >= 0 {
		n++
	}
	if n == 0 || s.at+n >= len(s.text) || s.at > 0 && wordByte(s.text[s.at-1]) {
		return 0
	}
	if c := s.text[s.at+n]; c != '"' && c != '\'' && c != '#' {
		return 0
	}
	return n
}

// textEnd returns where a literal's content and the literal end.
func (s *scanner) textEnd(q quote, at int) (to, end int) {
	for at < len(s.text) {
		switch c := s.text[at]; {
		case c == '\\' && !q.raw && at+1 < len(s.text):
			at += 2
		case c == '\n' && !q.lines:
			return at, at
		case strings.HasPrefix(s.text[at:], q.close):
			return at, at + len(q.close)
		default:
			at++
		}
	}
	return len(s.text), len(s.text)
}

// openString begins a string with holes and reads it to its first hole or its end.
func (s *scanner) openString(q quote, from int) {
	s.strings = append(s.strings, inString{quote: q, base: len(s.opens)})
	s.open(from)
	s.moreText()
}

// endHole ends a hole and goes on with its string.
func (s *scanner) endHole() {
	hole := s.strings[len(s.strings)-1].hole
	s.close(s.at+1, func(o string) bool { return o == hole })
	s.moreText()
}

// moreText reads a string with holes up to its next hole or its end.
func (s *scanner) moreText() {
	q := &s.strings[len(s.strings)-1]
	from := s.at
	piece := func() {
		if to := s.at; to > from {
			s.at = from
			s.addText(from, to, to)
		}
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch rest := s.text[s.at:]; {
		case c == '\\' && !q.raw && s.at+1 < len(s.text):
			s.at += 2
			continue
		case c == '\n' && !q.lines:
			piece()
			s.endString(0)
			return
		case q.nest != 0 && c == q.nest:
			q.depth++
		case q.depth > 0 && strings.HasPrefix(rest, q.close):
			q.depth--
		case strings.HasPrefix(rest, q.close):
			piece()
			s.endString(len(q.close))
			return
		case q.hole == "{" && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			s.at += 2
			continue
		case strings.HasPrefix(rest, q.hole) && len(s.strings) < deepest:
			piece()
			s.open(s.at + len(q.hole))
			q.opens = len(s.opens)
			return
		}
		s.at++
	}
	s.at = min(s.at, len(s.text))
	piece()
}

// endString ends the innermost string with holes with a quote of that length.
func (s *scanner) endString(length int) {
	begin := s.strings[len(s.strings)-1].quote.open
	s.strings = s.strings[:len(s.strings)-1]
	s.close(s.at+length, func(o string) bool { return strings.HasSuffix(o, begin) })
}

// rustCharacter reads 'x', which 'lifetime has the beginning of.
func (s *scanner) rustCharacter() bool {
	rest := s.text[s.at:]
	end := strings.IndexByte(rest[1:min(len(rest), 14)], '\'') + 1
	if end == 0 || strings.Contains(rest[:end], "\n") || rest[1] != '\\' && end > 5 {
		end = 0 // a lifetime
	}
	if strings.HasPrefix(rest, `'\''`) {
		end = 3
	}
	s.addText(s.at+1, s.at+max(end, 1), s.at+end+1)
	return true
}

// beforeRegex are the words behind which a slash is no division.
var beforeRegex = map[string]bool{"return": true, "typeof": true, "case": true, "in": true, "of": true, "do": true, "else": true, "void": true, "delete": true,
	"if": true, "unless": true, "when": true, "and": true, "or": true, "not": true, "while": true, "until": true, "yield": true, "await": true}

// regexMayBegin reports whether a value may begin here. The slash of "</div>" begins none.
func (s *scanner) regexMayBegin() bool {
	i := len(s.tokens) - 1
	if s.at > 0 && s.text[s.at-1] == '<' {
		return false
	}
	if i < 0 || s.lang.ruby && s.first {
		return true
	}
	switch t := s.tokens[i]; t.kind {
	case word:
		// In Ruby "x /y/" calls x with an expression, "x / y" divides.
		spaced := s.lang.ruby && s.at > 0 && s.text[s.at-1] == ' ' && s.at+1 < len(s.text) && s.text[s.at+1] != ' '
		return beforeRegex[s.written(i)] || spaced
	case number, stringText, closing:
		return false
	}
	return true
}

// regex reads a regular expression, which ends on its line.
func (s *scanner) regex() bool {
	class := false
	for at := s.at + 1; at < len(s.text) && s.text[at] != '\n'; at++ {
		switch c := s.text[at]; {
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			end := at + 1
			for end < len(s.text) && wordByte(s.text[end]) {
				end++
			}
			s.addText(s.at+1, at, end)
			return true
		}
	}
	return false
}
