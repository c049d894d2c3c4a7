package sanitize

import (
	"slices"
	"unsafe"
)

// match looks for what acts in the flat text that was collected: mentions,
// closing words, addresses that are not links; and for invisible characters
// that are written as references. The text ends at the source offset end.
func (p *pass) match(end int) {
	f := &p.flat
	if len(f.text) == 0 {
		return
	}
	f.pos.add(len(f.text), end, false)
	p.used = p.used[:0]
	text := unsafe.String(unsafe.SliceData(f.text), len(f.text))
	has := contentsOf(text)
	if has&(hasColon|hasWWWDot) != 0 {
		findURLs(text, func(a address) (next int) {
			v, part := p.s.judgeText(text, a)
			if v.allowed || f.inURL(a.start, text) {
				return a.start + 1 // another address may stand within
			}
			if part > 0 {
				at := f.pos.of(part)
				p.edit(at, at, " ", RuleLinks, "parted")
				return part
			}
			p.edit(f.pos.of(a.start), f.pos.of(a.end), p.spaced(f.pos.of(a.start), v.redaction()), RuleLinks, v.detail)
			return a.end
		})
	}
	if has&hasAt != 0 {
		p.s.findMentions(text, true, func(m mention) {
			if m.inert {
				p.used = append(p.used, m.at+1)
				return
			}
			if f.inLink(m.at) && (isAlnum(text[m.at-1]) || f.inURL(m.at, text)) {
				return
			}
			at := f.pos.of(m.at + 1)
			p.edit(at, at, ourZWSP, RuleMentions, m.name)
		})
	}
	if has&hasRef != 0 {
		findClosing(text, true, &p.squeezed, func(c closing) {
			if c.inert {
				p.used = append(p.used, c.zwsp)
				return
			}
			if p.s.closing {
				return
			}
			ref := c.ref
			if f.inLink(ref) {
				for f.inLink(ref) {
					ref--
				}
				if ref+1 != c.ref {
					return
				}
			}
			at := f.pos.of(ref)
			p.edit(at, at, ourZWSP, RuleClosingWords, c.word)
		})
	}
	if has&hasZWSP != 0 {
		p.dropZWSP(text)
	}
	for _, ref := range f.refs {
		if !f.needed(ref) {
			p.edit(ref.start, ref.end, "", RuleCharacters, contextDetail(ref.r))
		}
	}
}

// dropZWSP removes the markZWSP bytes of text that make nothing inert.
func (p *pass) dropZWSP(text string) {
	slices.Sort(p.used)
	used := p.used
	for i := 0; i < len(text); i++ {
		if text[i] != markZWSP {
			continue
		}
		for len(used) > 0 && used[0] < i {
			used = used[1:]
		}
		if len(used) == 0 || used[0] != i {
			at := p.flat.pos.of(i)
			p.edit(at, at+len(ourZWSP), "", RuleCharacters, "invisible")
		}
	}
}

// spaced puts a space before a redaction that would otherwise touch what
// stands before it: "[a]" and "(host/redacted)" together would be a link.
func (p *pass) spaced(at int, note string) string {
	if at == 0 {
		return note
	}
	if c := p.src[at-1]; c != ']' && c != ')' && !isAlnum(c) && c < 0x80 {
		return note
	}
	return " " + note
}

// What a flat text holds, so that only the rules that may find something run.
const (
	hasAt = 1 << iota
	hasRef
	hasColon
	hasWWWDot
	hasZWSP
)

// contents says what a byte of a flat text stands for.
var contents = [256]uint8{
	'@': hasAt, '#': hasRef, '-': hasRef, markIssue: hasRef, ':': hasColon | hasRef, '.': hasWWWDot, markZWSP: hasZWSP,
}

func contentsOf(text string) uint8 {
	has := uint8(0)
	for i := 0; i < len(text); i++ {
		has |= contents[text[i]]
	}
	return has
}
