package secrets

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// cutMark stands where text.Truncate and its like cut a text. Directly before it may be the
// beginning of a secret, which the rest of the secret would make recognisable.
const cutMark = "…"

const (
	mostCut   = 1100 // bytes that a cut secret of a rule has at most
	fewestCut = 6    // characters that a cut token has at least after the beginning that all tokens of its issuer share
	// mostEscape bounds the bytes before and after an offset that may belong to an escape, such as
	// \U00000041, which a cut divides.
	mostEscape = 9
)

// endsInMark reports whether a text is cut at an offset. The rest of an escape that begins at the
// offset, or shortly before it, may stand before the mark. mark is where the mark is.
func endsInMark(text string, offset int) (mark int, ok bool) {
	n := strings.Index(text[offset:min(len(text), offset+mostEscape+len(cutMark))], cutMark)
	if n <= 0 {
		return offset, n == 0
	}
	part := text[max(0, offset-mostEscape) : offset+n]
	isEscape := strings.ContainsFunc(part[:len(part)-n+1], func(r rune) bool { return r < utf8.RuneSelf && escapeStarts[r] != noEscape })
	return offset + n, isEscape && !strings.ContainsAny(part[len(part)-n:], " \t\n")
}

// leastCut returns how many bytes of a known value must be left before a mark to count as the
// value. length is that of the value's form. Fewer bytes occur in ordinary text as well.
func leastCut(length int) int { return min(shortest, (length+1)/2) }

// findCut returns where the beginnings of known values are directly before a mark.
func (k *knownSet) findCut(text string) []Hit {
	if k.search == nil || !strings.Contains(text, cutMark) {
		return nil
	}
	var hits []Hit
	k.search.eachBeginning(text, func(id, length, start, end int) {
		if end-start < leastCut(length) {
			return
		}
		if mark, ok := endsInMark(text, end); ok {
			hits = append(hits, Hit{Rule: KnownRule, Name: k.forms[id].name, Start: start, End: mark, Encoded: k.forms[id].encoded})
		}
	})
	return hits
}

// findCut returns where beginnings of issuers' tokens, or of passwords in URLs, are directly before
// a mark.
func (s *ruleSet) findCut(text string) []Hit {
	if !strings.Contains(text, cutMark) {
		return nil
	}
	var hits []Hit
	found := 0 // the offset of the last mark before which a token was found
	s.keywords.each(text, func(keyword, start, end int) bool {
		if start < found {
			return true
		}
		part := text[start:min(len(text), start+mostCut)]
		mark := strings.Index(part, cutMark)
		if mark < end-start+fewestCut {
			return true
		}
		part = part[:mark]
		if strings.HasSuffix(text[start:end], "://") {
			before := max(0, start-1) // the end of the scheme
			if from, to, ok := urlPassword(text[before:start+mark]+"@host", start-before, end-before); ok {
				found = start + mark
				hits = append(hits, Hit{Rule: urlRule, Name: "a password in a URL", Start: before + from, End: before + to})
			}
		}
		for _, i := range s.wakes[keyword] {
			r := s.rules[i]
			if r.find != nil || r.named || r.id == keyRule || r.path != nil {
				continue
			}
			e := r.expression()
			if e.start == nil || e.boundary && start > 0 && wordByte(text[start-1]) && !endsEscape(text[:start]) {
				continue
			}
			if random := part[end-start:]; looksRandom(random) && !isPlaceholder(part) && e.beginning().MatchString(part) {
				found = start + mark
				hits = append(hits, Hit{Rule: r.id, Name: r.name, Start: start, End: found})
			}
		}
		return true
	})
	return hits
}

// looksRandom reports whether a part of a token has a digit and a letter, as most random parts
// have, and words do not.
func looksRandom(part string) bool {
	return strings.ContainsFunc(part, func(r rune) bool { return '0' <= r && r <= '9' }) &&
		strings.ContainsFunc(part, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
}

// beginningOf returns a function that returns an expression for every text with which a match of
// tree can begin. Its first call compiles the expression.
func beginningOf(tree *syntax.Regexp) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:` + beginning(tree).String() + `)\z`)
	})
}

// beginning returns an expression that matches every beginning of a text that re matches.
func beginning(re *syntax.Regexp) *syntax.Regexp {
	node := func(op syntax.Op, subs ...*syntax.Regexp) *syntax.Regexp {
		return &syntax.Regexp{Op: op, Flags: re.Flags, Sub: subs}
	}
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return node(syntax.OpQuest, re)
	case syntax.OpLiteral:
		var all *syntax.Regexp
		for i := len(re.Rune) - 1; i >= 0; i-- {
			char := &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[i : i+1]}
			if all != nil {
				char = node(syntax.OpConcat, char, all)
			}
			all = node(syntax.OpQuest, char)
		}
		return all
	case syntax.OpCapture, syntax.OpQuest:
		return beginning(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return node(syntax.OpConcat, node(syntax.OpStar, re.Sub[0]), beginning(re.Sub[0]))
	case syntax.OpRepeat:
		some := node(syntax.OpRepeat, re.Sub[0])
		some.Max = re.Max
		return node(syntax.OpConcat, some, beginning(re.Sub[0]))
	case syntax.OpAlternate:
		all := node(syntax.OpAlternate)
		for _, sub := range re.Sub {
			all.Sub = append(all.Sub, beginning(sub))
		}
		return all
	case syntax.OpConcat:
		all := beginning(re.Sub[len(re.Sub)-1])
		for i := len(re.Sub) - 2; i >= 0; i-- {
			all = node(syntax.OpAlternate, node(syntax.OpConcat, re.Sub[i], all), beginning(re.Sub[i]))
		}
		return all
	}
	return node(syntax.OpEmptyMatch) // assertions match no character
}

// keyBoundary matches the first and the last line of a private key.
var keyBoundary = lazyregexp.New(`(?i)-----(BEGIN|END)[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)

// findCutKeys returns where private keys are, even if their first or last lines are missing.
func findCutKeys(text string) []Hit {
	if !strings.Contains(text, "-----") {
		return nil
	}
	var hits []Hit
	for _, m := range keyBoundary.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if strings.EqualFold(text[m[2]:m[3]], "BEGIN") {
			end = keyEnd(text, end)
		} else {
			start = keyStart(text, start)
		}
		if hasKey(text[start:end]) {
			hits = append(hits, Hit{Rule: keyRule, Name: "a private key", Start: start, End: end})
		}
	}
	return hits
}

// A key's lines may be one line now, with quotes or escapes of line breaks between them.
const (
	shortestKeyLine = 16 // characters of each line but the last
	mostBetween     = 40 // bytes between two lines
)

// keyEnd returns where the lines of a key end, given where they begin. Headers such as "Version: 1"
// may come first.
func keyEnd(text string, from int) (end int) {
	for line := range strings.Lines(text[from:min(len(text), from+endlessAfter)]) {
		if !strings.Contains(line, ": ") && strings.TrimSpace(line) != "" {
			break
		}
		from += len(line)
	}
	end = from
	for next := from; next < min(len(text), end+mostBetween); {
		n := 0
		for next+n < len(text) && keyByte(text[next+n]) {
			n++
		}
		switch isCut := strings.HasPrefix(text[next+n:], cutMark); {
		case n > 1 && n < shortestKeyLine && !isCut:
			return end // a word, or a part of a key that is too short to matter
		case n > 1 || n > 0 && isCut:
			end, next = next+n, next+n
		case text[next] == '\\':
			next += 2
		default:
			next++
		}
	}
	return end
}

// keyStart returns where the lines of a key begin, given where they end.
func keyStart(text string, to int) (start int) {
	start = to
	for before, isLast := to, true; before > max(0, start-mostBetween); {
		n := 0
		for before-n > 0 && keyByte(text[before-n-1]) {
			n++
		}
		if n < 2 {
			before--
			continue
		}
		if n < shortestKeyLine && !isLast {
			return start
		}
		start, before, isLast = before-n, before-n, false
	}
	return start
}

// keyByte reports whether a byte is one of Base64.
func keyByte(c byte) bool { return encodedByte(c) && c != '-' && c != '_' || c == '=' }
