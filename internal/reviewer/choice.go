package reviewer

// modifies reports words that end a value in Ruby: what follows says when it counts.
func modifies(w string) bool {
	switch w {
	case "if", "unless", "while", "until", "do", "then", "rescue", "and", "or":
		return true
	}
	return false
}

// decides reports words with which a Ruby value begins that one of several branches
// gives.
func decides(w string) bool {
	switch w {
	case "if", "unless", "case", "begin", "while", "until":
		return true
	}
	return false
}

// comparison reports operators whose result is no text: a number or a truth value.
func comparison(w string) bool {
	switch w {
	case "==", "===", "!=", "!==", "<", ">", "<=", ">=", "-", "*", "/", "&&":
		return true
	}
	return false
}

// either evaluates both sides of a choice: a value that changes if one of them does.
func (e *evaluator) either(x extent, separator string, depth int) value {
	at := x.from
	for at < x.to && e.written(at) != separator {
		at = e.after(at)
	}
	first := extent{x.from, min(at, x.to)}
	if separator == "else" {
		for i := first.from; i < first.to; i = e.after(i) {
			if e.is(i, "if") {
				first.to = i
			}
		}
	}
	a := e.joined(first, depth+1)
	b := e.joined(extent{min(at+1, x.to), x.to}, depth+1)
	if b.changing && !a.built() {
		return b
	}
	return a
}

// otherwise returns the value of a choice between a value and what stands in for it.
func (e *evaluator) otherwise(v value, x extent, depth int) value {
	w := e.joined(x, depth+1)
	if v.built() || v.changing && !w.built() {
		v.trace(w.origin)
		return v
	}
	w.trace(v.origin)
	return w
}
