package reviewer

import "strings"

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
