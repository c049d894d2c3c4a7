package reviewer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// pattern is one way to write a weakness: a call or a setting, and conditions, all of which have to
// be true. In rules/*.yaml it is written so:
//
//   - call: ["*.Query"]        what is called; * stands for one part of the name or more
//     argument: 2              which of its arguments matters: the second
//     is: built                what is known of the argument: see value.go
//     text: '^SELECT .*\x00'   what the argument contains; \x00 is what is not known
//
// The expressions are RE2's, so they take linear time. The comment of each names the text that it
// has to match or, with not, must not match.
type pattern struct {
	Call, Set []string
	On        []string       // methods whose receiver is the value
	Argument  any            // from 1, or a name; 0 where the call itself matters; nil for the first
	Each      bool           // the rest has to be true of one element of the argument, a list
	Is        string         // built, changing or input
	Text      *regexp.Regexp // the value's text
	Source    *regexp.Regexp // the value's origin
	Written   *regexp.Regexp // the value as it is written there
	Unless    *regexp.Regexp // not the value's origin and not the call's arguments
	Arguments *regexp.Regexp // all arguments as written
	Statement *regexp.Regexp // the line and the names of the functions that it is in
	Except    *regexp.Regexp // not the line and the names of the functions that it is in
	Guard     *regexp.Regexp // not the part of the function around it that is before it
	Lacks     *regexp.Regexp // not the function around it; outside of functions not the file
	Chain     *regexp.Regexp // the call's receiver or, if that is a name, the origin of its value
	After     *regexp.Regexp // what follows the call
	Route     bool           // it is in a function that answers requests: see pack.Routes
	File      *regexp.Regexp // the file
	Without   *regexp.Regexp // not the file
	// Certain matches the value's text or its origin. A value that it does not match has a low
	// precision.
	Certain *regexp.Regexp
	// Given gives a value a low precision if it has no parameter's text in it: a function made such a
	// value of its own fields and settings.
	Given bool
	// Precision is how often the pattern is right; "" stands for what formPrecision says.
	Precision finding.Precision

	rule *Rule
	form finding.Precision
	name []string // the parts of one of its names; the first may be "*"
}

// check returns an error if the pattern is written wrongly.
func (p *pattern) check() error {
	if !slices.Contains([]string{"", "built", "changing", "input"}, p.Is) {
		return fmt.Errorf("invalid value %q of is: it has to be built, changing or input", p.Is)
	}
	if len(p.Call)+len(p.Set)+len(p.On) == 0 {
		return errors.New("a pattern needs call, set or on")
	}
	switch p.Argument.(type) {
	case nil, int, string:
		return nil
	}
	return fmt.Errorf("argument %v is neither a number nor a name", p.Argument)
}

// fileUnder adds the pattern to a map, under the last part of each of its names.
func (p *pattern) fileUnder(byName map[string][]*pattern, names []string) {
	for _, name := range names {
		one := *p
		one.name = strings.Split(name, ".")
		last := one.name[len(one.name)-1]
		byName[last] = append(byName[last], &one)
	}
}

// names reports whether a dotted name is the pattern's.
func (p *pattern) names(parts []string) bool {
	if p.name[0] == "*" {
		n := len(p.name) - 1
		return len(parts) > n && slices.Equal(parts[len(parts)-n:], p.name[1:])
	}
	return slices.Equal(parts, p.name)
}

// argumentIn returns the argument that the pattern is about, which is empty where the call
// itself matters; false if the call has no such argument.
func (p *pattern) argumentIn(arguments []argument) (extent, bool) {
	name, byName := p.Argument.(string)
	position, given := p.Argument.(int)
	switch {
	case byName:
		i := slices.IndexFunc(arguments, func(a argument) bool { return a.name == name })
		if i < 0 {
			return extent{}, false
		}
		return arguments[i].extent, true
	case !given:
		position = 1
	case position == 0:
		return extent{}, true
	}
	for _, a := range arguments {
		if a.name != "" {
			continue
		}
		if position--; position == 0 {
			return a.extent, true
		}
	}
	return extent{}, false
}

// matches reports whether all conditions of a pattern are true at the word at index i. x is the
// value, and arguments are those of the call, or the value of a setting.
func (m *matcher) matches(p *pattern, x, arguments extent, i int) bool {
	if !m.selects(p.rule, p.rule.Precision) && !m.selects(p.rule, p.form) || lacks(p.Arguments, m.sourceText(arguments)) || lacks(p.Written, m.sourceText(x)) {
		return false
	}
	if p.Statement != nil || p.Except != nil {
		if line := m.statement(i); lacks(p.Statement, line) || has(p.Except, line) {
			return false
		}
	}
	return m.surroundingsMatch(p, i, arguments.to) && m.valueMatches(p, x) && !has(p.Unless, m.sourceText(arguments)) && m.isReported(p, x, i) && m.contextMatches(p, i) && !m.isMeant(p.rule, x, i)
}

// isMeant reports whether the code at the word at index i is there on purpose, although a rule
// finds it. x is the value.
func (m *matcher) isMeant(r *Rule, x extent, i int) bool {
	return r.meant.Before != nil && r.meant.Before.MatchString(m.withoutComments(m.extentBefore(i))) ||
		r.meant.Under != nil && m.isUnder(r.meant.Under, i) ||
		r.meant.Around != nil && (m.aroundHas(r.meant.Around, i, m.withoutComments) || r.meant.Around.MatchString(m.scope.functionNames())) ||
		r.meant.Place != nil && (r.meant.Place.MatchString(m.path) || r.meant.Place.MatchString(m.scope.functionNames())) && !m.fromRequest(m.valueOf(x))
}

// isUnder reports whether an expression matches the head of one of the innermost blocks in braces
// around the token at index i, up to the function around it.
func (m *matcher) isUnder(re *regexp.Regexp, i int) bool {
	const mostBlocks = 50
	begin := max(0, m.scope.innermost().begin)
	blocks := 0
	for j := m.openBefore(i); j > begin && blocks < mostBlocks; j = m.openBefore(j) {
		if !m.is(j, "{") {
			continue
		}
		blocks++
		if m.headHas(re, begin, j) {
			return true
		}
	}
	return false
}

// headHas reports whether an expression matches the head of the block whose brace is the token at
// index open. The head does not begin before the token at index begin. It is read once for an
// expression, because many calls may be in the block.
func (m *matcher) headHas(re *regexp.Regexp, begin, open int) bool {
	key := head{re, begin, open}
	found, known := m.heads[key]
	if !known {
		x := extent{open, open}
		for x.from > begin && x.to-x.from < longestExpression && !m.isOneOf(x.from-1, ";", "{", "}") {
			x.from--
		}
		found = re.MatchString(m.sourceText(x))
		m.heads[key] = found
	}
	return found
}

// openBefore returns the index of the innermost bracket that is open before the token at index i,
// or -1.
func (m *matcher) openBefore(i int) int {
	if m.opened == nil {
		m.opened = make([]int32, len(m.tokens))
		last := int32(-1)
		for j, t := range m.tokens {
			if t.kind == closing && t.pair >= 0 {
				last = m.opened[t.pair]
			}
			m.opened[j] = last
			if t.kind == opening {
				last = int32(j)
			}
		}
	}
	return int(m.opened[i])
}

// contextMatches reports whether the conditions about the function around the word at index i and
// about the file are true. They read most text, so they come last.
func (m *matcher) contextMatches(p *pattern, i int) bool {
	return (p.Guard == nil || !has(p.Guard, m.functionBefore(i))) &&
		(p.Lacks == nil || !m.aroundHas(p.Lacks, i, m.sourceBetween)) &&
		(p.File == nil || m.fileHas(p.File)) && (p.Without == nil || !m.fileHas(p.Without))
}

// valueMatches reports whether the conditions about the value are true. It evaluates the value only
// for patterns with Is, Text or Source. For others, Unless concerns the call's arguments alone.
func (m *matcher) valueMatches(p *pattern, x extent) bool {
	if p.Is == "" && p.Text == nil && p.Source == nil {
		return true
	}
	v := m.valueOf(x)
	is := true
	switch p.Is {
	case "built":
		is = v.built()
	case "changing":
		is = v.changing
	case "input":
		is = m.fromRequest(v)
	}
	return is && !lacks(p.Text, v.text) && !lacks(p.Source, v.origin) && !has(p.Unless, v.origin)
}

// fromRequest reports whether a part of a value that changes comes from a request.
func (m *matcher) fromRequest(v value) bool {
	return v.changing && (strings.Contains(v.origin, requestMark) || m.pack.Inputs.MatchString(v.origin))
}

// lacks reports whether an expression is given and matches nothing in a text.
func lacks(re *regexp.Regexp, text string) bool { return re != nil && !re.MatchString(text) }

// has reports whether an expression is given and matches something in a text.
func has(re *regexp.Regexp, text string) bool { return re != nil && re.MatchString(text) }

// surroundingsMatch reports whether the conditions about what is around the word at index i are
// true: whether its function answers requests, the chain before the word, and what follows the
// call, whose arguments end before index end.
func (m *matcher) surroundingsMatch(p *pattern, i, end int) bool {
	return (!p.Route || m.scope.innermost().answers) &&
		(p.Chain == nil || m.chainMatches(p.Chain, i)) &&
		(p.After == nil || !lacks(p.After, m.afterCall(end)))
}

// chainMatches reports whether an expression matches the chain before the word at index i. If the
// chain is a name alone, the source of the name's value counts as well: r.exec(a), after r =
// Runtime.getRuntime().
func (m *matcher) chainMatches(re *regexp.Regexp, i int) bool {
	start := m.chainStart(i)
	if re.MatchString(m.sourceText(extent{start, i})) {
		return true
	}
	if start != i-2 || !m.isWord(start) || !m.isOneOf(i-1, ".", "?.") {
		return false
	}
	given, known := m.scope.values[m.written(start)]
	if !known {
		return false
	}
	for line := range strings.Lines(given.origin) {
		if line = strings.TrimSpace(line); line != "" && re.MatchString(line+".") {
			return true
		}
	}
	return false
}

// statement returns the line of the token at index i, after a line with the names of the
// functions that it is in.
func (m *matcher) statement(i int) string {
	return m.scope.functionNames() + "\n" + m.lineText(m.line(m.tokens[i].start))
}

// extentBefore returns the offsets of the part of a function before the token at index i. Outside
// of functions, and in a long one, it returns those of the text shortly before the token.
func (m *matcher) extentBefore(i int) (from, to int) {
	to = int(m.tokens[i].start)
	if begin := m.scope.innermost().begin; begin >= 0 {
		return max(int(m.tokens[begin].start), to-2*longestSource), to
	}
	return max(0, to-longestSource/4), to
}

// withoutComments returns the source between two offsets without its comments, which anybody may write.
func (m *matcher) withoutComments(from, to int) string {
	var b strings.Builder
	first := sort.Search(len(m.comments), func(i int) bool { return int(m.comments[i].end) > from })
	for _, c := range m.comments[first:] {
		if int(c.start) >= to {
			break
		}
		b.WriteString(m.text[from:max(from, int(c.start))])
		from = min(to, int(c.end))
	}
	b.WriteString(m.text[from:to])
	return b.String()
}

// functionBefore returns the source of the function around the token at index i, up to the token; ""
// outside of functions.
func (m *matcher) functionBefore(i int) string {
	if len(m.scope.nested) == 0 {
		return ""
	}
	return m.sourceBetween(m.extentBefore(i))
}

// sourceBetween returns the source between two offsets.
func (m *matcher) sourceBetween(from, to int) string { return m.text[from:to] }

// reading is an expression and the part of a file in which it was looked for. Parts have partLength
// bytes, and are counted from 0.
type reading struct {
	re   *regexp.Regexp
	part int
}

const partLength = 2 * longestSource

// head is an expression and the head of a block in which it was looked for, as headHas has them.
type head struct {
	re          *regexp.Regexp
	begin, open int
}

// aroundHas reports whether an expression matches something in the function around the token at
// index i, or in the file where there is none. If that is long, it looks in the text near the token.
// read returns the text between two offsets; all calls with one expression must pass the same read.
// Each part of a file is searched once for an expression, so that a file of many calls takes linear
// time.
func (m *matcher) aroundHas(re *regexp.Regexp, i int, read func(from, to int) string) bool {
	from, to := m.extentAround(i)
	for part := from / partLength; part*partLength < to; part++ {
		key := reading{re, part}
		found, known := m.readings[key]
		begin, end := max(0, part*partLength-longestSource/4), min(len(m.text), (part+1)*partLength+longestSource)
		if !known {
			text := read(begin, end)
			found = re.FindAllStringIndex(text, -1)
			// Where the text is cut, half of a word looks like one. Another part has the rest.
			found = slices.DeleteFunc(found, func(x []int) bool { return x[0] == 0 && begin > 0 || x[1] == len(text) && end < len(m.text) })
			m.readings[key] = found
		}
		if len(found) == 0 {
			continue
		}
		first, last := len(read(begin, max(begin, from))), len(read(begin, min(end, to)))
		if slices.ContainsFunc(found, func(x []int) bool { return first <= x[0] && x[1] <= last }) {
			return true
		}
	}
	return false
}

// extentAround returns the offsets of the function around the token at index i, or of the file. Of
// what is long, it returns the part near the token.
func (m *matcher) extentAround(i int) (from, to int) {
	at := int(m.tokens[i].start)
	to = len(m.text)
	if f := m.scope.innermost(); f.begin >= 0 {
		from = max(int(m.tokens[f.begin].start), at-2*longestSource)
		if f.end >= 0 && f.end < len(m.tokens) {
			to = int(m.tokens[f.end].end)
		}
	}
	return max(from, at-8*longestSource), min(to, at+8*longestSource)
}

// afterCall returns what follows a call, whose arguments end before index end. A bracket that
// closes there is part of the call.
func (m *matcher) afterCall(end int) string {
	if m.is(end, ")") {
		end++
	}
	from := m.tokens[min(end, len(m.tokens))-1].end
	return m.text[from:min(len(m.text), int(from)+longestSource/4)]
}

// fileHas reports whether an expression matches something in the file. It looks once for each.
func (m *matcher) fileHas(re *regexp.Regexp) bool {
	matches, known := m.files[re.String()]
	if !known {
		matches = re.MatchString(m.text)
		m.files[re.String()] = matches
	}
	return matches
}
