package text_test

import (
	"math"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-1 bytes", 0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1025: "1.1 KiB", 1536: "1.5 KiB",
		1<<20 - 1: "1024 KiB", 1 << 20: "1 MiB", 64 << 20: "64 MiB", 64<<20 + 1: "64.1 MiB", 10_000_000: "9.6 MiB",
		24 << 30: "24 GiB", 3 << 40: "3 TiB", math.MaxInt64: "8388608 TiB",
	} {
		if got := text.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 items", 0: "0 items", 1: "1 item", 2: "2 items", 1000: "1000 items"} {
		if got := text.Count(n, "item"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a ": "a", "a\r\n\tb": "a b", "a\x1b[31mb": "a [31mb", "a\u2028b\u0085c": "a b c",
		"a\u202eb\u2066c": "abc", "a\xffb": "ab", "👩\u200d💻": "👩\u200d💻", "\x00\n": "",
	} {
		if got := text.OneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"", 0, ""}, {"a", 0, "…"}, {"äö", 2, "äö"}, {"äöü", 2, "äö…"}, {"abc", 9, "abc"}} {
		if got := text.Truncate(c.in, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestIsBlank(t *testing.T) {
	for in, want := range map[string]bool{"": true, " \t\n\u3000": true, " a": false, "\u200d": false} {
		if got := text.IsBlank(in); got != want {
			t.Errorf("%q: %t, want %t", in, got, want)
		}
	}
}

func TestQuoteList(t *testing.T) {
	for _, c := range []struct {
		list []string
		want string
	}{
		{nil, ""},
		{[]string{"a", "b\n\""}, `"a", "b\n\""`},
		{strings.Split("abcdefghijkl", ""), `"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", and 2 more`},
	} {
		if got := text.QuoteList(c.list); got != c.want {
			t.Errorf("%q: %s, want %s", c.list, got, c.want)
		}
	}
}
