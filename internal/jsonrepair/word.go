package jsonrepair

// number reads a number. One that the end of the input touches may lack digits.
func (f *fixer) number() error {
	end := f.pos
	for end < len(f.in) && (isWord(f.in[end]) || f.in[end] == '+') {
		end++
	}
	switch {
	case !isNumber(f.in[f.pos:end]):
		return badNumber(f.pos, f.in[f.pos:end])
	case end == len(f.in):
		return cutOff(f.pos, "this number may go on")
	}
	f.pos = end
	return nil
}

// isNumber follows RFC 8259's grammar of numbers.
func isNumber(s []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// literal reads true, false, null and Python's names for them.
func (f *fixer) literal() error {
	end := f.word(f.pos)
	word := f.in[f.pos:end]
	switch json, known := literalOf(word); {
	case len(word) == 0:
		return unexpected(f.pos, f.in, "a value")
	case !known:
		return bareValue(f.pos, word)
	case json != string(word):
		f.note(PythonLiteral, f.pos)
		f.replace(f.pos, end, json)
	}
	f.pos = end
	return nil
}

func literalOf(word []byte) (json string, known bool) {
	switch string(word) {
	case "true", "True":
		return "true", true
	case "false", "False":
		return "false", true
	case "null", "None":
		return "null", true
	}
	return "", false
}

// word returns the end of the bare word at p.
func (f *fixer) word(p int) int {
	for p < len(f.in) && isWord(f.in[p]) {
		p++
	}
	return p
}

func isWord(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '$' || c == '.'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
