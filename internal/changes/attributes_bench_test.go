//go:build linux

package changes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

// BenchmarkAttributes holds 3,000 long names against as many patterns as are read, all
// of which match only at the end, or not at all.
func BenchmarkAttributes(b *testing.B) {
	files, list := map[string]string{".gitattributes": strings.Repeat("*a*a*a*a*a*a*a*b linguist-generated\n", 500)}, []string{}
	for i := range 3000 {
		name := fmt.Sprintf("%s%d", strings.Repeat("a", 200), i)
		files[name], list = "", append(list, name)
	}
	tree := openTree(b, writeTree(b, files))
	for b.Loop() {
		if s, err := changes.SetFromList(b.Context(), tree, list, changes.Options{}); err != nil || len(s.Notes) > 0 {
			b.Fatal(s.Notes, err)
		}
	}
}
