package text_test

import (
	"io/fs"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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

func TestThereAre(t *testing.T) {
	for n, want := range map[int]string{0: "there are 0 more errors", 1: "there is 1 more error", 2: "there are 2 more errors"} {
		if got := text.ThereAre(n, "more error"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestSafeLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\n\tb  c\n": "a\n\tb  c\n", "a\x1b[2Jb\r\n  c": "a [2Jb\r\n  c", "a\x9b31m\nb": "a31m\nb", "a\u009b31m": "a 31m", "é\n": "é\n",
	} {
		if got := text.SafeLines(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " ": "", " a ": "a", "a ": "a", "a  b": "a b", "a\r\n\tb": "a b", "a\x1b[31mb": "a [31mb", "a\u2028b\u0085c": "a b c",
		"a\u2029\u00a0b": "a b", "a\x7fb\u009bc": "a b c", "a\u202eb\u2066c\u200e": "abc", "a \u202e b": "a b", "\u061ca": "a", "a\xffb": "ab",
		"a\xff\xfe": "a", "\ufffd": "\ufffd", "👩\u200d💻": "👩\u200d💻", "fine as it is": "fine as it is", "\x00\n": "",
	} {
		if got := text.OneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	for _, seed := range []string{"", " a  b ", "a\r\n\tb", "a\u2028b\u0085c", "a \u202e b", "a\xffb", "\xed\xa0\x80", "\xc2\n\x85", "\ufffd\u200d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := text.OneLine(s)
		if again := text.OneLine(line); again != line {
			t.Errorf("%q: %q, and again %q", s, line, again)
		}
		if !utf8.ValidString(line) || strings.TrimSpace(line) != line || strings.Contains(line, "  ") {
			t.Errorf("%q: %q", s, line)
		}
		for _, r := range line {
			if r != ' ' && unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
				t.Errorf("%q: %q contains %U", s, line, r)
			}
		}
	})
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"", 0, ""}, {"", -1, ""}, {"a", 0, "…"}, {"a", -1, "…"}, {"äö", 2, "äö"}, {"äöü", 2, "äö…"}, {"abc", 9, "abc"}, {"abcd", 3, "abc…"}} {
		if got := text.Truncate(c.in, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTruncateBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"", 0, ""}, {"", -1, ""}, {"a", 0, ""}, {"a", -1, ""}, {"äö", 4, "äö"}, {"äöü", 5, "ä…"}, {"äöü", 4, "…"}, {"abcd", 3, "…"}, {"abcd", 2, ""}, {"abc", 3, "abc"}} {
		if got := text.TruncateBytes(c.in, c.n); got != c.want {
			t.Errorf("%q to %d bytes: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	for _, seed := range []string{"", "abc", "äöü", "👩\u200d💻", "日本語", "a…"} {
		for _, n := range []int{-1, 0, 1, 2, 3, 5} {
			f.Add(seed, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		s = strings.ToValidUTF8(s, "")
		short, inBytes := text.Truncate(s, n), text.TruncateBytes(s, n)
		if count := utf8.RuneCountInString(s); count <= n && short != s || count > max(n, 0) && utf8.RuneCountInString(short) != max(n, 0)+1 {
			t.Errorf("%q to %d: %q", s, n, short)
		}
		if len(s) <= n && inBytes != s || len(inBytes) > max(n, 0) {
			t.Errorf("%q to %d bytes: %q", s, n, inBytes)
		}
		for _, got := range []string{short, inBytes} {
			if got != s && !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) || !utf8.ValidString(got) {
				t.Errorf("%q to %d: %q", s, n, got)
			}
		}
	})
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
		{[]string{"a", "b\n\"\x1b"}, `"a", "b\n\"\x1b"`},
		{strings.Split("abcdefghijkl", ""), `"a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more`},
	} {
		if got := text.QuoteList(c.list); got != c.want {
			t.Errorf("%q: %s, want %s", c.list, got, c.want)
		}
	}
}

func TestFileKind(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		fs.ModeDir | 0o755: "directory", fs.ModeSymlink | 0o777: "symbolic link", fs.ModeNamedPipe: "FIFO", fs.ModeSocket: "socket",
		fs.ModeDevice: "device", fs.ModeDevice | fs.ModeCharDevice: "device", fs.ModeIrregular: "device",
	} {
		if got := text.FileKind(mode); got != want {
			t.Errorf("%v: %q, want %q", mode, got, want)
		}
	}
}

func BenchmarkOneLine(b *testing.B) {
	plain := strings.Repeat("a text that needs nothing, 日本語 too; ", 30) + "."
	for name, s := range map[string]string{"plain": plain, "lines": strings.ReplaceAll(plain, ";", "\n")} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text.OneLine(s)
			}
		})
	}
}

// TestFoldCase asserts that letters change their case, but not those that only look like others,
// such as the Kelvin sign.
func TestFoldCase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "Bug": "bug", "ÄÖÜ ß": "äöü ß", "ΑΒΓ": "αβγ", "ЖЗ": "жз", "good first ISSUE 1": "good first issue 1",
		"\u212A": "\u212A", "tas\u212A": "tas\u212A", "\u017F": "\u017F", "\u0130": "\u0130", "\u212B": "\u212B", "\u2126": "\u2126",
	} {
		if got := text.FoldCase(name); got != want {
			t.Errorf("FoldCase(%q) = %q, want %q", name, got, want)
		}
		if again := text.FoldCase(want); again != want {
			t.Errorf("FoldCase(%q) = %q: not idempotent", want, again)
		}
	}
}
