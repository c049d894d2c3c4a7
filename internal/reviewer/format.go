package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// formatCall returns the value of a call that fills a format, such as fmt.Sprintf("a %s", b). The
// arguments end at index end. A writer or a locale may stand before the format.
func (e *evaluator) formatCall(list []argument, end, depth int) value {
	format := 0
	if first := e.evaluate(list[0].extent, depth+1); !first.literal && len(list) > 1 {
		format = 1
	}
	return e.fillFormat(e.evaluate(list[format].extent, depth+1), extent{list[format].to, end}, e.lang.name == "rust", depth)
}

var (
	// verb matches a place in a format such as "a %s %-8d %(b)s %%", up to its last letter.
	verb = lazyregexp.New(`%(?:\([^)]{0,62}\))?[-+# 0-9.*\[\]$<]*(?:[%dfxXobeEgGptTcunisvqrSj]|$)`)
	// bracePlace matches a place in a format such as "a {} {b}".
	bracePlace = lazyregexp.New(`\{[^} \n"']{0,62}\}`)
	// rustVariable matches a variable in the braces of a format of Rust: "{a}", not "{{a}".
	rustVariable = lazyregexp.New(`(?:^|[^{])(?:\{\{)*\{([a-z_]\w{0,62})`)
)

// fillFormat returns the value of a format whose places the arguments in an extent fill. The value
// has holes if the format or one of the arguments changes, except in places for numbers, which take
// only numbers.
// The places are {} if braces is set, and %s otherwise.
func (e *evaluator) fillFormat(format value, arguments extent, braces bool, depth int) value {
	out := value{literal: format.literal, changing: format.changing, origin: format.origin}
	filling := e.fillingValue(arguments, depth)
	if e.lang.name == "rust" {
		for _, m := range rustVariable.FindAllStringSubmatch(format.text, -1) {
			filling.add(e.scope.value(m[1]))
		}
	}
	filled := hole
	if isOwn(filling.text) {
		filled += ownMark
	}
	places := 0
	fill := func(place string) string {
		switch last := place[len(place)-1]; {
		case last == '}' || strings.IndexByte("svqrSj", last) >= 0:
			places++
			return filled
		case strings.IndexByte("dfxXobeEgGptTcuni", last) >= 0:
			return "0"
		}
		return "%"
	}
	if braces {
		out.text = bracePlace.ReplaceAllStringFunc(format.text, fill)
	} else {
		out.text = verb.ReplaceAllStringFunc(format.text, fill)
	}
	out.addOrigin(filling.origin)
	if places > 0 && filling.changing {
		out.changing = true
	}
	if !out.changing {
		out.text = strings.ReplaceAll(out.text, hole, "x")
	}
	return out
}

// fillingValue joins the values of a format's arguments: b, c=d and the elements of (e, f).
func (e *evaluator) fillingValue(x extent, depth int) value {
	var v value
	for i := x.from; i < x.to; {
		switch {
		case e.tokens[i].kind == operator:
			i++
		case e.isWord(i) && e.is(i+1, "="):
			i += 2
		case e.isOneOf(i, "(", "{", "["): // a tuple or a dictionary
			for j, end := i+1, e.after(i)-1; j < end; {
				if kind := e.tokens[j].kind; kind == operator || kind == stringText {
					j++
					continue
				}
				var more value
				more, j = e.operand(j, end, depth+1)
				v.add(more)
			}
			i = e.after(i)
		default:
			var more value
			more, i = e.operand(i, x.to, depth+1)
			v.add(more)
		}
	}
	return v
}
