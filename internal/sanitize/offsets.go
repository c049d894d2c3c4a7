package sanitize

import "sort"

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
