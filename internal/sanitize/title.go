package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

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
