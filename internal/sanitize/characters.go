package sanitize

import (
	"strings"
	"unicode/utf8"
)

// characters applies the character rules: invalid UTF-8, control characters,
// whole ANSI sequences, bidirectional controls and invisible characters are
// removed, line endings become LF. Joiners, variation selectors and tag
// characters stay where a script or an emoji needs them. A text that needs
// nothing is returned as it is, without allocation.
func characters(s string, n *noter) string {
	i, context := firstDirty(s)
	if i < 0 {
		return s
	}
	if !context || hasUnconditional(s, i) {
		s = stripUnconditional(s, i, n)
		if i, _ = firstDirty(s); i < 0 {
			return s
		}
	}
	return stripContextual(s, i, n)
}

// firstDirty returns the offset of the first character that the rules may
// have to remove, or -1; context tells that it may be right where it is.
func firstDirty(s string) (at int, context bool) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				return i, false
			}
			i++
			continue
		}
		if quickRune(c) {
			if n := quickLen(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i, false
		}
		switch class := classOf(r); class {
		case classPlain:
		case classContext:
			return i, true
		default:
			return i, false
		}
		i += size
	}
	return -1, false
}

// quickRune tells that a first byte begins a block without any invisible
// character (Latin, Greek, Cyrillic, Hebrew, most of Arabic, CJK ideographs, Hangul): for those only
// the encoding is checked.
func quickRune(c byte) bool {
	return c >= 0xc3 && c <= 0xdf && c != 0xcd && c != 0xd8 || c >= 0xe4 && c <= 0xec
}

func quickLen(s string) int {
	want := 2
	if s[0] >= 0xe0 {
		want = 3
	}
	if len(s) < want {
		return 0
	}
	for k := 1; k < want; k++ {
		if s[k]&0xc0 != 0x80 {
			return 0
		}
	}
	return want
}

func hasUnconditional(s string, from int) bool {
	for i := from; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				return true
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || classOf(r) > classContext {
			return true
		}
		i += size
	}
	return false
}

// stripUnconditional removes what is never right, whatever stands beside it.
func stripUnconditional(s string, from int, n *noter) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:from])
	esc := escapeScanner{text: s}
	for i := from; i < len(s); {
		c := s[i]
		switch {
		case c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f:
			start := i
			for i < len(s) && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t') {
				i++
			}
			b.WriteString(s[start:i])
			continue
		case c == '\r':
			b.WriteByte('\n')
			i++
			if i < len(s) && s[i] == '\n' {
				i++
			}
			continue
		case c == 0x1b:
			n.add(RuleCharacters, "escape-sequence")
			i = esc.end(i, i+1)
			continue
		case c < utf8.RuneSelf:
			n.add(RuleCharacters, "control")
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			n.add(RuleCharacters, "invalid-utf8")
			i++
			continue
		}
		switch class := classOf(r); class {
		case classPlain, classContext:
			b.WriteString(s[i : i+size])
		case classC1:
			if kind, ok := c1Introducer(r); ok {
				n.add(RuleCharacters, "escape-sequence")
				i = esc.body(kind, i+size)
				continue
			}
			n.add(RuleCharacters, "control")
		default:
			n.add(RuleCharacters, class.detail())
		}
		i += size
	}
	return b.String()
}

// stripContextual removes joiners, variation selectors, tag characters and
// the like where neither a script nor an emoji needs them. A decision looks
// at the character kept before and at the next one, which must be an ordinary
// one; so a second pass decides the same.
func stripContextual(s string, from int, n *noter) string {
	var b strings.Builder
	copied := 0 // s[:copied] is in b, once something was removed
	prev, prev2 := rune(-1), rune(-1)
	if from > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		prev = r
		if from > size {
			prev2, _ = utf8.DecodeLastRuneInString(s[:from-size])
		}
	}
	for i := from; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if classOf(r) == classContext {
			next, _ := utf8.DecodeRuneInString(s[i+size:])
			if i+size == len(s) {
				next = -1
			}
			keep := 0
			if isTag(r) {
				if prev == blackFlag {
					keep = flagTags(s[i:])
				}
			} else if keepContextual(prev2, prev, r, next) {
				keep = size
			}
			if keep == 0 {
				if copied == 0 {
					b.Grow(len(s))
				}
				b.WriteString(s[copied:i])
				i += size
				copied = i
				n.add(RuleCharacters, contextDetail(r))
				continue
			}
			i += keep
			prev2, prev = prev, r
			if isTag(r) {
				prev = tagEnd
			}
			continue
		}
		prev2, prev = prev, r
		i += size
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}
