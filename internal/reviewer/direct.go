package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// This file finds out whether text that a request sends reaches a sink unchanged. Then nothing in
// the callers, the settings or another file can make it harmless.

const (
	// deepestSent bounds how many names and brackets are followed from a sink to a request.
	deepestSent = 4
	// mostSent bounds how many operands are followed from one sink.
	mostSent = 64
	// longestHead is how many bytes before a function are searched for a check of the request, which
	// happens before the function runs.
	longestHead = 400
)

// accessors are methods that return a part of a request as it was sent.
var accessors = wordSetOf("get Get Query get_json json getParameter getHeader")

// checksBefore matches signs that a request is checked before a function runs: a decorator, an
// annotation, or an element of a route's list.
var checksBefore = lazyregexp.New(`(?i)valid|schema|sanit|check|joi\b|\bzod\b|@Pattern|@Size|celebrate`)

// isDirect reports whether a part of the value x, which reaches the sink at the word at index i, is
// unchanged text from a request. Only literal text and formats may join that part to the rest: no
// other call, no condition and no list. Before the word, nothing in its function reads the text.
// Nothing in front of the function says that the request is checked.
func (m *matcher) isDirect(x extent, i int) bool {
	if begin := m.scope.innermost().begin; begin >= 0 {
		start := int(m.tokens[begin].start)
		head := m.text[max(0, start-longestHead):start]
		if end := strings.LastIndexAny(head, ";}"); end >= 0 {
			head = head[end:]
		}
		if checksBefore.MatchString(head) {
			return false
		}
	}
	m.followed = 0
	return m.hasSent(x, min(i, x.from), 0)
}

// hasSent reports whether a part of an expression is unchanged text from a request. The names in
// the extent x got their values before the token at index end.
func (m *matcher) hasSent(x extent, end, depth int) bool {
	if depth > deepestSent || x.to-x.from > longestExpression {
		return false
	}
	found := false
	for i := x.from; i < x.to; {
		next := m.after(i)
		switch kind := m.tokens[i].kind; {
		case kind == stringText || kind == number || m.isOneOf(i, "+", "%", "&", "await", "new", "return"):
		case m.opensString(i):
			for j := i + 1; j < next-1; j = m.after(j) {
				found = found || m.tokens[j].kind == opening && m.hasSent(m.inside(j), end, depth+1)
			}
		case m.is(i, "(") && i == x.from:
			found = found || m.hasSent(m.inside(i), end, depth+1)
		case kind == word:
			var sent bool
			sent, next = m.isSent(i, x.to, end, depth)
			found = found || sent
		case m.isOneOf(i, ".", "("): // what hangs on a literal: "a {}".format(b)
			found = found || m.is(i, "(") && m.joins(i-1) && m.argumentsHaveSent(i, end, depth)
		default:
			return false
		}
		i = next
	}
	return found
}

// joins reports whether the word at index i is a function that only joins its arguments to one text.
func (m *matcher) joins(i int) bool {
	return m.isWord(i) && (m.pack.Formats[m.written(i)] || m.written(i) == "concat")
}

// argumentsHaveSent reports whether one of the arguments of a call contains unchanged text from a
// request. The bracket of the call is the token at index open.
func (m *matcher) argumentsHaveSent(open, end, depth int) bool {
	return slices.ContainsFunc(m.arguments(open), func(a argument) bool { return m.hasSent(a.extent, end, depth+1) })
}

// isSent reports whether the operand that begins with the word at index i is what a request sends,
// or a call that only joins such text to other text, and returns the index after the operand.
func (m *matcher) isSent(i, to, end, depth int) (sent bool, next int) {
	m.followed++
	isPlain := m.followed <= mostSent // within the bound, and no call in it but those that read a request
	for next = i + 1; next < to; {
		switch source := m.sourceText(extent{i, next}); {
		case m.isOneOf(next, ".", "?.", "::", "!") && next+1 < to && m.isOneOf(next+1, "(", "["): // format!(a), a?.[b]
			next++
		case m.isOneOf(next, ".", "?.", "::") && m.isWord(next+1) && next+1 < to:
			next += 2
			isPlain = isPlain && (!m.lang.ruby || m.readsInput(m.sourceText(extent{i, next}))) // a call needs no brackets
		case m.is(next, "[") && !m.tokens[next].first:
			next = m.after(next)
		case m.is(next, "(") && (m.joins(next-1) || m.is(next-1, "!") && m.joins(next-2)):
			return m.argumentsHaveSent(next, end, depth), m.after(next)
		case m.is(next, "("):
			isPlain = isPlain && m.isConstantList(m.inside(next)) && (accessors[m.written(next-1)] || m.readsInput(source) || m.readsInput(source+"("))
			next = m.after(next)
		default:
			return isPlain && m.isUntouched(extent{i, next}, end, depth), next
		}
	}
	next = min(next, to)
	return isPlain && m.isUntouched(extent{i, next}, end, depth), next
}

// readsInput reports whether a source ends with an expression that reads a stranger's text.
func (m *matcher) readsInput(source string) bool {
	match := m.pack.Inputs.FindStringIndex(source)
	return match != nil && match[1] == len(source)
}

// isUntouched reports whether an operand without calls, or only with those that read a request, is
// text from a request which nothing before the token at index end has read.
func (m *matcher) isUntouched(x extent, end, depth int) bool {
	if x.to > x.from+1 && m.pack.Inputs.MatchString(m.scope.withoutNamesakes(m.sourceText(x))) {
		return !m.readsRequest(x, end)
	}
	name := m.written(x.from)
	given, reads := -1, false
	m.eachBefore(end, func(j int) {
		switch {
		case m.written(j) != name || m.is(j-1, "."):
		case m.isGivenAt(j) && given < 0:
			given = j
		default:
			reads = true
		}
	})
	switch {
	case reads:
		return false
	case given >= 0:
		return m.givenIsSent(given, depth)
	}
	origin := m.scope.value(name).origin
	return strings.Contains(origin, requestMark) || m.pack.Parameters != nil && m.pack.Parameters.MatchString(origin)
}

// givenIsSent reports whether the name at index i is given unchanged text from a request.
func (m *matcher) givenIsSent(i, depth int) bool {
	sign := i + 1
	if !m.isOneOf(sign, "=", ":=") {
		if sign = m.signAfterType(i); sign == 0 { // const { a } = b
			for sign = i; sign < len(m.tokens) && m.tokens[sign].kind != closing; {
				sign = m.after(sign)
			}
			sign++
		}
	}
	return m.hasSent(m.expressionAt(sign+1), i, depth+1)
}

// isGivenAt reports whether the name at index i is given a value there: a = b, a := b, const { a } = b.
func (m *matcher) isGivenAt(i int) bool {
	if m.isOneOf(i+1, "=", ":=") || m.signAfterType(i) > 0 {
		return true
	}
	if m.lang.name != "javascript" || !m.isOneOf(i+1, ",", "}") {
		return false
	}
	j := i
	for ; j > max(0, i-2*mostArguments) && !m.is(j, "{"); j-- {
		if !m.isWord(j) && !m.is(j, ",") {
			return false
		}
	}
	return m.is(j, "{") && m.isOneOf(j-1, "const", "let", "var") && m.is(m.after(j), "=")
}

// readsRequest reports whether the function that contains the expression x uses the request before the
// token at index end: it reads the part of the request that x stands for, or it passes the request to
// another function.
func (m *matcher) readsRequest(x extent, end int) bool {
	source := m.sourceText(x)
	reads := false
	m.eachBefore(end, func(j int) {
		if m.written(j) != m.written(x.from) || m.is(j-1, ".") {
			return
		}
		k := j + 1
		if k < len(m.tokens)-1 && m.isOneOf(k, ".") && m.isWord(k+1) && m.written(k+1) == m.written(min(x.from+2, x.to-1)) { // req.query of req.query.name
			k += 2
		}
		reads = reads || strings.HasPrefix(m.text[m.tokens[j].start:], source) || m.isOneOf(k, ",", ")") && !m.isInHead(k)
	})
	return reads
}

// isInHead reports whether the token at index i, after a name in brackets, is in the parameters of an
// arrow function, (a, b) => c.
func (m *matcher) isInHead(i int) bool {
	for i < len(m.tokens) && m.tokens[i].kind != closing {
		i = m.after(i)
	}
	return m.is(i+1, "=>")
}

// bodyBegin returns the index of the first token of the body of the function around; outside of
// functions, of the file.
func (m *matcher) bodyBegin() int {
	f := m.scope.innermost()
	if !m.lang.indented || f.begin < 0 {
		return f.begin + 1
	}
	for j := f.begin; j < len(m.tokens); j = m.after(j) {
		switch {
		case j > f.begin && m.tokens[j].first:
			return j
		case m.is(j, ":"):
			return j + 1
		}
	}
	return f.begin
}

// eachBefore calls visit with the index of each word in the body of the function around, before the
// token at index end; outside of functions, in the file. Of a long body it reads only the end.
func (m *matcher) eachBefore(end int, visit func(i int)) {
	for j := max(m.bodyBegin(), end-4*longestExpression); j < end; j++ {
		if m.isWord(j) {
			visit(j)
		}
	}
}
