package changes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

func hunk(oldFirst, oldCount, newFirst, newCount int) string {
	same := min(oldCount, newCount)
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", oldFirst, oldCount, newFirst, newCount) +
		strings.Repeat(" c\n", same) + strings.Repeat("-o\n", oldCount-same) + strings.Repeat("+n\n", newCount-same)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 10 {
		many += hunk(1+10*i, 2, 1+10*i, 2)
	}
	a := changes.NewAnchors([]changes.ChangedFile{
		{Path: "x.go", Status: changes.Modified, Patch: hunk(3, 6, 3, 7) + hunk(19, 4, 20, 12)},
		{Path: "new.go", Status: changes.Added, Patch: "@@ -0,0 +1,2 @@\n+a\n+b"},
		{Path: "gone.go", Status: changes.Deleted, Patch: "@@ -1,2 +0,0 @@\n-a\n-b"},
		{Path: "moved/b.go", PreviousPath: "a.go", Status: changes.Renamed, Patch: hunk(5, 2, 5, 2)},
		{Path: "only.go", PreviousPath: "was.go", Status: changes.Renamed},
		{Path: "copy.go", PreviousPath: "was.go", Status: changes.Copied},
		{Path: "logo.png", Status: changes.Modified, Binary: true},
		{Path: "big.json", Status: changes.Modified, PatchMissing: true},
		{Path: "run.sh", Status: changes.TypeChanged},
		{Path: "bad.go", Status: changes.Modified, Patch: "@@ nonsense"},
		{Path: "half.go", Status: changes.Modified, Patch: hunk(1, 2, 1, 2) + "@@ -9,9 +9,9 @@\n c\n"},
		{Path: "many.go", Status: changes.Modified, Patch: many},
	})
	tests := []struct {
		path        string
		side        changes.Side
		start, line int
		text        string // part of the error; "" if a comment can be there
	}{
		{path: "x.go", side: changes.Right, line: 3},
		{path: "x.go", side: changes.Right, line: 9},
		{path: "x.go", side: changes.Right, start: 3, line: 9},
		{path: "x.go", side: changes.Right, start: 4, line: 4},
		{path: "x.go", side: changes.Left, line: 8},
		{path: "x.go", side: changes.Left, start: 19, line: 22},
		{"x.go", changes.Left, 0, 9, "line 9 of x.go is not in the diff on the LEFT side (the old file); commentable lines are 3-8, 19-22"},
		{"x.go", changes.Right, 0, 40, "line 40 of x.go is not in the diff; commentable lines are 3-9, 20-31"},
		{"x.go", changes.Right, 0, 2, "line 2 of x.go is not in the diff; commentable lines are 3-9, 20-31"},
		{"x.go", changes.Right, 0, 10, "line 10 of"},
		{"x.go", changes.Right, 9, 20, "lines 9 to 20 of x.go lie in different hunks of the diff; commentable lines are 3-9, 20-31"},
		{"x.go", changes.Right, 2, 4, "line 2 of x.go is not in the diff; "},
		{"x.go", changes.Right, 8, 12, "line 12 of x.go is not in the diff; "},
		{"x.go", changes.Right, 12, 15, "lines 12 to 15 of x.go are not in the diff; "},
		{"x.go", changes.Right, 5, 4, "lines 5 to 4 of x.go are not a range"},
		{"x.go", changes.Right, 0, 0, "not a range"},
		{"x.go", changes.Right, -3, 4, "not a range"},
		{"x.go", "", 0, 4, `the side "" is not LEFT or RIGHT`},
		{path: "new.go", side: changes.Right, start: 1, line: 2},
		{"new.go", changes.Left, 0, 1, "the diff shows no line of the old file: use RIGHT for added lines"},
		{"new.go", changes.Right, 0, 3, "commentable lines are 1-2"},
		{path: "gone.go", side: changes.Left, line: 2},
		{"gone.go", changes.Right, 0, 1, "use LEFT for removed lines"},
		{path: "moved/b.go", side: changes.Right, line: 5},
		{path: "moved/b.go", side: changes.Left, line: 6},
		{"a.go", changes.Right, 0, 5, "a.go was renamed: its lines are those of moved/b.go"},
		{"only.go", changes.Right, 0, 5, "only.go is only renamed from was.go"},
		{"copy.go", changes.Right, 0, 5, "copy.go is only copied from was.go"},
		{"nope.go", changes.Right, 0, 5, "nope.go is not among the changed files"},
		{"logo.png", changes.Right, 0, 1, "is a binary file"},
		{"big.json", changes.Right, 0, 1, "too large to be shown"},
		{"run.sh", changes.Right, 0, 1, "has no changed lines"},
		{"bad.go", changes.Right, 0, 1, "the diff of bad.go cannot be read: line 1"},
		{path: "half.go", side: changes.Right, line: 2},
		{path: "half.go", side: changes.Right, line: 9},
		{"half.go", changes.Right, 0, 10, "(the rest of its diff cannot be read: line 5"},
		{"many.go", changes.Right, 0, 3, "commentable lines are 1-2, 11-12, 21-22, 31-32, 41-42, 51-52 and 4 more ranges"},
		{"many.go", changes.Right, 0, 55, "31-32, 41-42, 51-52, 61-62, 71-72, 81-82 and 4 more ranges"},
		{"many.go", changes.Right, 0, 500, "41-42, 51-52, 61-62, 71-72, 81-82, 91-92 and 4 more ranges"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s %d-%d", tt.path, tt.side, tt.start, tt.line), func(t *testing.T) {
			err := a.Check(tt.path, tt.side, tt.start, tt.line)
			if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("err = %v, want %q", err, tt.text)
			}
		})
	}
}

func TestFromAPI(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status, previous, patch string
		lines                   int
		want                    changes.ChangedFile
	}{
		{"modified", "", "@@ -1 +1 @@", 2, changes.ChangedFile{Status: changes.Modified, Patch: "@@ -1 +1 @@"}},
		{"removed", "", "", 900, changes.ChangedFile{Status: changes.Deleted, PatchMissing: true}},
		{"added", "", "", 0, changes.ChangedFile{Status: changes.Added, Binary: true}},
		{"renamed", "old", "", 0, changes.ChangedFile{Status: changes.Renamed, PreviousPath: "old"}},
		{"modified", "stray", "", 0, changes.ChangedFile{Status: changes.Modified, Binary: true}},
		{"changed", "", "", 0, changes.ChangedFile{Status: changes.TypeChanged}},
		{"something new", "", "", 1, changes.ChangedFile{Status: changes.Modified, PatchMissing: true}},
	}
	for _, tt := range tests {
		tt.want.Path = "p"
		if got := changes.FromAPI("p", tt.previous, tt.status, tt.patch, tt.lines); got != tt.want {
			t.Errorf("%+v\nwant %+v", got, tt.want)
		}
	}
}
