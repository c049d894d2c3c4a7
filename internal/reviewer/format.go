package reviewer

import "strings"

// formatCall returns the value of a call whose arguments, which end at index end, are a
// format and what fills it: fmt.Sprintf("a %s", b). A writer or a locale may stand first.
func (e *evaluator) formatCall(list []argument, end, depth int) value {
	format := 0
	if first := e.evaluate(list[0].extent, depth+1); !first.literal && len(list) > 1 {
		format = 1
	}
	return e.fillFormat(e.evaluate(list[format].extent, depth+1), extent{list[format].to, end}, e.lang.name == "rust", depth)
}

// fillFormat returns the value of a format whose places are filled by the arguments in an
// extent. It has holes if one of them changes, save in places for numbers, which take
// only numbers. braces says that the places are {} and not %s.
func (e *evaluator) fillFormat(format value, arguments extent, braces bool, depth int) value {
	text, places := fillVerbs(format.text)
	if braces {
		text, places = fillBraces(format.text)
	}
	filling := e.fillingValue(arguments, depth)
	out := value{text: text, literal: format.literal, origin: format.origin,
		changing: format.changing || places > 0 && filling.changing || e.lang.name == "rust" && namesVariable(format.text)}
	out.addOrigin(filling.origin)
	if !out.changing {
		out.text = strings.ReplaceAll(text, hole, "x")
	}
	return out
}

// fillingValue joins the values of a format's arguments: b, c=d and the elements of (e, f).
func (e *evaluator) fillingValue(x extent, depth int) value {
	var v value
	for i := x.from; i < x.to; {
		switch {
		case e.tokens[i].kind == operator:
			i++
		case e.kindAt(i) == word && e.is(i+1, "="):
			i += 2
		case e.isOneOf(i, "(", "{", "["): // a tuple or a dictionary
			end := e.after(i) - 1
			for j := i + 1; j < end; {
				if kind := e.tokens[j].kind; kind == operator || kind == stringText {
					j++
					continue
				}
				more, next := e.operand(j, end, depth+1)
				v.add(more)
				j = max(next, j+1)
			}
			i = end + 1
		default:
			more, next := e.operand(i, x.to, depth+1)
			v.add(more)
			i = max(next, i+1)
		}
	}
	return v
}

// fillVerbs puts holes in the places of a format such as "a %s %(b)s", and digits in those
// for numbers, such as %d. It counts the holes.
func fillVerbs(format string) (text string, holes int) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		verb := i + 1
		if format[verb] == '(' { // %(name)s
			if end := strings.IndexByte(format[verb:], ')'); end > 0 && end < 64 {
				verb += end + 1
			}
		}
		for verb < len(format) && strings.IndexByte("+-# 0123456789.*[]$<", format[verb]) >= 0 { // %-8.3f
			verb++
		}
		switch {
		case verb == len(format) || format[verb] == '%':
			b.WriteByte('%')
		case strings.IndexByte("dfxXobeEgGptTcuni", format[verb]) >= 0:
			b.WriteByte('0')
		case strings.IndexByte("svqrSj", format[verb]) >= 0:
			b.WriteString(hole)
			holes++
		default: // a percent sign of the text
			b.WriteByte('%')
			continue
		}
		i = verb
	}
	return b.String(), holes
}

// fillBraces puts holes in the places of a format such as "a {} {b}", and counts them.
func fillBraces(format string) (text string, holes int) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] == '{' {
			end := strings.IndexByte(format[i:min(len(format), i+64)], '}')
			if end > 0 && !strings.ContainsAny(format[i+1:i+end], " \n\"'") {
				b.WriteString(hole)
				holes++
				i += end
				continue
			}
		}
		b.WriteByte(format[i])
	}
	return b.String(), holes
}

// namesVariable reports whether a format of Rust has a variable in its braces: "a {b}".
func namesVariable(format string) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '{' {
			continue
		}
		switch next := format[i+1]; {
		case next == '{': // a brace of the text
			i++
		case 'a' <= next && next <= 'z' || next == '_':
			return true
		}
	}
	return false
}
