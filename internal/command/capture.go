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

// capture keeps the first and the last half of limit bytes and discards the rest, so
// that a program is never blocked by its output. One goroutine writes to it.
type capture struct {
	half int
	head []byte
	ring []byte // grows to half, then is overwritten from next on
	next int
	lost int64
}

func newCapture(limit int) *capture { return &capture{half: max(limit/2, 1)} }

// Write implements io.Writer; it never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	k := min(c.half-len(c.head), len(p))
	c.head, p = append(c.head, p[:k]...), p[k:]
	if over := len(p) - c.half; over > 0 {
		c.lost += int64(over)
		p = p[over:]
	}
	k = min(c.half-len(c.ring), len(p))
	c.ring, p = append(c.ring, p[:k]...), p[k:]
	for len(p) > 0 {
		k := copy(c.ring[c.next:], p)
		c.lost += int64(k)
		c.next = (c.next + k) % c.half
		p = p[k:]
	}
	return n, nil
}

func (c *capture) output() Output {
	return Output{Head: c.head, Tail: slices.Concat(c.ring[c.next:], c.ring[:c.next]), Dropped: c.lost}
}
