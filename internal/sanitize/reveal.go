package sanitize

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Reveal writes each invisible character that the character rules remove as its number, such as
// <U+200B>, so that a reader of the message sees that a name contains it. It leaves out the other
// characters that they remove, such as C1 controls, and those that this package inserted to make
// something inert, also escaped ones; [Sanitizer.Plain] adds the latter again.
func Reveal(message string) string {
	message = withoutOwn(message)
	clean := characters(message, &noter{})
	if clean == message {
		return message
	}
	var b strings.Builder
	b.Grow(len(message) + len("<U+200B>"))
	// The clean text is what is left of the message, in order.
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRuneInString(message[i:])
		kept, keptSize := utf8.DecodeRuneInString(clean)
		class := runeClasses().classOf(r)
		switch {
		case keptSize > 0 && becomes(r, size, kept):
			b.WriteRune(kept)
			clean = clean[keptSize:]
		case class != classPlain && class != classC1:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += size
	}
	return b.String()
}

// becomes reports whether clean is the character that the character rules may leave of r: r itself,
// or a replacement. size is the number of bytes of r in the message.
func becomes(r rune, size int, clean rune) bool {
	switch {
	case r == utf8.RuneError && size == 1: // invalid UTF-8
		return false
	case r == '\r':
		return clean == '\n'
	case runeClasses().classOf(r) == classSeparator:
		return clean == ' '
	}
	return r == clean
}

// withoutOwn removes the zero-width spaces, also escaped ones, that stand where this package
// inserts them.
func withoutOwn(s string) string {
	var b strings.Builder
	copied := 0
	for i := 0; i < len(s); i++ {
		size := ownSize(s[i:])
		if size == 0 {
			continue
		}
		b.WriteString(s[copied:i])
		copied = i
		if isOwnPlace(b.String()) {
			copied = i + size
		}
		i += size - 1
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

// ownSize returns the length of the character at the start of s if this package makes things inert
// by it, in any of its forms, otherwise 0.
func ownSize(s string) int {
	switch s[0] {
	case string(zwsp)[0], '&', '\\':
		for _, form := range [...]string{string(zwsp), ourZWSP, `\u200b`} {
			if strings.HasPrefix(s, form) {
				return len(form)
			}
		}
	}
	return 0
}

// isOwnPlace reports whether this package may insert a character after a text: within a
// mention or a reference, or between a closing word and a reference.
func isOwnPlace(before string) bool {
	const far = 64
	if before = before[max(0, len(before)-far):]; before == "" {
		return false
	}
	switch last := before[len(before)-1]; last {
	case '@', '#':
		return true
	case '-':
		return len(before) > 2 && strings.EqualFold(before[len(before)-3:], "gh-")
	}
	before = strings.TrimRight(before, " :*_~[\n")
	word := before[len(strings.TrimRight(before, letters)):]
	return asClosingWord(word) != ""
}
