package reviewer

import (
	"slices"
	"strings"
)

// This file finds what a program has chosen from a list of its own, though a request says which:
// elements of constant tables, and values that a condition has found in a list.

var (
	// tableMakers are functions and types that make lists and maps of their arguments.
	tableMakers = wordSetOf("Map Set Object.freeze freeze of ofEntries entry asList frozenset set dict tuple MappingProxyType unmodifiableSet unmodifiableList unmodifiableMap")
	// tableLookups are methods that return an element of a table, or their second argument.
	tableLookups = wordSetOf("get getOrDefault fetch find pop dig at")
	// listing are functions that ask whether a list has something.
	listing = wordSetOf("include? includes contains Contains containsKey has has_key? key? member? hasOwn hasOwnProperty")
	// fillers are methods that put their arguments into a table.
	fillers = wordSetOf("set put putAll add update setdefault append push store merge! assign insert")
	// leaving are words that end a block, so that what follows it does not run. leavingIn are others,
	// by language.
	leaving   = wordSetOf("return raise throw continue break panic")
	leavingIn = map[string]wordSet{"python": wordSetOf("abort exit"), "ruby": wordSetOf("next abort exit"), "go": wordSetOf("Exit Fatal Fatalf")}
)

// leaves reports whether the token at index i is a word that ends a block.
func (s *source) leaves(i int) bool {
	return s.isWord(i) && (leaving[s.written(i)] || leavingIn[s.lang.name][s.written(i)])
}

// isTable reports whether an extent, between brackets, has only literals, and names of keys. Without
// any it is none: what is put into it is not known.
func (e *evaluator) isTable(x extent) bool {
	return x.from < x.to && x.to-x.from < longestExpression && !e.any(x, func(i int) bool {
		isKey := e.isOneOf(i+1, ":", "=>", "=")
		return e.isWord(i) && !isKey && !e.isSymbol(i) && !constantWords[e.written(i)] && !tableMakers[e.written(i)] && !e.isOneOf(i, "struct", "new")
	})
}

// isSymbol reports whether the word at index i is a symbol of Ruby: the :b of a: :b.
func (s *source) isSymbol(i int) bool {
	return s.lang.ruby && i > 1 && s.is(i-1, ":") && s.tokens[i].start == s.tokens[i-1].end && s.tokens[i-2].end < s.tokens[i-1].start
}

// goTable returns the index after the map of literals that begins with the word at index i, as in
// map[string]string{"a": "b"}; 0 if none does.
func (e *evaluator) goTable(i int) int {
	if e.lang.name != "go" || !e.is(i, "map") || !e.is(i+1, "[") {
		return 0
	}
	for j := e.after(i + 1); j < min(len(e.tokens), i+12); j = e.after(j) {
		if e.is(j, "{") && e.is(j-1, "struct") {
			continue
		}
		if e.is(j, "{") {
			if e.isTable(e.inside(j)) {
				return e.after(j)
			}
			return 0
		}
	}
	return 0
}

// lookedUp returns the value of an element of a table, which a method with these arguments returns: a
// constant, unless there may be none and the arguments have what stands for it.
func (e *evaluator) lookedUp(list []argument, depth int) value {
	if len(list) > 1 {
		if v := e.evaluate(list[1].extent, depth+1); v.changing {
			return v
		}
	}
	return harmless()
}

// fill records that the word at index i is not a constant table any more, if something is put into the
// table of that name there: a[b] = c, a.b = c, a.set(b, c).
func (m *matcher) fill(i int) {
	if !m.scope.values[m.written(i)].table {
		return
	}
	end, given := i+1, extent{}
	for m.is(end, "[") || m.is(end, ".") && m.isWord(end+1) {
		end = m.after(end)
		if m.is(end-1, ".") {
			end++
		}
		if fillers[m.written(end-1)] && m.is(end, "(") {
			given = m.inside(end)
		}
	}
	if end > i+1 && m.isOneOf(end, "=", "+=", "||=", "<<") {
		given = m.expressionAt(end + 1)
	}
	if v := m.valueOf(given); given.from < given.to && v.changing {
		m.scope.values[m.written(i)] = unknownFrom(v.origin)
	}
}

// asFound returns the value that a condition has found for an operand, such as params[:sort]; without
// one, v.
func (e *evaluator) asFound(v value, x extent) value {
	if e.scope.hasPaths && v.changing {
		if found, known := e.scope.values[e.sourceText(x)]; known {
			return found
		}
	}
	return v
}

// choosesLiteral reports whether an expression gives a literal in each of its cases, as in Rust's
// match a { "b" => "c", _ => "d" } and Java's switch with arrows.
func (e *evaluator) choosesLiteral(x extent) bool {
	arrow := "->"
	switch {
	case e.lang.name == "rust" && e.is(x.from, "match"):
		arrow = "=>"
	case e.lang.name != "java" || !e.is(x.from, "switch"):
		return false
	}
	open := x.from
	for open < x.to && !e.is(open, "{") {
		open = e.after(open)
	}
	if open >= x.to {
		return false
	}
	cases := 0
	isOther := e.anyAtLevel(e.inside(open), func(i int) bool {
		if !e.is(i, arrow) {
			return false
		}
		cases++
		kind := e.kindAt(i + 1)
		isLiteral := (kind == stringText || kind == number) && e.isOneOf(i+2, ",", ";", "}")
		return !isLiteral && !e.leaves(i+1)
	})
	return cases > 0 && !isOther
}

// mostChanges bounds the changes that are to come.
const mostChanges = 64

// change is a value that a name gets, or gets back, at a token.
type change struct {
	at     int // index of the token
	name   string
	value  value
	forget bool // the name had no value
	within int  // index of the token that begins the function around; -1 outside of functions
}

// applyChanges gives names the values that they have from the token at index i on.
func (m *matcher) applyChanges(i int) {
	m.changes = slices.DeleteFunc(m.changes, func(c change) bool {
		switch {
		case c.at > i:
			return false
		case c.within != m.functionBegin():
		case c.forget:
			delete(m.scope.values, c.name)
		default:
			m.scope.hasPaths = m.scope.hasPaths || strings.ContainsAny(c.name, ".[")
			m.scope.set(c.name, c.value)
		}
		return true
	})
}

// functionBegin returns the index of the token that begins the function around, -1 outside of one.
func (m *matcher) functionBegin() int {
	if n := len(m.scope.nested); n > 0 {
		return m.scope.nested[n-1].begin
	}
	return -1
}

// condition looks for a condition that finds a value in a list, at the word at index i. What it has
// found there is harmless after a block that leaves otherwise, and in a block that runs then, if the
// list is constant.
func (m *matcher) condition(i int) {
	asked, body, runsIf := m.conditional(i)
	if len(m.changes) >= mostChanges || asked.from >= asked.to || asked.to-asked.from > longestExpression {
		return
	}
	within := m.functionBegin()
	if body.from == body.to || m.any(body, m.leaves) {
		for _, x := range m.foundIn(asked, !runsIf, false, 0) {
			m.changes = append(m.changes, change{at: body.to, name: m.sourceText(x), value: harmless(), within: within})
		}
	}
	if body.from == body.to {
		return
	}
	for _, x := range m.foundIn(asked, runsIf, true, 0) {
		name := m.sourceText(x)
		old, known := m.scope.values[name]
		m.changes = append(m.changes, change{at: body.from, name: name, value: harmless(), within: within},
			change{at: body.to, name: name, value: old, forget: !known, within: within})
	}
}

// conditional returns the condition of the statement that begins with the word at index i, the block
// that depends on it, and whether the block runs if the condition is true. What cannot go on if the
// condition is false, such as an assertion, has an empty block.
func (m *matcher) conditional(i int) (asked, body extent, runsIf bool) {
	word := m.written(i)
	switch {
	case word != "if" && word != "unless" && word != "elif" && word != "elsif" && word != "assert":
	case m.lang.name == "python":
		if !m.tokens[i].first {
			break
		}
		if word == "assert" {
			asked = m.expressionAt(i + 1)
			return asked, extent{asked.to, asked.to}, false
		}
		asked, _ = m.split(extent{i + 1, min(i+longestExpression, len(m.tokens))}, ":")
		return asked, extent{asked.to + 1, m.indentedEnd(i)}, true
	case m.lang.ruby && m.tokens[i].first:
		asked = m.restOfLine(i + 1)
		return asked, extent{asked.to, m.indentedEnd(i)}, word != "unless"
	case m.lang.ruby: // return unless a
		begin := i
		for begin > max(0, i-longestExpression) && !m.tokens[begin].first {
			begin--
		}
		if asked = m.restOfLine(i + 1); m.leaves(begin) || m.any(extent{begin, i}, func(j int) bool { return m.is(j, "return") }) {
			return asked, extent{asked.to, asked.to}, word == "if"
		}
		return extent{}, extent{}, false
	case m.lang.name == "go" || m.lang.name == "rust":
		open := i + 1
		for from := open; open < min(len(m.tokens), from+longestExpression) && !m.is(open, "{"); open = m.after(open) {
			if m.is(open, ";") { // if a := f(); b {
				i = open
			}
		}
		if m.is(open, "{") {
			return extent{i + 1, open}, m.inside(open), true
		}
	case word == "if" && m.is(i+1, "("):
		if open := m.after(i + 1); m.is(open, "{") {
			return m.inside(i + 1), m.inside(open), true
		}
		return m.inside(i + 1), m.expressionAt(m.after(i + 1)), true
	}
	return extent{}, extent{}, false
}

// restOfLine returns the rest of the line from index i on.
func (m *matcher) restOfLine(i int) extent {
	end := i
	for end < min(len(m.tokens), i+longestExpression) && !m.tokens[end].first && !m.isOneOf(end, "then", ";", "}") {
		end = m.after(end)
	}
	return extent{i, end}
}

// indentedEnd returns the index of the token after the block of the statement that begins with the
// word at index i: its line is indented no deeper.
func (m *matcher) indentedEnd(i int) int {
	end := i + 1
	for end < min(len(m.tokens), i+5*longestExpression) && !(m.tokens[end].first && m.kindAt(end) != closing && m.indent(end) <= m.indent(i)) {
		end = m.after(end)
	}
	return end
}

// foundIn returns the expressions that are in a list of the program, or equal to a literal, if a
// condition is true, or if it is false. With constant, only lists of literals count.
func (m *matcher) foundIn(x extent, isTrue, constant bool, depth int) []extent {
	for depth <= deepestValue {
		either, both := m.parts(x, "||", "or"), m.parts(x, "&&", "and")
		switch {
		case len(either) > 1:
			return m.foundInParts(either, isTrue, constant, !isTrue, depth+1)
		case len(both) > 1:
			return m.foundInParts(both, isTrue, constant, isTrue, depth+1)
		case m.isOneOf(x.from, "!", "not"):
			x.from, isTrue = x.from+1, !isTrue
		case m.is(x.from, "(") && m.after(x.from) == x.to:
			x, depth = m.inside(x.from), depth+1
		default:
			return m.foundInOne(x, isTrue, constant)
		}
	}
	return nil
}

// foundInOne is foundIn for a condition that no operator joins.
func (m *matcher) foundInOne(x extent, isTrue, constant bool) []extent {
	found, list, isNegated := m.membership(x)
	for m.isOneOf(found.from, "&", "*") { // Rust's &a
		found.from++
	}
	if isTrue == isNegated || found.from >= found.to || found.to-found.from > 4*longestName || !m.isWord(found.from) {
		return nil
	}
	if v := m.valueOf(list); m.fromRequest(v) || constant && v.changing {
		return nil
	}
	return []extent{found}
}

// foundInParts is foundIn for the parts of a condition. each is whether all of them are as the
// condition is. Otherwise any of them may be, so that they have to find the same, or only ask whether
// there is a value at all: a && !list.has(a).
func (m *matcher) foundInParts(parts []extent, isTrue, constant, each bool, depth int) []extent {
	var all []extent
	names := wordSet{}
	for _, part := range parts {
		found := m.foundIn(part, isTrue, constant, depth)
		all = append(all, found...)
		switch {
		case len(found) > 0:
		case isTrue:
			names[""] = true
		default: // without a value, a is harmless
			found = []extent{part}
		}
		for _, x := range found {
			names[m.sourceText(x)] = true
		}
	}
	if !each && len(names) > 1 {
		return nil
	}
	return all
}

// parts returns the parts of an extent that one of two operators joins at the extent's own level.
func (m *matcher) parts(x extent, operator, word string) []extent {
	var list []extent
	from := x.from
	for i := x.from; i < x.to; i = m.after(i) {
		if m.isOneOf(i, operator, word) {
			list, from = append(list, extent{from, i}), i+1
		}
	}
	return append(list, extent{from, x.to})
}

// membership returns the value that an expression looks for in a list, and the list; with isNegated it
// asks whether the list lacks the value. The literal of a == "b" is a list of one.
func (m *matcher) membership(x extent) (value, list extent, isNegated bool) {
	last := x.to - 1
	if last <= x.from {
		return extent{}, extent{}, false
	}
	if m.kindAt(last) == stringText && m.isOneOf(last-1, "==", "===", "!=", "!==") {
		return extent{x.from, last - 1}, extent{last, x.to}, m.isOneOf(last-1, "!=", "!==")
	}
	if m.lang.name == "python" || m.lang.name == "javascript" {
		for i := x.from + 1; i < x.to; i = m.after(i) {
			switch {
			case !m.is(i, "in"):
			case m.is(i-1, "not"):
				return extent{x.from, i - 1}, extent{i + 1, x.to}, true
			default:
				return extent{x.from, i}, extent{i + 1, x.to}, false
			}
		}
	}
	if m.kindAt(last) != closing || m.tokens[last].pair <= int32(x.from) {
		return extent{}, extent{}, false
	}
	open := int(m.tokens[last].pair)
	if m.is(open, "[") { // allowed[a]
		return m.inside(open), extent{x.from, open}, false
	}
	arguments := m.arguments(open)
	switch name := m.written(open - 1); {
	case !m.is(open, "(") || open-2 <= x.from || !m.is(open-2, "."):
	case name == "in?" && len(arguments) == 1:
		return extent{x.from, open - 2}, arguments[0].extent, false
	case !listing[name]:
	case len(arguments) == 1:
		return arguments[0].extent, extent{x.from, open - 2}, false
	case len(arguments) == 2 && m.isOneOf(x.from, "slices", "Object"): // slices.Contains(list, a)
		return arguments[1].extent, arguments[0].extent, false
	}
	return extent{}, extent{}, false
}
