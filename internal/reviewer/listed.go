package reviewer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// This file finds values that a program has chosen from a list of its own, although a request says
// which one: elements of constant tables, and values that a condition has found in a list.

var (
	// tableMakers are functions and types that make lists and maps of their arguments.
	tableMakers = wordSetOf("Map Set Object.freeze freeze of ofEntries entry asList frozenset set dict tuple MappingProxyType unmodifiableSet unmodifiableList unmodifiableMap")
	// tableLookups are methods that return an element of a table, or their second argument.
	tableLookups = wordSetOf("get getOrDefault fetch find pop dig at")
	// listing are functions that ask whether a list has something.
	listing = wordSetOf("include? includes contains Contains containsKey has has_key? key? member? hasOwn hasOwnProperty")
	// fillers are methods that put their arguments into a table.
	fillers = wordSetOf("set put putAll add update setdefault append push store merge! assign insert")
	// leaving are words that end a block, so that the code after them does not run. leavingIn has more
	// such words, by language.
	leaving   = wordSetOf("return raise throw continue break panic")
	leavingIn = map[string]wordSet{"python": wordSetOf("abort exit"), "ruby": wordSetOf("next abort exit"), "go": wordSetOf("Exit Fatal Fatalf")}
)

// leaves reports whether the token at index i is a word that ends a block.
func (s *source) leaves(i int) bool {
	return s.isWord(i) && (leaving[s.written(i)] || leavingIn[s.lang.name][s.written(i)])
}

// isTable reports whether an extent, between brackets, has only literals and names of keys. An empty
// one is not a table, because what the program puts into it later is not known.
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

// lookedUp returns the value of a call of one of tableLookups, with these arguments, on a table. It
// is that of the second argument, the default for a missing element, if this may change; otherwise
// it is harmless.
func (e *evaluator) lookedUp(list []argument, depth int) value {
	if len(list) > 1 {
		if v := e.evaluate(list[1].extent, depth+1); v.changing {
			return v
		}
	}
	return harmless()
}

// fill looks at a value that is put into the table with the name at index i: a[b] = c, a.b = c,
// a.set(b, c). If the value may change, the table is not constant any more.
func (m *matcher) fill(i int) {
	if !m.scope.values[m.written(i)].table {
		return
	}
	const mostLinks = 100
	end, given := i+1, extent{}
	for n := 0; m.is(end, "[") || m.is(end, ".") && m.isWord(end+1); n++ {
		if n == mostLinks { // what is put there is not known
			m.scope.values[m.written(i)] = unknown()
			return
		}
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

// asFound returns the value of an operand, such as params[:sort], that a condition has found in a
// list, or v if no condition has found the operand.
func (e *evaluator) asFound(v value, x extent) value {
	if e.scope.hasPaths && v.changing {
		if found, known := e.scope.values[e.sourceText(x)]; known {
			return found
		}
	}
	return v
}

// choosesLiteral reports whether an expression gives a literal in each of its cases that does not
// leave, as in Rust's match a { "b" => "c", _ => "d" }, Java's switch with arrows and Ruby's case.
func (e *evaluator) choosesLiteral(x extent) bool {
	arrow := "->"
	switch {
	case e.lang.ruby && e.is(x.from, "case"):
		return e.caseGivesLiteral(x.from)
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
		end := e.literalEnd(i + 1)
		isLiteral := end > 0 && (e.isOneOf(end, ",", ";", "}") || e.is(end-1, "}"))
		return !isLiteral && !e.leaves(i+1)
	})
	return cases > 0 && !isOther
}

// caseGivesLiteral reports whether Ruby's case at index i gives a literal in each of its branches
// that does not leave.
func (e *evaluator) caseGivesLiteral(i int) bool {
	branches := 0
	for end := min(len(e.tokens), i+longestExpression); i < end; i = e.after(i) {
		given := i + 1
		switch {
		case e.is(i, "when"):
			for given < end && !e.tokens[given].first && !e.is(given, "then") {
				given = e.after(given)
			}
			if e.is(given, "then") {
				given++
			}
			branches++
		case e.is(i, "end"):
			return branches > 0
		case !e.is(i, "else"):
			continue
		}
		if after := e.literalEnd(given); !e.leaves(given) && (after == 0 || after >= end || !e.tokens[after].first && !e.isOneOf(after, "when", "else", "end")) {
			return false
		}
	}
	return false
}

// literalEnd returns the index after the literal that begins at index i, 0 if none does. In Rust a
// literal may be in a block or an Option, or be made a String.
func (e *evaluator) literalEnd(i int) int {
	if i >= len(e.tokens) {
		return 0
	}
	isRust := e.lang.name == "rust"
	inner, end := 0, e.after(i)
	_, isText := e.plainLiteral(extent{i, end})
	switch {
	case isText || e.kindAt(i) == number:
		for isRust && e.is(end, ".") && e.isOneOf(end+1, "to_string", "to_owned", "into") && e.is(end+2, "(") && e.is(end+3, ")") {
			end += 4
		}
		return end
	case !isRust:
		return 0
	case e.is(i, "{"):
		inner = i
	case e.isOneOf(i, "Some", "Ok") && e.is(i+1, "("):
		inner = i + 1
	case e.isSequence(i, "String", "::", "from", "("):
		inner = i + 3
	default:
		return 0
	}
	if x := e.inside(inner); x.from == x.to || e.literalEnd(x.from) != x.to {
		return 0
	}
	return e.after(inner)
}

// mostChanges bounds the changes that are still to come: while there are as many, none are added.
const mostChanges = 64

// change is a value that a name gets, or gets back, at a token.
type change struct {
	at      int // index of the token
	name    string
	value   value
	forget  bool // the name had no value
	orGiven bool // the name keeps the value that it has at the token if that may change
	within  int  // index of the token that begins the function around; -1 outside of functions
}

// applyChanges gives names the values that they have from the token at index i on.
func (m *matcher) applyChanges(i int) {
	if len(m.changes) > 0 {
		m.changes = slices.DeleteFunc(m.changes, func(c change) bool {
			if c.at <= i {
				m.apply(c)
			}
			return c.at <= i
		})
	}
	for len(m.cases) > 0 && m.cases[0].at <= i {
		m.apply(m.cases[0])
		m.cases = m.cases[1:]
	}
}

// apply makes a change whose token has come, unless the token is in another function.
func (m *matcher) apply(c change) {
	switch {
	case c.within != m.scope.innermost().begin, c.orGiven && m.scope.values[c.name].changing:
	case c.forget:
		delete(m.scope.values, c.name)
	default:
		m.scope.hasPaths = m.scope.hasPaths || strings.ContainsAny(c.name, ".[")
		m.scope.set(c.name, c.value)
	}
}

// condition looks for a condition that finds a value in a list, at the word at index i. If the block
// leaves where the value is not in the list, the value is harmless after the block. If the block runs
// where the value is in the list, and the list is constant, the value is harmless in the block.
func (m *matcher) condition(i int) {
	asked, body, runsIf := m.conditional(i)
	if len(m.changes) >= mostChanges || asked.from >= asked.to || asked.to-asked.from > longestExpression {
		return
	}
	within := m.scope.innermost().begin
	leaves := body.from == body.to || m.alwaysLeaves(body)
	if leaves {
		for _, x := range m.foundIn(asked, !runsIf, false, 0) {
			m.changes = append(m.changes, change{at: body.to, name: m.sourceText(x), value: harmless(), within: within})
		}
	}
	if body.from == body.to {
		return
	}
	name := m.askedIfAbsent(asked)
	if old := m.scope.values[name]; old.changing && runsIf && !leaves { // if (!a) { a = "b" }: a may still be what it was
		m.changes = append(m.changes, change{at: body.to, name: name, value: old, orGiven: true, within: within})
	}
	for _, x := range m.foundIn(asked, runsIf, true, 0) {
		name := m.sourceText(x)
		old, known := m.scope.values[name]
		m.changes = append(m.changes, change{at: body.from, name: name, value: harmless(), within: within},
			change{at: body.to, name: name, value: old, forget: !known, within: within})
	}
}

// switched looks for a switch that compares a value with literals, if the word at index i begins it. The
// value is harmless after the label of a case, up to the next label. It is harmless after
// the switch if the default leaves, or gives the name a literal.
func (m *matcher) switched(i int) {
	if !m.is(i, "switch") || len(m.cases) >= mostChanges {
		return
	}
	open := i + 1
	for open < min(len(m.tokens), i+longestExpression) && !m.is(open, "{") {
		if m.is(open, ";") { // switch a := f(); a {
			i = open
		}
		open = m.after(open)
	}
	asked := extent{i + 1, open}
	if m.is(i+1, "(") && m.after(i+1) == open {
		asked = m.inside(i + 1)
	}
	if !m.is(open, "{") || !m.isWord(asked.from) {
		return
	}
	name, block, within := m.sourceText(asked), m.inside(open), m.scope.innermost().begin
	old, known := m.scope.values[name]
	var list []change
	for from := block.from; from < block.to; {
		body := extent{m.labelEnd(from, block.to), 0}
		for body.to = body.from; body.to < block.to && !m.isOneOf(body.to, "case", "default"); {
			body.to = m.after(body.to)
		}
		switch {
		case m.is(from, "case") && !m.any(extent{from + 1, body.from - 1}, func(j int) bool { return m.isWord(j) && !isConstantName(m.written(j)) }):
			list = append(list, change{at: body.from, name: name, value: harmless(), within: within},
				change{at: body.to, name: name, value: old, forget: !known, within: within})
		case m.is(from, "default") && m.endsChoice(body, name):
			list = append(list, change{at: block.to, name: name, value: harmless(), within: within})
		case m.is(from, "case"):
			return
		}
		from = body.to
	}
	m.cases = append(m.cases, list...)
	slices.SortStableFunc(m.cases, func(a, b change) int { return a.at - b.at })
}

// labelEnd returns the index after the colon or the arrow that ends the label at index i of a
// switch. Without a label there it returns the index end.
func (m *matcher) labelEnd(i, end int) int {
	for ; i < end; i = m.after(i) {
		if m.isOneOf(i, ":", "->") {
			return i + 1
		}
	}
	return end
}

// endsChoice reports whether the default of a switch leaves more than the switch, or gives a name a
// literal.
func (m *matcher) endsChoice(body extent, name string) bool {
	givesLiteral := m.anyAtLevel(body, func(i int) bool {
		return m.is(i, name) && m.is(i+1, "=") && m.literalEnd(i+2) > 0 && (m.isOneOf(m.literalEnd(i+2), ";", "}") || m.tokens[m.literalEnd(i+2)].first)
	})
	return givesLiteral || m.alwaysLeaves(body) && !m.anyAtLevel(body, func(i int) bool { return m.is(i, "break") })
}

// absent matches a condition that asks whether a name has no value.
var absent = lazyregexp.New(`^(?:(?:!\s*|not\s+)(\w+)|(\w+)\s*(?:===?|is)\s*(?:null|undefined|None)|(\w+)\.is(?:Empty|Blank)\(\))$`)

// askedIfAbsent returns a name if a condition asks only whether this name has no value, otherwise "".
func (m *matcher) askedIfAbsent(asked extent) string {
	name := ""
	for _, part := range m.parts(asked, "||", "or") {
		groups := absent.FindStringSubmatch(m.sourceText(part))
		if groups == nil || name != "" && name != cmp.Or(groups[1:]...) {
			return ""
		}
		name = cmp.Or(groups[1:]...)
	}
	return name
}

// alwaysLeaves reports whether a block leaves, and not only under a condition of its own. The branch
// after an else counts as one without a condition. Of a long block it reads only the beginning.
func (m *matcher) alwaysLeaves(body extent) bool {
	for i := body.from; i < min(body.to, body.from+4*longestExpression); i++ {
		if !m.isWord(i) {
			continue
		}
		if m.leaves(i) && !(m.lang.ruby && m.any(m.restOfLine(i+1), func(j int) bool { return m.isOneOf(j, "if", "unless") })) {
			return true
		}
		if asked, inner, _ := m.conditional(i); asked.from < asked.to && inner.from < inner.to {
			i = inner.to - 1
		}
	}
	return false
}

// conditional returns the condition that follows the word at index i, if that is "if" or a similar
// word, the block that depends on the condition, and whether the block runs if the condition is
// true. A statement such as "return if a", or an assertion, has an empty block. It leaves if the
// condition has the value of runsIf.
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
		if asked = m.restOfLine(i + 1); word == "assert" {
			return asked, extent{asked.to, asked.to}, false
		}
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
func (s *source) indentedEnd(i int) int {
	end := i + 1
	for end < min(len(s.tokens), i+5*longestExpression) && !(s.tokens[end].first && s.kindAt(end) != closing && s.indent(end) <= s.indent(i)) {
		end = s.after(end)
	}
	return end
}

// foundIn returns the expressions that a condition shows to be in a list of the program, or equal
// to a literal. isTrue says whether the condition is true or false. If constant is set, only lists
// of literals count.
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
	found = m.withoutType(found)
	for m.isOneOf(found.from, "&", "*") { // Rust's &a
		found.from++
	}
	if m.lang.name == "rust" && found.to-found.from > 4 && m.isOneOf(found.to-3, "as_str", "as_ref", "as_deref") && m.is(found.to-2, "(") {
		found.to -= 4 // a.as_str()
	}
	if isTrue == isNegated || found.from >= found.to || found.to-found.from > 4*longestName || !m.isWord(found.from) {
		return nil
	}
	if v := m.valueOf(list); m.fromRequest(v) || constant && v.changing {
		return nil
	}
	return []extent{found}
}

// withoutType returns an expression of TypeScript without the type that it is said to have: a as string.
func (e *evaluator) withoutType(x extent) extent {
	if e.lang.name == "javascript" {
		x, _ = e.split(x, "as")
	}
	return x
}

// foundInParts is foundIn for the parts of a condition. each is set if all parts have the truth
// value isTrue. Otherwise perhaps only one part has it. Then all parts have to find the same value,
// or ask whether that value exists at all: a && !list.has(a).
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
