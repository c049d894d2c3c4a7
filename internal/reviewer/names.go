package reviewer

import (
	"slices"
	"strings"
)

// assignment looks whether the word at index i is given a value.
func (m *matcher) assignment(i int) {
	sign := i + 1
	switch {
	case m.is(sign, "=") || m.is(sign, ":=") || m.is(sign, "+=") || m.is(sign, "<<") && m.lang.ruby:
	case m.is(sign, ":") || m.is(sign, "=>"):
		if at := m.typed(i); at > 0 {
			sign = at
			break
		}
		if !m.is(i-1, ".") { // "a.b : c" is half of a choice
			m.setting(i, sign+1)
		}
		return
	default:
		return
	}
	x := m.setting(i, sign+1)
	if m.is(i-1, ".") && !m.is(i-2, "this") && !m.is(i-2, "self") || m.lang.name == "python" && !m.tokens[i].first && !m.is(i-1, ".") {
		return
	}
	m.alias(i, x)
	v := m.of(x)
	if m.is(sign, "+=") || m.is(sign, "<<") {
		old := m.scope.value(m.written(i))
		old.add(v)
		v = old
	}
	m.scope.set(m.written(i), v)
	for j := i; m.is(j-1, ",") && m.kindAt(j-2) == word && m.lang.name != "javascript"; j -= 2 {
		m.scope.set(m.written(j-2), value{said: hole, changing: true, origin: v.origin})
	}
}

// loop looks whether the name at index i runs over a list of literals.
func (m *matcher) loop(i int) {
	if m.lang.ruby && m.is(i, "id") && (m.is(i-1, "|") || m.is(i+1, "|")) {
		m.scope.set("id", changing())
		return
	}
	if !m.is(i+1, "in") && !m.is(i+1, "of") || !m.is(i-1, "for") && !m.is(i-1, "const") && !m.is(i-1, "let") && !m.is(i-1, "var") {
		return
	}
	end := i + 2
	for end < len(m.tokens) && end < i+longestExpression && !m.is(end, ":") && m.tokens[end].kind != closing && !m.tokens[end].first {
		end = m.after(end)
	}
	if x := (extent{i + 2, end}); x.to > x.from && m.onlyLiterals(x) {
		m.scope.set(m.written(i), value{said: "0"})
	} else {
		m.scope.set(m.written(i), changing())
	}
}

// typed returns the index of the sign that gives a value to the name at index i,
// behind which its type stands; 0 if there is none.
func (m *matcher) typed(i int) int {
	switch before := i - 1; {
	case m.is(before, "let"), m.is(before, "const"), m.is(before, "var"), m.is(before, "mut"):
	case m.lang.name == "python" && m.tokens[i].first:
	default:
		return 0
	}
	for j := i + 2; j < min(len(m.tokens), i+12); j = m.after(j) {
		if m.is(j, "=") {
			return j
		}
		if m.tokens[j].first {
			break
		}
	}
	return 0
}

// grow adds what a call such as `sql.append(x)` appends to what is known of the
// name at the beginning of the statement. The method's name is the word at index i.
func (m *matcher) grow(i int) {
	name := i - 2
	if name < 0 || !m.is(i-1, ".") || m.tokens[name].kind != word || !m.tokens[name].first && !m.is(name-1, ";") && !m.is(name-1, "{") && !m.is(name-1, ")") {
		return
	}
	if old, known := m.scope.values[m.written(name)]; !known || old.literal || old.said == "" {
		m.scope.set(m.written(name), m.of(m.expression(name)))
	}
}

// parted gives their value to the names of `const { a, b } = c`, whose brace or bracket is
// the token at index i.
func (m *matcher) parted(i int) {
	sign := m.after(i)
	if m.lang.name != "javascript" || !m.is(sign, "=") || !m.is(i-1, "const") && !m.is(i-1, "let") && !m.is(i-1, "var") {
		return
	}
	x := m.expression(sign + 1)
	m.renamed(i, x)
	v := value{said: hole, changing: true, origin: m.of(x).origin}
	for j := i + 1; j < min(sign-1, i+2*mostArguments); j++ {
		if m.tokens[j].kind == word && !m.is(j+1, ":") {
			m.scope.set(m.written(j), v)
		}
	}
}

// alias notes that a name of JavaScript stands for a module whose functions the patterns
// name, or for one of them, in `const run = require('child_process').exec`. The value that
// the word at index i is given is the extent x.
func (m *matcher) alias(i int, x extent) {
	if len(m.pack.modules) == 0 || m.is(i-1, ".") {
		return
	}
	m.standsFor(m.written(i), m.meant(x))
}

// standsFor notes what a name stands for, or that it stands for nothing that is known.
func (m *matcher) standsFor(name string, parts []string) {
	switch {
	case len(parts) == 0:
		delete(m.aliases, name)
	case m.aliases == nil:
		m.aliases = map[string][]string{name: parts}
	default:
		m.aliases[name] = parts
	}
}

// meant returns the module, and the function of it, that a value is, or nothing.
func (m *matcher) meant(x extent) []string {
	i := x.from
	var parts []string
	switch {
	case x.to-x.from > longestExpression:
		return nil
	case m.is(i, "await"):
		return m.meant(extent{i + 1, x.to})
	case m.is(i, "require") && m.is(i+1, "(") && m.kindAt(i+2) == stringText:
		if parts = m.module(i + 2); parts == nil {
			return nil
		}
		i = m.after(i + 1)
	case m.kindAt(i) == word:
		if m.is(i+1, ".") && m.is(i+2, "promisify") { // of util
			i += 2
		}
		if m.is(i, "promisify") && m.is(i+1, "(") && m.after(i+1) >= x.to {
			return m.meant(extent{i + 2, x.to - 1})
		}
		if parts = m.aliases[m.written(i)]; parts == nil {
			return nil
		}
		i++
	default:
		return nil
	}
	for ; m.is(i, ".") && m.kindAt(i+1) == word && i+1 < x.to; i += 2 {
		parts = append(slices.Clip(parts), m.written(i+1))
	}
	if i < x.to {
		return nil
	}
	return parts
}

// module returns the name of the module in the literal at index i, if patterns name
// functions of it.
func (m *matcher) module(i int) []string {
	name := strings.TrimPrefix(m.content(i), "node:")
	if !m.pack.modules[name] {
		return nil
	}
	return []string{name}
}

// imports notes the names in an import whose word "from" is at index i, such as
// `import { exec as run } from 'child_process'`.
func (m *matcher) imports(i int) {
	if m.kindAt(i+1) != stringText || len(m.pack.modules) == 0 {
		return
	}
	module := m.module(i + 1)
	for j := i - 1; module != nil && j > max(0, i-4*mostArguments) && !m.is(j, "import"); j-- {
		switch {
		case m.kindAt(j) != word || m.is(j, "as"):
		case m.is(j-1, "as") && m.kindAt(j-2) == word:
			m.standsFor(m.written(j), append(slices.Clip(module), m.written(j-2)))
			j -= 2
		case m.is(j-1, "{") || m.is(j-1, ","):
			m.standsFor(m.written(j), append(slices.Clip(module), m.written(j)))
		default: // "import cp from", "import * as cp from"
			m.standsFor(m.written(j), module)
		}
	}
}

// renamed notes the names of `const { exec: run } = require('child_process')`, whose brace
// is the token at index i and whose value is the extent x.
func (m *matcher) renamed(i int, x extent) {
	module := m.meant(x)
	if len(module) != 1 {
		return
	}
	for _, a := range m.arguments(i) {
		switch name := m.written(a.to - 1); {
		case a.name != "":
			m.standsFor(name, append(slices.Clip(module), a.name))
		case a.to == a.from+1:
			m.standsFor(name, append(slices.Clip(module), name))
		}
	}
}
