package toolreport

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlaceIn(t *testing.T) {
	t.Parallel()
	// In the last line, the time looks like a place.
	for line, want := range map[string]int{"a.go:3: x": 4, "a.ts(3,4): x": 4, "no place": -1, "": -1, ":3": -1, "a:b:1": -1, "A.java:[4,5] x": 7, "a.ts:3:4 - x": 4, "10:20:30 at": -1, "a.go:3": -1, "a.go:3:4": -1, "a.go:3:4:": 4, "x(1)": 1, "12:30: a.go:3: x": 2} {
		if got := placeIn(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestLinesKeepNoMoreThanTheirLimit(t *testing.T) {
	t.Parallel()
	var got []string
	l := lines{to: func(line string) { got = append(got, line) }}
	for range maxLine/1000 + 100 {
		l.write([]byte(strings.Repeat("x", 1000)))
	}
	if cap(l.part) > 2*maxLine {
		t.Errorf("%d bytes are kept", cap(l.part))
	}
	l.write([]byte("\nnext\nlast"))
	l.end()
	if len(got) != 3 || len(got[0]) != maxLine || got[1] != "next" || got[2] != "last" {
		t.Errorf("%d lines", len(got))
	}
}

// TestExcerptsBeginWithTheFile checks that an excerpt of a formatter's diff names the
// file, however long the diff is.
func TestExcerptsBeginWithTheFile(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("+line %d", i))
	}
	body := strings.Join(lines, "\n")
	for _, c := range []struct{ name, output, want string }{
		{"gofmt", "a.go\ndiff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1,0 +1,60 @@\n" + body, "--- a.go.orig\n+++ a.go\n@@ -1,0 +1,60 @@\n+line 0\n"},
		{"rustfmt", "Diff in src/lib.rs:1:\n" + body, "Diff in src/lib.rs:1:\n+line 0\n"},
		{"no diff", "words\n@@ -1 +1 @@\n" + body, "+line 40\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e excerpt
			for line := range strings.SplitSeq(c.output, "\n") {
				e.line(line)
			}
			got := e.text()
			if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, "+line 59") {
				t.Errorf("the excerpt is\n%s", got)
			}
		})
	}
}
