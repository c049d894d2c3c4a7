package toolreport

import (
	"fmt"
	"strings"
	"testing"
)

// TestExcerptsBeginWithTheFile holds that whoever reads an excerpt of a formatter's
// diff learns of which file it is, however long it is.
func TestExcerptsBeginWithTheFile(t *testing.T) {
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
