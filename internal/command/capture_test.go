package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestCapture asserts, for writes of every size, that the beginning and the end of the output are
// kept: at most as many bytes as the limit, or two if the limit is one. It also asserts that the
// dropped bytes are counted.
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
			if len(o.Head)+len(o.Tail) > max(limit, 2) {
				t.Fatalf("limit %d, piece %d: %d + %d bytes are kept", limit, piece, len(o.Head), len(o.Tail))
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

// TestMasked asserts that a secret is masked wherever the gap divides it, and that nothing is lost
// where there is no gap.
func TestMasked(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	complete := Output{Head: []byte("a hunt"), Tail: []byte("er2 b")}
	if got := complete.Masked(mask); got != "a *** b" {
		t.Errorf("%q", got)
	}
	const limit = 8 * maxSecret
	for before := limit/2 - 8; before <= limit/2; before++ {
		for after := before; after <= limit/2; after++ {
			for _, edge := range []int{0, maxSecret - 3} { // bytes between this secret and another one, which the widened gap may divide
				c := newCapture(limit)
				fill := func(n int) string { return strings.Repeat("x", max(n, 0)) }
				_, _ = c.Write([]byte("begin" + fill(before-5-7-edge) + "hunter2" + fill(edge) + "hunter2" + fill(limit) + "hunter2" + fill(edge) + "hunter2" + fill(after-3-7-edge) + "end"))
				got := c.output().Masked(mask)
				if strings.Contains(got, "hu") || strings.Contains(got, "r2") {
					t.Fatalf("%d before and %d after: %d bytes have a part of the secret", before, after, len(got))
				}
				if !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "end") || len(got) < limit/2 || strings.Count(got, "left out") != 1 {
					t.Fatalf("%d before and %d after: %d bytes, %.20q", before, after, len(got), got)
				}
			}
		}
	}
}
