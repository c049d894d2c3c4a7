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
	uses  func(*Rule) bool
	found []finding.Finding
	files map[*regexp.Regexp]bool // what was found out about the whole file
	// aliases are names that stand for a module or a function of it, by their parts.
	aliases map[string][]string
}

// matchPack returns what a pack's rules find in a file.
func matchPack(s *source, p *pack, uses func(*Rule) bool) []finding.Finding {
	m := &matcher{evaluator: &evaluator{source: s, pack: p, scope: newScopes(s, p.parameters)}, uses: uses, files: map[*regexp.Regexp]bool{}}
	for i := range s.tokens {
		m.scope.enter(i)
		if s.tokens[i].kind == open {
			if s.runs(i) {
				m.shell(i)
			}
			m.parted(i)
		}
		if s.tokens[i].kind != word {
			continue
		}
		if open, end, ok := m.called(i); ok {
			m.call(i, open, end)
			if p.grows[s.written(i)] {
				m.grow(i)
			}
			if appending[s.written(i)] {
				m.append(i, open, end)
			}
		}
		if s.is(i, "from") {
			m.imports(i)
		}
		if p.receivers[s.written(i)] != nil && s.is(i-1, ".") {
			m.receiver(i)
		}
		m.assignment(i)
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
	if k := m.tokens[open].kind; k == stringText || k == word || k == number || m.isString(open) {
		last := m.expression(open).to
		for n := 1; n < mostArguments && m.is(last, ",") && last+1 < len(m.tokens); n++ {
			last = m.expression(last + 1).to
		}
		return open, last, true
	}
	return 0, 0, false
}

// call holds the patterns about calls against that of the word at index i, whose
// arguments begin at from and end before end. A rule finds a call once.
func (m *matcher) call(i, from, end int) {
	candidates := m.pack.calls[m.written(i)]
	alias := m.aliases[m.written(i)]
	if n := len(alias); n > 1 && !m.is(i-1, ".") && alias[n-1] != m.written(i) {
		candidates = m.pack.calls[alias[n-1]]
	}
	if len(candidates) == 0 || m.is(i-1, "def") || m.is(i-1, "func") || m.is(i-1, "function") || m.is(i-1, "fn") {
		return
	}
	parts, begin := m.name(i)
	meant := parts
	if alias := m.aliases[parts[0]]; alias != nil {
		meant = slices.Concat(alias, parts[1:])
	}
	arguments := m.argumentsIn(from, end)
	done := map[*Rule]bool{}
	for _, p := range candidates {
		if done[p.rule] || !m.uses(p.rule) || !named(parts, p.name) && !named(meant, p.name) {
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

// setting holds the patterns about what is set against the word at index i, whose
// value begins at from, and returns the value's extent.
func (m *matcher) setting(i, from int) extent {
	x := m.expression(from)
	candidates := m.pack.sets[m.written(i)]
	if len(candidates) == 0 || x.from >= x.to {
		return x
	}
	parts, begin := m.name(i)
	for _, p := range candidates {
		if m.uses(p.rule) && named(parts, p.name) && m.holds(p, x, x, i) {
			m.report(p.rule, begin, i, parts)
			break
		}
	}
	return x
}

// receiver holds the patterns about what a method is called on, whose name is the
// word at index i, against it.
func (m *matcher) receiver(i int) {
	begin := m.chain(i)
	if begin >= i-1 {
		return
	}
	x := extent{begin, i - 1}
	for _, p := range m.pack.receivers[m.written(i)] {
		if m.uses(p.rule) && m.holds(p, x, x, i) {
			m.report(p.rule, begin, i, []string{m.written(i)})
			return
		}
	}
}

// shell holds the patterns about a command between backticks, or in %x, against
// the literal that the token at index i opens.
func (m *matcher) shell(i int) {
	x := extent{i, m.after(i)}
	for _, p := range m.pack.calls["`"] {
		if m.uses(p.rule) && m.holds(p, x, x, i) {
			m.report(p.rule, i, x.to-1, []string{"The shell"})
			return
		}
	}
}

// longestSink bounds how many bytes of a name a message shows.
const longestSink = 60

// report adds a finding at the tokens from begin to i, which have the name of these
// parts.
func (m *matcher) report(r *Rule, begin, i int, parts []string) {
	sink := strings.TrimLeft(strings.Join(parts, "."), ".")
	sink = strings.ToValidUTF8(sink[:min(len(sink), longestSink)], "") // the cut may have split a character
	m.found = append(m.found, m.finding(r, m.tokens[begin].start, m.tokens[i].end, strings.ReplaceAll(r.Message, "{sink}", sink)))
}

// finding makes a finding of a rule at the bytes from start to end.
func (s *source) finding(r *Rule, start, end int32, message string) finding.Finding {
	return finding.Finding{Check: r.Check, Tool: Tool, Rule: r.ID, Severity: r.Severity, Message: message, Path: s.path,
		Range: finding.Range{StartLine: s.line(start), StartColumn: s.column(start), EndLine: s.line(end - 1), EndColumn: s.column(end)}}
}
