package reviewer

import (
	"strings"
)

// deepest bounds how deep strings with holes may stand in each other's holes.
const deepest = 64

// scanner makes tokens of a text in one pass, each byte read a bounded number of
// times. What no program would compile makes no error: a string that is not closed
// ends with its line where the language has it so.
type scanner struct {
	*source
	at      int
	first   bool
	opens   []int32    // brackets that are open, as indices of tokens
	strings []inString // strings in whose holes the scanner is
	heredoc []string   // ends of the here-documents that begin in the next line
}

// inString is a string with holes that is not at its end.
type inString struct {
	quote
	base  int  // how many brackets were open when it began
	opens int  // and when its present hole began, with the hole's own
	nest  byte // the bracket that may stand inside in pairs; 0: none
	depth int  // how many of them are open
}

// scan returns a text as tokens.
func scan(path, code string, lang *language) *source {
	s := &scanner{source: &source{path: path, text: code, lang: lang, lines: lineStarts(code)}, first: true}
	s.tokens = make([]token, 0, len(code)/4)
	for s.at < len(s.text) {
		s.next()
	}
	return s.source
}

func (s *scanner) next() {
	c := s.text[s.at]
	switch {
	case c == '\n':
		s.newLine()
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case s.comment():
	case s.literal():
	case wordStart(c):
		end := s.at + 1
		for end < len(s.text) && wordByte(s.text[end]) {
			end++
		}
		if s.lang.ruby {
			end = s.rubyName(end)
		}
		s.add(word, end)
	case digit(c):
		end := s.at + 1
		for end < len(s.text) && (wordByte(s.text[end]) || s.text[end] == '.' && end+1 < len(s.text) && digit(s.text[end+1])) {
			end++
		}
		s.add(number, end)
	default:
		s.punctuation(c)
	}
}

// newLine ends a line. A hole in a string that has one line only ends with it.
func (s *scanner) newLine() {
	for n := len(s.strings); n > 0 && !s.strings[n-1].lines; n = len(s.strings) {
		s.opens = s.opens[:min(s.strings[n-1].base, len(s.opens))]
		s.strings = s.strings[:n-1]
	}
	s.at++
	s.first = true
	for _, end := range s.heredoc {
		s.hereText(end)
	}
	s.heredoc = s.heredoc[:0]
}

// add appends a token that ends there, and goes on behind it.
func (s *scanner) add(k kind, end int) {
	s.tokens = append(s.tokens, token{kind: k, first: s.first, start: int32(s.at), end: int32(end), from: int32(s.at), to: int32(end), pair: -1})
	s.first = false
	s.at = end
}

// addText appends a literal whose content lies between from and to.
func (s *scanner) addText(from, to, end int) {
	s.add(stringText, end)
	t := &s.tokens[len(s.tokens)-1]
	t.from, t.to = int32(from), int32(to)
}

func (s *scanner) open(end int) {
	s.opens = append(s.opens, int32(len(s.tokens)))
	s.add(open, end)
}

// close ends the innermost open bracket that the token fits, if there is one near.
func (s *scanner) close(end int, fits func(opened string) bool) {
	i := int32(len(s.tokens))
	s.add(closing, end)
	for back := 1; back <= len(s.opens) && back <= deepest; back++ {
		o := s.opens[len(s.opens)-back]
		if fits(s.written(int(o))) {
			s.tokens[o].pair, s.tokens[i].pair = i, o
			s.opens = s.opens[:len(s.opens)-back]
			return
		}
	}
}

func (s *scanner) punctuation(c byte) {
	switch c {
	case '(', '[', '{':
		s.open(s.at + 1)
	case ')':
		s.close(s.at+1, func(o string) bool { return o == "(" })
	case ']':
		s.close(s.at+1, func(o string) bool { return o == "[" })
	case '}':
		if n := len(s.strings); n > 0 && len(s.opens) == s.strings[n-1].opens {
			s.endHole()
			return
		}
		s.close(s.at+1, func(o string) bool { return o == "{" })
	default:
		s.add(op, s.at+operatorLength(s.text[s.at:]))
	}
}

// operators are those of more than one character, the longest first.
var operators = []string{"===", "!==", "**=", "<<=", ">>=", "||=", "&&=", "??=", "...", "=>", "->", "<-", ":=", "::", "?.", "??", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "&&", "||", "++", "--", "**", "<<", ">>", "=~", ".."}

func operatorLength(rest string) int {
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			return len(o)
		}
	}
	return 1
}

// comment reads a comment, if one begins here.
func (s *scanner) comment() bool {
	rest := s.text[s.at:]
	for _, begin := range s.lang.line {
		if strings.HasPrefix(rest, begin) {
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.addComment(end)
			return true
		}
	}
	begin, end := s.lang.block[0], s.lang.block[1]
	switch {
	case begin == "":
		return false
	case begin[0] == '\n': // at the beginning of a line
		if !strings.HasPrefix(rest, begin[1:]) || s.at > 0 && s.text[s.at-1] != '\n' {
			return false
		}
	case !strings.HasPrefix(rest, begin):
		return false
	}
	s.addComment(blockEnd(rest, begin, end, s.lang.nested))
	return true
}

// blockEnd returns the length of the block comment with which rest begins.
func blockEnd(rest, begin, end string, nested bool) int {
	at, depth := len(strings.TrimPrefix(begin, "\n")), 1
	for at < len(rest) {
		switch {
		case strings.HasPrefix(rest[at:], end):
			at += len(end)
			if depth--; depth == 0 {
				return at
			}
		case nested && strings.HasPrefix(rest[at:], begin):
			at, depth = at+len(begin), depth+1
		default:
			at++
		}
	}
	return len(rest)
}

func (s *scanner) addComment(length int) {
	end := s.at + length
	s.comments = append(s.comments, token{kind: comment, first: s.first, start: int32(s.at), end: int32(end), from: int32(s.at), to: int32(end), pair: -1})
	s.at = end
}

func wordStart(c byte) bool {
	return c == '_' || c == '$' || c == '@' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func wordByte(c byte) bool { return wordStart(c) && c != '@' || digit(c) }

func digit(c byte) bool { return '0' <= c && c <= '9' }

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
