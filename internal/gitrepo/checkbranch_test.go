//go:build unix

package gitrepo_test

import (
	"strings"
	"testing"
)

func TestCheckBranch(t *testing.T) {
	c := newClone(t)
	c.Commit("so that @{-1} could mean something")
	r := c.Open()
	for _, name := range []string{"main", "fix/issue-7", "a;b", "$(touch", "`x`", "ümlaut", "a'b\"c", "@", "a-", "heads/x", "=x", "%2e%2e", "a\u202eb", strings.Repeat("a", 244)} {
		if err := r.CheckBranch(t.Context(), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "-x", "--upload-pack=touch x", "HEAD", "$(touch x)", "a b", "a..b", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.lock/b", "a.",
		"a~1", "a^", "a:b", "a?b", "a*", "a[b", `a\b`, "a@{1}", "@{-1}", "a\nb", "a\x00b", "a\x7fb", "refs/heads/main",
		strings.Repeat("0a", 20), strings.Repeat("0A", 20), strings.Repeat("a", 245),
	} {
		if err := r.CheckBranch(t.Context(), name); err == nil {
			t.Errorf("%q passes", name)
		} else if strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q: the error is not one line: %v", name, err)
		}
	}
}
