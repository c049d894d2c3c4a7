package command

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCapture writes the same bytes in pieces of every size.
func TestCapture(t *testing.T) {
	var all []byte
	for i := range 97 {
		all = fmt.Appendf(all, "%d,", i)
	}
	for _, limit := range []int{1, 2, 7, 50, len(all) - 1, len(all), len(all) + 1, 10_000} {
		for piece := 1; piece <= len(all); piece++ {
			c := newCapture(limit)
			for at := 0; at < len(all); at += piece {
				part := all[at:min(at+piece, len(all))]
				if n, err := c.Write(part); n != len(part) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			o := c.output()
			if int64(len(o.Head)+len(o.Tail))+o.Dropped != int64(len(all)) {
				t.Fatalf("limit %d, piece %d: %d + %d + %d bytes of %d", limit, piece, len(o.Head), len(o.Tail), o.Dropped, len(all))
			}
			if !bytes.HasPrefix(all, o.Head) || !bytes.HasSuffix(all, o.Tail) {
				t.Fatalf("limit %d, piece %d: %q ... %q", limit, piece, o.Head, o.Tail)
			}
			if !o.Truncated() && !bytes.Equal(o.Bytes(), all) {
				t.Fatalf("limit %d, piece %d: %q", limit, piece, o.Bytes())
			}
		}
	}
}
