package secrets

import (
	"math"
)

// window is a part of a text in which a rule may find something.
type window struct{ start, end int }

// find returns what the rules find in a text. Only what is near a rule's keyword
// is read by its expression, and nothing twice as long as a match can be, so that
// time grows linearly with the text.
func (s *ruleSet) find(path, text string) []Hit {
	var hits []Hit
	windows := map[int][]window{} // by rule
	tried := map[int]int{}        // by rule, one more than where it was last tried
	s.keywords.each(folded(text), func(keyword, start, end int) bool {
		for _, i := range s.wakes[keyword] {
			r := s.rules[i]
			if !r.holdsFor(path) || r.id == GeneralRule && !followedByOperator(text[end:]) {
				continue
			}
			e := r.expression()
			switch {
			case apart[r.id]:
				windows[i] = []window{{0, len(text)}}
			case e.boundary && start > 0 && wordByte(text[start-1]):
			case e.start != nil && (!e.endless || r.id == GeneralRule):
				if tried[i] != start+1 {
					tried[i] = start + 1
					hits = r.findAt(text, start, hits)
				}
			default:
				windows[i] = join(windows[i], window{max(0, start-e.before), min(len(text), end+e.after)})
			}
		}
		return true
	})
	for i, list := range windows {
		for j, w := range list {
			next := len(text)
			if j+1 < len(list) {
				next = list[j+1].start
			}
			hits = s.rules[i].findWithin(text, w, next, hits)
		}
	}
	return hits
}

// holdsFor reports whether the rule is for a file of that path, "" being a text
// that is no file.
func (r *rule) holdsFor(path string) bool {
	return r.path == nil || path != "" && r.path().MatchString(path)
}

// join adds a window to a list of windows that do not touch.
func join(list []window, w window) []window {
	for len(list) > 0 && w.start <= list[len(list)-1].end {
		last := list[len(list)-1]
		w = window{min(w.start, last.start), max(w.end, last.end)}
		list = list[:len(list)-1]
	}
	return append(list, w)
}

// followedByOperator reports whether what stands behind a telling word can be an
// assignment: at most 23 bytes of a name, spaces and quotes, then an operator. It
// is what the general rule asks for, or more.
func followedByOperator(rest string) bool {
	for i := range min(len(rest), 24) {
		switch c := rest[i]; {
		case c == '=' || c == '>' || c == ':' || c == '|' || c == '?' || c == ',':
			return true
		case wordByte(c), c == '.', c == '-', c == ' ', '\t' <= c && c <= '\r', c == '\'', c == '"', c >= 0x80:
		default:
			return false
		}
	}
	return false
}

// firstReach is how far behind its keyword the general rule looks at first, in
// bytes. It looks further where a value goes on there.
const firstReach = 256

// findAt appends the secret of a match that begins at start, where a keyword is.
func (r *rule) findAt(text string, start int, hits []Hit) []Hit {
	e := r.expression()
	reach := e.after
	if e.endless {
		reach = firstReach
	}
	for {
		part := text[start:min(len(text), start+reach)]
		m := e.start.FindStringSubmatchIndex(part)
		if m == nil {
			return hits
		}
		if m[1] < len(part) || start+len(part) == len(text) {
			return r.judge(text, part, start, m, hits)
		}
		if reach >= endlessAfter {
			return hits // 32 KB in one piece are data
		}
		reach *= 4
	}
}

// findWithin appends the secrets of the matches in a window; next is where the
// following window begins.
func (r *rule) findWithin(text string, w window, next int, hits []Hit) []Hit {
	e := r.expression()
	part := text[w.start:w.end]
	for _, m := range e.re.FindAllStringSubmatchIndex(part, -1) {
		cut := m[1] == len(part) && w.end < len(text)
		if m[0] == 0 && w.start > 0 || cut && !e.endless {
			continue // a match around the keyword touches no edge
		}
		found := len(hits)
		hits = r.judge(text, part, w.start, m, hits)
		for cut && len(hits) > found && hits[found].End < next && encodedByte(text[hits[found].End]) {
			hits[found].End++ // the window is shorter than the secret
		}
	}
	return hits
}

// judge appends the secret of the match m in a part of the text that begins at
// offset, unless what it holds is harmless.
func (r *rule) judge(text, part string, offset int, m []int, hits []Hit) []Hit {
	start, end := secretGroup(m, r.group, part)
	secret := part[start:end]
	if secret == "" || r.entropy > 0 && entropy(secret) <= r.entropy {
		return hits
	}
	matchStart, matchEnd := offset+m[0], offset+m[1]
	if r.named {
		matchStart = nameStart(text, matchStart)
	}
	hit := Hit{Rule: r.id, Name: r.name, Start: offset + start, End: offset + end}
	switch {
	case r.id == keyRule:
		if !keyBody(secret) {
			return hits
		}
	case placeholder(secret), r.allowed(text, secret, matchStart, matchEnd):
		return hits
	case r.id == sourcegraphRule && commit(secret):
		return hits
	case r.id == GeneralRule && (digest(text, hit.Start, hit.End) || nameInCode(text, hit.Start, hit.End) || digestName().MatchString(text[matchStart:hit.Start])):
		return hits
	}
	return append(hits, hit)
}

// secretGroup returns where the secret stands within a match: in the group that
// the rule names, or else in the first that is not empty, or else in all of it.
func secretGroup(m []int, group int, part string) (start, end int) {
	start, end = m[0], m[1]
	if group > 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
		return m[2*group], m[2*group+1]
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	for start < end && part[start] == '\n' {
		start++
	}
	for end > start && part[end-1] == '\n' {
		end--
	}
	return start, end
}

// nameStart returns where the name begins that a telling word is part of: at most
// 50 bytes before it, as namePart has it.
func nameStart(text string, at int) int {
	for n := 0; at > 0 && n < 50; n++ {
		if c := text[at-1]; !wordByte(c) && c != '.' && c != '-' {
			break
		}
		at--
	}
	return at
}

// entropy returns Shannon's entropy of a string in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// wordByte reports what \w matches.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
