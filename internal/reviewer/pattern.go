package reviewer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// patternFile is a pattern as it is written: a call or a setting, and what has to
// hold for it. The expressions are RE2's, so they take linear time.
type patternFile struct {
	Call, Set []string
	On        []string // methods, where what they are called on is the value
	Argument  any      // from 1, or a name; 0 where the call itself matters
	Each      bool     // what follows has to hold for one element of the argument, which is a list
	Is        string   // built, changing or input
	Text      string   // of the value's literal parts, with \x00 for what changes
	Source    string   // of the value's source, and that of the names in it
	Written   string   // of the value as it is written there
	Unless    string   // none in the value's source and in the call's arguments
	Arguments string   // of all arguments as written
	Statement string   // of the line and the names of the functions that it is in
	Except    string   // none in the line and the names of the functions that it is in
	Guard     string   // none in the function around it, before it
	Chain     string   // of the calls that the call hangs on
	Behind    string   // of what stands behind the call
	File      string   // of the whole file
	Without   string   // none in the whole file
}

// pattern is a pattern that is ready to be used, for one of its names.
type pattern struct {
	patternFile
	rule     *Rule
	name     []string // its parts; the first may be "*"
	position int      // of the argument, from 1; 0 where the call itself matters
	keyword  string   // the argument's name, in the place of its position
	// What the fields of these names ask for; nil where they ask for nothing.
	text, source, written, unless, arguments, statement, except, guard, chain, behind,
	file, without *regexp.Regexp
}

// compile makes a pattern ready, but for its name.
func compile(rule *Rule, raw patternFile) (pattern, error) {
	p := pattern{patternFile: raw, rule: rule, position: 1}
	if !slices.Contains([]string{"", "built", "changing", "input"}, raw.Is) {
		return p, fmt.Errorf("%q is not built, changing or input", raw.Is)
	}
	if len(raw.Call)+len(raw.Set)+len(raw.On) == 0 {
		return p, errors.New("a pattern needs call, set or on")
	}
	switch a := raw.Argument.(type) {
	case nil:
	case int:
		p.position = a
	case string:
		p.keyword = a
	default:
		return p, fmt.Errorf("argument %v is neither a number nor a name", a)
	}
	for _, e := range []struct {
		from string
		to   **regexp.Regexp
	}{{raw.Text, &p.text}, {raw.Source, &p.source}, {raw.Written, &p.written}, {raw.Unless, &p.unless}, {raw.Arguments, &p.arguments},
		{raw.Statement, &p.statement}, {raw.Except, &p.except}, {raw.Guard, &p.guard}, {raw.Chain, &p.chain}, {raw.Behind, &p.behind}, {raw.File, &p.file}, {raw.Without, &p.without}} {
		if e.from == "" {
			continue
		}
		re, err := regexp.Compile(e.from)
		if err != nil {
			return p, err
		}
		*e.to = re
	}
	return p, nil
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
