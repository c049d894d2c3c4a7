package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRounds is how often a body is read again before it is fenced whole. Two
// rounds are usual: one that edits and one that finds nothing.
const maxRounds = 8

// cutNote is the visible note of a body that was cut.
const cutNote = "*(cut: the text was longer than allowed)*"

// Body cleans a Markdown text. It reads the text as GitHub does, edits what
// would act, and reads again until nothing is left to edit; so the result is
// its own result. A text that needs nothing is returned without allocation.
func (s *Sanitizer) Body(text string) (string, []Note) {
	var n noter
	text = s.beginning(text, &n)
	if s.maxBody <= 0 || len(text) <= s.maxBody {
		return text, n.list()
	}
	for room := s.maxBody; markdown.UTF16Len(text) > s.maxBody && room > 0; room -= 64 {
		cut, _ := markdown.Cut(text, room, cutNote)
		var quiet noter
		cut = s.settle(characters(cut, &quiet), &quiet)
		if markdown.UTF16Len(cut) <= s.maxBody {
			text = cut
			n.add(RuleSize, "body")
		}
	}
	return text, n.list()
}

// beginning cleans a text, or as much of its beginning as the result has room
// for: what is cut anyway is not read.
func (s *Sanitizer) beginning(text string, n *noter) string {
	if s.maxBody > 0 && len(text) > s.maxBody+s.maxBody/4 {
		text = strings.ToValidUTF8(text, "")
		// Cleaning adds more than it takes away, in most texts: a little more than
		// what fits will do. Four times as much is the most that is read.
		for _, room := range [...]int{s.maxBody + s.maxBody/4, 4 * s.maxBody} {
			head, cut := markdown.Cut(text, room, cutNote)
			if !cut {
				break
			}
			var found noter
			head = s.settle(characters(head, &found), &found)
			if size := markdown.UTF16Len(head); room == 4*s.maxBody || size >= s.maxBody {
				if *n = found; size <= s.maxBody { // else the cut that follows is noted
					n.add(RuleSize, "body")
				}
				return head
			}
		}
	}
	return s.settle(characters(text, n), n)
}

// settle reads and edits until nothing is left to edit.
func (s *Sanitizer) settle(text string, n *noter) string {
	if !needsReading(text) {
		return text
	}
	p, ok := s.passes.Get().(*pass)
	if !ok {
		p = new(pass)
	}
	defer p.release()
	for range maxRounds {
		p.read(s, text)
		if p.tooDeep {
			break
		}
		if len(p.edits) == 0 {
			return text
		}
		text = p.apply(text, n)
		if !needsReading(text) {
			return text
		}
	}
	n.add(RuleCode, "unsettled")
	return markdown.Fence("", text)
}

// needsReading tells whether a text holds anything that could act, or hide,
// in some reading of it. It looks at single bytes and their neighbours only.
func needsReading(s string) bool {
	for i := 0; i < len(s); i++ {
		if trigger[s[i]] && triggers(s, i) {
			return true
		}
	}
	return false
}

// trigger tells quickly which bytes triggers has to look at.
var trigger = [256]bool{
	'#': true, '&': true, '-': true, '.': true, '/': true, ':': true, '<': true, '@': true, '[': true, ']': true, '\\': true,
}

// triggers tells whether the byte at i may be part of something that acts.
func triggers(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '@':
		return true
	case '#':
		return isDigit(next) || next == '\\' || isSqueezed(next)
	case '&':
		return next == '#' || isAlpha(next)
	case '-':
		return i >= 2 && (isDigit(next) || next == '\\' || isSqueezed(next)) &&
			(s[i-1]|0x20 == 'h' || s[i-1] == '\\' || isSqueezed(s[i-1]))
	case '.':
		return i >= 3 && (s[i-1]|0x20 == 'w' && (s[i-2]|0x20 == 'w' || isSqueezed(s[i-2])) || s[i-1] == '\\' || isSqueezed(s[i-1]))
	case ':':
		return next == '/' || isSqueezed(next)
	case '<':
		return isAlpha(next) || next == '/' || next == '!' || next == '?'
	case '[':
		return next == '^'
	case ']':
		return next == '(' || next == ':'
	case '\\':
		return next == '/'
	case '/':
		return isAlpha(next) && startsLine(s, i)
	}
	return false
}

// startsLine tells that nothing but blanks and container marks may stand
// before s[i] on its line.
func startsLine(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case isAlnum(c) && c < 0x80:
		return false
	case c == ' ':
		// A word before the blank: the middle of a sentence.
		return i < 3 || !isAlpha(s[i-2]) && !(isDigit(s[i-2]) && isAlnum(s[i-3]))
	}
	return true
}
