package reviewer

import "strings"

// separates reports whether a text between the parts of a list makes a command line of
// them: a list that is joined so is as much built as a text with holes.
func separates(text string) bool {
	if text == " " {
		return true
	}
	switch strings.TrimSpace(text) {
	case "&&", "||", ";", "|":
		return true
	}
	return false
}

// joinedList returns the value of a list whose parts are joined, in `list.join(" ")` of
// JavaScript and Ruby and in `" ".join(list)` of Python. The list is the extent x, and what
// is known of it is list.
func (e *evaluator) joinedList(list value, x extent, separator string) value {
	switch {
	case !list.changing:
		return value{said: "0"}
	case e.marksPlaces(x):
		return value{said: "?"}
	case e.cleans(x):
		return value{said: "0", origin: list.origin}
	}
	if !list.literal && separates(separator) {
		list.said, list.literal = hole+separator+hole, true
	}
	return list
}

// cleans reports whether a function that makes values safe is named in an extent, as in
// `args.map(quote)`, in Python's `quote(a) for a in args` and in Ruby's `rows.map(&:id)`.
func (e *evaluator) cleans(x extent) bool {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if e.tokens[i].kind == word && (e.pack.clean[e.written(i)] || e.lang.ruby && e.is(i, "id") && e.is(i-1, ":")) {
			return true
		}
	}
	return false
}

// appending are the methods that put their arguments into a list.
var appending = set([]string{"push", "append", "unshift", "extend", "prepend", "insert"})

// append gives a list of literals the value of what changes and is put into it. What is
// built counts more. The method's name is the word at index i, its arguments begin at from.
func (m *matcher) append(i, from, end int) {
	name := i - 2
	if !m.is(i-1, ".") || m.kindAt(name) != word || m.is(name-1, ".") {
		return
	}
	old, known := m.scope.values[m.written(name)]
	if !known || old.literal {
		return
	}
	for _, a := range m.argumentsIn(from, end) {
		if v := m.of(a.extent); v.built() || v.changing && !old.changing {
			m.scope.values[m.written(name)] = v // until the function ends that gave the list its name
			return
		}
	}
}
