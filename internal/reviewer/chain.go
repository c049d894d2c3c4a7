package reviewer

import "regexp"

// longestChain bounds how many links of a chain of calls are followed.
const longestChain = 12

// chain returns the index of the first token of the chain whose last name is the
// word at index i: that of Command in `Command::new("sh").arg`.
func (s *source) chain(i int) int {
	for range longestChain {
		if dot := i - 1; !s.is(dot, ".") && !s.is(dot, "?.") && !s.is(dot, "&.") && !s.is(dot, "::") {
			return i
		}
		before := i - 2
		if s.is(before, "?") { // Rust's way to pass an error on
			before--
		}
		switch s.kindAt(before) {
		case word:
			i = before
		case text:
			return before
		case closing:
			pair := int(s.tokens[before].pair)
			if pair < 0 {
				return i
			}
			switch i = pair; {
			case s.isString(pair):
				return i
			case s.kindAt(pair-1) == word:
				i = pair - 1
			case s.is(pair-1, "!") && s.kindAt(pair-2) == word:
				i = pair - 2
			}
		default:
			return i
		}
	}
	return i
}

// receiver holds the patterns about what a method is called on, whose name is the
// word at index i, against it.
func (m *matcher) receiver(i int, uses func(*Rule) bool) {
	begin := m.chain(i)
	if begin >= i-1 {
		return
	}
	x := extent{begin, i - 1}
	for _, p := range m.pack.receivers[m.written(i)] {
		if uses(p.rule) && m.holds(p, x, x, i) {
			m.report(p.rule, begin, i, []string{m.written(i)})
			return
		}
	}
}

// shell holds the patterns about a command between backticks, or in %x, against
// the literal that the token at index i opens.
func (m *matcher) shell(i int, uses func(*Rule) bool) {
	x := extent{i, m.after(i)}
	for _, p := range m.pack.calls["`"] {
		if uses(p.rule) && m.holds(p, x, x, i) {
			m.report(p.rule, i, x.to-1, []string{"The shell"})
			return
		}
	}
}

// elements returns those of the first list in an extent, such as the last three
// texts in `List.of("sh", "-c", line)`.
func (s *source) elements(x extent) []extent {
	var list []extent
	for i := x.from; i < min(x.to, len(s.tokens)); i++ {
		if s.tokens[i].kind != open || s.isString(i) || s.after(i) == i+2 {
			continue
		}
		for _, a := range s.arguments(i) {
			list = append(list, a.extent)
		}
		break
	}
	return list
}

// around reports whether what a pattern asks of the places around the word at
// index i holds: the chain before it, what stands behind the call that ends with
// the token before index end, and the file.
func (m *matcher) around(p *pattern, i, end int) bool {
	if p.chain != nil && !p.chain.MatchString(m.between(extent{m.chain(i), i})) {
		return false
	}
	if p.behind != nil && !p.behind.MatchString(m.behind(end)) {
		return false
	}
	return p.file == nil && p.without == nil || (p.file == nil || m.file(p.file)) && (p.without == nil || !m.file(p.without))
}

// behind returns what stands behind the token before index end, and behind the
// bracket that closes there.
func (m *matcher) behind(end int) string {
	if m.is(end, ")") {
		end++
	}
	from := m.tokens[min(end, len(m.tokens))-1].end
	return m.text[from:min(len(m.text), int(from)+longestSource/4)]
}

// file reports what an expression says about the whole file, asked once a file.
func (m *matcher) file(re *regexp.Regexp) bool {
	holds, known := m.files[re]
	if !known {
		holds = re.MatchString(m.text)
		m.files[re] = holds
	}
	return holds
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
	v := value{said: hole, changing: true, origin: m.of(m.expression(sign + 1)).origin}
	for j := i + 1; j < min(sign-1, i+2*mostArguments); j++ {
		if m.tokens[j].kind == word && !m.is(j+1, ":") {
			m.scope.set(m.written(j), v)
		}
	}
}
