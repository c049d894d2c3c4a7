package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// Plain cleans raw text that may have many lines: commit messages, author and
// branch names, the text of tool messages. No Markdown is read, so code does
// not protect either. What must not act gets an invisible U+200B.
func (s *Sanitizer) Plain(text string) (string, []Note) {
	var n noter
	out := s.raw(characters(text, &n), &n)
	return out, n.list()
}

// raw applies the rules for raw text: links, mentions, closing words. All
// U+200B are gone from text; so what stands in the result stands where it must.
func (s *Sanitizer) raw(text string, n *noter) string {
	var allowed []span
	if strings.Contains(text, "://") || containsWWW(text) {
		text, allowed = s.rawLinks(text, n)
	}
	var cuts []int
	if strings.IndexByte(text, '@') >= 0 {
		s.findMentions(text, false, func(m mention) {
			for len(allowed) > 0 && allowed[0].end <= m.at {
				allowed = allowed[1:]
			}
			if len(allowed) > 0 && allowed[0].start < m.at && text[m.at-1] == '/' {
				return // a segment of an address, as in https://host/@scope/name
			}
			cuts = append(cuts, m.at+1)
			n.add(RuleMentions, m.name)
		})
	}
	if !s.closing {
		var q squeezed
		findClosing(text, false, &q, func(c closing) {
			cuts = append(cuts, c.ref)
			n.add(RuleClosingWords, c.word)
		})
	}
	if len(cuts) == 0 {
		return text
	}
	slices.SortFunc(cuts, cmp.Compare[int])
	cuts = slices.Compact(cuts)
	var b strings.Builder
	b.Grow(len(text) + 3*len(cuts))
	last := 0
	for _, at := range cuts {
		b.WriteString(text[last:at])
		b.WriteRune(zwsp)
		last = at
	}
	b.WriteString(text[last:])
	return b.String()
}

// span is a half-open range of byte offsets.
type span struct{ start, end int }

// rawLinks replaces the denied addresses of a raw text, and tells where the
// allowed ones are in the result.
func (s *Sanitizer) rawLinks(text string, n *noter) (out string, allowed []span) {
	var b strings.Builder
	last, grown := 0, 0
	findURLs(text, func(start, end int) (next int) {
		v := s.judgeText(text[start:end])
		if v.allowed {
			allowed = append(allowed, span{start + grown, end + grown})
			return end
		}
		n.add(RuleLinks, v.detail)
		b.WriteString(text[last:start])
		note := v.redaction()
		b.WriteString(note)
		grown += len(note) - (end - start)
		last = end
		return end
	})
	if last == 0 {
		return text, allowed
	}
	b.WriteString(text[last:])
	return b.String(), allowed
}

// judgeText judges an address found in text, where "www." stands for a scheme
// and marks of tags may stand between. Only its host decides.
func (s *Sanitizer) judgeText(address string) verdict {
	if hasWWW(address) {
		return s.judgeAuthority("https", address)
	}
	host := strings.Index(address, "//")
	if host < 0 { // marks between the slashes
		address = strings.Map(func(r rune) rune {
			if r < 0x80 && isSqueezed(byte(r)) {
				return -1
			}
			return r
		}, address)
		host = max(0, strings.Index(address, "//"))
	}
	host += len("//")
	end := host + indexAnyOrLen(address[host:], "/?#")
	return s.judge(strings.ReplaceAll(address[:end], string(rune(markTag)), ""))
}
