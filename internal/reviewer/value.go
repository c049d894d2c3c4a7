package reviewer

import (
	"strings"
)

const (
	// hole stands in a value's text for what is not known before the program runs.
	hole = "\x00"
	// longestText bounds the bytes of a value's text and origin.
	longestText = 2000
	// deepestValue bounds how deep brackets in an expression are followed.
	deepestValue = 12
)

// value is what can be told about an expression without running it.
type value struct {
	// said are its literal parts in their order, with holes for the others.
	said string
	// literal and changing say that there are parts of either sort.
	literal, changing bool
	// origin is the source of the expression, and of the values of its names.
	origin string
}

// built reports whether literal text and something that changes are joined.
func (v value) built() bool { return v.literal && v.changing }

func (v *value) add(w value) {
	if len(v.said) < longestText {
		v.said += w.said
	}
	v.literal = v.literal || w.literal
	v.changing = v.changing || w.changing
	v.trace(w.origin)
}

func (v *value) trace(origin string) {
	if origin != "" && len(v.origin)+len(origin) < longestText {
		v.origin += "\n" + origin
	}
}

func literal(said string) value {
	if len(said) > longestText {
		said = said[:longestText]
	}
	return value{said: said, literal: strings.TrimSpace(said) != ""}
}

func changing() value { return value{said: hole, changing: true} }

// textValue is that of a plain literal. A here-document may have holes.
func (e *evaluator) textValue(i int) value {
	v := literal(e.content(i))
	if e.lang.ruby && strings.Contains(v.said, "#{") && strings.HasPrefix(e.written(i), "<<") && !strings.Contains(e.written(i), "'") {
		v.said, v.changing = fillHoles(v.said)
	}
	return v
}

// pieces evaluates a string with holes.
func (e *evaluator) pieces(i, depth int) value {
	var v value
	for j := i + 1; j < e.after(i)-1; j = e.after(j) {
		if e.tokens[j].kind == stringText {
			v.add(literal(e.content(j)))
			continue
		}
		v.add(e.joined(extent{j + 1, e.after(j) - 1}, depth+1))
	}
	return v
}

// escaped evaluates a string with holes behind a tag that escapes what fills them, save
// what a function lets through whose name says so, such as htmlRaw and unsafeHTML.
func (e *evaluator) escaped(i, depth int) value {
	if e.tokens[i].kind == stringText {
		return e.textValue(i)
	}
	var v value
	for j := i + 1; j < e.after(i)-1; j = e.after(j) {
		called := strings.ToLower(e.written(j + 1))
		switch {
		case e.tokens[j].kind == stringText:
			v.add(literal(e.content(j)))
		case strings.Contains(called, "raw"), strings.Contains(called, "unsafe"):
			v.add(e.joined(extent{j + 1, e.after(j) - 1}, depth+1))
		default:
			v.add(value{said: "0"})
		}
	}
	return v
}

// onlyLiterals reports whether an extent, such as that of a list, holds no name.
func (e *evaluator) onlyLiterals(x extent) bool {
	for i := x.from; i < min(x.to, x.from+longestExpression); i++ {
		if e.tokens[i].kind == word {
			return false
		}
	}
	return x.to-x.from < longestExpression
}
