package changes_test

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

// threeHunks is a patch of a file of 30 lines: a line is inserted after line 4, lines 10 and
// 11 are replaced by one, and the last is removed.
const threeHunks = "@@ -2,6 +2,7 @@\n a\n b\n c\n+new\n d\n e\n f\n" +
	"@@ -8,6 +9,5 @@ func\n a\n b\n-c\n-d\n+cd\n e\n f\n" +
	"@@ -28,3 +28,2 @@\n a\n b\n-c\n\\ No newline at end of file\n"

func TestLineMap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, patch string
		first, last int
		want        [2]int // 0, 0: not there
	}{
		{"unchanged file", "", 7, 9, [2]int{7, 9}},
		{"before", threeHunks, 1, 4, [2]int{1, 4}},
		{"after the inserted line", threeHunks, 5, 9, [2]int{6, 10}},
		{"around the inserted line", threeHunks, 4, 5, [2]int{}},
		{"replaced", threeHunks, 10, 10, [2]int{}},
		{"over a replaced one", threeHunks, 9, 12, [2]int{}},
		{"after the replaced lines", threeHunks, 12, 13, [2]int{12, 13}},
		{"between hunks", threeHunks, 20, 20, [2]int{20, 20}},
		{"removed", threeHunks, 30, 30, [2]int{}},
		{"before what was removed", threeHunks, 28, 29, [2]int{28, 29}},
		{"before lines inserted without context", "@@ -3,0 +4,2 @@\n+x\n+y\n", 3, 3, [2]int{3, 3}},
		{"after lines inserted without context", "@@ -3,0 +4,2 @@\n+x\n+y\n", 4, 4, [2]int{6, 6}},
		{"between insertions without context", "@@ -3,0 +4,1 @@\n+x\n@@ -20,0 +22,1 @@\n+y\n", 10, 20, [2]int{11, 21}},
		{"between removals without context", "@@ -3,1 +2,0 @@\n-x\n@@ -20,1 +18,0 @@\n-y\n", 4, 19, [2]int{3, 18}},
		{"at the beginning", "@@ -0,0 +1,1 @@\n+x\n", 1, 1, [2]int{2, 2}},
		{"no line", threeHunks, 0, 0, [2]int{}},
		{"backwards", threeHunks, 5, 4, [2]int{}},
	}
	for _, c := range tests {
		m, err := changes.NewLineMap(c.patch)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		first, last, ok := m.Lines(c.first, c.last)
		if got := [2]int{first, last}; got != c.want || ok != (c.want != [2]int{}) {
			t.Errorf("%s: %v, %t, want %v", c.name, got, ok, c.want)
		}
	}
	if _, err := changes.NewLineMap("@@ -1,3 +1,3 @@\n a\n"); err == nil {
		t.Error("a patch that is cut off is accepted")
	}
}
