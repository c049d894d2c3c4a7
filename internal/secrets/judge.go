package secrets

import "math"

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
