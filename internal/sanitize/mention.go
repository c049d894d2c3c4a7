package sanitize

import "strings"

// mention is an @name in a flat text.
type mention struct {
	offset int    // of the @
	inert  bool   // a markZWSP follows the @
	name   string // in lower case
	// allowed is whether the configuration allows the name, which must directly follow the @; see
	// Sanitizer.admits. It is false if the mention is inert.
	allowed bool
}

// findMentions calls found for each mention in text that is not allowed or is inert already. If the
// number of mentions is limited, it calls found for allowed ones as well. With squeeze it looks
// through the bytes that vanish.
//
// It finds more than GitHub does: every @ before a letter or digit, unless an
// ASCII letter or digit precedes it in the same run of text and the run continues
// after it, as in an e-mail address. It also finds such an @ if isChained reports it,
// and an @ before a tag that ends the text.
func (s *Sanitizer) findMentions(text string, squeeze bool, found func(mention)) {
	for from := 0; ; {
		k := strings.IndexByte(text[from:], '@')
		if k < 0 {
			return
		}
		at := from + k
		from = at + 1
		inert := from < len(text) && text[from] == markZWSP
		start, pastTag := nameStart(text, from, squeeze)
		if at > 0 && isAlnum(text[at-1]) && !pastTag && !isChained(text, at) {
			continue
		}
		if start == len(text) && pastTag {
			// A tag ends the text: what follows may be joined to it.
			found(mention{offset: at, inert: inert, name: "tag"})
			continue
		}
		if start == len(text) || !isAlnum(text[start]) {
			continue
		}
		name, end := mentionName(text, start)
		direct := start == at+1 && !(squeeze && wordContinues(text, end))
		allowed := !inert && direct && s.mentionAllowed(name)
		if allowed && s.maxMentions == 0 {
			continue
		}
		found(mention{offset: at, inert: inert, name: name, allowed: allowed})
	}
}

// nameStart returns where the name after an @ may begin, from k on, and whether a
// tag is before it.
func nameStart(text string, k int, squeeze bool) (start int, pastTag bool) {
	for k < len(text) {
		if text[k] == markZWSP || squeeze && (vanishes(text[k]) || text[k] == markIssue) {
			pastTag = pastTag || text[k] == markTag
			k++
			continue
		}
		// Blanks between tags may vanish, as in a table.
		next := k
		for next < len(text) && (text[next] == ' ' || text[next] == '\n' || text[next] == '\t') {
			next++
		}
		if next == k || !squeeze || text[k-1] != markTag || next == len(text) || text[next] != markTag {
			break
		}
		k = next
	}
	return k, pastTag
}

// isChained reports whether an @ precedes the word before the @ at k, as in
// "@a@b" and "a@b.example@c": the part up to the second @ may be a node of its own.
func isChained(text string, k int) bool {
	for k > 0 && (isNameByte(text[k-1]) || text[k-1] == '.') {
		k--
	}
	if k > 0 && text[k-1] == markZWSP {
		k--
	} else {
		k = len(strings.TrimSuffix(text[:k], string(zwsp)))
	}
	return k > 0 && text[k-1] == '@'
}

// wordContinues reports whether the word that ends at offset end continues after bytes that vanish.
func wordContinues(text string, end int) bool {
	k := skipVanishing(text, end)
	return k > end && k < len(text) && isNameByte(text[k])
}

// mentionName reads "user" or "org/team" at text[i:], up to end. name is in lower case, and cut if
// it is too long.
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

// mentioned are the allowed names that a text has mentioned so far.
type mentioned map[string]bool

// admits reports whether a mention may stay: it is allowed, and its name is among the first
// maxMentions names of the text, which soFar collects.
func (s *Sanitizer) admits(m mention, soFar *mentioned) bool {
	switch {
	case !m.allowed:
		return false
	case (*soFar)[m.name]:
		return true
	case len(*soFar) >= s.maxMentions:
		return false
	case *soFar == nil:
		*soFar = mentioned{}
	}
	(*soFar)[strings.Clone(m.name)] = true // the name is a part of a buffer
	return true
}

// mentionAllowed reports whether the configuration allows a name, or the name without the
// punctuation at its end.
func (s *Sanitizer) mentionAllowed(name string) bool {
	if s.mentions[name] {
		return true
	}
	end := len(name)
	for end > 0 && (name[end-1] == '-' || name[end-1] == '_' || name[end-1] == '.') {
		end--
	}
	return end < len(name) && s.mentions[name[:end]]
}

// isMentionName reports whether name, in lower case, is that of a user or team.
func isMentionName(name string) bool {
	if name == "" || !isAlnum(name[0]) || len(name) > 2*maxDetail {
		return false
	}
	_, end := mentionName(name, 0)
	return end == len(name)
}

func isNameByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }
