package sarif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLineHashesKnownValues(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"c129715d7a2bc9a3:1"}},
		{" a\nb\n  \t\tc\n d", []string{"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"}},
	} {
		if diff := cmp.Diff(c.want, lineHashes(c.text)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestLineHashesIgnoreBlanksAndLineEnds(t *testing.T) {
	want := lineHashes("a b\nc\n\nd\n")
	for _, text := range []string{"a b\r\nc\r\n\r\nd\r\n", "a b\rc\r\rd\r", "ab\n\tc\n  \nd  \n"} {
		if diff := cmp.Diff(want, lineHashes(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if len(want) != 5 {
		t.Errorf("%d hashes, want one for each of 4 lines and the empty one after them", len(want))
	}
}

func TestLineHashesCountRepetitions(t *testing.T) {
	hashes := lineHashes(strings.Repeat("x\n", 300))
	seen := make(map[string]bool)
	for i, h := range hashes {
		if seen[h] || !lineHashForm.MatchString(h) {
			t.Fatalf("line %d: %q is not a new hash", i+1, h)
		}
		seen[h] = true
	}
	if !strings.HasSuffix(hashes[1], ":2") {
		t.Errorf("the second of equal lines has %q", hashes[1])
	}
}

func TestLineHashesBeyondTheBasicPlane(t *testing.T) {
	if lineHashes("\U0001F600")[0] == lineHashes("\uF600")[0] {
		t.Error("a character of two UTF-16 units has the hash of its last 16 bits")
	}
}

func TestLineHashesOfLongTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit         string
		times, lines int
	}{{"\n", 1 << 19, 1<<19 + 1}, {"x", 1 << 20, 1}, {"ab \r\n", 1 << 18, 1<<18 + 1}} {
		hashes := lineHashes(strings.Repeat(c.unit, c.times))
		if len(hashes) != c.lines || !lineHashForm.MatchString(hashes[c.lines-1]) {
			t.Errorf("%q: %d hashes, want %d", c.unit, len(hashes), c.lines)
		}
	}
}

// BenchmarkLineHashes measures each text at two sizes: their MB/s differ if
// lineHashes does not take linear time.
func BenchmarkLineHashes(b *testing.B) {
	for name, unit := range map[string]string{"code": "\tif err != nil { return err }\n", "empty": "\n", "one": "x", "crlf": "ab \r\n"} {
		for _, size := range []int{256 << 10, 1 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					lineHashes(text)
				}
			})
		}
	}
}
