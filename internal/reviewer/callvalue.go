package reviewer

import "strings"

// member returns the value of a member of a value, and the member's name, by
// which it is called if a call follows.
func (e *evaluator) member(v value, name, of string) (value, string) {
	switch {
	case e.lang.ruby && (e.pack.clean[name] || name == "id" || strings.HasSuffix(name, "_id") || name == "name" && of == "class"):
		return value{said: "0"}, name
	case len(name) > 1 && numeric[name] || name == "length" || name == "size" || name == "name" && of == "__class__" || name == "__name__":
		return value{said: "0"}, name
	case constantName(name) && !v.changing:
		return value{said: name}, name
	case constantName(name) && constantHolder(of):
		return value{said: name}, name
	case v.literal, name == "join": // "text".format, of which the call decides
		return v, name
	}
	return value{said: hole, changing: true, origin: v.origin}, name
}

// constantName reports names that are written like constants: in capitals.
func constantName(name string) bool {
	return len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// constantHolder reports names of types and modules, which begin with a capital.
func constantHolder(name string) bool {
	return name == "self" || name == "this" || name == "cls" || name != "" && 'A' <= name[0] && name[0] <= 'Z'
}

// call returns the value of the call of a name, whose term begins at start and
// whose bracket is at index open. v is what it was called on, if that is literal.
func (e *evaluator) call(v value, name string, start, open, depth int) value {
	list := e.arguments(open)
	switch {
	case e.pack.clean[name], e.is(open-2, ".") && e.kindAt(open-3) == word && e.pack.clean[e.written(open-3)+"."+name]:
		return value{said: "0"}
	case e.pack.formats[name] && v.literal: // "…".format(x)
		return e.formatted(v, extent{open + 1, e.after(open) - 1}, e.lang.name == "python", depth)
	case e.pack.formats[name] && len(list) > 0:
		first := 0
		if v := e.joined(list[0].extent, depth+1); !v.literal && len(list) > 1 { // a writer or a locale stands first
			first = 1
		}
		return e.formatted(e.joined(list[first].extent, depth+1), extent{list[first].to, e.after(open) - 1}, e.lang.name == "rust", depth)
	case e.pack.joins[name]: // "a".concat(b), filepath.Join(a, b)
		if e.lang.name == "go" { // it is a function of a package, which adds nothing
			v = value{}
		}
		last := value{}
		for _, a := range list {
			last = e.joined(a.extent, depth+1)
			v.add(last)
		}
		if name == "Join" && len(list) == 2 && separates(last.said) {
			v.literal = true
		}
		return v
	case name == "join" && e.is(open-2, ".") && e.lang.name == "python" && len(list) == 1: // " ".join(a)
		return e.joinedList(e.joined(list[0].extent, depth+1), list[0].extent, v.said)
	case name == "join" && e.is(open-2, ".") && (e.lang.name == "javascript" || e.lang.ruby) && len(list) == 1 && start < open-2: // a.join(" ")
		return e.joinedList(v, extent{start, open - 2}, e.joined(list[0].extent, depth+1).said)
	case e.pack.keeps[name]: // " a ".trim()
		method := e.is(open-2, ".") && e.lang.name != "go"
		if len(list) > 0 && !method {
			return e.joined(list[0].extent, depth+1)
		}
		return v
	case e.marksPlaces(extent{start, e.after(open)}):
		return value{said: "?"}
	}
	out := changing()
	for _, a := range list {
		i := a.from
		for i < a.to && (e.tokens[i].kind == op || e.is(i, "mut")) { // "&mut a.b"
			i++
		}
		if i < a.to && e.tokens[i].kind == word {
			if v := e.scope.value(e.written(i)); v.changing {
				out.trace(v.origin)
			}
		}
	}
	return out
}

// marksPlaces reports whether an expression makes a list of placeholders, as
// `ids.map(() => '?').join()` does.
func (e *evaluator) marksPlaces(x extent) bool {
	for i := x.from; i < min(x.to, x.from+40, len(e.tokens)); i++ {
		if e.tokens[i].kind != stringText {
			continue
		}
		switch strings.Trim(e.content(i), ", ()") {
		case "?", "%s", "$":
			return true
		}
	}
	return false
}

// formatted returns a format with its places filled by the arguments in an extent:
// with holes, if one of them changes. Places for numbers take numbers only.
func (e *evaluator) formatted(format value, x extent, braces bool, depth int) value {
	var filled value
	for i := x.from; i < x.to; {
		if e.is(i, ",") || e.tokens[i].kind == op {
			i++
			continue
		}
		if e.kindAt(i) == word && e.is(i+1, "=") {
			i += 2
			continue
		}
		if e.is(i, "(") || e.is(i, "{") || e.is(i, "[") { // a tuple or a dictionary
			for j := i + 1; j < e.after(i)-1; {
				if k := e.tokens[j].kind; k == op || k == stringText {
					j++
					continue
				}
				v, next := e.term(j, e.after(i)-1, depth+1)
				filled.add(v)
				j = max(next, j+1)
			}
			i = e.after(i)
			continue
		}
		v, next := e.term(i, x.to, depth+1)
		filled.add(v)
		i = max(next, i+1)
	}
	out := value{literal: format.literal, changing: format.changing, origin: format.origin}
	out.trace(filled.origin)
	said, places := places(format.said, braces)
	inline := e.lang.name == "rust" && inlineHole(format.said)
	switch {
	case places > 0 && filled.changing, inline:
		out.said, out.changing = said, true
	default:
		out.said = strings.ReplaceAll(said, hole, "x")
	}
	if format.changing {
		out.said = said
	}
	return out
}

// inlineHole reports whether a format names a variable in its braces.
func inlineHole(format string) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '{' {
			continue
		}
		if format[i+1] == '{' {
			i++
			continue
		}
		if c := format[i+1]; 'a' <= c && c <= 'z' || c == '_' {
			return true
		}
	}
	return false
}

// places puts holes in the places of a format: {} and {name} where it has braces,
// else %s and %v, with digits in those for numbers. It counts the holes.
func places(format string, braces bool) (said string, holes int) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '%' && !braces && i+1 < len(format):
			n := i + 1
			if format[n] == '(' {
				if end := strings.IndexByte(format[n:], ')'); end > 0 && end < 64 {
					n += end + 1
				}
			}
			for n < len(format) && strings.IndexByte("+-# 0123456789.*[]$<", format[n]) >= 0 {
				n++
			}
			switch {
			case n == len(format) || format[n] == '%':
				b.WriteByte('%')
			case strings.IndexByte("dfxXobeEgGptTcuni", format[n]) >= 0:
				b.WriteByte('0')
			case strings.IndexByte("svqrSj", format[n]) >= 0:
				b.WriteString(hole)
				holes++
			default:
				b.WriteByte('%')
				continue
			}
			i = n
		case c == '{' && braces:
			end := strings.IndexByte(format[i:min(len(format), i+64)], '}')
			if end < 0 || strings.ContainsAny(format[i+1:i+end], " \n\"'") {
				b.WriteByte(c)
				continue
			}
			b.WriteString(hole)
			holes++
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), holes
}
