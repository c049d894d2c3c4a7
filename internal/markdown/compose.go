package markdown

import (
	"html"
	"strings"
)

// EscapeText turns untrusted plain text into Markdown that renders as exactly
// that text, on one line: line breaks and tabs become spaces, outer space is
// dropped, and what Markdown would read as structure is escaped, both at the
// start of a line and inside it. Web addresses do not link.
//
// E-mail addresses, mentions and references (#12) still do: they are linked after
// parsing, so no escape helps. Package sanitize makes them inert.
func EscapeText(s string) string {
	s = joinLines(s)
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	start := lineStartEscape(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '&':
			b.WriteString("&amp;")
			continue
		case c == 0:
			b.WriteString("\uFFFD")
			continue
		case i == start, needsEscape(s, i):
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// EscapeHTML turns untrusted plain text into one line of HTML that shows it, for an element in a
// block of HTML, such as a <summary>: Markdown does not read the backslashes of [EscapeText] there.
func EscapeHTML(s string) string { return html.EscapeString(joinLines(s)) }

// lineStartEscape returns the offset of the character whose escaping keeps s
// from opening a block, or -1.
func lineStartEscape(s string) int {
	if s == "" {
		return -1
	}
	switch s[0] {
	case '#', '+', '-', '=', ':':
		return 0
	}
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i > 0 && i < len(s) && (s[i] == '.' || s[i] == ')') { // a list item
		return i
	}
	return -1
}

// needsEscape reports whether s[i] could take part in inline structure.
func needsEscape(s string, i int) bool {
	switch s[i] {
	case '\\', '`', '*', '[', ']', '<', '>', '|', '~':
		return true
	case '_':
		return i == 0 || i == len(s)-1 || !isAlnum(s[i-1]) || !isAlnum(s[i+1])
	case ':':
		return strings.HasPrefix(s[i:], "://")
	case '.':
		return i >= 3 && s[i-3:i] == "www"
	}
	return false
}

// CodeSpan writes s as a code span. The delimiter is longer than any run of
// backticks in s, so that every reader agrees on where the span ends. Line
// breaks become spaces, which is how a code span shows them. There is no empty
// code span: for the empty string the result is empty.
func CodeSpan(s string) string {
	if s == "" {
		return ""
	}
	s = lineBreaksToSpaces(s)
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	pad := ""
	onlySpaces := strings.Trim(s, " ") == ""
	if s[0] == '`' || s[len(s)-1] == '`' || !onlySpaces && s[0] == ' ' && s[len(s)-1] == ' ' {
		pad = " "
	}
	return ticks + pad + s + pad + ticks
}

// Fence writes body as a fenced code block with the info string info, from which
// backticks, line breaks and NUL are dropped. The fence is longer than any run of
// backticks in body. The result has no final line break. It is a block: write it
// at the start of a line, with a line break after it.
func Fence(info, body string) string {
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	info = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '`', '\n', '\r', 0:
			return -1
		}
		return r
	}, info))
	end := "\n"
	if body == "" || strings.HasSuffix(body, "\n") {
		end = ""
	}
	return fence + info + "\n" + body + end + fence
}

// Table writes a table, one line per row, with a final line break. Cells are
// Markdown (see [EscapeText] and [CodeSpan] for plain text): a pipe in a cell is
// escaped for the table, so that the cell contains exactly the given Markdown,
// and a line break becomes <br>. Rows shorter than the header are filled up;
// longer ones widen the table, so that nothing is hidden.
func Table(header []string, rows [][]string) string {
	columns := len(header)
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return ""
	}
	var b strings.Builder
	writeRow(&b, header, columns)
	for range columns {
		b.WriteString("| --- ")
	}
	b.WriteString("|\n")
	for _, row := range rows {
		writeRow(&b, row, columns)
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells []string, columns int) {
	for i := range columns {
		b.WriteString("| ")
		if i < len(cells) {
			b.WriteString(cellEscaper.Replace(strings.Trim(cells[i], " \t\r\n")))
		}
		b.WriteByte(' ')
	}
	b.WriteString("|\n")
}

// cellEscaper writes a pipe with a backslash, and a line break as <br>. GitHub takes
// a pipe after any number of backslashes as part of the cell, and removes exactly
// one of these backslashes.
var cellEscaper = strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\r", "<br>", "\n", "<br>")

// joinLines replaces every run of line breaks and tabs by one space and drops
// outer space. Unlike text.OneLine it keeps every other character.
func joinLines(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\t\r\n\v\f\u0085\u2028\u2029", r) })
	return strings.Trim(strings.Join(lines, " "), " ")
}

var breaksToSpaces = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ")

func lineBreaksToSpaces(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return breaksToSpaces.Replace(s)
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
