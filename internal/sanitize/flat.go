package sanitize

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// flat is the text of one leaf as readers see it, entities and escapes
// decoded, with marks for what is not text, and a map back to the source.
type flat struct {
	text []byte
	pos  offsets // of text, in the source
	refs []strayRef
	// links are the ranges of text that link by themselves: addresses, in
	// which nothing can be inserted.
	links []span
}

// strayRef is a reference that decodes to a character which stays only where
// it is needed: a joiner, a selector.
type strayRef struct {
	at         int // offset in the flat text
	start, end int // in the source
	r          rune
}

func (f *flat) reset() {
	f.text, f.refs, f.links = f.text[:0], f.refs[:0], f.links[:0]
	f.pos.reset()
}

// put appends literal source text that begins at the source offset at.
func (f *flat) put(text string, at int) {
	f.pos.add(len(f.text), at, true)
	f.text = append(f.text, text...)
}

// decoded appends text that stands for one token of the source at offset at.
func (f *flat) decoded(text string, at int) {
	f.pos.add(len(f.text), at, false)
	f.text = append(f.text, text...)
}

func (f *flat) mark(m byte, at int) {
	f.pos.add(len(f.text), at, false)
	f.text = append(f.text, m)
}

// reference appends a character reference of the source. What it stands for
// is text, our own mark, a character to judge later, or one that has to go:
// then it returns false and the reason.
func (f *flat) reference(source, text string, start int) (ok bool, detail string) {
	if source == ourZWSP {
		f.mark(markZWSP, start)
		return true, ""
	}
	for _, r := range text {
		if r == '\r' || r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
			return false, "control"
		}
		switch class := classOf(r); class {
		case classPlain:
		case classContext:
			f.refs = append(f.refs, strayRef{at: len(f.text), start: start, end: start + len(source), r: r})
		case classC1:
			return false, "control"
		default:
			return false, class.detail()
		}
	}
	f.decoded(text, start)
	return true, ""
}

// needed tells whether a reference stands where its character is needed.
func (f *flat) needed(ref strayRef) bool {
	if isTag(ref.r) {
		return false
	}
	prev, size := lastRune(f.text[:ref.at])
	prev2, _ := lastRune(f.text[:ref.at-size])
	next := rune(-1)
	if k := ref.at + utf8.RuneLen(ref.r); k < len(f.text) {
		next, _ = utf8.DecodeRune(f.text[k:])
	}
	return keepContextual(prev2, prev, ref.r, next)
}

func lastRune(b []byte) (rune, int) {
	if len(b) == 0 {
		return -1, 0
	}
	return utf8.DecodeLastRune(b)
}

// link appends the text of an address that links by itself, which stands at
// the source offset at, within a node from start to end.
func (f *flat) link(text string, at, start, end int) {
	f.mark(markTag, start)
	from := len(f.text)
	f.put(text, at)
	f.links = append(f.links, span{from, len(f.text)})
	f.mark(markTag, end)
}

// inLink tells that offset k of the flat text lies inside such an address.
func (f *flat) inLink(k int) bool {
	i := sort.Search(len(f.links), func(i int) bool { return f.links[i].end > k })
	return i < len(f.links) && f.links[i].start <= k
}

// inURL tells that k lies inside or at the start of such an address that is a
// URL and not an e-mail address.
func (f *flat) inURL(k int, text string) bool {
	i := sort.Search(len(f.links), func(i int) bool { return f.links[i].end > k })
	return i < len(f.links) && f.links[i].start <= k && (strings.Contains(text[f.links[i].start:f.links[i].end], "://") || hasWWW(text[f.links[i].start:]))
}

// lines appends literal text line by line: each may have a place of its own in
// the source.
func (f *flat) lines(text string, first int, at func(int) int) {
	for text != "" {
		if len(text) > 1 && at(first) == at(first+1) { // padding for a tab
			f.decoded(text[:1], at(first))
			text, first = text[1:], first+1
			continue
		}
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		f.put(text[:n], at(first))
		text, first = text[n:], first+n
	}
}

// htmlText appends HTML text, which begins at the source offset given by at,
// decoded as browsers do. Stray references are handed to drop.
func (f *flat) htmlText(text string, first int, at func(int) int, drop func(start, end int, detail string)) {
	for k := 0; k < len(text); {
		j := strings.IndexByte(text[k:], '&')
		if j != 0 {
			if j < 0 {
				j = len(text) - k
			}
			f.lines(text[k:k+j], first+k, at)
			k += j
			continue
		}
		decoded, size := browserEntity(text[k:])
		if size == 0 {
			f.mark('&', at(first+k))
			k++
			continue
		}
		start, end := at(first+k), at(first+k+size-1)+1
		if ok, detail := f.reference(text[k:k+size], decoded, start); !ok {
			drop(start, end, detail)
		}
		k += size
	}
}

// offsets maps the offsets of a derived text to those of the text that it was
// made of, run by run.
type offsets struct {
	runs []run
}

// run says where the bytes from offset at on come from: each from its own
// place when literal, otherwise all from the same.
type run struct {
	at, from int32
	literal  bool
}

func (o *offsets) reset() { o.runs = o.runs[:0] }

// add tells that a run begins at offset at of the derived text. A literal run
// that continues the one before is joined with it.
func (o *offsets) add(at, from int, literal bool) {
	if n := len(o.runs); n > 0 && literal && o.runs[n-1].literal && int(o.runs[n-1].from)+at-int(o.runs[n-1].at) == from {
		return
	}
	o.runs = append(o.runs, run{int32(at), int32(from), literal})
}

// of returns where the byte at offset k comes from.
func (o *offsets) of(k int) int {
	i := sort.Search(len(o.runs), func(i int) bool { return int(o.runs[i].at) > k }) - 1
	if i < 0 {
		return 0
	}
	r := o.runs[i]
	if r.literal {
		return int(r.from) + k - int(r.at)
	}
	return int(r.from)
}
