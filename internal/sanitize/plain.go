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

// MaxTitle is the longest title, in UTF-16 code units, so that it fits whether the
// server counts these or characters.
const MaxTitle = 256

// MaxLabel is the longest label, in characters.
const MaxLabel = 50

// The reasons for which a label is refused.
var (
	ErrLabelEmpty = errors.New("the label is empty")
	ErrLabelDash  = errors.New("a label must not begin with '-'")
)

// Plain cleans raw text that may have several lines: commit messages, author and
// branch names, the text of tool messages. Of Markdown it reads only links, so it also
// cleans what looks like code. An invisible U+200B makes inert what must not act.
func (s *Sanitizer) Plain(text string) (string, []Note) {
	var n noter
	out := s.raw(characters(text, &n), &n)
	return out, n.list()
}

// Title cleans a title: one line of at most MaxTitle units (a longer one is cut
// and ends with an ellipsis) in which nothing acts that is not
// allowed. Of Markdown it reads only links, and it does not read HTML.
func (s *Sanitizer) Title(text string) (string, []Note) {
	var n noter
	out := s.rawLine(text, &n)
	if markdown.UTF16Len(out) <= MaxTitle {
		return out, n.list()
	}
	n.add(RuleSize, "title")
	// Cutting may undo what made the title inert, and cleaning changes its length: try
	// until the result is clean and fits.
	for size := MaxTitle - 1; size > 0; size-- {
		cut := strings.TrimRightFunc(markdown.UTF16Prefix(out, size), unicode.IsSpace) + "…"
		again := s.rawLine(cut, &noter{})
		if again == cut || markdown.UTF16Len(again) <= MaxTitle && s.rawLine(again, &noter{}) == again {
			out = again
			break
		}
	}
	return out, n.list()
}

// Label cleans a label: one line without control or invisible characters and
// without space around it. It refuses an empty one, one of more than MaxLabel
// characters and one that begins with '-'.
func (s *Sanitizer) Label(text string) (string, []Note, error) {
	var n noter
	out := joinLines(characters(text, &n))
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

// joinLines replaces each run of line breaks and tabs, with the spaces in and after it, by one
// space, or by nothing after a space. It removes space at both ends. Other spaces stay.
func joinLines(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\t') < 0 {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	pending := false
	for i, r := range s {
		if r == '\n' || r == '\t' {
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
	return strings.TrimSpace(b.String())
}

func (s *Sanitizer) rawLine(text string, n *noter) string {
	return s.raw(joinLines(characters(text, n)), n)
}

// raw applies the rules for raw text: links, mentions, closing words, references. The
// character rules have removed every U+200B, so those in the result are ours.
func (s *Sanitizer) raw(text string, n *noter) string {
	var allowed []span
	if strings.ContainsAny(text, ":.") {
		text = s.embeddedLinks(text, n)
		// The redaction of one address may uncover another: repeat until none is left.
		for range maxRounds {
			before := text
			if text, allowed = s.rawLinks(text, n); text == before {
				break
			}
		}
	}
	var cuts []int
	var soFar mentioned
	s.findMentions(text, false, func(m mention) {
		if s.admits(m, &soFar) {
			return
		}
		for len(allowed) > 0 && allowed[0].end <= m.offset {
			allowed = allowed[1:]
		}
		if len(allowed) > 0 && allowed[0].start < m.offset && text[m.offset-1] == '/' {
			return // a segment of an address, as in https://host/@scope/name
		}
		cuts = append(cuts, m.offset+1)
		n.add(RuleMentions, m.name)
	})
	if closed := 0; !s.closing || s.maxClosing > 0 { // otherwise all closing words may act
		findClosing(text, false, &squeezed{}, func(c closing) {
			if s.closes(closed) {
				closed++
				return
			}
			cuts = append(cuts, c.ref)
			n.add(RuleClosingWords, c.word)
		})
	}
	s.refs.find(text, false, &squeezed{}, func(r repoReference) {
		cuts = append(cuts, r.cut)
		n.add(RuleReferences, cmp.Or(r.name, ownRepository))
	})
	if len(cuts) == 0 {
		return text
	}
	slices.Sort(cuts)
	var b strings.Builder
	b.Grow(len(text) + 3*len(cuts))
	last := 0
	for _, cut := range slices.Compact(cuts) {
		b.WriteString(text[last:cut])
		b.WriteRune(zwsp)
		last = cut
	}
	b.WriteString(text[last:])
	return b.String()
}

// span is a half-open range of byte offsets.
type span struct{ start, end int }

// rawLinks replaces the denied addresses of a raw text by their redactions, and
// returns where the allowed ones are in the result.
func (s *Sanitizer) rawLinks(text string, n *noter) (out string, allowed []span) {
	var b strings.Builder
	last, grown := 0, 0
	findAddresses(text, func(a address) (next int) {
		v, part := s.judgeText(text, a)
		if v.allowed {
			allowed = append(allowed, span{a.start + grown, a.end + grown})
			return a.end
		}
		n.add(RuleLinks, v.detail)
		note, from, to := v.redactionIn(text, a.start, a.end), a.start, a.end
		if part > 0 { // the address is allowed up to part, and a space cuts it off from the rest
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

// Message cleans a text of a SARIF log: the character rules, and the link rules for the links
// that SARIF lets such a text embed, as in "see [the manual](https://example.org)". The rest is
// shown as it is.
func (s *Sanitizer) Message(text string) (string, []Note) {
	var n noter
	out := s.embeddedLinks(characters(text, &n), &n)
	return out, n.list()
}

// embeddedLinks replaces the denied addresses of links in the form of Markdown, with their
// parentheses, by redactions. What names no host, as in "f[0](std::move(x))", stays unless it is
// malformed or a script.
func (s *Sanitizer) embeddedLinks(text string, n *noter) string {
	const opening = "]("
	var b strings.Builder
	last := 0
	for i := indexFrom(text, opening, 0); i < len(text); i = indexFrom(text, opening, i+1) {
		paren := i + len("]")
		start := paren + 1
		for start < len(text) && (isURLBlank(rune(text[start])) || text[start] == '<') {
			start++
		}
		end := embeddedEnd(text, start)
		v := s.judge(text[start:end])
		if v.allowed || v.host == "" && v.detail != "malformed" && !isScript(trimURL(text[start:end])) {
			continue
		}
		n.add(RuleLinks, v.detail)
		b.WriteString(text[last:paren] + " " + v.redaction())
		last = end
		for _, closing := range [...]byte{'>', ')'} {
			if last < len(text) && text[last] == closing {
				last++
			}
		}
	}
	return b.String() + text[last:]
}

// isScript reports whether an address is a script, or is data that may be a script. In
// "m[0](data::get())" and "m[0](data: x)" there is no such address.
func isScript(address string) bool {
	scheme, rest := splitScheme(address)
	return (scheme == "javascript" || scheme == "vbscript" || scheme == "data") && rest != "" && rest[0] != ':'
}

// embeddedEnd returns the end of the address of an embedded link, which begins at text[i].
func embeddedEnd(text string, i int) int {
	for open := 0; i < len(text) && !endsAddress(text[i]) && text[i] != ']'; i++ {
		switch text[i] {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return i
			}
		}
	}
	return i
}
