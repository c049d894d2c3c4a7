package reviewer

import (
	"slices"
	"strings"
)

// This file records the values that names have, for the evaluator, and the names that stand for
// functions of modules.

// assignment records the value that is assigned to the word at index i, if any, and looks for
// the patterns about settings in it.
func (m *matcher) assignment(i int) {
	sign := i + 1
	switch {
	case m.isOneOf(sign, "=", ":=", "+=") || m.lang.ruby && m.is(sign, "<<"):
	case m.isOneOf(sign, ":", "=>"):
		if typed := m.signAfterType(i); typed > 0 {
			sign = typed
		} else {
			if !m.is(i-1, ".") { // "a.b : c" is half of a choice
				m.setting(i, sign+1)
			}
			return
		}
	default:
		return
	}
	x := m.setting(i, sign+1)
	isMember := m.is(i-1, ".")
	isForeignMember := isMember && !m.isOneOf(i-2, "this", "self")
	isNamedArgument := m.lang.name == "python" && !m.tokens[i].first && !isMember
	if isForeignMember || isNamedArgument {
		return
	}
	name := m.written(i)
	if !isMember {
		m.nameAlias(name, m.moduleParts(x))
	}
	v := m.valueOf(x)
	if m.isOneOf(sign, "+=", "<<") {
		old := m.scope.value(name)
		old.add(v)
		v = old
	}
	isError := m.lang.name == "go" && m.is(i-1, ",") && m.isWord(i-2) && !m.is(x.to, ",") // a, err := f(): only a is a result
	if isError {
		m.scope.set(name, unknown())
	} else {
		m.scope.set(name, v)
	}
	for j := i - 2; m.is(j+1, ",") && m.isWord(j) && m.lang.name != "javascript"; j -= 2 { // a, b = c
		if isError && !v.changing {
			m.scope.set(m.written(j), v)
		} else {
			m.scope.set(m.written(j), unknownFrom(v.origin))
		}
	}
}

// emptyBuilder records that a builder of Go is empty, if the word at index i declares one:
// `var b strings.Builder`.
func (m *matcher) emptyBuilder(i int) {
	if m.lang.name == "go" && m.is(i, "var") && m.isWord(i+1) && (m.isSequence(i+2, "strings", ".", "Builder") || m.isSequence(i+2, "bytes", ".", "Buffer")) {
		m.scope.set(m.written(i+1), value{})
	}
}

// signAfterType returns the index of the = after the type of the name at index i, as in
// `let a: &str = b`, or 0.
func (m *matcher) signAfterType(i int) int {
	const longest = 12 // tokens
	if !m.isOneOf(i-1, "let", "const", "var", "mut") && !(m.lang.name == "python" && m.tokens[i].first) {
		return 0
	}
	for j := i + 2; j < min(len(m.tokens), i+longest); j = m.after(j) {
		if m.is(j, "=") {
			return j
		}
		if m.tokens[j].first {
			break
		}
	}
	return 0
}

// loop records the value of the word at index i if it is the variable of a loop over a list:
// harmless if the list contains only literals, or is a name with a harmless value; otherwise
// unknown. So is a block parameter id of Ruby.
func (m *matcher) loop(i int) {
	// The block parameter in each { |id| … } hides the record's own id: see scopes.value.
	if m.lang.ruby && m.is(i, "id") && (m.is(i-1, "|") || m.is(i+1, "|")) {
		m.scope.set("id", unknown())
		return
	}
	if !m.isOneOf(i+1, "in", "of") || !m.isOneOf(i-1, "for", "const", "let", "var") {
		return
	}
	list := extent{i + 2, i + 2}
	for list.to < min(len(m.tokens), i+longestExpression) && !m.is(list.to, ":") && m.tokens[list.to].kind != closing && !m.tokens[list.to].first {
		list.to = m.after(list.to)
	}
	v := unknown()
	if list.to > list.from && (m.isConstantList(list) || list.to == list.from+1 && m.isWord(list.from) && m.scope.value(m.written(list.from)).text == harmless().text) {
		v = harmless()
	}
	m.scope.set(m.written(i), v)
}

// destructuring records the value of the names in `const { a, b } = c`, whose bracket is the
// token at index open.
func (m *matcher) destructuring(open int) {
	sign := m.after(open)
	if m.lang.name != "javascript" || !m.is(sign, "=") || !m.isOneOf(open-1, "const", "let", "var") {
		return
	}
	x := m.expressionAt(sign + 1)
	m.destructuredAliases(open, x)
	v := unknownFrom(m.valueOf(x).origin)
	for i := open + 1; i < min(sign-1, open+2*mostArguments); i++ {
		if m.tokens[i].kind == word && !m.is(i+1, ":") {
			m.scope.set(m.written(i), v)
		}
	}
}

// appendText records that a statement such as `sql.append(x)` appends to the value of sql. The
// method's name is the word at index i.
func (m *matcher) appendText(i int) {
	name := i - 2
	if !m.pack.Grows[m.written(i)] || !m.is(i-1, ".") || !m.isWord(name) || !m.tokens[name].first && !m.isOneOf(name-1, ";", "{", ")") {
		return
	}
	if old, known := m.scope.values[m.written(name)]; !known || old.literal || old.text == "" {
		m.scope.set(m.written(name), m.valueOf(m.expressionAt(name)))
	}
}

// appending are the methods that put their arguments into a list.
var appending = wordSetOf("push append unshift extend prepend insert")

// appendElement records that a list has the value of x after `list.push(x)`, if x is built or
// changing. A name whose value has literal text is not a list. The method's name is the word at index
// i, its arguments lie between the indexes from and end.
func (m *matcher) appendElement(i, from, end int) {
	name := i - 2
	if !appending[m.written(i)] || !m.is(i-1, ".") || !m.isWord(name) || m.is(name-1, ".") {
		return
	}
	old, known := m.scope.values[m.written(name)]
	if !known || old.literal {
		return
	}
	for _, a := range m.argumentsIn(from, end) {
		if v := m.valueOf(a.extent); v.built() || v.changing && !old.changing {
			m.scope.values[m.written(name)] = v // until the end of the function that declares the list
			return
		}
	}
}

// nameAlias records the module, or function of it, that a name stands for: ["child_process" "exec"]
// for run in `const run = require("child_process").exec`. Without parts it stands for nothing known.
func (m *matcher) nameAlias(name string, parts []string) {
	if len(parts) > 0 || m.aliases[name] != nil {
		m.aliases[name] = parts
	}
}

// moduleParts returns the name of the module that an expression stands for. If the expression
// stands for a function of the module, the function's name follows. It returns nil for any other
// expression.
func (m *matcher) moduleParts(x extent) []string {
	i := x.from
	var parts []string
	switch {
	case len(m.pack.Modules) == 0 || x.to-x.from > longestExpression:
		return nil
	case m.is(i, "await"):
		return m.moduleParts(extent{i + 1, x.to})
	case m.is(i, "("): // (await import("vm")).runInThisContext
		parts = m.moduleParts(m.inside(i))
		i = m.after(i)
	case m.isOneOf(i, "require", "import") && m.is(i+1, "(") && m.kindAt(i+2) == stringText:
		parts = m.module(i + 2)
		i = m.after(i + 1)
	case m.isWord(i):
		if m.is(i+1, ".") && m.is(i+2, "promisify") { // util.promisify(exec)
			i += 2
		}
		if m.is(i, "promisify") && m.is(i+1, "(") && m.after(i+1) >= x.to {
			return m.moduleParts(extent{i + 2, x.to - 1})
		}
		parts = m.aliases[m.written(i)]
		i++
	}
	if parts == nil {
		return nil
	}
	for ; m.is(i, ".") && m.isWord(i+1) && i+1 < x.to; i += 2 {
		parts = append(slices.Clip(parts), m.written(i+1))
	}
	if i < x.to {
		return nil
	}
	return parts
}

// module returns the name of the module in the literal at index i, if patterns name
// functions of it. The functions of fs/promises have the names of those of fs.
func (m *matcher) module(i int) []string {
	name := strings.TrimSuffix(strings.TrimPrefix(m.content(i), "node:"), "/promises")
	if !m.pack.Modules[name] {
		return nil
	}
	return []string{name}
}

// imports records the names in `import { exec as run } from "child_process"`, if the word at
// index i is its "from", or those of an import of Python: see pythonImports.
func (m *matcher) imports(i int) {
	if m.lang.name == "python" {
		m.pythonImports(i)
		return
	}
	if !m.is(i, "from") || m.kindAt(i+1) != stringText || len(m.pack.Modules) == 0 {
		return
	}
	module := m.module(i + 1)
	for j := i - 1; module != nil && j > max(0, i-4*mostArguments) && !m.is(j, "import"); j-- {
		switch {
		case !m.isWord(j) || m.is(j, "as"):
		case m.is(j-1, "as") && m.isWord(j-2):
			m.nameAlias(m.written(j), append(slices.Clip(module), m.written(j-2)))
			j -= 2
		case m.isOneOf(j-1, "{", ","):
			m.nameAlias(m.written(j), append(slices.Clip(module), m.written(j)))
		default: // "import cp from", "import * as cp from"
			m.nameAlias(m.written(j), module)
		}
	}
}

// destructuredAliases records the names in `const { exec: run } = require("child_process")`,
// whose brace is the token at index open and whose value has the extent x.
func (m *matcher) destructuredAliases(open int, x extent) {
	module := m.moduleParts(x)
	if len(module) != 1 {
		return
	}
	for _, a := range m.arguments(open) {
		switch name := m.written(a.to - 1); {
		case a.name != "":
			m.nameAlias(name, append(slices.Clip(module), a.name))
		case a.to == a.from+1:
			m.nameAlias(name, append(slices.Clip(module), name))
		}
	}
}

// pythonImports records the names in `import a.b as c` and `from a.b import c as d`, if the word at
// index i is their "import".
func (m *matcher) pythonImports(i int) {
	if !m.is(i, "import") {
		return
	}
	var module []string
	if !m.tokens[i].first {
		j := i - 1
		for ; j >= 0 && j > i-2*longestName && !m.is(j, "from"); j-- {
			if m.isWord(j) {
				module = append(module, m.written(j))
			}
		}
		if !m.is(j, "from") || m.is(j+1, ".") || len(module) == 0 {
			return
		}
		slices.Reverse(module)
	}
	j, end := i+1, m.expressionAt(i+1).to
	if m.is(j, "(") {
		j, end = j+1, m.after(j)-1
	}
	for j < min(end+4*mostArguments, len(m.tokens)) && m.isWord(j) {
		parts := append(slices.Clip(module), m.written(j))
		name := m.written(j)
		for j++; m.is(j, ".") && m.isWord(j+1); j += 2 {
			parts = append(parts, m.written(j+1))
		}
		if m.is(j, "as") && m.isWord(j+1) {
			name = m.written(j + 1)
			j += 2
		}
		if name != parts[0] {
			m.nameAlias(name, parts)
		}
		if !m.is(j, ",") {
			return
		}
		j++
	}
}
