package apply

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

func TestSplitKeepsEveryWord(t *testing.T) {
	var long strings.Builder
	for i := range 400 {
		long.WriteString("word" + strings.Repeat("x", i%7) + " ")
		if i%20 == 19 {
			long.WriteString("\n\n")
		}
	}
	fenced := "before\n\n```go\n" + strings.Repeat("line of code\n", 100) + "```\n\nafter"
	for name, s := range map[string]string{
		"short":   "just this",
		"empty":   "",
		"long":    long.String(),
		"fence":   fenced,
		"no gaps": strings.Repeat("a", 3000),
		"astral":  strings.Repeat("😀", 1500),
	} {
		t.Run(name, func(t *testing.T) {
			parts := split(s, 500)
			var back strings.Builder
			for i, p := range parts {
				if n := markdown.UTF16Len(p); n > 500 {
					t.Errorf("part %d has %d units", i, n)
				}
				if open := markdown.CloseOpen(p); open != "" {
					t.Errorf("part %d leaves a fence open", i)
				}
				back.WriteString(p)
			}
			strip := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "`", "", "go", "").Replace(s) }
			if strip(back.String()) != strip(s) {
				t.Error("text was lost or changed")
			}
		})
	}
}

func TestSplitIsLinear(t *testing.T) {
	s := strings.Repeat("word and word\n", 200_000) // 2.8 MB
	if n := len(split(s, 60_000)); n < 40 || n > 100 {
		t.Errorf("%d parts", n)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a\n\n```go\ncode\n```\nb", 300)
	f.Add(strings.Repeat("~~~~\nx\n", 200), 256)
	f.Add(strings.Repeat("😀 ", 400), 257)
	f.Add("<details>\n"+strings.Repeat("text ", 200), 300)
	f.Fuzz(func(t *testing.T, s string, room int) {
		if room < minRoom || room > 4000 || len(s) > 20_000 || !utf8.ValidString(s) {
			return
		}
		parts := split(s, room)
		at := 0
		for _, p := range parts {
			if n := markdown.UTF16Len(p); n > room {
				t.Fatalf("a part of %d units, room %d", n, room)
			}
			// Every character but blanks, line ends and fences comes out, in order.
			for _, c := range p {
				for at < len(s) && skipped(s[at]) {
					at++
				}
				if c < utf8.RuneSelf && skipped(byte(c)) {
					continue
				}
				if want, n := utf8.DecodeRuneInString(s[at:]); want == c {
					at += n
				}
			}
		}
		for at < len(s) && skipped(s[at]) {
			at++
		}
		if at != len(s) {
			t.Fatalf("text from %q on is lost", s[at:min(len(s), at+40)])
		}
	})
}

func skipped(c byte) bool { return c == ' ' || c == '\n' || c == '`' || c == '~' }
