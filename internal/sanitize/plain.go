package sanitize

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
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

// MaxTitle is the longest title, in UTF-16 units, so that it fits by whatever
// unit the server counts characters.
const MaxTitle = 256

// Title cleans a title: one line, at most MaxTitle units (a longer one is cut
// and ends with an ellipsis), mentions, closing words and addresses inert. No
// Markdown and no HTML is read.
func (s *Sanitizer) Title(text string) (string, []Note) {
	var n noter
	out := s.raw(oneLine(characters(text, &n)), &n)
	if markdown.UTF16Len(out) <= MaxTitle {
		return out, n.list()
	}
	n.add(RuleSize, "title")
	// What is inert may have become shorter by the cut: clean again until the
	// result is its own result.
	for room := MaxTitle - 1; room > 0; room-- {
		var quiet noter
		cut := strings.TrimRightFunc(cutUTF16(out, room), isTitleSpace) + "…"
		again := s.raw(oneLine(characters(cut, &quiet)), &quiet)
		if again == cut {
			out = cut
			break
		}
		if markdown.UTF16Len(again) <= MaxTitle && s.raw(oneLine(characters(again, &quiet)), &quiet) == again {
			out = again
			break
		}
	}
	return out, n.list()
}

// oneLine joins lines and blanks by single spaces, none at the ends. Single
// blanks within a line stay as they are.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\t\u2028\u2029") {
		return strings.TrimFunc(s, isTitleSpace)
	}
	var b strings.Builder
	b.Grow(len(s))
	pending := false
	for i, r := range s {
		if r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029' {
			pending = true
			continue
		}
		if pending {
			if r == ' ' {
				continue
			}
			if out := b.String(); out != "" && out[len(out)-1] != ' ' {
				b.WriteByte(' ')
			}
			pending = false
		}
		b.WriteString(s[i : i+utf8.RuneLen(r)])
	}
	return strings.TrimFunc(b.String(), isTitleSpace)
}

func isTitleSpace(r rune) bool { return unicode.IsSpace(r) }

// cutUTF16 returns the longest prefix of s of at most room UTF-16 units that
// ends between characters.
func cutUTF16(s string, room int) string {
	for i, r := range s {
		room--
		if r >= 0x10000 {
			room--
		}
		if room < 0 {
			return s[:i]
		}
	}
	return s
}

// MaxLabel is the longest label, in characters.
const MaxLabel = 50

// The reasons for which a label is refused.
var (
	ErrLabelEmpty = errors.New("the label is empty")
	ErrLabelDash  = errors.New("a label must not begin with '-'")
)

// Label cleans a label: trimmed, one line, no control or invisible
// characters. An empty one, one over MaxLabel characters and one with a
// leading '-' are errors.
func (s *Sanitizer) Label(text string) (string, []Note, error) {
	var n noter
	out := oneLine(characters(text, &n))
	switch {
	case out == "":
		return "", n.list(), ErrLabelEmpty
	case out[0] == '-':
		return "", n.list(), ErrLabelDash
	}
	if count := utf8.RuneCountInString(out); count > MaxLabel {
		return "", n.list(), fmt.Errorf("the label has %d characters; at most %d are allowed", count, MaxLabel)
	}
	return out, n.list(), nil
}
