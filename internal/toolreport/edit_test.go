package toolreport_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

// show writes an edit as "first-last: range", followed by the suggestion in quotes after a "=", or by
// " endings".
func show(e toolreport.Edit) string {
	s := fmt.Sprintf("%d-%d: %d-%d", e.First, e.Last, e.Range.StartLine, e.Range.EndLine)
	switch {
	case e.Suggestion != "":
		return s + fmt.Sprintf("=%q", e.Suggestion)
	case e.Endings:
		return s + " endings"
	}
	return s
}

func showAll(edits []toolreport.Edit) []string {
	var all []string
	for _, e := range edits {
		all = append(all, show(e))
	}
	return all
}

func TestEditsBecomeSuggestionsOfWholeLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	tests := []struct {
		name, before, after string
		want                []string
	}{
		{"nothing", "a\nb\n", "a\nb\n", nil},
		{"a line", "a\nb\nc\n", "a\nB\nc\n", []string{`2-2: 2-2="B"`}},
		{"two runs", "a\nb\nc\nd\ne\n", "A\nb\nc\nDD\nD2\ne\n", []string{`1-1: 1-1="A"`, `4-4: 4-4="DD\nD2"`}},
		{"removed lines take the one before", "a\nb\nc\nd\n", "a\nd\n", []string{`2-3: 1-3="a"`}},
		{"removed at the start take the one after", "a\nb\nc\n", "b\nc\n", []string{`1-1: 1-2="b"`}},
		{"added lines take those around them", "a\nb\n", "a\nx\nb\n", []string{`1-2: 1-2="a\nx\nb"`}},
		{"added around a line", "a\nb\nc\n", "a\nx\nb\ny\nc\n", []string{`1-3: 1-3="a\nx\nb\ny\nc"`}},
		{"added at the start take the one after", "a\nb\n", "x\na\nb\n", []string{`0-1: 1-1="x\na"`}},
		{"added at the end", "a\nb\n", "a\nb\nx\n", []string{`2-3: 2-2="b\nx"`}},
		{"an empty line is not an empty suggestion", "a\n \nb\n", "a\n\nb\n", []string{`2-2: 1-2="a\n"`}},
		{"next to empty lines", "a\n\nx\n\nb\n", "a\n\n\nb\n", []string{`3-3: 1-3="a\n"`}},
		{"runs that need the same line are one", "x\na\ny\nb\n", "a\nb\n", []string{`1-3: 1-3="a"`}},
		{"an empty line keeps nothing apart", "# a\n* b\n* c\n\n", "# a\n\n- b\n- c\n", []string{`2-5: 2-4="\n- b\n- c"`}},
		{"a bracket keeps nothing apart", "f(a)\n}\nb\nc\n", "f(\na)\n}\nc\n", []string{`1-3: 1-3="f(\na)\n}"`}},
		{"a bracket and an empty line keep changed lines apart", "f(\n}\n\ng( \nx\n", "f (\n}\n\ng(\nx\n", []string{`1-1: 1-1="f ("`, `4-4: 4-4="g("`}},
		{"all is removed", "a\n", "", []string{`1-1: 1-1`}},
		{"all is new", "", "a\n", []string{`0-1: 1-0`}},
		{"carriage returns are not suggested", "a\r\nb \r\nc\r\n", "a\r\nb\r\nc\r\n", []string{`2-2: 2-2="b"`}},
		{"other ends of all lines", "a\r\nb \r\nc\r\n", "a\nb\nc\n", []string{`1-3: 1-3 endings`, `2-2: 2-2="b"`}},
		{"mixed ends", "a\r\nb\nc \n", "a\nb\nc\n", []string{`1-1: 1-1 endings`, `3-3: 3-3="c"`}},
		{"no newline at the end", "a\nb ", "a\nb\n", []string{`2-2: 2-2="b"`}},
		{"only the newline at the end", "a\nb", "a\nb\n", []string{`2-2: 2-2 endings`}},
		{"the newline goes", "a \nb\n", "a\nb", []string{`1-1: 1-1="a"`, `2-2: 2-2 endings`}},
		{"still no newline", "a \nb", "a\nb", []string{`1-1: 1-1="a"`}},
		{"looks like a diff", "--- a\n+++ b\n@@ -1 +1 @@\nx \n", "--- a\n+++ b\n@@ -1 +1 @@\nx\n", []string{`4-4: 4-4="x"`}},
		{"tabs and other scripts stay", "\té \n", "\té\n", []string{`1-1: 1-1="\té"`}},
		{"what nobody sees cannot be posted", "a\u202eb \nc\n", "a\u202eb\nc\n", []string{`1-1: 1-1`}},
		{"a lone carriage return cannot be posted", "a\rb \nc\n", "a\rb\nc\n", []string{`1-1: 1-1`}},
		{"too long a line", "a\n", long + "\n", []string{`1-1: 1-1`}},
		{"too many lines", "a\nb\n", strings.Repeat("x\n", 600) + "b\n", []string{`1-1: 1-1`}},
		{"not text", "a\x00\n", "b\n", nil},
		{"not UTF-8", "a\xff\n", "b\n", nil},
	}
	for _, tt := range tests {
		got := showAll(toolreport.Edits([]byte(tt.before), []byte(tt.before), []byte(tt.after)))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestEditsOfATextThatWasEditedBefore(t *testing.T) {
	t.Parallel()
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	tests := []struct {
		name, before, after string
		want                []string
	}{
		{"lines were added above", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\nV\n6\n7\n8\n9\n", []string{`5-5: 5-5="V"`}},
		{"lines were removed above", "1\n4\n5\n6\n7\n8\n9\n", "1\n4\n5\n6\n7\nVIII\n9\n", []string{`8-8: 8-8="VIII"`}},
		{"above and below", "1\nII\n3\n4\n5\n6\n7\n9\n", "1\nII\n3\n4\nV\n6\n7\n9\n", []string{`5-5: 5-5="V"`}},
		{"of a line that is new", "1\n2\n3\n4\n5\nnew\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\nNEW\n6\n7\nVIII\n9\n", []string{`8-8: 8-8="VIII"`}},
		{"of a line that was changed", "1\nII\n3\n4\n5\n6\n7\n8\n9\n", "1\nZwei\n3\n4\n5\n6\n7\n8\n9\n", nil},
		{"over lines that are gone", "1\n2\n3\n4\n7\n8\n9\n", "1\n2\n3\nIV\nVII\n8\n9\n", nil},
		{"of a line between new ones", "1\n2\n3\nx\n4\ny\n5\n6\n7\n8\n9\n", "1\n2\n3\nx\nIV\nY\n5\n6\n7\nVIII\n9\n", []string{`8-8: 8-8="VIII"`}},
		{"between lines of which one is new", "1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nadded\nnew\n5\n6\n7\n8\n9\n", nil},
	}
	for _, tt := range tests {
		got := showAll(toolreport.Edits([]byte(base), []byte(tt.before), []byte(tt.after)))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

// applied puts the suggestions into a text, as GitHub does.
func applied(text []string, edits []toolreport.Edit) []string {
	text = slices.Clone(text)
	for _, e := range slices.Backward(edits) {
		text = slices.Replace(text, e.Range.StartLine-1, e.Range.EndLine, strings.Split(e.Suggestion, "\n")...)
	}
	return text
}

// TestSuggestionsMakeTheText asserts that accepting all suggestions gives the
// text that the tool wrote.
func TestSuggestionsMakeTheText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() string {
		return []string{"a", "b", "c", "}", "", " ", fmt.Sprint(random.IntN(1000))}[random.IntN(7)]
	}
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	withSuggestions, moved := 0, 0
	for range 3000 {
		before := []string{"first"} // so that there is always a line to keep
		for range random.IntN(30) {
			before = append(before, draw())
		}
		alter := func(lines []string, from, to int) []string {
			lines = slices.Clone(lines)
			for range random.IntN(5) {
				at := min(1+from+random.IntN(max(to-from, 1)), len(lines))
				lines = slices.Replace(lines, at, min(at+random.IntN(3), len(lines)), slices.Repeat([]string{draw()}, random.IntN(3))...)
			}
			return lines
		}
		after := alter(before, 0, len(before))
		edits := toolreport.Edits(text(before), text(before), text(after))
		withSuggestions += len(edits)
		if got := applied(before, edits); !slices.Equal(got, after) {
			t.Fatalf("%q\nshould become %q,\nbut the suggestions make %q:\n%v", before, after, got, showAll(edits))
		}
		// Another tool then changes the text again. The suggestions of both tools together make
		// the second tool's text, unless one was left out or two of them overlap.
		again := alter(after, 0, len(after))
		later := toolreport.Edits(text(before), text(after), text(again))
		if len(later) < len(toolreport.Edits(text(after), text(after), text(again))) || overlap(edits, later) {
			continue
		}
		moved += len(later)
		all := slices.Concat(edits, later)
		slices.SortFunc(all, func(a, b toolreport.Edit) int { return a.Range.StartLine - b.Range.StartLine })
		if got := applied(before, all); !slices.Equal(got, again) {
			t.Fatalf("%q\nto %q\nto %q, but it is %q:\n%v", before, after, again, got, showAll(all))
		}
	}
	if withSuggestions < 1000 || moved < 100 {
		t.Errorf("only %d and %d suggestions were tried", withSuggestions, moved)
	}
}

func overlap(a, b []toolreport.Edit) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Range.StartLine <= y.Range.EndLine && y.Range.StartLine <= x.Range.EndLine {
				return true
			}
		}
	}
	return false
}

// FuzzEdits asserts that, whatever the two texts are, suggestions are in order and apart. If every
// edit has a suggestion, they turn the first text into the second, except for the ends of lines.
func FuzzEdits(f *testing.F) {
	for _, s := range [][2]string{{"a\nb\n", "a\nc\n"}, {"a\r\nb", "a\nb\n"}, {"", "x"}, {"\n\n\n", "\n"}, {"a\n\n}\nb\n", "\n}\na\nb\n"}} {
		f.Add(s[0], s[1])
	}
	lines := func(text string) []string {
		var all []string
		for line := range strings.Lines(text) {
			all = append(all, strings.TrimRight(strings.TrimSuffix(line, "\n"), "\r"))
		}
		return all
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		edits := toolreport.Edits([]byte(before), []byte(before), []byte(after))
		all := utf8.ValidString(before) && utf8.ValidString(after) && !strings.Contains(before+after, "\x00")
		next, replacing := 1, []toolreport.Edit(nil)
		for _, e := range edits {
			if e.Endings {
				continue
			}
			all = all && e.Suggestion != ""
			if e.First > e.Last || e.Range.StartLine < 1 || e.Range.EndLine > len(lines(before)) {
				t.Fatalf("%q to %q: %v", before, after, showAll(edits))
			}
			if e.Suggestion == "" {
				continue
			}
			if e.Range.StartLine < next || e.Range.EndLine < e.Range.StartLine {
				t.Fatalf("%q to %q: suggestions of the same lines: %v", before, after, showAll(edits))
			}
			next, replacing = e.Range.EndLine+1, append(replacing, e)
		}
		if got := applied(lines(before), replacing); all && !slices.Equal(got, lines(after)) {
			t.Fatalf("%q to %q makes %q: %v", before, after, got, showAll(edits))
		}
	})
}

// BenchmarkHunks measures how long the edits of one long hunk take, at two sizes. Nearly equal
// MB/s of the two mean that the time is linear.
func BenchmarkHunks(b *testing.B) {
	for name, unit := range map[string]string{
		"added":        "+a\n+b\n \n", // each run takes the kept line that the next one takes, too
		"removed":      "-a\n \n",
		"replaced":     "-a\n+b\n }\n",
		"apart":        "-a\n+b\n kept\n kept\n",
		"removed only": "-a\n",
	} {
		for _, size := range []int{128 << 10, 512 << 10} {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				out := "Diff in /src/a.rs:1:\n" + strings.Repeat(unit, size/len(unit))
				b.SetBytes(int64(len(out)))
				for b.Loop() {
					read(b, toolreport.Tool{Name: "rustfmt", Roots: []string{"/src"}}, output{Stdout: strings.NewReader(out), Exit: toolreport.Exit{Code: 1}})
				}
			})
		}
	}
}
