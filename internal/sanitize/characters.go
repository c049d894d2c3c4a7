package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Characters applies the character rules alone, for text that is shown as it is and
// in which nothing acts, such as that of SARIF logs.
func (s *Sanitizer) Characters(text string) (string, []Note) {
	var n noter
	out := characters(text, &n)
	return out, n.list()
}

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
	if context {
		if out, ok := stripContextual(s, i, n); ok {
			return out
		}
	}
	s = stripUnconditional(s, i, n)
	if i, _ = firstDirty(s); i < 0 {
		return s
	}
	s, _ = stripContextual(s, i, n)
	return s
}

// firstDirty returns the offset of the first character that the rules may
// have to remove, or -1; context tells that it may be right where it is.
func firstDirty(s string) (at int, context bool) {
	table := runeClasses()
	for i := 0; i < len(s); {
		switch table.lead[s[i]] {
		case leadPlain:
			i++
			continue
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
		if class := table.classOf(r); class != classPlain {
			return i, class == classContext
		}
		i += size
	}
	return -1, false
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
// at the characters kept before and at the next one, which must be an ordinary
// one; so a second pass decides the same. At a character that is never right it
// gives up: ok is false.
func stripContextual(s string, from int, n *noter) (out string, ok bool) {
	var b []byte
	copied := 0 // s[:copied] is in b, as far as it was kept
	tags, others := 0, 0
	for i := from; ; {
		r, size := utf8.DecodeRuneInString(s[i:])
		keep := 0
		prev, prev2 := lastTwo(b, s[copied:i])
		if isTag(r) {
			if prev == blackFlag {
				keep = flagTags(s[i:])
			}
		} else {
			next := rune(-1)
			if i+size < len(s) {
				next, _ = utf8.DecodeRuneInString(s[i+size:])
			}
			if keepContextual(prev2, prev, r, next) {
				keep = size
			}
		}
		if keep == 0 {
			if b == nil {
				b = make([]byte, 0, len(s))
			}
			b = append(b, s[copied:i]...)
			copied = i + size
			keep = size
			if isTag(r) {
				tags++
			} else {
				others++
			}
		}
		i += keep
		k, context := firstDirty(s[i:])
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
	if b == nil {
		return s, true
	}
	return string(append(b, s[copied:]...)), true
}

// lastTwo returns the last character of what was kept and the one before it:
// kept lies in b, then in tail. -1 stands for none.
func lastTwo(b []byte, tail string) (last, before rune) {
	take := func() rune {
		if tail != "" {
			r, size := utf8.DecodeLastRuneInString(tail)
			tail = tail[:len(tail)-size]
			return r
		}
		if len(b) > 0 {
			r, size := utf8.DecodeLastRune(b)
			b = b[:len(b)-size]
			return r
		}
		return -1
	}
	last = take()
	before = take()
	return last, before
}

// escapeScanner finds the ends of terminal escape sequences (ECMA-48) in one
// text. It remembers where no terminator follows, so that a text full of
// openers takes linear time.
type escapeScanner struct {
	text string
	none int // no string terminator stands in text[x:none] for the x last asked
}

// end returns the end of the sequence whose ESC stands at esc, the rest
// beginning at i.
func (e *escapeScanner) end(esc, i int) int {
	if i >= len(e.text) {
		return i
	}
	switch c := e.text[i]; {
	case c == '[', c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return e.body(c, i+1)
	case c >= 0x20 && c <= 0x2f: // intermediate bytes, then a final one
		j := i
		for j < len(e.text) && e.text[j] >= 0x20 && e.text[j] <= 0x2f && j-i < 4 {
			j++
		}
		if j < len(e.text) && e.text[j] >= 0x30 && e.text[j] <= 0x7e {
			return j + 1
		}
		return i // a lone ESC before ordinary text
	case c >= 0x30 && c <= 0x3f, c >= '`' && c <= '~', c == '\\', c == '=', c == '>',
		c == 'D', c == 'E', c == 'H', c == 'M', c == 'N', c == 'O', c == 'Z':
		return i + 1
	}
	return esc + 1
}

// body returns the end of a sequence of the given kind ('[' a control
// sequence, others a control string) whose introducer ended before i.
func (e *escapeScanner) body(kind byte, i int) int {
	if kind == '[' {
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
	// A control string ends with BEL or ST on the same line, or is none.
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

// c1Introducer maps the one-character forms of the introducers to the
// two-character ones.
func c1Introducer(r rune) (kind byte, ok bool) {
	switch r {
	case 0x9b:
		return '[', true
	case 0x9d:
		return ']', true
	case 0x90:
		return 'P', true
	case 0x98:
		return 'X', true
	case 0x9e:
		return '^', true
	case 0x9f:
		return '_', true
	}
	return 0, false
}
