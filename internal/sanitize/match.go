package sanitize

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// match makes inert or removes what acts in the flat text: mentions, closing words, references by
// number, addresses that are not links, and invisible characters that are written as character
// references. The text ends at the source offset end.
func (p *pass) match(end int) {
	f := &p.flat
	if len(f.text) == 0 {
		return
	}
	text := unsafe.String(unsafe.SliceData(f.text), len(f.text))
	has := contentsOf(text)
	if has == 0 && len(f.refs) == 0 {
		return
	}
	f.pos.add(len(f.text), end, false)
	p.usedZWSP = p.usedZWSP[:0]
	if has&(hasColon|hasDot) != 0 {
		p.matchAddresses(text)
	}
	if has&hasAt != 0 {
		p.s.findMentions(text, true, func(m mention) {
			switch {
			case f.inCode(m.offset):
			case m.inert:
				p.usedZWSP = append(markdown.Grown(p.usedZWSP, m.offset, len(text)), m.offset+1)
			case p.s.admits(m, &p.mentioned):
			// Nothing can be inserted into an address, and no reader looks for mentions in one.
			case f.inLink(m.offset) && (isAlnum(text[m.offset-1]) || f.inURL(m.offset)):
			// After the edit the address does not link, and what precedes it may no longer be a mention.
			// So the text has to be read again.
			case f.inLink(m.offset), m.offset > 0 && text[m.offset-1] == markTag:
				p.makeInert(m.offset+1, RuleMentions, m.name)
			default:
				p.makeInertQuietly(m.offset+1, RuleMentions, m.name)
			}
		})
	}
	if has&hasRef != 0 || has&hasDot != 0 && mayHaveWWW(text) {
		findClosing(text, true, &p.squeezed, func(c closing) {
			switch {
			case f.inCode(c.ref):
			case c.inert:
				p.usedZWSP = append(p.usedZWSP, c.zwsp)
			case p.s.closes(p.closed):
				p.closed++
			case c.www && f.inLink(c.ref): // autolink writes the scheme; the next round finds it
			case !f.inLink(c.ref) && !p.cut && !c.www && !mayBeginAddress(text[c.ref:]):
				p.makeInertQuietly(c.ref, RuleClosingWords, c.word)
			case !f.inLink(c.ref): // an address may begin here, or a redaction separate the word from the reference
				p.makeInert(c.ref, RuleClosingWords, c.word)
			case !f.inLink(c.ref - 1): // the reference is the start of the address
				p.makeInert(c.ref-1, RuleClosingWords, c.word)
			}
		})
		p.s.refs.find(text, true, &p.squeezed, func(r repoReference) {
			switch {
			case f.inCode(r.cut):
			case r.inert:
				p.usedZWSP = append(p.usedZWSP, r.zwsp)
			case !f.inLink(r.cut):
				p.makeInertQuietly(r.cut, RuleReferences, cmp.Or(r.name, ownRepository))
			}
		})
	}
	if has&hasZWSP != 0 {
		p.dropZWSP(text)
	}
	p.dropReferences()
}

// mayBeginAddress reports whether a reference to an issue may be the start of an address, as in
// https://github.com/a/b/issues/1. "#1" and "GH-1" are not.
func mayBeginAddress(ref string) bool {
	begin := ref[:min(len(ref), len("https:"))]
	return begin[0] != '#' && (!isAlnum(begin[0]) || strings.IndexByte(begin, ':') >= 0)
}

// dropReferences removes the character references, such as &zwj;, for joiners, selectors and the
// like that are not needed, and variation selectors beyond freeVariants.
func (p *pass) dropReferences() {
	variants := 0
	for _, ref := range p.flat.refs {
		keep := p.flat.needed(ref, &p.direction)
		if keep && isVariant(ref.r) {
			variants++
			keep = variants <= freeVariants
		}
		if !keep {
			p.edit(ref.start, ref.end, "", RuleCharacters, contextDetail(ref.r))
		}
	}
}

// makeInert inserts our entity before offset k of the flat text.
func (p *pass) makeInert(k int, rule, detail string) {
	start := p.flat.pos.source(k)
	p.edit(start, start, ourZWSP, rule, detail)
}

// makeInertQuietly is makeInert for text that is read in the same way afterwards: see quietEdit.
func (p *pass) makeInertQuietly(k int, rule, detail string) {
	start := p.flat.pos.source(k)
	p.quietEdit(start, start, ourZWSP, rule, detail)
}

// matchAddresses replaces the denied addresses that only some readers link. Where only the start of
// a host is allowed, it ends the host there with a space.
func (p *pass) matchAddresses(text string) {
	f := &p.flat
	findAddresses(text, func(a address) (next int) {
		if f.inURL(a.start) { // it was judged as a link
			return a.start + 1 // another address may be inside
		}
		v, part := p.s.judgeText(text, a)
		if v.allowed {
			return a.start + 1
		}
		if part > 0 {
			start := f.pos.source(part)
			p.edit(start, start, " ", RuleLinks, "parted")
			return part
		}
		start, end := f.pos.source(a.start), f.pos.source(a.end)
		p.edit(start, end, p.spaced(start, v.redactionIn(p.src, start, end)), RuleLinks, v.detail)
		return a.end
	})
}

// dropZWSP removes from the source our entities, markZWSP in text, that make nothing inert.
func (p *pass) dropZWSP(text string) {
	slices.Sort(p.usedZWSP)
	used := p.usedZWSP
	for i := 0; i < len(text); i++ {
		if text[i] != markZWSP {
			continue
		}
		for len(used) > 0 && used[0] < i {
			used = used[1:]
		}
		if len(used) == 0 || used[0] != i {
			start := p.flat.pos.source(i)
			p.edit(start, start+len(ourZWSP), "", RuleCharacters, "invisible")
		}
	}
}

// spaced returns a redaction for a source offset, with a space if it would touch
// what is before it: "[a]" and "(host/redacted)" together would be a link.
func (p *pass) spaced(offset int, redaction string) string {
	if offset == 0 {
		return redaction
	}
	if c := p.src[offset-1]; c != ']' && c != ')' && !isAlnum(c) && c < 0x80 {
		return redaction
	}
	return " " + redaction
}

// Flags for what a flat text contains. Rules that cannot find anything do not run.
const (
	hasAt = 1 << iota
	hasRef
	hasColon
	hasDot
	hasZWSP
)

// contents maps the bytes of a flat text to flags.
var contents = [256]uint8{
	'@': hasAt, '#': hasRef, '-': hasRef, markIssue: hasRef, ':': hasColon | hasRef, '.': hasDot, markZWSP: hasZWSP,
}

func contentsOf(text string) uint8 {
	has := uint8(0)
	for i := 0; i < len(text); i++ {
		has |= contents[text[i]]
	}
	return has
}
