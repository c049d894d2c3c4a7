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
	if strings.ContainsAny(text, ":.") {
		// What stands for one address may show another: look until none is left.
		for range maxRounds {
			before := text
			if text, allowed = s.rawLinks(text, n); text == before {
				break
			}
		}
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
	findURLs(text, func(a address) (next int) {
		v, part := s.judgeText(text, a)
		if v.allowed {
			allowed = append(allowed, span{a.start + grown, a.end + grown})
			return a.end
		}
		n.add(RuleLinks, v.detail)
		note, from, to := v.redaction(), a.start, a.end
		if part > 0 {
			note, from, to = " ", part, part
			allowed = append(allowed, span{a.start + grown, part + grown})
		}
		b.WriteString(text[last:from])
		b.WriteString(note)
		grown += len(note) - (to - from)
		last = to
		return to
	})
	if last == 0 {
		return text, allowed
	}
	b.WriteString(text[last:])
	return b.String(), allowed
}
