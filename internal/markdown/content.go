package markdown

import (
	"slices"
	"strings"
)

// content is the text of a leaf with the way back to the source.
type content struct {
	text   string
	pieces []Piece
	// starts holds the content offset of each piece; nil for a single piece.
	starts []int
	// last is the piece that was asked for last: most questions go on from it.
	last int
}

// inliner holds the buffers that the leaves of one Scan share.
type inliner struct {
	// text collects the contents that are not contiguous in the source. It only
	// grows, so that what it has given out stays valid.
	text   strings.Builder
	starts []int
	// brackets is the buffer of the stack of open brackets.
	brackets []bracket
	// ticks is the memory of backtickMemo.
	ticks [maxTicks + 1]int
}

// load returns the content of a leaf. It is valid until the next load.
func (in *inliner) load(src string, pieces []Piece) content {
	switch {
	case len(pieces) == 0:
		return content{}
	case len(pieces) == 1 && pieces[0].Pad == 0:
		return content{text: src[pieces[0].Start:pieces[0].End], pieces: pieces}
	}
	from := in.text.Len()
	in.starts = in.starts[:0]
	for _, p := range pieces {
		for range p.Pad {
			in.text.WriteByte(' ')
		}
		in.starts = append(in.starts, in.text.Len()-from)
		in.text.WriteString(src[p.Start:p.End])
	}
	return content{text: in.text.String()[from:], pieces: pieces, starts: in.starts}
}

// sourceOf returns the source offset of the content byte at pos. At the end of
// the content it is the end of the last piece.
func (c *content) sourceOf(pos int) int {
	if c.starts == nil {
		if len(c.pieces) == 0 {
			return 0
		}
		return min(c.pieces[0].Start+pos, c.pieces[0].End)
	}
	i := c.pieceAt(pos)
	if i < 0 { // in the padding of the first piece
		return c.pieces[0].Start
	}
	p := c.pieces[i]
	if at := p.Start + pos - c.starts[i]; at < p.End || i+1 == len(c.pieces) {
		return min(at, p.End)
	}
	return c.pieces[i+1].Start // in padding
}

// spanOf returns the source span of the content from start to end.
func (c *content) spanOf(start, end int) Span {
	if end <= start {
		at := c.sourceOf(start)
		return Span{at, at}
	}
	return Span{c.sourceOf(start), c.sourceOf(end-1) + 1}
}

// pieceEnd returns where the piece that holds the content byte at pos ends, or the
// padding that holds it; end at most.
func (c *content) pieceEnd(pos, end int) int {
	i := c.pieceAt(pos)
	if i >= 0 {
		if stop := c.starts[i] + c.pieces[i].End - c.pieces[i].Start; stop > pos {
			return min(end, stop)
		}
	}
	return min(end, c.starts[i+1]) // in the padding before a piece
}

// pieceAt returns the index of the last piece that starts at or before pos, -1
// if there is none.
func (c *content) pieceAt(pos int) int {
	for i := c.last; i < min(c.last+3, len(c.starts)); i++ {
		if c.starts[i] <= pos && (i+1 == len(c.starts) || pos < c.starts[i+1]) {
			c.last = i
			return i
		}
	}
	i, found := slices.BinarySearch(c.starts, pos)
	if !found {
		i--
	}
	c.last = max(i, 0)
	return i
}

// inPadding reports whether the content byte at pos is padding, which the source
// does not have.
func (c *content) inPadding(pos int) bool {
	i := c.pieceAt(pos)
	return i < 0 || pos-c.starts[i] >= c.pieces[i].End-c.pieces[i].Start
}
