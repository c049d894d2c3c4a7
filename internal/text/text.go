// Package text writes numbers and foreign text as people read them: counts, sizes, and
// texts that fit into one line of a message.
package text

import (
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis marks where a text was cut.
const ellipsis = "…"

// OneLine returns s as one line that is safe to show. Every run of white space, line breaks and
// control characters becomes one space. Spaces at both ends, bidirectional controls and invalid
// UTF-8 are removed. Then nothing in it acts on a terminal or a log. The characters that join emoji
// and scripts stay.
func OneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	pendingSpace := false
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case isSpace(r):
			pendingSpace = b.Len() > 0
		case isBidiControl(r):
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

// SafeLines returns s with every line that contains an unprintable character, other than a tab, or
// bytes that are not UTF-8, as OneLine returns it. Line breaks stay, and so do the other lines.
func SafeLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimRight(line, "\r\n")
		ending := line[len(body):]
		if !utf8.ValidString(body) || strings.ContainsFunc(body, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
			body = OneLine(body)
		}
		b.WriteString(body + ending)
	}
	return b.String()
}

// minWrapped is the least width of a terminal for which Wrap breaks a paragraph, in columns.
const minWrapped = 40

// Wrap breaks a paragraph into lines that are narrower than width, unless a single word is wider.
// Lines after the first begin with prefix, and the first leaves room for a label of the same
// length. If width is less than minWrapped, s stays as it is.
func Wrap(s, prefix string, width int) string {
	if width < minWrapped {
		return s
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width-1 {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n"+prefix)
}

// isOneLine reports whether OneLine has nothing to change, so that most texts need no
// copy.
func isOneLine(s string) bool {
	afterSpace := true // a space may stand neither at the start nor after another
	for _, r := range s {
		switch space := isSpace(r); {
		case space && (afterSpace || r != ' '), isBidiControl(r), r == utf8.RuneError:
			return false
		default:
			afterSpace = space
		}
	}
	return s == "" || !afterSpace
}

// isSpace reports whether r is white space, a line break or a control character.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}

func isBidiControl(r rune) bool {
	return r >= utf8.RuneSelf && unicode.Is(unicode.Bidi_Control, r)
}

// Truncate returns s if it has at most n characters (Unicode code points), otherwise its
// first n followed by "…". It looks at no more of s than it returns.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n <= 0 {
			return s[:i] + ellipsis
		}
		n--
	}
	return s
}

// TruncateBytes returns s if it has at most n bytes, otherwise as many of its first
// characters as fit into n bytes together with the "…" that follows them; "" if not even
// that fits.
func TruncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n - len(ellipsis)
	if end < 0 {
		return ""
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}

// IsBlank reports whether s is empty or nothing but white space.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// Bytes returns a number of bytes in the largest unit that gives at least one, such as "64 MiB",
// "1.5 KiB" or "12 bytes". It is rounded up to a tenth, so that what is over a limit never reads
// as the limit itself.
func Bytes[T int | int64](n T) string {
	unit, name := int64(1), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if int64(n)/unit < 1<<10 {
			break
		}
		unit, name = unit<<10, next
	}
	if name == "" {
		return Count(int(n), "byte")
	}
	units, rest := int64(n)/unit, int64(n)%unit
	tenths := units*10 + (rest*10+unit-1)/unit
	amount := strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)
	return strings.TrimSuffix(amount, ".0") + " " + name
}

// Count returns a number of things, such as "1 item" or "2 items". The plural of thing
// is formed with an s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// ThereAre returns a sentence about how many things there are, such as "there is 1 more violation" or
// "there are 2 more violations".
func ThereAre(n int, thing string) string {
	if n == 1 {
		return "there is 1 " + thing
	}
	return "there are " + Count(n, thing)
}

// QuoteList returns a list as a message writes it, such as `"a", "b"`: each element
// quoted, so that no character of it acts on a terminal or a log. Of more than ten, it
// gives the first ten and how many more there are.
func QuoteList(list []string) string {
	const most = 10
	quoted := make([]string, min(len(list), most))
	for i := range quoted {
		quoted[i] = strconv.Quote(list[i])
	}
	text := strings.Join(quoted, ", ")
	if more := len(list) - most; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// FileKind names, for people, the kind of a file that is not a regular one: "directory",
// "symbolic link", "FIFO", "socket" or "device".
func FileKind(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "FIFO"
	case fs.ModeSocket:
		return "socket"
	default:
		return "device"
	}
}

// FoldCase returns a name in lower case, for comparing names without regard to case, as
// GitHub compares those of labels. Letters that only look like others keep their own
// form: the Kelvin sign does not become a k, nor the long s an s.
func FoldCase(name string) string {
	i := 0
	for i < len(name) && name[i] < utf8.RuneSelf && (name[i] < 'A' || name[i] > 'Z') {
		i++
	}
	if i == len(name) { // as most names
		return name
	}
	return strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); unicode.ToUpper(lower) == r {
			return lower
		}
		return r
	}, name)
}

// WordSet returns the set of the words in a text.
func WordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
