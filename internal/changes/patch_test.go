package changes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

func TestParsePatch(t *testing.T) {
	t.Parallel()
	type hunks = []changes.Hunk
	tests := []struct {
		name, patch string
		want        hunks
		err         string
	}{
		{name: "empty"},
		{
			name:  "as the API gives it, without a final line break",
			patch: "@@ -1,3 +1,4 @@ func main() {\n a\n-b\n+B\n+C\n d",
			want:  hunks{{Old: changes.Span{First: 1, Last: 3}, New: changes.Span{First: 1, Last: 4}, Added: []changes.Span{{First: 2, Last: 3}}}},
		},
		{
			name:  "two hunks, added lines apart",
			patch: "@@ -3,2 +3,4 @@\n+x\n a\n+y\n b\n@@ -20 +22 @@\n-o\n+n\n",
			want: hunks{
				{Old: changes.Span{First: 3, Last: 4}, New: changes.Span{First: 3, Last: 6}, Added: []changes.Span{{First: 3, Last: 3}, {First: 5, Last: 5}}},
				{Old: changes.Span{First: 20, Last: 20}, New: changes.Span{First: 22, Last: 22}, Added: []changes.Span{{First: 22, Last: 22}}},
			},
		},
		{
			name:  "new file",
			patch: "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file",
			want:  hunks{{Old: changes.Span{First: 0, Last: -1}, New: changes.Span{First: 1, Last: 2}, Added: []changes.Span{{First: 1, Last: 2}}}},
		},
		{
			name:  "removed file, no line break at its end",
			patch: "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 0, Last: -1}}},
		},
		{
			name:  "no line break at the end, before and after the change",
			patch: "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 1}, Added: []changes.Span{{First: 1, Last: 1}}}},
		},
		{
			name:  "text that looks like a diff",
			patch: "@@ -1,3 +1,3 @@\n-@@ -1 +1 @@\n+--- a/x\n ++ b\n diff --git a/x b/x\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 3}, New: changes.Span{First: 1, Last: 3}, Added: []changes.Span{{First: 1, Last: 1}}}},
		},
		{
			name:  "trimmed context line, CRLF",
			patch: "@@ -1,2 +1,3 @@\n\n+a\r\n\r\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 2}, New: changes.Span{First: 1, Last: 3}, Added: []changes.Span{{First: 2, Last: 2}}}},
		},
		{
			name:  "header lines before the first hunk",
			patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 1}, Added: []changes.Span{{First: 1, Last: 1}}}},
		},
		{
			name:  "cut off: only what is there counts",
			patch: "@@ -1,9 +1,9 @@\n a\n+b\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 2}, Added: []changes.Span{{First: 2, Last: 2}}}},
			err:   "line 3 of the patch: the hunk \"@@ -1,9 +1,9 @@\" is cut off",
		},
		{
			name:  "more lines than the header says",
			patch: "@@ -1 +1 @@\n-a\n+b\n+c\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 1}, Added: []changes.Span{{First: 1, Last: 1}}}},
			err:   "line 4 of the patch: more lines",
		},
		{
			name:  "too many added lines",
			patch: "@@ -1,2 +1,1 @@\n+a\n+b\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 0}, New: changes.Span{First: 1, Last: 1}, Added: []changes.Span{{First: 1, Last: 1}}}},
			err:   "line 3 of the patch: \"+b\" does not belong",
		},
		{
			name:  "an added line where none may be",
			patch: "@@ -1,2 +1,0 @@\n+a\n",
			err:   "does not belong",
		},
		{
			name:  "a context line where only an added one may be",
			patch: "@@ -1 +1,2 @@\n a\n b\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 1}}},
			err:   "line 3 of the patch: \" b\" does not belong",
		},
		{
			name:  "header without numbers, below a hunk",
			patch: "@@ -1 +1 @@\n-a\n+b\n@@ -a +b @@\n x\n",
			want:  hunks{{Old: changes.Span{First: 1, Last: 1}, New: changes.Span{First: 1, Last: 1}, Added: []changes.Span{{First: 1, Last: 1}}}},
			err:   "line 4 of the patch: \"@@ -a +b @@\" is not the header",
		},
		{name: "stray text", patch: "@@ -1 +1 @@\nhello\n", err: "line 2 of the patch: \"hello\" does not belong"},
		{name: "header without numbers", patch: "@@ -a +b @@\n x\n", err: "not the header"},
		{name: "combined diff", patch: "@@@ -1 -1 +1 @@@\n x\n", err: "not the header"},
		{name: "lines before the first", patch: "@@ -0,1 +0 @@\n x\n", err: "not the header"},
		{name: "huge numbers", patch: "@@ -1,99999999999 +1 @@\n x\n", err: "not the header"},
		{name: "numbers over the limit together", patch: "@@ -2147483647,2147483647 +1 @@\n x\n", err: "not the header"},
		{
			name:  "hunks out of order",
			patch: "@@ -20 +20 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
			want:  hunks{{Old: changes.Span{First: 20, Last: 20}, New: changes.Span{First: 20, Last: 20}, Added: []changes.Span{{First: 20, Last: 20}}}},
			err:   "line 4 of the patch: the hunk starts before",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := changes.ParsePatch(tt.patch)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("err = %v, want %q", err, tt.err)
			}
		})
	}
}

// BenchmarkHostilePatches reads each patch at two sizes: their MB/s differ if ParsePatch
// does not take linear time.
func BenchmarkHostilePatches(b *testing.B) {
	for _, unit := range []string{"@@ -1 +1 @@\n", " x\n", "@@ -1,9 ", "\\\n", "+\n-\n"} {
		for _, n := range []int{25_000, 200_000} {
			patch := "@@ -1,2000000 +1,2000000 @@\n" + strings.Repeat(unit, n)
			b.Run(fmt.Sprintf("%q/%d", unit, n), func(b *testing.B) {
				b.SetBytes(int64(len(patch)))
				for b.Loop() {
					_, _ = changes.ParsePatch(patch) // an error is expected of some of the patches
				}
			})
		}
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add("@@ -1,3 +1,4 @@ func main() {\n a\n-b\n+B\n+C\n d")
	f.Add("@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file")
	f.Add("@@ -3,2 +3,4 @@\n+x\n a\n+y\n b\n@@ -20 +22 @@\n-o\n+n\n")
	f.Add("@@ -1,2 +1,0 @@\n+a\n")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks, _ := changes.ParsePatch(patch)
		shown := 0
		for _, h := range hunks {
			for _, s := range []changes.Span{h.Old, h.New} {
				if !s.Empty() {
					shown += s.Last - s.First + 1
				}
			}
			for i, s := range h.Added {
				if s.Empty() || !h.New.Contains(s.First) || !h.New.Contains(s.Last) || i > 0 && h.Added[i-1].Last >= s.First {
					t.Errorf("added %v in %+v", s, h)
				}
			}
		}
		if lines := strings.Count(patch, "\n") + 1; shown > 2*lines {
			t.Errorf("the spans contain %d lines of a patch of %d", shown, lines)
		}
		a := changes.NewAnchors([]changes.ChangedFile{{Path: "x", Patch: patch}})
		for _, h := range hunks {
			for side, s := range map[changes.Side]changes.Span{changes.Left: h.Old, changes.Right: h.New} {
				if s.Empty() {
					continue
				}
				if err := a.Check("x", side, s.First, s.Last); err != nil {
					t.Errorf("%v %v is shown but cannot carry a comment: %v", side, s, err)
				}
				_ = a.Check("x", side, s.First-1, s.Last+1)
			}
		}
	})
}
