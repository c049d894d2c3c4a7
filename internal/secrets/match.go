package secrets

import (
	"math"
	"slices"
	"strings"
)

// window is a part of a text in which a rule may find something.
type window struct{ start, end int }

// find returns what the rules find in a text. An expression reads only what is near a keyword of
// its rule, so that time grows linearly with the text. Only those of farKeyword read all of it.
func (s *ruleSet) find(path, text string) []Hit {
	var hits []Hit
	windows := map[int][]window{} // by the rule's index
	tried := map[int]int{}        // by the rule's index, the offset where it was last tried, plus one
	s.keywords.each(text, func(keyword, start, end int) bool {
		for _, i := range s.wakes[keyword] {
			r := s.rules[i]
			if !r.appliesTo(path) || r.id == GeneralRule && !isAssigned(text[end:]) {
				continue
			}
			if r.find != nil {
				if from, to, ok := r.find(text, start, end); ok {
					hits = append(hits, Hit{Rule: r.id, Name: r.name, Start: from, End: to, around: true})
				}
				continue
			}
			e := r.expression()
			switch {
			case farKeyword[r.id]:
				windows[i] = []window{{0, len(text)}}
			case e.boundary && start > 0 && wordByte(text[start-1]) && !endsEscape(text[:start]):
				// The keyword is in a word, where no match begins.
			case e.start != nil && (!e.endless || r.id == GeneralRule):
				// An endless expression other than the general rule's would read 32 KB at each
				// keyword.
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

// endsEscape reports whether a text ends with the escape of a line break or a tab, so that its
// last letter is part of no word.
func endsEscape(text string) bool {
	n := len(text)
	return n >= 2 && text[n-2] == '\\' && (text[n-1] == 'n' || text[n-1] == 'r' || text[n-1] == 't')
}

// appliesTo reports whether the rule is for a file of that path, or for a text that is
// not a file ("").
func (r *rule) appliesTo(path string) bool {
	return r.path == nil || path != "" && r.path.MatchString(path)
}

// join adds a window to a list of windows that do not touch and start no later.
func join(list []window, w window) []window {
	if n := len(list); n > 0 && w.start <= list[n-1].end {
		list[n-1].end = max(list[n-1].end, w.end)
		return list
	}
	return append(list, w)
}

// isAssigned reports whether the text after a word such as key can be an assignment: at most 23
// bytes of a name, spaces and quotes, then an operator. It accepts everything that the general
// rule accepts, and more.
func isAssigned(rest string) bool {
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

// firstReach is how far after its keyword the general rule looks at first, in bytes. It
// looks further where a value does not end there.
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
		if cut && len(hits) > found { // the secret may be longer than the window
			for h := &hits[found]; h.End < next && encodedByte(text[h.End]); {
				h.End++
			}
		}
	}
	return hits
}

// judge appends the secret of the match in a part of the text that begins at offset,
// unless it is harmless.
func (r *rule) judge(text, part string, offset int, match []int, hits []Hit) []Hit {
	start, end := secretGroup(match, r.group, part)
	secret := part[start:end]
	if secret == "" || r.entropy > 0 && entropy(secret) <= r.entropy {
		return hits
	}
	matchStart, matchEnd := offset+match[0], offset+match[1]
	if r.named {
		matchStart = nameStart(text, matchStart)
	}
	hit := Hit{Rule: r.id, Name: r.name, Start: offset + start, End: offset + end}
	hit.InSignature = r.id == awsIDRule && inSignature.MatchString(text[hit.End:])
	switch {
	case r.id == keyRule:
		if !hasKey(secret) {
			return hits
		}
	case isPlaceholder(secret), r.allows(text, secret, matchStart, matchEnd):
		return hits
	case r.id == sourcegraphRule && commitName.MatchString(secret):
		return hits
	case r.ours && isInBase64(text, hit.Start, hit.End):
		return hits
	case r.id == jwkRule && !isInKey(text, hit.Start, hit.End):
		return hits
	case strings.HasPrefix(r.id, "curl-auth") && isWeakCredential(secret):
		return hits
	case r.id == jwtRule && isHarmlessJWT(secret):
		return hits
	case r.named && isUUID(secret) && idName.MatchString(text[matchStart:hit.Start]):
		return hits
	case r.named && r.id != GeneralRule && (openName.MatchString(text[matchStart:hit.Start]) || r.isIdentifier(secret)):
		return hits
	case r.id == terraformRule && isWeak(strings.Trim(secret, `"`), false):
		return hits
	case r.id == kubernetesRule:
		return append(hits, kubernetesValues(text, hit)...)
	case r.id == GeneralRule && isHarmless(text, matchStart, hit.Start, hit.End):
		return hits
	}
	return append(hits, hit)
}

// isIdentifier reports whether a value that a rule found after the name of an issuer is only a name
// in code, such as AirtableApi: it contains the issuer's name, or is made of words.
func (r *rule) isIdentifier(value string) bool {
	lower := strings.ToLower(value)
	return slices.ContainsFunc(r.issuer, func(name string) bool { return strings.Contains(lower, name) }) ||
		!strings.ContainsAny(value, "0123456789") && isWords(value)
}

// secretGroup returns where the secret is in a match: in the group that the rule names,
// otherwise in the first that is not empty, otherwise all of the match but line feeds at its ends.
func secretGroup(match []int, group int, part string) (start, end int) {
	if group > 0 && 2*group+1 < len(match) && match[2*group] >= 0 {
		return match[2*group], match[2*group+1]
	}
	for i := 2; i+1 < len(match); i += 2 {
		if match[i] >= 0 && match[i+1] > match[i] {
			return match[i], match[i+1]
		}
	}
	start, end = match[0], match[1]
	for start < end && part[start] == '\n' {
		start++
	}
	for end > start && part[end-1] == '\n' {
		end--
	}
	return start, end
}

// nameStart returns where the name around an offset begins: at most 50 bytes before the offset, as
// in namePart.
func nameStart(text string, offset int) int {
	start := offset
	for start > max(0, offset-50) && (wordByte(text[start-1]) || text[start-1] == '.' || text[start-1] == '-') {
		start--
	}
	return start
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
