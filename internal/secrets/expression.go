package secrets

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// expression is a rule's regular expression, and where its matches can lie.
type expression struct {
	re *regexp.Regexp
	// start is the expression bound to the beginning of a text. It is nil unless
	// every match begins with a keyword of the rule, so that looking there is enough.
	start *regexp.Regexp
	// boundary says that no letter, digit or underscore stands before a match.
	boundary      bool
	before, after int  // bytes before and after a keyword in which a match around it lies
	endless       bool // the expression sets no such bound
}

// How far a match may reach where the expression itself sets no bound, in bytes. A
// private key of 16,384 bits takes 12,500 in PEM.
const (
	endlessBefore = 512
	endlessAfter  = 32 << 10
)

// newExpression compiles an expression of gitleaks. It must be valid: the rules
// are constant and a test compiles all of them.
func newExpression(text string, keywords []string) expression {
	e := expression{re: regexp.MustCompile(text)}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return e
	}
	// One more rune on each side, for assertions such as \b to see.
	length, bounded := longest(tree)
	if e.endless = !bounded || length > endlessAfter; e.endless {
		e.before, e.after = endlessBefore, endlessAfter
	} else {
		e.before, e.after = length+utf8.UTFMax, length+utf8.UTFMax
	}
	if beginsWith(tree, keywords) {
		e.start = regexp.MustCompile(`\A(?:` + text + `)`)
		e.boundary = atBoundary(tree)
	}
	return e
}

// longest returns the length in bytes of the longest match, and whether there is
// such a bound.
func longest(re *syntax.Regexp) (int, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return 3 * len(re.Rune), true // the Kelvin sign is a k, the long s an s
		}
		return len(string(re.Rune)), true
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < utf8.RuneSelf {
			return 1, true
		}
		return utf8.UTFMax, true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpRepeat:
		n, ok := longest(re.Sub[0])
		return n * re.Max, ok && re.Max >= 0
	case syntax.OpConcat, syntax.OpCapture, syntax.OpQuest:
		sum := 0
		for _, sub := range re.Sub {
			n, ok := longest(sub)
			if !ok {
				return 0, false
			}
			sum += n
		}
		return sum, true
	case syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			n, ok := longest(sub)
			if !ok {
				return 0, false
			}
			most = max(most, n)
		}
		return most, true
	}
	return 0, true
}
