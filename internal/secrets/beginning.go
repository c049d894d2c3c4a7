package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// mostBeginnings bounds how many beginnings of an expression are listed.
const mostBeginnings = 256

// beginsWith reports whether every match of an expression begins with one of the
// keywords, in any case.
func beginsWith(re *syntax.Regexp, keywords []string) bool {
	list, _ := beginnings(re)
	return len(list) > 0 && !slices.ContainsFunc(list, func(b string) bool {
		return !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(b, k) })
	})
}

// beginnings returns the texts, in lower case, with one of which every match of an
// expression begins, and whether these are the whole matches. It returns none if
// there are too many.
func beginnings(re *syntax.Regexp) (list []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		list, whole = beginnings(re.Sub[0])
		return append(list, ""), whole
	case syntax.OpPlus:
		list, _ = beginnings(re.Sub[0])
		return list, false
	case syntax.OpRepeat:
		if re.Min == 0 {
			return []string{""}, false
		}
		list, whole = beginnings(re.Sub[0])
		return list, whole && re.Max == 1
	case syntax.OpConcat:
		return inRow(re.Sub)
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := beginnings(sub)
			if more == nil || len(list)+len(more) > mostBeginnings {
				return nil, false
			}
			list, whole = append(list, more...), whole && all
		}
		return list, whole
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpEmptyMatch, syntax.OpEndLine, syntax.OpEndText, syntax.OpNoWordBoundary, syntax.OpWordBoundary:
		return []string{""}, true
	}
	return []string{""}, false
}

// inRow returns the beginnings of expressions that follow each other.
func inRow(parts []*syntax.Regexp) (list []string, whole bool) {
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
		if list = longer; !all {
			return list, false
		}
	}
	return list, true
}

// oneOf returns the characters of a class if they are few; ranges are pairs of
// first and last.
func oneOf(ranges []rune) (list []string, whole bool) {
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
