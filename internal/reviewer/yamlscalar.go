package reviewer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// yamlBreaks are the characters that end a line of YAML. "\r\n" ends one line.
const yamlBreaks = "\n\r\u0085\u2028\u2029"

var (
	yamlLineEnd = lazyregexp.New("\r\n|[" + yamlBreaks + "]")
	// scalarProperties matches the anchor and the tag before a scalar, and what is after them.
	scalarProperties = lazyregexp.New(`^(?:[&!]\S*[\s` + yamlBreaks + `]+(?:#[^` + yamlBreaks + `]*[\s` + yamlBreaks + `]+)*)*`)
)

// yamlText is the text of a YAML file. It finds where nodes begin.
type yamlText struct {
	text  string
	lines []int // how many characters are before each line, as the YAML library counts lines
	marks []int // where each markDistance-th character begins: a long line is not read for each node
}

const markDistance = 256

func newYAMLText(text string) *yamlText {
	y := &yamlText{text: text, lines: []int{0}}
	ends := yamlLineEnd.FindAllStringSubmatchIndex(text, -1)
	n := 0
	for i := range text + " " { // so that the end of the text counts
		if len(ends) > 0 && i == ends[0][1] {
			y.lines, ends = append(y.lines, n), ends[1:]
		}
		if n%markDistance == 0 {
			y.marks = append(y.marks, i)
		}
		n++
	}
	return y
}

// start returns the first byte of a node.
func (y *yamlText) start(n *yaml.Node) int {
	before := y.lines[n.Line-1] + n.Column - 1 // characters
	offset := y.marks[before/markDistance]
	for range before % markDistance {
		_, size := utf8.DecodeRuneInString(y.text[offset:])
		offset += size
	}
	return offset
}

// reader returns a reader at the beginning of a scalar's value.
func (y *yamlText) reader(scalar *yaml.Node) *scalarReader {
	r := &scalarReader{text: y.text, next: y.start(scalar), style: scalar.Style, value: scalar.Value}
	r.next += len(scalarProperties.FindString(r.text[r.next:]))
	switch {
	case r.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0: // it begins on the line after its | or >
		if end := yamlLineEnd.FindStringIndex(r.text[r.next:]); end != nil {
			r.next += end[1]
		}
	case r.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		r.next++
	}
	return r
}

// scalarReader finds where the parts of a scalar's value are written. In each style, the value and
// the file have the same characters in the same order, apart from white space and escape sequences.
type scalarReader struct {
	text  string // the file
	next  int    // its first byte that was not read
	style yaml.Style
	value string
	read  int // how many bytes of the value were read
}

// place returns from where to where in the file the value from one byte to another is written,
// without white space at its ends. The next call has to be about a later part of the value.
func (r *scalarReader) place(from, to int) (start, end int32) {
	r.readTo(from)
	r.skipSpace()
	start = int32(r.next)
	r.readTo(to)
	return start, int32(r.next)
}

// readTo reads the value up to an offset.
func (r *scalarReader) readTo(offset int) {
	for _, c := range r.value[r.read:offset] {
		if !unicode.IsSpace(c) {
			r.skipSpace()
			_, size := r.character()
			r.next += size
		}
	}
	r.read = offset
}

// skipSpace skips white space, which may be longer in the file than in the value.
func (r *scalarReader) skipSpace() {
	for r.next < len(r.text) {
		c, size := r.character()
		if !unicode.IsSpace(c) {
			return
		}
		r.next += size
	}
}

// character returns the next character of the value, and the number of bytes with which the file
// writes it.
func (r *scalarReader) character() (c rune, size int) {
	rest := r.text[r.next:]
	switch {
	case r.style&yaml.SingleQuotedStyle != 0 && strings.HasPrefix(rest, "''"):
		return '\'', len("''")
	case r.style&yaml.DoubleQuotedStyle != 0 && strings.HasPrefix(rest, `\`):
		return escapeSequence(rest)
	}
	return utf8.DecodeRuneInString(rest)
}

// escapeSequence returns the character that the escape sequence at the beginning of a text means,
// and the sequence's size in bytes. It returns a space for any white space, and for the end of a
// line, which is not part of the value.
func escapeSequence(text string) (c rune, size int) {
	c, size = utf8.DecodeRuneInString(text[1:])
	size++
	switch c {
	case 'x', 'u', 'U':
		digits := text[size:min(len(text), size+map[rune]int{'x': 2, 'u': 4, 'U': 8}[c])]
		code, _ := strconv.ParseUint(digits, 16, 31) // the library has read it already
		return rune(code), size + len(digits)
	case 'n', 'r', 't', 'v', 'f', 'N', '_', 'L', 'P':
		return ' ', size
	}
	return c, size
}
