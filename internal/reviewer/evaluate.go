package reviewer

import (
	"slices"
	"strings"
)

// evaluator finds out what expressions say, in the order of the file.
type evaluator struct {
	*source
	pack  *pack
	scope *scopes
}

// of returns the value of an extent.
func (e *evaluator) of(x extent) value {
	v := e.joined(x, 0)
	v.trace(e.sourceOf(e.outside(x)))
	return v
}

// outside cuts an extent where a function begins in it: what a handler reads is not
// what the handler is.
func (e *evaluator) outside(x extent) extent {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if e.is(i, "=>") || e.tokens[i].kind == word && slices.Contains(e.lang.functions, e.written(i)) {
			x.to = i
		}
	}
	return x
}

// sourceOf returns the source of an extent without what only chooses in it: of
// pages[request.name] the source is pages.
func (e *evaluator) sourceOf(x extent) string {
	var b strings.Builder
	from := x.from
	for i := x.from + 1; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if end := e.after(i); e.is(i, "[") && (e.kindAt(i-1) == word || e.kindAt(i-1) == closing) && end <= x.to && e.kindAt(i+1) == word && e.is(end-1, "]") &&
			e.tokens[i].start == e.tokens[i-1].end {
			b.WriteString(e.between(extent{from, i}))
			from, i = end, end-1
		}
	}
	if from == x.from {
		return e.between(x)
	}
	b.WriteString(e.between(extent{from, x.to}))
	return b.String()
}

// joined evaluates terms that are joined by operators.
func (e *evaluator) joined(x extent, depth int) value {
	var v value
	if depth > deepestValue || x.to-x.from > 20*longestExpression {
		return changing()
	}
	for i := x.from; i < x.to; {
		switch w := e.written(i); {
		case i == x.from && e.lang.ruby && decides(w):
			return changing()
		case e.tokens[i].kind == word && e.lang.ruby && i > x.from && modifies(w):
			return v
		case e.tokens[i].kind == op && w == "?" && i > x.from && e.lang.name != "rust":
			return e.either(extent{i + 1, x.to}, ":", depth)
		case e.tokens[i].kind == word && e.lang.name == "python" && w == "if" && i > x.from:
			return e.either(extent{x.from, x.to}, "else", depth)
		case e.tokens[i].kind == op && w == "%" && v.literal && (e.lang.name == "python" || e.lang.ruby):
			return e.formatted(v, extent{i + 1, x.to}, false, depth)
		case e.tokens[i].kind == op && (w == "||" || w == "??") && i > x.from:
			return e.otherwise(v, extent{i + 1, x.to}, depth)
		case e.tokens[i].kind == op && comparison(w) && i > x.from:
			return value{said: "0"}
		case e.tokens[i].kind == op || e.tokens[i].kind == word && (w == "await" || w == "new" || w == "return"):
			i++
		default:
			t, next := e.term(i, x.to, depth)
			v.add(t)
			i = next
		}
	}
	return v
}

// term evaluates one operand, and returns the index behind it: a literal, a name,
// a call, a bracket, with everything that hangs on it by dots and brackets.
func (e *evaluator) term(i, end, depth int) (v value, next int) {
	start := i
	t := e.tokens[i]
	called := ""
	switch {
	case t.kind == stringText:
		v = e.textValue(i)
	case t.kind == number:
		v = value{said: e.written(i)}
	case t.kind == open && e.isString(i):
		v = e.pieces(i, depth)
	case t.kind == open && e.is(i, "("):
		v = e.joined(extent{i + 1, e.after(i) - 1}, depth+1)
	case t.kind == open && e.lang.name == "go" && e.list(i) > 0: // []string{"a", "b"}
		i = e.list(i)
		if v = changing(); e.onlyLiterals(extent{i + 1, e.after(i) - 1}) {
			v = value{said: "0"}
		}
	case t.kind == open && e.is(i, "[") && e.is(e.after(i), ".") && e.is(e.after(i)+1, "join"):
		for _, a := range e.arguments(i) {
			v.add(e.joined(a.extent, depth+1))
		}
		return v, min(e.after(e.after(i)+2), end)
	case t.kind == open:
		v = changing()
		if e.onlyLiterals(extent{i + 1, e.after(i) - 1}) {
			v = value{said: "0"}
		}
	case t.kind == word && e.pack.tags[e.written(i)] && i+1 < end && strings.HasPrefix(e.written(i+1), "`"):
		i++
		v = e.escaped(i, depth)
	case t.kind == word:
		called = e.written(i)
		v = e.scope.value(called)
	default:
		return changing(), i + 1
	}
	i = e.after(i)
	for i < end {
		switch {
		case (e.is(i, ".") || e.is(i, "?.") || e.is(i, "::")) && e.kindAt(i+1) == word && i+1 < end:
			v, called = e.member(v, e.written(i+1), called)
			i += 2
		case e.is(i, "!") && e.lang.name == "rust" && (e.is(i+1, "(") || e.is(i+1, "[")):
			i++
		case e.is(i, "(") && e.kindAt(i-1) != stringText:
			v = e.call(v, called, start, i, depth)
			i = e.after(i)
		case e.is(i, "["):
			if !v.changing {
				v = value{said: v.said, literal: v.literal}
			}
			i = e.after(i)
		default:
			return v, i
		}
	}
	return v, min(i, end)
}
