package sanitize

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// Marks are bytes of a flat text that stand for parts of the source without text of their
// own. The character rules remove these bytes from every text.
const (
	markOpaque = 0x01 // code, which separates the texts around it
	markTag    = 0x02 // a tag or bracket, which does not separate them
	markZWSP   = 0x03 // the entity by which this package makes things inert
	markIssue  = 0x04 // the beginning of a link to an issue
)

// vanishes reports whether c may be gone when a text is rendered and its parts
// are joined: a mark of emphasis, a bracket or a tag.
func vanishes(c byte) bool {
	switch c {
	case '*', '_', '~', '[', ']', markTag:
		return true
	}
	return false
}

// skipVanishing returns the offset of the first byte, from k on, that stays.
func skipVanishing(text string, k int) int {
	for k < len(text) && vanishes(text[k]) {
		k++
	}
	return k
}

// flat is the text of one leaf or HTML block as readers see it: entities and
// escapes are decoded, and marks stand for code, tags and the like. It knows the
// source offset of each byte.
type flat struct {
	text []byte
	pos  offsets // of text, in the source
	refs []strayRef
	// links are the ranges of text that link by themselves. Nothing can be
	// inserted into these addresses.
	links []flatLink

	// codes are the ranges of text in elements code and pre of HTML that contain nothing but text.
	// GitHub looks for mentions and references on the page. There, these elements are like
	// Markdown's code.
	codes     []span
	codeName  string // code or pre if the tag before begins that element, otherwise ""
	codeStart int    // where the content of that element begins, in text
	isHTML    bool   // the text is of a block of HTML, which is not read as Markdown
}

// flatLink is an address in a flat text that links by itself.
type flatLink struct {
	span
	isURL bool // it is a URL, not an e-mail address
}

// strayRef is a character reference for a joiner, selector or the like, which
// stays only where it is needed.
type strayRef struct {
	offset     int // in the flat text
	start, end int // in the source
	r          rune
}

// reset begins the text of a leaf or HTML block between two source offsets.
func (f *flat) reset(first, end int) {
	f.text, f.refs, f.links = slices.Grow(f.text[:0], end-first), f.refs[:0], f.links[:0]
	f.codes, f.codeName, f.isHTML = f.codes[:0], "", false
	f.pos.reset(first, end)
}

// addText appends literal source text that begins at a source offset.
func (f *flat) addText(text string, offset int) {
	f.pos.add(len(f.text), offset, true)
	f.text = append(f.text, text...)
}

// addDecoded appends text that stands for one token of the source.
func (f *flat) addDecoded(text string, offset int) {
	f.pos.add(len(f.text), offset, false)
	f.text = append(f.text, text...)
}

func (f *flat) addMark(m byte, offset int) {
	f.pos.add(len(f.text), offset, false)
	f.text = append(f.text, m)
}

// addReference appends a character reference of the source: as text, as markZWSP, or as a
// character to judge later. If the reference must be removed, ok is false and detail is the
// reason.
func (f *flat) addReference(source, text string, start int) (ok bool, detail string) {
	if source == ourZWSP {
		f.addMark(markZWSP, start)
		return true, ""
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return false, "control"
		}
		if r < utf8.RuneSelf {
			continue
		}
		switch class := runeClasses().classOf(r); class {
		case classPlain:
		case classContext, classBidiMark:
			f.refs = append(f.refs, strayRef{offset: len(f.text), start: start, end: start + len(source), r: r})
		case classC1:
			return false, "control"
		default:
			return false, class.detail()
		}
	}
	f.addDecoded(text, start)
	return true, ""
}

// needed reports whether a reference's character is needed where it is. A mark of direction is
// never needed in a body without right-to-left characters; direction counts these. One of Unicode's
// tag characters is never needed.
func (f *flat) needed(ref strayRef, direction *directionCount) bool {
	if isTag(ref.r) {
		return false
	}
	prev, prev2 := lastTwo(f.text[:ref.offset], "")
	next := rune(-1)
	if k := ref.offset + utf8.RuneLen(ref.r); k < len(f.text) {
		next, _ = utf8.DecodeRune(f.text[k:])
	}
	t := runeClasses()
	if t.classOf(ref.r) == classBidiMark {
		return !t.isBidi(prev) && helpsDirection(prev, next) && direction.atLeast(1)
	}
	return t.keepContextual(prev2, prev, ref.r, next)
}

// addLink appends the text of an address that links by itself. The text begins at
// a source offset, within a node from start to end.
func (f *flat) addLink(text string, offset, start, end int) {
	f.addMark(markTag, start)
	from := len(f.text)
	f.addText(text, offset)
	f.links = append(f.links, flatLink{span{from, len(f.text)}, strings.Contains(text, "://") || hasWWW(text)})
	f.addMark(markTag, end)
}

// linkAt returns the address that links by itself around offset k of the flat
// text.
func (f *flat) linkAt(k int) (link flatLink, ok bool) {
	i := sort.Search(len(f.links), func(i int) bool { return f.links[i].end > k })
	if i == len(f.links) || f.links[i].start > k {
		return flatLink{}, false
	}
	return f.links[i], true
}

func (f *flat) inLink(k int) bool {
	_, ok := f.linkAt(k)
	return ok
}

// inURL reports whether k lies inside a URL that links by itself.
func (f *flat) inURL(k int) bool {
	link, ok := f.linkAt(k)
	return ok && link.isURL
}

// readTag notes the tag whose mark was appended last: it may begin or end an element of code.
func (f *flat) readTag(name string, closing bool) {
	if closing && name == f.codeName {
		code := span{f.codeStart, len(f.text) - len("\x02")}
		others := "\x01\x02\x04"
		if !f.isHTML {
			others += "*_~" // emphasis that ends there may end the element for some readers, too
		}
		if !bytes.ContainsAny(f.text[code.start:code.end], others) {
			f.codes = append(f.codes, code)
		}
	}
	f.codeName = ""
	if !closing && (name == "code" || name == "pre") {
		f.codeName, f.codeStart = name, len(f.text)
	}
}

// inCode reports whether offset k of the flat text is in an element of code.
func (f *flat) inCode(k int) bool {
	i := sort.Search(len(f.codes), func(i int) bool { return f.codes[i].end > k })
	return i < len(f.codes) && f.codes[i].start <= k
}

// offsets maps the offsets of a derived text to those of its source, run by run.
type offsets struct {
	runs       []run
	last       int // the run that was looked up last, where most look-ups start
	first, end int // the range of the source that the text is made from
}

// run maps the bytes of the derived text from start on. If literal, each has its
// own source offset, otherwise all have the same.
type run struct {
	start, source int32
	literal       bool
}

// reset begins a text that is made from the source between two offsets.
func (o *offsets) reset(first, end int) {
	o.runs, o.last, o.first, o.end = o.runs[:0], 0, first, end
}

// add begins a run. A literal run that continues the one before is joined with it.
func (o *offsets) add(start, source int, literal bool) {
	n := len(o.runs)
	if literal && n > 0 {
		if last := &o.runs[n-1]; last.literal && int(last.source-last.start) == source-start {
			return
		}
	}
	if n == cap(o.runs) {
		o.runs = markdown.Grown(o.runs, source-o.first, o.end-o.first)
	}
	o.runs = append(o.runs, run{int32(start), int32(source), literal})
}

// source returns the source offset of the byte at offset k.
func (o *offsets) source(k int) int {
	r := o.runs[o.runAt(k)]
	if r.literal {
		return int(r.source) + k - int(r.start)
	}
	return int(r.source)
}

// runAt returns the index of the run that contains offset k, which is not before the first.
func (o *offsets) runAt(k int) int {
	const near = 4
	for i := o.last; i < min(o.last+near, len(o.runs)) && int(o.runs[i].start) <= k; i++ {
		if i+1 == len(o.runs) || k < int(o.runs[i+1].start) {
			o.last = i
			return i
		}
	}
	o.last = sort.Search(len(o.runs), func(i int) bool { return int(o.runs[i].start) > k }) - 1
	return o.last
}
