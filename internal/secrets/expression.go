package secrets

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// expression is a rule's regular expression, and where its matches can lie.
type expression struct {
	re *lazyregexp.Regexp
	// start is the expression bound to the beginning of a text. It is nil unless
	// every match begins with a keyword of the rule, so that looking there is enough.
	start *regexp.Regexp
	// beginning matches what a match can begin with. It is nil if start is.
	beginning func() *regexp.Regexp
	// boundary is set if no letter, digit or underscore stands before a match.
	boundary      bool
	before, after int  // bytes before and after a keyword in which a match around it lies
	endless       bool // the expression sets no such bound, or one above endlessAfter
}

// How far a match of an endless expression may reach, in bytes. A
// private key of 16,384 bits takes 12,500 in PEM.
const (
	endlessBefore = 512
	endlessAfter  = 32 << 10
)

// newExpression compiles the expression of a rule. It must be valid: the rules
// are constant and a test compiles all of them.
func newExpression(text string, keywords []string) expression {
	e := expression{re: lazyregexp.New(text)}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return e
	}
	length, bounded := longest(tree)
	e.endless = !bounded || length > endlessAfter
	if e.endless {
		e.before, e.after = endlessBefore, endlessAfter
	} else {
		// One more rune on each side, for assertions such as \b to see.
		e.before, e.after = length+utf8.UTFMax, length+utf8.UTFMax
	}
	if beginsWith(tree, keywords) {
		e.start = regexp.MustCompile(`\A(?:` + text + `)`)
		e.beginning = beginningOf(tree)
		e.boundary = atBoundary(tree)
	}
	return e
}

// longest returns an upper bound for the length of a match in bytes, and whether there is one.
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

// mostBeginnings bounds how many beginnings of an expression are listed.
const mostBeginnings = 256

// beginsWith reports whether every match of an expression begins with one of the
// keywords, in any case.
func beginsWith(re *syntax.Regexp, keywords []string) bool {
	list, _ := beginnings(re)
	for _, beginning := range list {
		if !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(beginning, k) }) {
			return false
		}
	}
	return len(list) > 0
}

// beginnings returns texts in lower case. Every match of an expression begins with one of them, or
// is one of them if complete is true. If there are too many, it returns none or shorter ones.
func beginnings(re *syntax.Regexp) (list []string, complete bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		return classBeginnings(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		list, complete = beginnings(re.Sub[0])
		return append(list, ""), complete
	case syntax.OpPlus:
		list, _ = beginnings(re.Sub[0])
		return list, false
	case syntax.OpRepeat:
		if re.Min == 0 {
			return []string{""}, false
		}
		list, complete = beginnings(re.Sub[0])
		return list, complete && re.Max == 1
	case syntax.OpConcat:
		return sequenceBeginnings(re.Sub)
	case syntax.OpAlternate:
		complete = true
		for _, sub := range re.Sub {
			more, all := beginnings(sub)
			if more == nil || len(list)+len(more) > mostBeginnings {
				return nil, false
			}
			list, complete = append(list, more...), complete && all
		}
		return list, complete
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpEmptyMatch, syntax.OpEndLine, syntax.OpEndText, syntax.OpNoWordBoundary, syntax.OpWordBoundary:
		return []string{""}, true
	}
	return []string{""}, false
}

// sequenceBeginnings returns the beginnings of expressions that follow each other.
func sequenceBeginnings(parts []*syntax.Regexp) (list []string, complete bool) {
	list = []string{""}
	for _, part := range parts {
		more, all := beginnings(part)
		if more == nil {
			return list, false
		}
		var longer []string
		for _, a := range list {
			for _, b := range more {
				longer = append(longer, a+b)
			}
		}
		if len(longer) > mostBeginnings {
			return list, false
		}
		list = longer
		if !all {
			return list, false
		}
	}
	return list, true
}

// classBeginnings returns the characters of a class if they are few, otherwise only the empty text;
// ranges are pairs of first and last.
func classBeginnings(ranges []rune) (list []string, complete bool) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) == 8 {
				return []string{""}, false
			}
			if s := string(unicode.ToLower(r)); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list, true
}

// atBoundary reports whether an expression begins with \b.
func atBoundary(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return len(re.Sub) > 0 && atBoundary(re.Sub[0])
	}
	return false
}
