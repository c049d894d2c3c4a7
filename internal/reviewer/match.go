package reviewer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// matcher holds the patterns of a pack against a file, from its beginning to its
// end, so that it knows what names were given before.
type matcher struct {
	*evaluator
	found []finding.Finding
	files map[*regexp.Regexp]bool // what was found out about the whole file
}

// matchPack returns what a pack's rules find in a file.
func matchPack(s *source, p *pack, uses func(*Rule) bool) []finding.Finding {
	m := &matcher{evaluator: &evaluator{source: s, pack: p, scope: newScopes(s, p.parameters)}, files: map[*regexp.Regexp]bool{}}
	for i := range s.tokens {
		m.scope.enter(i)
		if s.tokens[i].kind == open {
			if s.runs(i) {
				m.shell(i, uses)
			}
			m.parted(i)
		}
		if s.tokens[i].kind != word {
			continue
		}
		if open, end, ok := m.called(i); ok {
			m.call(i, open, end, uses)
			if p.grows[s.written(i)] {
				m.grow(i)
			}
		}
		if p.receivers[s.written(i)] != nil && s.is(i-1, ".") {
			m.receiver(i, uses)
		}
		m.assignment(i, uses)
		m.loop(i)
	}
	return m.found
}

// called reports whether the word at index i is called, and where its arguments
// begin and end. Ruby needs no brackets.
func (m *matcher) called(i int) (from, end int, ok bool) {
	open := i + 1
	if m.lang.name == "rust" && m.is(open, "!") {
		open++
	}
	if m.is(open, "(") {
		return open + 1, m.after(open) - 1, true
	}
	if !m.lang.ruby || m.is(i-1, ":") || open >= len(m.tokens) || m.tokens[open].first || m.pack.calls[m.written(i)] == nil {
		return 0, 0, false
	}
	if k := m.tokens[open].kind; k == text || k == word || k == number || m.isString(open) {
		last := m.expression(open).to
		for n := 1; n < mostArguments && m.is(last, ",") && last+1 < len(m.tokens); n++ {
			last = m.expression(last + 1).to
		}
		return open, last, true
	}
	return 0, 0, false
}

func (m *matcher) call(i, from, end int, uses func(*Rule) bool) {
	candidates := m.pack.calls[m.written(i)]
	if len(candidates) == 0 || m.is(i-1, "def") || m.is(i-1, "func") || m.is(i-1, "function") || m.is(i-1, "fn") {
		return
	}
	parts, begin := m.name(i)
	arguments := m.argumentsIn(from, end)
	done := map[*Rule]bool{}
	for _, p := range candidates {
		if done[p.rule] || !uses(p.rule) || !named(parts, p.name) {
			continue
		}
		x, ok := p.pick(arguments)
		if !ok {
			continue
		}
		values := []extent{x}
		if p.Each {
			values = m.elements(x)
		}
		if !slices.ContainsFunc(values, func(x extent) bool { return m.holds(p, x, extent{from, end}, i) }) {
			continue
		}
		done[p.rule] = true
		m.report(p.rule, begin, i, parts)
	}
}

// pick returns the argument that a pattern is about.
func (p *pattern) pick(arguments []argument) (extent, bool) {
	if p.position == 0 && p.keyword == "" {
		return extent{}, true
	}
	n := 0
	for _, a := range arguments {
		if a.name == "" {
			n++
		}
		if p.keyword != "" && a.name == p.keyword || p.keyword == "" && a.name == "" && n == p.position {
			return a.extent, true
		}
	}
	return extent{}, false
}

// holds reports whether what a pattern asks for holds for a value, of a call with
// these arguments or of a setting, at the word at index i.
func (m *matcher) holds(p *pattern, x, arguments extent, i int) bool {
	if p.arguments != nil && !p.arguments.MatchString(m.between(arguments)) || p.written != nil && !p.written.MatchString(m.between(x)) {
		return false
	}
	if p.statement != nil && !p.statement.MatchString(m.statement(i)) || !m.around(p, i, arguments.to) {
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

// assignment looks whether the word at index i is given a value.
func (m *matcher) assignment(i int, uses func(*Rule) bool) {
	sign := i + 1
	switch {
	case m.is(sign, "=") || m.is(sign, ":=") || m.is(sign, "+=") || m.is(sign, "<<") && m.lang.ruby:
	case m.is(sign, ":") || m.is(sign, "=>"):
		if at := m.typed(i); at > 0 {
			sign = at
			break
		}
		if !m.is(i-1, ".") { // "a.b : c" is half of a choice
			m.setting(i, sign+1, uses)
		}
		return
	default:
		return
	}
	x := m.setting(i, sign+1, uses)
	if m.is(i-1, ".") && !m.is(i-2, "this") && !m.is(i-2, "self") || m.lang.name == "python" && !m.tokens[i].first && !m.is(i-1, ".") {
		return
	}
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

// setting matches the patterns for what is set, and returns the value's extent.
func (m *matcher) setting(i, from int, uses func(*Rule) bool) extent {
	x := m.expression(from)
	candidates := m.pack.sets[m.written(i)]
	if len(candidates) == 0 || x.from >= x.to {
		return x
	}
	parts, begin := m.name(i)
	for _, p := range candidates {
		if uses(p.rule) && named(parts, p.name) && m.holds(p, x, x, i) {
			m.report(p.rule, begin, i, parts)
			break
		}
	}
	return x
}

// longestSink bounds how many bytes of a name a message shows.
const longestSink = 60

func (m *matcher) report(r *Rule, begin, i int, parts []string) {
	sink := strings.TrimLeft(strings.Join(parts, "."), ".")
	m.found = append(m.found, m.finding(r, m.tokens[begin].start, m.tokens[i].end, strings.ReplaceAll(r.Message, "{sink}", sink[:min(len(sink), longestSink)])))
}

// finding makes a finding of a rule at the bytes from start to end.
func (s *source) finding(r *Rule, start, end int32, message string) finding.Finding {
	return finding.Finding{Check: r.Check, Tool: Tool, Rule: r.ID, Severity: r.Severity, Message: message, Path: s.path,
		Range: finding.Range{StartLine: s.line(start), StartColumn: s.column(start), EndLine: s.line(end - 1), EndColumn: s.column(end)}}
}
