package sanitize

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Characters applies only the character rules, for text that is shown as it is and
// in which nothing acts.
func (s *Sanitizer) Characters(text string) (string, []Note) {
	var n noter
	out := characters(text, &n)
	return out, n.list()
}

// characters applies the character rules: invalid UTF-8, control characters,
// entire ANSI sequences, bidirectional controls and invisible characters are
// removed, line endings become LF and line separators spaces. Joiners, variation
// selectors, tag characters and marks of a direction stay where a script or an emoji
// needs them. A text that needs no change is returned as it is, without allocation unless it
// contains isolates.
func characters(s string, n *noter) string {
	t := runeClasses()
	i, context := t.firstDirty(s)
	if i < 0 {
		return s
	}
	if context {
		if out, ok := t.stripContextual(s, i, n); ok {
			return out
		}
	}
	s = t.stripUnconditional(s, i, n)
	if i, _ = t.firstDirty(s); i >= 0 {
		s, _ = t.stripContextual(s, i, n)
	}
	return s
}

// firstDirty returns the offset of the first character that the rules may have to remove or
// replace, or -1. context means that what surrounds it decides.
func (t *runeTable) firstDirty(s string) (at int, context bool) {
	for i := 0; i < len(s); {
		for i+8 <= len(s) {
			n := printable(s[i : i+8])
			if i += n; n < 8 {
				break
			}
		}
		if i == len(s) {
			break
		}
		lead := t.lead[s[i]]
		if lead == leadPlain {
			i++
			continue
		}
		switch lead {
		case leadControl:
			return i, false
		case leadTwo:
			if i+1 < len(s) && s[i+1]&0xc0 == 0x80 {
				i += 2
				continue
			}
		case leadThree:
			if i+2 < len(s) && s[i+1]&0xc0 == 0x80 && s[i+2]&0xc0 == 0x80 {
				i += 3
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i, false
		}
		if class := t.classOf(r); class != classPlain {
			return i, class.depends()
		}
		i += size
	}
	return -1, false
}

// printable returns how many of the eight bytes of s, from the first one on, are printable
// ASCII. It looks at all of them together.
func printable(s string) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	// The high bit of a byte from 0x80 on is set. Adding 1 sets it from 0x7f on, and subtracting
	// 0x20 sets it up to 0x1f. Only a byte that is not printable carries to the next one or borrows
	// from it.
	return bits.TrailingZeros64((word|(word+each)|(word-0x20*each))&high) / 8
}

// stripUnconditional removes what is wrong everywhere.
func (t *runeTable) stripUnconditional(s string, from int, n *noter) string {
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
			i = esc.end(i + 1)
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
		switch class := t.classOf(r); class {
		case classPlain, classContext, classBidiMark, classIsolate:
			b.WriteString(s[i : i+size])
		case classC1:
			// A C1 control is short for ESC and the byte 0x40 below it.
			if introducer := byte(r - 0x40); startsBody(introducer) {
				n.add(RuleCharacters, "escape-sequence")
				i = esc.body(introducer, i+size)
				continue
			}
			n.add(RuleCharacters, "control")
		case classSeparator:
			n.add(RuleCharacters, class.detail())
			b.WriteByte(' ')
		default:
			n.add(RuleCharacters, class.detail())
		}
		i += size
	}
	return b.String()
}

// Variation selectors can carry data: a text may have a few, and more the longer
// it is.
const (
	freeVariants    = 4
	bytesPerVariant = 48 // some 16 ideographs
)

// stripContextual removes joiners, variation selectors, tag characters, marks of a
// direction and the like where neither a script nor an emoji needs them. A decision depends on the
// characters that were kept before and on the next one, which must be plain; so a
// second pass decides the same. At a character that is wrong everywhere it gives
// up: ok is false.
func (t *runeTable) stripContextual(s string, from int, n *noter) (out string, ok bool) {
	var b []byte
	copied := 0 // s[:copied] is in b, as far as it was kept
	tags, others, variants, bidi := 0, 0, 0, false
	for i := from; ; {
		r, size := utf8.DecodeRuneInString(s[i:])
		keep := 0 // bytes from i on; 0 removes r
		prev, prev2 := lastTwo(b, s[copied:i])
		switch {
		case t.classOf(r) != classContext: // stripBidi judges it
			keep, bidi = size, true
		case isTag(r):
			if prev == blackFlag {
				keep = flagTags(s[i:])
			}
		case isVariant(r) && variants >= freeVariants+(len(b)+i-copied)/bytesPerVariant: // too many
		default:
			next := rune(-1)
			if i+size < len(s) {
				next, _ = utf8.DecodeRuneInString(s[i+size:])
			}
			if t.keepContextual(prev2, prev, r, next) {
				keep = size
			}
		}
		if isVariant(r) && keep > 0 {
			variants++
		}
		if keep == 0 {
			if b == nil {
				b = make([]byte, 0, len(s))
			}
			b = append(b, s[copied:i]...)
			copied = i + size
			if isTag(r) {
				tags++
			} else {
				others++
			}
		}
		i += max(keep, size)
		k, context := t.firstDirty(s[i:])
		if k < 0 {
			break
		}
		if !context {
			return "", false
		}
		i += k
	}
	n.addN(RuleCharacters, "tag", tags)
	n.addN(RuleCharacters, "invisible", others)
	if b != nil {
		s = string(append(b, s[copied:]...))
	}
	if bidi {
		s = t.stripBidi(s, n)
	}
	return s, true
}

// lastTwo returns the last character of b and tail together and the one before
// it; -1 stands for no character.
func lastTwo(b []byte, tail string) (last, before rune) {
	removeLast := func() rune {
		r, size := rune(-1), 0
		if tail != "" {
			r, size = utf8.DecodeLastRuneInString(tail)
			tail = tail[:len(tail)-size]
		} else if len(b) > 0 {
			r, size = utf8.DecodeLastRune(b)
			b = b[:len(b)-size]
		}
		return r
	}
	last = removeLast()
	return last, removeLast()
}

// escapeScanner finds the ends of terminal escape sequences (ECMA-48) in one
// text. It remembers where no terminator follows, so that a text full of
// introducers takes linear time.
type escapeScanner struct {
	text string
	none int // there is no string terminator before this offset
}

// end returns the end of the sequence whose ESC is before i; that is i for a lone ESC.
func (e *escapeScanner) end(i int) int {
	if i >= len(e.text) {
		return i
	}
	switch c := e.text[i]; {
	case startsBody(c):
		return e.body(c, i+1)
	case c >= 0x20 && c <= 0x2f: // intermediate bytes, then a final one
		j := i
		for j < len(e.text) && e.text[j] >= 0x20 && e.text[j] <= 0x2f && j-i < 4 {
			j++
		}
		if j < len(e.text) && e.text[j] >= 0x30 && e.text[j] <= 0x7e {
			return j + 1
		}
	case c >= 0x30 && c <= 0x3f, c >= '`' && c <= '~', strings.IndexByte(`\DEHMNOZ`, c) >= 0:
		return i + 1
	}
	return i
}

// startsBody reports whether c after an ESC introduces a control sequence or a
// control string.
func startsBody(c byte) bool { return strings.IndexByte("[]PX^_", c) >= 0 }

// body returns the end of a sequence whose introducer ([ for a control sequence,
// others for a control string) ended before i.
func (e *escapeScanner) body(introducer byte, i int) int {
	if introducer == '[' {
		j := i
		for j < len(e.text) && e.text[j] >= 0x20 && e.text[j] <= 0x3f {
			j++
		}
		if j < len(e.text) && e.text[j] >= 0x40 && e.text[j] <= 0x7e {
			return j + 1
		}
		return i
	}
	if i < e.none {
		return i
	}
	// A control string ends with BEL or ST on the same line. Otherwise it is text.
	for j := i; j < len(e.text); j++ {
		switch c := e.text[j]; {
		case c == 0x07:
			return j + 1
		case c == 0x1b && j+1 < len(e.text) && e.text[j+1] == '\\':
			return j + 2
		case c == 0xc2 && j+1 < len(e.text) && e.text[j+1] == 0x9c:
			return j + 2
		case c == '\n' || c == '\r':
			e.none = j
			return i
		}
	}
	e.none = len(e.text)
	return i
}
