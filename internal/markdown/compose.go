package markdown

import "strings"

// EscapeText turns untrusted plain text into Markdown that renders as exactly
// that text, on one line: line breaks and tabs become spaces, outer space is
// dropped, and whatever Markdown would read as structure is escaped, at the
// start of a line as well as inside it. Web addresses are kept from linking.
//
// Three things are outside Markdown and stay: e-mail addresses, mentions and
// references (#12) are linked after parsing, whatever is escaped. Making those
// inert is package sanitize's work.
func EscapeText(s string) string {
	s = oneLine(s)
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
	if i > 0 && i < len(s) && (s[i] == '.' || s[i] == ')') {
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
// breaks become spaces, which is what a code span shows for them. There is no
// empty code span: for the empty string the result is empty.
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

// Fence writes body as a fenced code block with the info string info, without
// a final line break. The fence is longer than any run of backticks in body.
// info keeps what an info string can hold on one line: backticks and line
// breaks are dropped. The result is a block: put it at the start of a line, and
// a line break after it.
func Fence(info, body string) string {
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	info = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '`', '\n', '\r', 0:
			return -1
		}
		return r
	}, info))
	var b strings.Builder
	b.Grow(len(info) + len(body) + 2*len(fence) + 3)
	b.WriteString(fence)
	b.WriteString(info)
	b.WriteByte('\n')
	b.WriteString(body)
	if body != "" && !strings.HasSuffix(body, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(fence)
	return b.String()
}

// Table writes a table, one line a row, with a final line break. Cells are
// Markdown (see [EscapeText] and [CodeSpan] for plain text): a pipe in a cell is
// escaped for the table, so that the cell holds exactly the Markdown given, and
// a line break becomes <br>. Rows shorter than the header are filled up; longer
// ones widen the table, so that nothing is hidden.
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
			writeCell(b, strings.Trim(cells[i], " \t\r\n"))
		}
		b.WriteByte(' ')
	}
	b.WriteString("|\n")
}

func writeCell(b *strings.Builder, cell string) {
	for i := 0; i < len(cell); i++ {
		switch cell[i] {
		case '|':
			// A pipe after any backslash belongs to the cell, and exactly one
			// backslash is taken away again.
			b.WriteString(`\|`)
		case '\r':
			if i+1 < len(cell) && cell[i+1] == '\n' {
				continue
			}
			b.WriteString("<br>")
		case '\n':
			b.WriteString("<br>")
		default:
			b.WriteByte(cell[i])
		}
	}
}

// oneLine replaces every run of line breaks and tabs by one space and drops
// outer space.
func oneLine(s string) string {
	s = strings.Trim(s, " \t\r\n\v\f")
	if !strings.ContainsAny(s, "\t\r\n\v\f\u0085\u2028\u2029") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch r {
		case '\t', '\r', '\n', '\v', '\f', '\u0085', '\u2028', '\u2029':
			gap = true
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

func lineBreaksToSpaces(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", " ")
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
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
