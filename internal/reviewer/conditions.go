package reviewer

import (
	"regexp"
	"strings"
)

// holds reports whether what a pattern asks for holds for a value, of a call with
// these arguments or of a setting, at the word at index i.
func (m *matcher) holds(p *pattern, x, arguments extent, i int) bool {
	if p.arguments != nil && !p.arguments.MatchString(m.between(arguments)) || p.written != nil && !p.written.MatchString(m.between(x)) {
		return false
	}
	if p.statement != nil && !p.statement.MatchString(m.statement(i)) || p.except != nil && p.except.MatchString(m.statement(i)) || !m.around(p, i, arguments.to) {
		return false
	}
	if p.Is == "" && p.text == nil && p.source == nil {
		return p.unless == nil || !p.unless.MatchString(m.between(arguments))
	}
	v := m.of(x)
	switch {
	case p.Is == "built" && !v.built(), p.Is == "changing" && !v.changing, p.Is == "input" && !(v.changing && m.pack.inputs.MatchString(v.origin)):
		return false
	case p.text != nil && !p.text.MatchString(v.said), p.source != nil && !p.source.MatchString(v.origin):
		return false
	}
	return p.unless == nil || !p.unless.MatchString(v.origin) && !p.unless.MatchString(m.between(arguments))
}

// statement returns the line of the token at index i, behind the names of the
// functions that it is in.
func (m *matcher) statement(i int) string {
	at := m.tokens[i].start
	line := m.text[m.lines[m.line(at)-1]:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return m.scope.in() + "\n" + line[:min(len(line), longestSource)]
}

// around reports whether what a pattern asks of the places around the word at
// index i holds: the chain before it, what stands behind the call that ends with
// the token before index end, and the file.
func (m *matcher) around(p *pattern, i, end int) bool {
	if p.guard != nil && p.guard.MatchString(m.before(i)) {
		return false
	}
	if p.chain != nil && !p.chain.MatchString(m.between(extent{m.chain(i), i})) {
		return false
	}
	if p.behind != nil && !p.behind.MatchString(m.behind(end)) {
		return false
	}
	return p.file == nil && p.without == nil || (p.file == nil || m.file(p.file)) && (p.without == nil || !m.file(p.without))
}

// before returns what stands in the function around the token at index i, before it.
func (m *matcher) before(i int) string {
	n := len(m.scope.nested)
	if n == 0 {
		return ""
	}
	from, to := m.tokens[m.scope.nested[n-1].begin].start, m.tokens[i].start
	return m.text[max(from, to-2*longestSource):to]
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
