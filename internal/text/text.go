// Package text writes numbers and foreign text as people read them: counts, sizes, and
// texts that fit into one line of a message.
package text

import (
	"strconv"
	"strings"
	"unicode"
)

// OneLine returns s as one line that is safe to show: every run of white space, line
// breaks and control characters becomes one space, spaces at both ends are removed, and
// so are bidirectional controls and invalid UTF-8, so that nothing of it acts on a
// terminal or a log. The characters that join emoji and scripts stay.
func OneLine(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	pendingSpace := false
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
		case unicode.IsSpace(r), unicode.IsControl(r), r == '\u2028', r == '\u2029':
			pendingSpace = b.Len() > 0
		default:
			if pendingSpace {
				b.WriteByte(' ')
				pendingSpace = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Truncate returns s if it has at most n characters (Unicode code points), otherwise its
// first n followed by "…". It looks at no more of s than it returns.
func Truncate(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// IsBlank reports whether s is empty or nothing but white space.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Bytes returns a number of bytes with the largest unit of which there is one at least,
// such as "64 MiB", "1.5 KiB" or "12 bytes". It is rounded up to a tenth, so that what
// is over a limit never reads as the limit itself.
func Bytes[T int | int64](n T) string {
	unit, name := int64(1), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if int64(n)/unit < 1<<10 {
			break
		}
		unit, name = unit<<10, next
	}
	switch {
	case n == 1:
		return "1 byte"
	case name == "":
		return strconv.FormatInt(int64(n), 10) + " bytes"
	}
	whole, rest := int64(n)/unit, int64(n)%unit
	tenths := whole*10 + (rest*10+unit-1)/unit
	text := strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)
	return strings.TrimSuffix(text, ".0") + " " + name
}

// Count returns a number of things, such as "1 item" or "2 items". The plural of thing
// has an s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
