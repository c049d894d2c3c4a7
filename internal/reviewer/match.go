package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// matcher looks for the patterns of a pack in a file, from its beginning to its end, so
// that it knows which values the names have been given before.
type matcher struct {
	*evaluator
	// selects is Config.selects.
	selects func(*Rule, finding.Precision) bool
	found   []finding.Finding
	files   map[string]bool // which expressions match something in the file
	// readings are where aroundHas has found something, as offsets in the text that it read.
	readings map[reading][][]int
	// heads are the results of headHas.
	heads map[head]bool
	// opened are the results of openBefore; nil before its first call.
	opened []int32
	// aliases maps a name to the parts of the dotted name of the module or function that it stands for.
	aliases map[string][]string
	// changes are values that names get later.
	changes []change
	// cases are values that names get in the cases of a switch, in the order of their tokens.
	cases []change
	// followed is how many operands isDirect has followed.
	followed int
}

// matchPack returns what a pack's rules find in a file.
func matchPack(s *source, p *pack, selects func(*Rule, finding.Precision) bool) []finding.Finding {
	m := newMatcher(s, p, selects)
	for i := range s.tokens {
		m.visit(i)
	}
	return m.found
}

func newMatcher(s *source, p *pack, selects func(*Rule, finding.Precision) bool) *matcher {
	return &matcher{evaluator: &evaluator{source: s, pack: p, scope: newScopes(s, p)}, selects: selects,
		files: map[string]bool{}, readings: map[reading][][]int{}, heads: map[head]bool{}, aliases: map[string][]string{}}
}

// visit looks for everything that may begin with the token at index i. It is called in the order of
// the file.
func (m *matcher) visit(i int) {
	m.scope.enter(i)
	m.applyChanges(i)
	switch m.tokens[i].kind {
	case opening:
		m.shellLiteral(i)
		m.destructuring(i)
	case word:
		if m.is(i, "return") {
			m.returned(i)
			return
		}
		if from, end, ok := m.callArguments(i); ok {
			m.call(i, from, end)
			m.appendText(i)
			m.appendElement(i, from, end)
		}
		m.condition(i)
		m.switched(i)
		m.fill(i)
		m.imports(i)
		m.emptyBuilder(i)
		m.receiver(i)
		m.assignment(i)
		m.loop(i)
	}
}

// callArguments reports whether the word at index i is called, and where its arguments
// begin and end. Ruby needs no brackets.
func (m *matcher) callArguments(i int) (from, end int, ok bool) {
	open := i + 1
	switch {
	case m.lang.name == "rust" && m.is(open, "!"):
		open++
	case m.lang.name == "rust" && m.is(open, "::") && m.is(open+1, "<"):
		open = m.afterTypes(open + 1)
	case m.lang.name == "java" && m.is(open, "<") && m.is(i-1, "new"):
		open = m.afterTypes(open)
	}
	if m.is(open, "(") {
		return open + 1, m.after(open) - 1, true
	}
	if !m.lang.ruby || m.is(i-1, ":") || open >= len(m.tokens) || m.tokens[open].first || m.pack.calls[m.written(i)] == nil {
		return 0, 0, false
	}
	if k := m.tokens[open].kind; k != stringText && k != word && k != number && !m.opensString(open) {
		return 0, 0, false
	}
	end = m.expressionAt(open).to
	for n := 1; n < mostArguments && m.is(end, ",") && end+1 < len(m.tokens); n++ {
		end = m.expressionAt(end + 1).to
	}
	return open, end, true
}

// afterTypes returns the index after the types of a call, which begin at index i: f::<A, B>(c). It
// returns i if they do not end within the next tokens.
func (m *matcher) afterTypes(i int) int {
	const longest = 24 // tokens
	depth := 0
	for j := i; j < min(len(m.tokens), i+longest); j++ {
		switch {
		case m.is(j, "<"):
			depth++
		case m.is(j, ">"):
			depth--
		case m.is(j, ">>"):
			depth -= 2
		case m.isOneOf(j, ";", "{", "}"):
			return i
		}
		if depth <= 0 {
			return j + 1
		}
	}
	return i
}

// definesFunction reports whether a function with the name that begins at index i is defined there,
// and not called.
func (s *source) definesFunction(i int) bool { return s.isOneOf(i-1, "def", "func", "function", "fn") }

// call looks for the patterns about calls in the call of the word at index i. Its arguments
// begin at index from and end before end. A rule finds a call once.
func (m *matcher) call(i, from, end int) {
	candidates := m.pack.calls[m.written(i)]
	if alias := m.aliases[m.written(i)]; len(alias) > 1 && !m.is(i-1, ".") && alias[len(alias)-1] != m.written(i) {
		candidates = m.pack.calls[alias[len(alias)-1]]
	}
	if len(candidates) == 0 || m.definesFunction(i) {
		return
	}
	parts, begin := m.dottedName(i)
	name := parts
	if alias := m.aliases[parts[0]]; alias != nil {
		name = slices.Concat(alias, parts[1:])
	} else if module := m.inlineModule(parts, i); module != nil {
		name = append(module, m.written(i))
	} else if m.lang.name == "java" {
		name = withoutPackage(parts)
	}
	arguments := m.argumentsIn(from, end)
	done := map[*Rule]bool{}
	for _, p := range candidates {
		if done[p.rule] || !p.names(parts) && !p.names(name) {
			continue
		}
		x, ok := p.argumentIn(arguments)
		if !ok {
			continue
		}
		values := []extent{x}
		if p.Each {
			values = m.elements(x)
		}
		if n := slices.IndexFunc(values, func(x extent) bool { return m.matches(p, x, extent{from, end}, i) }); n >= 0 {
			done[p.rule] = true
			m.report(p.rule, begin, i, strings.Join(parts, "."), values[n], m.withoutFunctions(arguments)...)
		}
	}
}

// inlineModule returns the name of the module of the function that is called at the word at index
// i, if the file gives the module no name: require("vm").runInThisContext(a). parts are those of
// the call's name.
func (m *matcher) inlineModule(parts []string, i int) []string {
	if parts[0] != "" {
		return nil
	}
	return slices.Clip(m.moduleParts(extent{m.chainStart(i), i - 1}))
}

// withoutPackage returns a dotted name of Java from its first type on: ["File"] of java.io.File. A
// name without a type is returned as it is.
func withoutPackage(parts []string) []string {
	for i, part := range parts {
		switch {
		case part == "" || i == len(parts)-1 && !isTypeName(part):
			return parts
		case isTypeName(part) && part != "this":
			return parts[i:]
		}
	}
	return parts
}

// setting looks for the patterns about settings where the word at index i gets a value:
// verify=False, a.innerHTML = b. In Java, if a type stands before the word, a pattern has to name
// the type. The value begins at index from. setting returns its extent.
func (m *matcher) setting(i, from int) extent {
	x := m.expressionAt(from)
	named := i
	if m.lang.name == "java" && m.isWord(i-1) {
		named = i - 1
	}
	if patterns := m.pack.sets[m.written(named)]; patterns != nil && x.from < x.to {
		parts, begin := m.dottedName(named)
		m.reportFirst(patterns, parts, x, i, extent{begin, i + 1}, strings.Join(parts, "."))
	}
	return x
}

// receiver looks for the patterns about the object of a method, in the expression before the
// method's name at index i: text.html_safe.
func (m *matcher) receiver(i int) {
	if patterns := m.pack.receivers[m.written(i)]; patterns != nil && m.is(i-1, ".") {
		if begin := m.chainStart(i); begin < i-1 {
			m.reportFirst(patterns, []string{m.written(i)}, extent{begin, i - 1}, i, extent{begin, i + 1}, m.written(i))
		}
	}
}

// shellLiteral looks for the patterns about calls of "`" in a literal that a shell runs, if the
// token at index i opens one: `ls #{a}`, %x(ls #{a}).
func (m *matcher) shellLiteral(i int) {
	if m.opensShell(i) {
		x := extent{i, m.after(i)}
		m.reportFirst(m.pack.calls["`"], []string{"`"}, x, i, x, "The shell")
	}
}

// returned looks for the patterns about calls of "return" in the value after the word at index i,
// which a function that answers requests returns.
func (m *matcher) returned(i int) {
	if patterns := m.pack.calls["return"]; patterns != nil && m.scope.innermost().answers {
		if x := m.expressionAt(i + 1); x.from < x.to {
			m.reportFirst(patterns, []string{"return"}, x, i, extent{i, i + 1}, "The response")
		}
	}
}

// reportFirst looks for the first pattern that has the name and matches the value x, at the word at
// index i. It reports a finding at the tokens of place.
func (m *matcher) reportFirst(patterns []*pattern, name []string, x extent, i int, place extent, sink string) {
	for _, p := range patterns {
		if p.names(name) && m.matches(p, x, x, i) {
			m.report(p.rule, place.from, place.to-1, sink, x)
			return
		}
	}
}

// withoutFunctions returns the arguments of a call in which no function is defined. What a function
// does after the call is not a reason for a finding about the call.
func (m *matcher) withoutFunctions(arguments []argument) []extent {
	var list []extent
	for _, a := range arguments {
		if !m.any(a.extent, m.beginsFunction) {
			list = append(list, a.extent)
		}
	}
	return list
}

// beginsFunction reports whether the token at index i, in an expression, shows that a function is
// defined there.
func (m *matcher) beginsFunction(i int) bool {
	switch {
	case m.is(i, "{"):
		return m.isOneOf(i-1, ")", "|", "||") // f(a) {, |a| {
	case m.is(i, "=>"):
		return !m.lang.ruby
	}
	return m.is(i, "->") || m.isWord(i) && slices.Contains(m.lang.functions, m.written(i))
}

// report adds a finding about the value x at the tokens from begin to last. It is about the lines of
// these, of x and of others.
func (m *matcher) report(r *Rule, begin, last int, sink string, x extent, others ...extent) {
	const longest = 60 // bytes of a name that a message shows
	sink = strings.TrimLeft(sink, ".")
	sink = strings.ToValidUTF8(sink[:min(len(sink), longest)], "") // the cut may have split a character
	f := r.finding(m.path, sink, m.rangeOf(m.tokens[begin].start, m.tokens[last].end))
	if r.Request != "" && m.fromRequest(m.valueOf(x)) {
		f.Severity, f.Message = finding.Critical, strings.ReplaceAll(r.Request, "{sink}", sink)
	}
	_, shown := f.Lines()
	for _, x := range append(others, x) {
		if x.from < x.to && x.to <= len(m.tokens) {
			if line := m.line(m.tokens[x.to-1].end - 1); line > shown {
				f.LastLine, shown = line, line
			}
		}
	}
	m.found = append(m.found, f)
}

// rangeOf returns the range of the bytes from start to end.
func (s *source) rangeOf(start, end int32) finding.Range {
	return finding.Range{StartLine: s.line(start), StartColumn: s.column(start), EndLine: s.line(end - 1), EndColumn: s.column(end)}
}
