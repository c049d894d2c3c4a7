package reviewer

import "strings"

// deepestString bounds how deep strings with holes may stand in each other's holes. It also bounds how
// many open brackets are compared with a closing one, and how many here-documents one line may begin.
const deepestString = 64

// scanner makes tokens of a text in one pass, each byte read a bounded number of
// times. Text that does not compile is not an error: a string without an end, for
// example, ends with its line, or with the file if it may span lines.
type scanner struct {
	*source
	at       int        // the next byte
	first    bool       // no token was read on this line
	opens    []int32    // indexes of the brackets that are open
	strings  []inString // strings in whose holes the scanner is
	heredocs []heredoc  // those that begin on the next line

	noRegex     int // no regular expression begins before this byte
	noRegexLine int // the end of the last line on which a slash began none
	readInVain  int // how many bytes were read of regular expressions that have no end; only tests use it
}

// inString is a string with holes whose end was not read yet.
type inString struct {
	quote
	base  int  // how many brackets were open when the string began
	opens int  // how many were open as soon as its current hole had begun
	nest  byte // the bracket that may stand inside in pairs; 0: none
	depth int  // how many of these are open
}

// scan returns a text as tokens.
func scan(path, code string, lang *language) *source {
	s := newScanner(path, code, lang)
	for s.at < len(s.text) {
		s.next()
	}
	return s.source
}

func newScanner(path, code string, lang *language) *scanner {
	s := &scanner{source: &source{path: path, text: code, lang: lang, lines: lineStarts(code)}, first: true}
	s.tokens = make([]token, 0, len(code)/4)
	return s
}

// next reads the next token, comment or blank.
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
	case isDigit(c):
		end := s.at + 1
		for end < len(s.text) && (wordByte(s.text[end]) || s.text[end] == '.' && end+1 < len(s.text) && isDigit(s.text[end+1])) {
			end++
		}
		s.add(number, end)
	default:
		s.punctuation(c)
	}
}

// newLine ends a line, and with it the strings that may not span lines.
func (s *scanner) newLine() {
	for n := len(s.strings); n > 0 && !s.strings[n-1].lines; n = len(s.strings) {
		s.opens = s.opens[:min(s.strings[n-1].base, len(s.opens))]
		s.strings = s.strings[:n-1]
	}
	s.at++
	s.first = true
	for _, h := range s.heredocs {
		s.heredocText(h)
	}
	s.heredocs = s.heredocs[:0]
}

// token returns the token from the current byte to end, and goes on after it.
func (s *scanner) token(k kind, end int) token {
	t := token{kind: k, first: s.first, start: int32(s.at), end: int32(end), from: int32(s.at), to: int32(end), pair: -1}
	s.at = end
	return t
}

// add appends a token.
func (s *scanner) add(k kind, end int) {
	s.tokens = append(s.tokens, s.token(k, end))
	s.first = false
}

// addText appends a literal whose content lies between from and to.
func (s *scanner) addText(from, to, end int) {
	s.add(stringText, end)
	t := &s.tokens[len(s.tokens)-1]
	t.from, t.to = int32(from), int32(to)
}

// open appends an opening token.
func (s *scanner) open(end int) {
	s.opens = append(s.opens, int32(len(s.tokens)))
	s.add(opening, end)
}

// close appends a closing token, and pairs it with the innermost open bracket that it
// fits, if there is one near.
func (s *scanner) close(end int, fits func(opened string) bool) {
	closer := int32(len(s.tokens))
	s.add(closing, end)
	for back := 1; back <= len(s.opens) && back <= deepestString; back++ {
		opener := s.opens[len(s.opens)-back]
		if fits(s.written(int(opener))) {
			s.tokens[opener].pair, s.tokens[closer].pair = closer, opener
			s.opens = s.opens[:len(s.opens)-back]
			return
		}
	}
}

func (s *scanner) closeBracket(opener string) {
	s.close(s.at+1, func(opened string) bool { return opened == opener })
}

// punctuation reads a bracket or an operator.
func (s *scanner) punctuation(c byte) {
	switch c {
	case '(', '[', '{':
		s.open(s.at + 1)
	case ')':
		s.closeBracket("(")
	case ']':
		s.closeBracket("[")
	case '}':
		if n := len(s.strings); n > 0 && len(s.opens) == s.strings[n-1].opens {
			s.closeBracket(s.strings[n-1].hole)
			s.moreText()
			return
		}
		s.closeBracket("{")
	default:
		s.add(operator, s.at+operatorLength(s.text[s.at:]))
	}
}

// operators are the operators of more than one character, the longest first.
var operators = []string{"===", "!==", "**=", "<<=", ">>=", "||=", "&&=", "??=", "...", "=>", "->", "<-", ":=", "::", "?.", "??", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "&&", "||", "++", "--", "**", "<<", ">>", "=~", ".."}

// operatorLength returns the length of the operator with which rest begins.
func operatorLength(rest string) int {
	if len(rest) < 2 || strings.IndexByte("=.><-:?&|+*~", rest[1]) < 0 { // a short cut: no long operator has another second byte
		return 1
	}
	for _, long := range operators {
		if strings.HasPrefix(rest, long) {
			return len(long)
		}
	}
	return 1
}

// comment reads a comment, if one begins here.
func (s *scanner) comment() bool {
	rest := s.text[s.at:]
	for _, begin := range s.lang.line {
		if strings.HasPrefix(rest, begin) {
			line, _, _ := strings.Cut(rest, "\n")
			s.comments = append(s.comments, s.token(comment, s.at+len(line)))
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
	s.comments = append(s.comments, s.token(comment, s.at+blockLength(rest, begin, end, s.lang.nested)))
	return true
}

// blockLength returns the length of the block comment with which rest begins.
func blockLength(rest, begin, end string, nested bool) int {
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

func wordStart(c byte) bool {
	return c == '_' || c == '$' || c == '@' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func wordByte(c byte) bool { return wordStart(c) && c != '@' || isDigit(c) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// literal reads a string, a character or a regular expression, if one begins here.
func (s *scanner) literal() bool {
	c := s.text[s.at]
	prefix := s.prefixLength()
	for _, q := range s.lang.quotes {
		letters, rest := s.text[s.at:s.at+prefix], s.text[s.at+prefix:]
		if !strings.HasPrefix(rest, q.open) || q.prefix != "" && !strings.ContainsAny(letters, q.prefix) {
			continue
		}
		q.raw = q.raw || strings.ContainsAny(letters, "rR")
		from := s.at + prefix + len(q.open)
		if q.hole != "" {
			s.openString(inString{quote: q}, from)
			return true
		}
		to, end := s.textEnd(inString{quote: q}, from)
		s.addText(from, to, end)
		return true
	}
	switch {
	case s.lang.name == "rust" && c == '\'':
		return s.rustCharacter()
	case c == '/' && s.lang.regexes && s.regexMayBegin():
		return s.regex()
	case c == '<' && s.lang.ruby:
		return s.heredoc()
	case c == '%' && s.lang.ruby && s.regexMayBegin():
		return s.percentLiteral()
	}
	return false
}

// prefixLength returns how many letters stand here before a quote or a "#": 2 for rb"a" and
// br#"a"#.
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

// textEnd returns where the content of a literal without holes ends, and where the literal ends.
func (s *scanner) textEnd(in inString, from int) (to, end int) {
	for i := from; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && !in.raw:
			i++
		case c == '\n' && !in.lines:
			return i, i
		case in.nest != 0 && c == in.nest:
			in.depth++
		case !strings.HasPrefix(s.text[i:], in.close):
		case in.depth > 0:
			in.depth--
		default:
			return i, i + len(in.close)
		}
	}
	return len(s.text), len(s.text)
}

// openString begins a string with holes and reads it to its first hole or its end.
func (s *scanner) openString(in inString, from int) {
	in.base = len(s.opens)
	s.strings = append(s.strings, in)
	s.open(from)
	s.moreText()
}

// moreText reads a string with holes up to its next hole or its end.
func (s *scanner) moreText() {
	in := &s.strings[len(s.strings)-1]
	from := s.at
	addPiece := func() {
		if to := s.at; to > from {
			s.at = from
			s.addText(from, to, to)
		}
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch rest := s.text[s.at:]; {
		case c == '\\' && !in.raw && s.at+1 < len(s.text):
			s.at += 2
			continue
		case c == '\n' && !in.lines:
			addPiece()
			s.endString(0)
			return
		case in.nest != 0 && c == in.nest:
			in.depth++
		case in.depth > 0 && strings.HasPrefix(rest, in.close):
			in.depth--
		case strings.HasPrefix(rest, in.close):
			addPiece()
			s.endString(len(in.close))
			return
		case in.hole == "{" && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			s.at += 2
			continue
		case strings.HasPrefix(rest, in.hole) && len(s.strings) < deepestString:
			addPiece()
			s.open(s.at + len(in.hole))
			in.opens = len(s.opens)
			return
		}
		s.at++
	}
	s.at = min(s.at, len(s.text))
	addPiece()
}

// endString ends the innermost string with holes. length is that of its closing quote, 0 if it has
// none.
func (s *scanner) endString(length int) {
	begin := s.strings[len(s.strings)-1].quote.open
	s.strings = s.strings[:len(s.strings)-1]
	s.close(s.at+length, func(opened string) bool { return strings.HasSuffix(opened, begin) })
}

// rustCharacter reads a character such as 'x', or the quote of a 'lifetime.
func (s *scanner) rustCharacter() bool {
	const longest = 14     // bytes that are searched for the second quote; '\u{10FFFF}' has 12
	const longestPlain = 4 // bytes of a character in UTF-8
	rest := s.text[s.at:]
	end := strings.IndexByte(rest[1:min(len(rest), longest)], '\'') + 1
	if end == 0 || strings.Contains(rest[:end], "\n") || rest[1] != '\\' && end > 1+longestPlain {
		end = 0 // a lifetime
	}
	if strings.HasPrefix(rest, `'\''`) {
		end = 3
	}
	s.addText(s.at+1, s.at+max(end, 1), s.at+end+1)
	return true
}

// beforeRegex are the words after which a slash does not divide.
var beforeRegex = wordSetOf("return typeof case in of do else void delete if unless when and or not while until yield await")

// regexMayBegin reports whether a slash or a percent sign here begins a literal, and
// does not divide.
func (s *scanner) regexMayBegin() bool {
	last := len(s.tokens) - 1
	if s.at > 0 && s.text[s.at-1] == '<' { // </div>
		return false
	}
	if last < 0 || s.lang.ruby && s.first {
		return true
	}
	switch s.tokens[last].kind {
	case word:
		// In Ruby "x /y/" calls x with an expression, "x / y" divides.
		spaced := s.lang.ruby && s.at > 0 && s.text[s.at-1] == ' ' && s.at+1 < len(s.text) && s.text[s.at+1] != ' '
		return beforeRegex[s.written(last)] || spaced
	case number, stringText, closing:
		return false
	}
	return true
}

// regex reads a regular expression, which ends on its line. A slash that begins none is an operator.
//
// The slashes after it are tried as well, but not each of them up to the end of the line. A bracket
// brings every attempt to the same state, and the first attempt has read what follows in vain. So a
// later one fails at the first bracket, and so do the attempts of all slashes before that bracket.
func (s *scanner) regex() bool {
	if s.at < s.noRegex {
		return false
	}
	triedBefore := s.at < s.noRegexLine
	class := false
	at := s.at + 1
	for at < len(s.text) && s.text[at] != '\n' {
		switch c := s.text[at]; {
		case c == '\\' && at+1 < len(s.text) && s.text[at+1] != '\n':
			at++
		case (c == '[' || c == ']') && triedBefore:
			s.readInVain += at - s.at
			s.noRegex = at
			return false
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
		at++
	}
	s.readInVain += at - s.at
	if triedBefore {
		s.noRegex = at
	}
	s.noRegexLine = at
	return false
}
