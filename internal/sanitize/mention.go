package sanitize

import "strings"

// The bytes that stand in a flat text for what is not text. The character
// rules have removed these bytes from every text before.
const (
	markOpaque = 0x01 // code: not text, and not nothing
	markTag    = 0x02 // a tag: gone when texts are joined
	markZWSP   = 0x03 // the entity by which we make things inert
	markIssue  = 0x04 // a link that leads to an issue begins here
)

// mention is an @name in a flat text.
type mention struct {
	at    int    // offset of the @
	inert bool   // a markZWSP stands between
	name  string // in lower case
}

// findMentions calls found for each mention in text that is not allowed, and
// for each one that is inert already. squeeze looks through emphasis marks,
// brackets and tags.
//
// The boundaries are wider than GitHub's own: any @ before a letter or digit
// counts, unless an ASCII letter or digit stands before it in the same run of
// text and the run goes on, as in an e-mail address.
func (s *Sanitizer) findMentions(text string, squeeze bool, found func(mention)) {
	for from := 0; ; {
		k := strings.IndexByte(text[from:], '@')
		if k < 0 {
			return
		}
		at := from + k
		from = at + 1
		j, boundary := at+1, false
		inert := j < len(text) && text[j] == markZWSP
		for j < len(text) {
			if text[j] == markZWSP || squeeze && (isSqueezed(text[j]) || text[j] == markIssue) {
				boundary = boundary || text[j] == markTag
				j++
				continue
			}
			// Blanks between tags may vanish, as in a table.
			k := skipBlanks(text, j)
			if k == j || !squeeze || text[j-1] != markTag || k == len(text) || text[k] != markTag {
				break
			}
			j = k
		}
		if at > 0 && isAlnum(text[at-1]) && !boundary && !chained(text, at) {
			continue
		}
		if j == len(text) && boundary && at+1 < j {
			// A tag ends the text: what follows may be joined to it.
			found(mention{at: at, inert: inert, name: "tag"})
			continue
		}
		if j >= len(text) || !isAlnum(text[j]) {
			continue
		}
		name, end := mentionName(text, j)
		direct := j == at+1 && !(squeeze && continues(text, end))
		if !inert && direct && s.mentionAllowed(name) {
			continue
		}
		found(mention{at: at, inert: inert, name: name})
	}
}

func skipBlanks(text string, k int) int {
	for k < len(text) && (text[k] == ' ' || text[k] == '\n' || text[k] == '\t') {
		k++
	}
	return k
}

// chained tells that an @ stands before the word before the @ at k, as in
// "@a@b" and "a@b.example@c": the part up to the second may be a node of its own.
func chained(text string, k int) bool {
	for k--; k >= 0 && (isNameByte(text[k]) || text[k] == '.'); k-- {
	}
	if k >= 0 && text[k] == markZWSP {
		k--
	} else if k >= 2 && text[k-2:k+1] == string(zwsp) {
		k -= 3
	}
	return k >= 0 && text[k] == '@'
}

// continues tells that after end, behind marks that vanish, the word goes on.
func continues(text string, end int) bool {
	k := end
	for k < len(text) && isSqueezed(text[k]) {
		k++
	}
	return k > end && k < len(text) && isNameByte(text[k])
}

// mentionName reads "user" or "org/team" at text[i:].
func mentionName(text string, i int) (name string, end int) {
	end = i
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	if end+1 < len(text) && text[end] == '/' && isNameByte(text[end+1]) {
		for end++; end < len(text) && (isNameByte(text[end]) || text[end] == '.'); end++ {
		}
	}
	return strings.ToLower(text[i:min(end, i+2*maxDetail)]), end
}

func (s *Sanitizer) mentionAllowed(name string) bool {
	if len(s.mentions) == 0 {
		return false
	}
	return s.mentions[name] || s.mentions[strings.TrimRight(name, "-_.")]
}

// isMentionName tells that name, in lower case, is a user or a team.
func isMentionName(name string) bool {
	if name == "" || !isAlnum(name[0]) || len(name) > 2*maxDetail {
		return false
	}
	got, end := mentionName(name, 0)
	return end == len(name) && got == name
}

func isNameByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

// isSqueezed tells of what vanishes when a text is rendered and its parts are
// joined.
func isSqueezed(c byte) bool {
	switch c {
	case '*', '_', '~', '[', ']', markTag:
		return true
	}
	return false
}
