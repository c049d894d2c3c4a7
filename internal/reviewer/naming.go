package reviewer

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
