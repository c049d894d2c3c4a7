package reviewer

import (
	"slices"
	"strings"
)

const (
	// hole stands in a value's text for what is not known before the program runs.
	hole = "\x00"
	// longestText bounds the bytes of a value's text and origin.
	longestText = 2000
	// deepestValue bounds how deep brackets in an expression are followed.
	deepestValue = 12
)

// value is what can be told about an expression without running it.
type value struct {
	// said are its literal parts in their order, with holes for the others.
	said string
	// literal and changing say that there are parts of either sort.
	literal, changing bool
	// origin is the source of the expression, and of the values of its names.
	origin string
}

// built reports whether literal text and something that changes are joined.
func (v value) built() bool { return v.literal && v.changing }

func (v *value) add(w value) {
	if len(v.said) < longestText {
		v.said += w.said
	}
	v.literal = v.literal || w.literal
	v.changing = v.changing || w.changing
	v.trace(w.origin)
}

func (v *value) trace(origin string) {
	if origin != "" && len(v.origin)+len(origin) < longestText {
		v.origin += "\n" + origin
	}
}

func literal(said string) value {
	if len(said) > longestText {
		said = said[:longestText]
	}
	return value{said: said, literal: strings.TrimSpace(said) != ""}
}

func changing() value { return value{said: hole, changing: true} }

// textValue is that of a plain literal. A here-document may have holes.
func (e *evaluator) textValue(i int) value {
	v := literal(e.content(i))
	if e.lang.ruby && strings.Contains(v.said, "#{") && strings.HasPrefix(e.written(i), "<<") && !strings.Contains(e.written(i), "'") {
		v.said, v.changing = fillHoles(v.said)
	}
	return v
}

// pieces evaluates a string with holes.
func (e *evaluator) pieces(i, depth int) value {
	var v value
	for j := i + 1; j < e.after(i)-1; j = e.after(j) {
		if e.tokens[j].kind == stringText {
			v.add(literal(e.content(j)))
			continue
		}
		v.add(e.joined(extent{j + 1, e.after(j) - 1}, depth+1))
	}
	return v
}

// escaped evaluates a string with holes behind a tag that escapes what fills them, save
// what a function lets through whose name says so, such as htmlRaw and unsafeHTML.
func (e *evaluator) escaped(i, depth int) value {
	if e.tokens[i].kind == stringText {
		return e.textValue(i)
	}
	var v value
	for j := i + 1; j < e.after(i)-1; j = e.after(j) {
		called := strings.ToLower(e.written(j + 1))
		switch {
		case e.tokens[j].kind == stringText:
			v.add(literal(e.content(j)))
		case strings.Contains(called, "raw"), strings.Contains(called, "unsafe"):
			v.add(e.joined(extent{j + 1, e.after(j) - 1}, depth+1))
		default:
			v.add(value{said: "0"})
		}
	}
	return v
}

// onlyLiterals reports whether an extent, such as that of a list, holds no name.
func (e *evaluator) onlyLiterals(x extent) bool {
	for i := x.from; i < min(x.to, x.from+longestExpression); i++ {
		if e.tokens[i].kind == word {
			return false
		}
	}
	return x.to-x.from < longestExpression
}

// evaluator finds out what expressions say, in the order of the file.
type evaluator struct {
	*source
	pack  *pack
	scope *scopes
}

// of returns the value of an extent.
func (e *evaluator) of(x extent) value {
	v := e.joined(x, 0)
	v.trace(e.sourceOf(e.outside(x)))
	return v
}

// outside cuts an extent where a function begins in it: what a handler reads is not
// what the handler is.
func (e *evaluator) outside(x extent) extent {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if e.is(i, "=>") || e.tokens[i].kind == word && slices.Contains(e.lang.functions, e.written(i)) {
			x.to = i
		}
	}
	return x
}

// sourceOf returns the source of an extent without what only chooses in it: of
// pages[request.name] the source is pages.
func (e *evaluator) sourceOf(x extent) string {
	var b strings.Builder
	from := x.from
	for i := x.from + 1; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if end := e.after(i); e.is(i, "[") && (e.kindAt(i-1) == word || e.kindAt(i-1) == closing) && end <= x.to && e.kindAt(i+1) == word && e.is(end-1, "]") &&
			e.tokens[i].start == e.tokens[i-1].end {
			b.WriteString(e.between(extent{from, i}))
			from, i = end, end-1
		}
	}
	if from == x.from {
		return e.between(x)
	}
	b.WriteString(e.between(extent{from, x.to}))
	return b.String()
}

// joined evaluates terms that are joined by operators.
func (e *evaluator) joined(x extent, depth int) value {
	var v value
	if depth > deepestValue || x.to-x.from > 20*longestExpression {
		return changing()
	}
	for i := x.from; i < x.to; {
		switch w := e.written(i); {
		case i == x.from && e.lang.ruby && decides(w):
			return changing()
		case e.tokens[i].kind == word && e.lang.ruby && i > x.from && modifies(w):
			return v
		case e.tokens[i].kind == op && w == "?" && i > x.from && e.lang.name != "rust":
			return e.either(extent{i + 1, x.to}, ":", depth)
		case e.tokens[i].kind == word && e.lang.name == "python" && w == "if" && i > x.from:
			return e.either(extent{x.from, x.to}, "else", depth)
		case e.tokens[i].kind == op && w == "%" && v.literal && (e.lang.name == "python" || e.lang.ruby):
			return e.formatted(v, extent{i + 1, x.to}, false, depth)
		case e.tokens[i].kind == op && (w == "||" || w == "??") && i > x.from:
			return e.otherwise(v, extent{i + 1, x.to}, depth)
		case e.tokens[i].kind == op && comparison(w) && i > x.from:
			return value{said: "0"}
		case e.tokens[i].kind == op || e.tokens[i].kind == word && (w == "await" || w == "new" || w == "return"):
			i++
		default:
			t, next := e.term(i, x.to, depth)
			v.add(t)
			i = next
		}
	}
	return v
}

// term evaluates one operand, and returns the index behind it: a literal, a name,
// a call, a bracket, with everything that hangs on it by dots and brackets.
func (e *evaluator) term(i, end, depth int) (v value, next int) {
	start := i
	t := e.tokens[i]
	called := ""
	switch {
	case t.kind == stringText:
		v = e.textValue(i)
	case t.kind == number:
		v = value{said: e.written(i)}
	case t.kind == open && e.isString(i):
		v = e.pieces(i, depth)
	case t.kind == open && e.is(i, "("):
		v = e.joined(extent{i + 1, e.after(i) - 1}, depth+1)
	case t.kind == open && e.lang.name == "go" && e.list(i) > 0: // []string{"a", "b"}
		i = e.list(i)
		if v = changing(); e.onlyLiterals(extent{i + 1, e.after(i) - 1}) {
			v = value{said: "0"}
		}
	case t.kind == open && e.is(i, "[") && e.is(e.after(i), ".") && e.is(e.after(i)+1, "join"):
		for _, a := range e.arguments(i) {
			v.add(e.joined(a.extent, depth+1))
		}
		return v, min(e.after(e.after(i)+2), end)
	case t.kind == open:
		v = changing()
		if e.onlyLiterals(extent{i + 1, e.after(i) - 1}) {
			v = value{said: "0"}
		}
	case t.kind == word && e.pack.tags[e.written(i)] && i+1 < end && strings.HasPrefix(e.written(i+1), "`"):
		i++
		v = e.escaped(i, depth)
	case t.kind == word:
		called = e.written(i)
		v = e.scope.value(called)
	default:
		return changing(), i + 1
	}
	i = e.after(i)
	for i < end {
		switch {
		case (e.is(i, ".") || e.is(i, "?.") || e.is(i, "::")) && e.kindAt(i+1) == word && i+1 < end:
			v, called = e.member(v, e.written(i+1), called)
			i += 2
		case e.is(i, "!") && e.lang.name == "rust" && (e.is(i+1, "(") || e.is(i+1, "[")):
			i++
		case e.is(i, "(") && e.kindAt(i-1) != stringText:
			v = e.call(v, called, start, i, depth)
			i = e.after(i)
		case e.is(i, "["):
			if !v.changing {
				v = value{said: v.said, literal: v.literal}
			}
			i = e.after(i)
		default:
			return v, i
		}
	}
	return v, min(i, end)
}

// modifies reports words that end a value in Ruby: what follows says when it counts.
func modifies(w string) bool {
	switch w {
	case "if", "unless", "while", "until", "do", "then", "rescue", "and", "or":
		return true
	}
	return false
}

// decides reports words with which a Ruby value begins that one of several branches
// gives.
func decides(w string) bool {
	switch w {
	case "if", "unless", "case", "begin", "while", "until":
		return true
	}
	return false
}

// comparison reports operators whose result is no text: a number or a truth value.
func comparison(w string) bool {
	switch w {
	case "==", "===", "!=", "!==", "<", ">", "<=", ">=", "-", "*", "/", "&&":
		return true
	}
	return false
}

// either evaluates both sides of a choice: a value that changes if one of them does.
func (e *evaluator) either(x extent, separator string, depth int) value {
	at := x.from
	for at < x.to && e.written(at) != separator {
		at = e.after(at)
	}
	first := extent{x.from, min(at, x.to)}
	if separator == "else" {
		for i := first.from; i < first.to; i = e.after(i) {
			if e.is(i, "if") {
				first.to = i
			}
		}
	}
	a := e.joined(first, depth+1)
	b := e.joined(extent{min(at+1, x.to), x.to}, depth+1)
	if b.changing && !a.built() {
		return b
	}
	return a
}

// otherwise returns the value of a choice between a value and what stands in for it.
func (e *evaluator) otherwise(v value, x extent, depth int) value {
	w := e.joined(x, depth+1)
	if v.built() || v.changing && !w.built() {
		v.trace(w.origin)
		return v
	}
	w.trace(v.origin)
	return w
}

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

// separates reports whether a text between the parts of a list makes a command line of
// them: a list that is joined so is as much built as a text with holes.
func separates(text string) bool {
	if text == " " {
		return true
	}
	switch strings.TrimSpace(text) {
	case "&&", "||", ";", "|":
		return true
	}
	return false
}

// joinedList returns the value of a list whose parts are joined, in `list.join(" ")` of
// JavaScript and Ruby and in `" ".join(list)` of Python. The list is the extent x, and what
// is known of it is list.
func (e *evaluator) joinedList(list value, x extent, separator string) value {
	switch {
	case !list.changing:
		return value{said: "0"}
	case e.marksPlaces(x):
		return value{said: "?"}
	case e.cleans(x):
		return value{said: "0", origin: list.origin}
	}
	if !list.literal && separates(separator) {
		list.said, list.literal = hole+separator+hole, true
	}
	return list
}

// cleans reports whether a function that makes values safe is named in an extent, as in
// `args.map(quote)`, in Python's `quote(a) for a in args` and in Ruby's `rows.map(&:id)`.
func (e *evaluator) cleans(x extent) bool {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if e.tokens[i].kind == word && (e.pack.clean[e.written(i)] || e.lang.ruby && e.is(i, "id") && e.is(i-1, ":")) {
			return true
		}
	}
	return false
}

// appending are the methods that put their arguments into a list.
var appending = set([]string{"push", "append", "unshift", "extend", "prepend", "insert"})

// append gives a list of literals the value of what changes and is put into it. What is
// built counts more. The method's name is the word at index i, its arguments begin at from.
func (m *matcher) append(i, from, end int) {
	name := i - 2
	if !m.is(i-1, ".") || m.kindAt(name) != word || m.is(name-1, ".") {
		return
	}
	old, known := m.scope.values[m.written(name)]
	if !known || old.literal {
		return
	}
	for _, a := range m.argumentsIn(from, end) {
		if v := m.of(a.extent); v.built() || v.changing && !old.changing {
			m.scope.values[m.written(name)] = v // until the function ends that gave the list its name
			return
		}
	}
}
