package command

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/text"
)

// Output is what was kept of one stream: its beginning and its end.
type Output struct {
	Head, Tail []byte // Tail follows Head directly unless bytes were dropped
	Dropped    int64  // bytes between Head and Tail that were not kept
}

// Truncated reports whether bytes were dropped.
func (o Output) Truncated() bool { return o.Dropped > 0 }

// Bytes returns the stream as it was kept, with a line instead of what was dropped.
func (o Output) Bytes() []byte {
	var gap []byte
	if o.Truncated() {
		gap = fmt.Appendf(nil, "\n[... %s left out ...]\n", text.Bytes(o.Dropped))
	}
	return slices.Concat(o.Head, gap, o.Tail)
}

// String returns Bytes as a string.
func (o Output) String() string { return string(o.Bytes()) }

// maxSecret is the longest secret, in bytes, that Masked hides if the gap between Head and Tail divides
// it.
const maxSecret = 16 << 10

// Masked returns the stream as it was kept, with its secrets masked by mask. If bytes were dropped, it
// widens the gap, because mask does not recognise a part of a secret on either side of the gap.
func (o Output) Masked(mask func(string) string) string {
	if !o.Truncated() {
		return mask(o.String())
	}
	head, tail := mask(string(o.Head)), mask(string(o.Tail)) // before more is cut, which may divide other secrets
	n, m := min(len(head), maxSecret), min(len(tail), maxSecret)
	return Output{[]byte(head[:len(head)-n]), []byte(tail[m:]), o.Dropped + int64(n+m)}.String()
}

// capture keeps as many of the first bytes as of the last ones, and discards those between, so
// that a program is never blocked by its output. One goroutine writes to it.
type capture struct {
	half int    // the size that head and ring may grow to
	head []byte // the first bytes
	ring []byte // the last bytes, from next on once it is full
	next int    // index in ring of its oldest byte
	lost int64  // bytes that are kept neither in head nor in ring
}

// newCapture returns a capture that keeps limit bytes in all.
func newCapture(limit int) *capture { return &capture{half: max(limit/2, 1)} }

// Write implements io.Writer; it never fails.
func (c *capture) Write(p []byte) (int, error) {
	written := len(p)
	room := min(c.half-len(c.head), len(p))
	c.head, p = append(c.head, p[:room]...), p[room:]
	if over := len(p) - c.half; over > 0 { // the last c.half bytes of p fill the ring
		c.lost += int64(over)
		p = p[over:]
	}
	room = min(c.half-len(c.ring), len(p))
	c.ring, p = append(c.ring, p[:room]...), p[room:]
	for len(p) > 0 {
		overwritten := copy(c.ring[c.next:], p)
		c.lost += int64(overwritten)
		c.next = (c.next + overwritten) % c.half
		p = p[overwritten:]
	}
	return written, nil
}

func (c *capture) output() Output {
	return Output{Head: c.head, Tail: slices.Concat(c.ring[c.next:], c.ring[:c.next]), Dropped: c.lost}
}
