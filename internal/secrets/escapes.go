package secrets

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of the part of a text that is read again with its escapes decoded.
const (
	beforeEscape  = 160       // bytes before the first escape, on its line
	afterEscape   = 400       // bytes after the last one, on its line
	mostWindow    = 256 << 10 // bytes; longer parts are read in pieces
	windowOverlap = 16 << 10  // bytes by which pieces overlap: more than a private key takes
	mostBlank     = 200       // bytes between two strings that are joined
)

// joined is what escapeAt returns instead of a character where two strings are joined.
const joined rune = -1

// escaping is a way to write characters in another form. Each way is decoded by itself, because an
// escape of one way may be plain text in another.
type escaping byte

// The ways of escaping.
const (
	noEscape  escaping = iota
	inURL              // %41
	inProgram          // \x41, \u0041, and strings that are joined
	inHTML             // &#65;
	inMail             // lines that go on
	escapings          // how many there are
)

// escapeStarts has for each byte the escapes that begin with it.
var escapeStarts = [256]escaping{'%': inURL, '\\': inProgram, '"': inProgram, '\'': inProgram, '`': inProgram, '&': inHTML, '=': inMail}

// scanEscaped returns the hits in a text whose escapes are decoded: percent-encoding, the escapes
// of strings in programs, those of HTML, and strings and lines that are joined. It reads again
// only the text near a joint or near an escape of a printable ASCII character. Secrets consist of
// such characters, and nobody needs to escape them.
func (s *Scanner) scanEscaped(path, text string, depth int) []Hit {
	var hits []Hit
	var parts [escapings]window // for each escaping the part to read, which may still grow
	scan := func(e escaping) {
		part := parts[e]
		parts[e] = window{}
		for from := part.start; from < part.end; from += mostWindow - windowOverlap {
			to := min(part.end, from+mostWindow)
			d := unescape(text[from:to], e)
			for _, h := range s.find(path, d.text, depth+1) {
				if d.concerns(h) {
					h.Start, h.End, h.Encoded = from+d.place(h.Start, false), from+d.place(h.End, true), true
					hits = append(hits, h)
				}
			}
			if to == part.end {
				break
			}
		}
	}
	for i := 0; i < len(text); {
		e := escapeStarts[text[i]]
		if e == noEscape {
			i++
			continue
		}
		n, r := escapeAt(text, i)
		if printable := r > ' ' && r < 0x7f; n > 0 && (printable || r == joined) {
			part := &parts[e]
			if part.end > 0 && i > part.end+beforeEscape {
				scan(e)
			}
			if part.end == 0 {
				part.start = max(0, i-beforeEscape)
				part.start += strings.LastIndexByte(text[part.start:i], '\n') + 1
			}
			part.end = min(len(text), i+n+afterEscape)
			if lf := strings.IndexByte(text[i+n:part.end], '\n'); lf >= 0 {
				part.end = i + n + lf
			}
		}
		i += max(n, 1)
	}
	for e := range escapings {
		scan(e)
	}
	return hits
}

// escapeAt returns the length of the escape that begins at an offset and what it stands for; 0
// if there is none.
func escapeAt(text string, i int) (length int, char rune) {
	switch rest := text[i:]; rest[0] {
	case '%':
		return percentAt(rest)
	case '\\':
		return backslashAt(text, i)
	case '&':
		return entityAt(rest)
	case '=':
		return lineJoint(text, i, i+1)
	default:
		return stringJoint(text, i)
	}
}

// percentAt reads %41 and %u0041.
func percentAt(rest string) (int, rune) {
	if len(rest) >= 6 && (rest[1] == 'u' || rest[1] == 'U') {
		return hexEscape(rest, 2, 4)
	}
	n, r := hexEscape(rest, 1, 2)
	if r >= 0x80 {
		return 0, 0 // a byte of a character in UTF-8
	}
	return n, r
}

// hexEscape reads a number of so many hexadecimal digits, which begin at rest[from]. It returns
// the length of rest up to their end, and the character; 0 if there are no such digits or no such
// character.
func hexEscape(rest string, from, digits int) (int, rune) {
	if len(rest) < from+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(rest[from:from+digits], 16, 31)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return from + digits, rune(n)
}

// plainEscapes are the characters of secrets that stand for themselves after a backslash: in
// programs the slash, in Markdown and shells the others too.
const plainEscapes = "/_-.~+=:@#!*"

// backslashAt reads \x41, \u0041, \u{41}, \U00000041, \101, those of plainEscapes and a line that
// goes on, after one backslash or several.
func backslashAt(text string, i int) (int, rune) {
	slashes := 1
	for slashes < 8 && i+slashes < len(text) && text[i+slashes] == '\\' {
		slashes++
	}
	rest := text[i+slashes-1:]
	if len(rest) < 2 {
		return 0, 0
	}
	n, r := 0, rune(0)
	switch c := rest[1]; {
	case c == 'x':
		n, r = hexEscape(rest, 2, 2)
	case c == 'u' && len(rest) > 3 && rest[2] == '{':
		if end := strings.IndexByte(rest[:min(len(rest), 11)], '}'); end > 3 {
			if n, r = hexEscape(rest, 3, end-3); n > 0 {
				n++
			}
		}
	case c == 'u':
		n, r = hexEscape(rest, 2, 4)
	case c == 'U':
		n, r = hexEscape(rest, 2, 8)
	case strings.IndexByte(plainEscapes, c) >= 0:
		n, r = 2, rune(c)
	case '0' <= c && c <= '1' && len(rest) >= 4 && octal(rest[2]) && octal(rest[3]):
		n, r = 4, rune(c-'0')<<6|rune(rest[2]-'0')<<3|rune(rest[3]-'0')
	case c == '\n' || c == '\r':
		return lineJoint(text, i, i+slashes)
	}
	if n == 0 {
		return 0, 0
	}
	return slashes - 1 + n, r
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// entities are the names of HTML for characters of secrets that do not have to be escaped.
var entities = map[string]rune{
	"lowbar": '_', "UnderBar": '_', "hyphen": '-', "dash": '-', "period": '.', "plus": '+', "sol": '/', "equals": '=', "colon": ':', "commat": '@', "percnt": '%', "dollar": '$', "excl": '!', "num": '#', "ast": '*',
}

// entityAt reads &#65;, &#x41; and the names in entities.
func entityAt(rest string) (int, rune) {
	end := strings.IndexByte(rest[:min(len(rest), 10)], ';')
	if end < 3 {
		return 0, 0
	}
	name := rest[1:end]
	if name[0] != '#' {
		if r, ok := entities[name]; ok {
			return end + 1, r
		}
		return 0, 0
	}
	base, digits := 10, name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return end + 1, rune(n)
}

// lineJoint reads a line end that cuts a token in two, with the indentation after it. The escape
// begins at i, with the sign that the line goes on, such as a backslash; the line end is at from.
func lineJoint(text string, i, from int) (int, rune) {
	next := nextLine(text, from)
	if i == 0 || next == len(text) || !tokenByte(text[i-1]) || text[i-1] == '=' || !tokenByte(text[next]) {
		return 0, 0
	}
	return next - i, joined
}

// joining are the operators of programs that join strings.
var joining = [...]string{"++", "+", "..", ".", "&", "~", "||", "<>", "\\"}

// stringJoint reads the joint of two strings that a program joins, on one line or two: "a" + "b",
// 'a' . 'b', "a" "b". Both strings must have a byte of a token next to the joint.
func stringJoint(text string, i int) (int, rune) {
	if i == 0 || !tokenByte(text[i-1]) {
		return 0, 0
	}
	most := min(len(text), i+mostBlank)
	j := skipBlank(text, i+1, most)
	for _, operator := range joining {
		if strings.HasPrefix(text[j:], operator) {
			j += len(operator)
			break
		}
	}
	j = skipBlank(text, j, most)
	if j+1 >= len(text) || j >= most || text[j] != '"' && text[j] != '\'' && text[j] != '`' || !tokenByte(text[j+1]) {
		return 0, 0
	}
	return j + 1 - i, joined
}

func skipBlank(text string, i, most int) int {
	for i < most && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// tokenByte reports whether a byte may be part of a token, of a URL's user information, or of
// Base64.
func tokenByte(c byte) bool {
	return encodedByte(c) || c == '=' || c == '.' || c == ':' || c == '@' || c == '~' || c == '%'
}

// unescaped is a text whose escapes are decoded.
type unescaped struct {
	text  string
	marks []mark // where escapes were, in their order
}

// mark is where an escape was: text[at:at+size] of the decoded text stands for the bytes from
// start to end.
type mark struct{ at, size, start, end int }

// unescape decodes the escapes of one way in a text.
func unescape(text string, e escaping) unescaped {
	var d unescaped
	var out strings.Builder
	copied := 0
	for i := 0; i < len(text); {
		if escapeStarts[text[i]] != e {
			i++
			continue
		}
		n, r := escapeAt(text, i)
		if n == 0 {
			i++
			continue
		}
		out.WriteString(text[copied:i])
		m := mark{at: out.Len(), start: i, end: i + n}
		if r != joined {
			out.WriteRune(r)
		}
		m.size = out.Len() - m.at
		d.marks = append(d.marks, m)
		i += n
		copied = i
	}
	out.WriteString(text[copied:])
	d.text = out.String()
	return d
}

// place returns where an offset of the decoded text is in the original text. For the start of a
// hit, that is where the byte at the offset begins. For the end, it is where the byte before the
// offset ends.
func (d unescaped) place(offset int, isEnd bool) int {
	if isEnd {
		offset--
	}
	// i is the last mark at the offset or before it. A joint has no size, so its offset is also
	// that of the text after it.
	i := sort.Search(len(d.marks), func(i int) bool { return d.marks[i].at > offset }) - 1
	place := offset
	if i >= 0 {
		m := d.marks[i]
		if inside := offset < m.at+m.size; inside && isEnd {
			return m.end
		} else if inside {
			return m.start
		}
		place = m.end + offset - m.at - m.size
	}
	if isEnd {
		place++
	}
	return place
}

// concerns reports whether a hit in the decoded text depends on an escape: an escape is in the hit,
// or shortly before it, where the name may be that makes the hit a secret.
func (d unescaped) concerns(h Hit) bool {
	const reach = 120 // bytes
	i := sort.Search(len(d.marks), func(i int) bool { return d.marks[i].at+d.marks[i].size >= h.Start-reach })
	return i < len(d.marks) && d.marks[i].at < h.End
}
