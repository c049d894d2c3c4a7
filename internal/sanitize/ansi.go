package sanitize

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
