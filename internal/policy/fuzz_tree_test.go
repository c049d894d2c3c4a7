package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No path, target or pattern makes the judgement panic, lose a bad path, or
// depend on the order of changes.
func FuzzJudgeTree(f *testing.F) {
	f.Add("a/b", "A/b", "../x", "docs/**")
	f.Add(".git/config", "git~1", "l/../..", "[!a]*.{md,txt}")
	f.Add("a\x00\xffb", "caf\u00e9", "C:\\x", "**/{a,{b,c}}/[a-z]?")
	f.Add("CON.txt", "cafe\u0301/", "", "\\")
	f.Fuzz(func(t *testing.T, first, second, target, pattern string) {
		tree := Tree{
			Changes: slices.Concat(added(first), newLink(second, target), edited(first+second)),
			Paths:   []string{first, second, target},
			Links:   map[string]string{target: first, "l": target},
		}
		settings := ChangeSettings{AllowedFiles: []string{pattern}, AlsoProtectedFiles: []string{pattern}, UnprotectedFiles: []string{pattern}}
		got := JudgeTree(settings, tree)
		slices.Reverse(tree.Changes)
		slices.Reverse(tree.Paths)
		if diff := cmp.Diff(got, JudgeTree(settings, tree)); diff != "" {
			t.Errorf("the order counts (-first +reversed)\n%s", diff)
		}
		for name := range strings.SplitSeq(strings.ToLower(first), "/") {
			if (name == ".git" || name == "..") && !slices.ContainsFunc(got, func(v TreeViolation) bool {
				return v.Path == first && (v.Rule == RuleGitPath || v.Rule == RulePath)
			}) {
				t.Errorf("%q was let through", first)
			}
		}
		for _, v := range got {
			if strings.ContainsAny(v.Message, "\r\n") {
				t.Errorf("%q is not one line", v.Message)
			}
		}
	})
}

// The cost grows with the number of paths alone, hostile ones included.
func BenchmarkJudgeTree(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for name, path := range map[string]func(i int) string{
			"ordinary":  func(i int) string { return fmt.Sprintf("internal/pkg%d/sub/file%d.go", i%100, i) },
			"colliding": func(i int) string { return caseVariant("abcdefghijklmnopqrst", i) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var tree Tree
				for i := range n {
					tree.Paths = append(tree.Paths, path(i))
				}
				tree.Changes = slices.Concat(added(tree.Paths...), newLink("l", "a/../b"))
				settings := ChangeSettings{ProtectManifests: true, AllowedFiles: []string{"internal/**/*.go", "[a-t]*", "l"}, MaxFiles: -1, MaxSizeKB: -1}
				b.ReportAllocs()
				for b.Loop() {
					JudgeTree(settings, tree)
				}
			})
		}
	}
}

// caseVariant writes a name in the i-th of its mixtures of upper and lower case.
func caseVariant(name string, i int) string {
	b := []byte(name)
	for k := range b {
		if i>>k&1 == 1 {
			b[k] -= 'a' - 'A'
		}
	}
	return string(b)
}
