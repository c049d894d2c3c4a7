//go:build unix

package agentchanges_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestPatchSeriesErrors says for each file that is no patch, or a hostile one,
// where it is wrong.
func TestPatchSeriesErrors(t *testing.T) {
	c := newClone(t)
	c.Write("a.txt", "one\ntwo\n")
	c.Write("a.bin", "\x00one")
	base := c.Commit("base")
	c.Write("a.bin", "\x00two")
	binary := string(c.Output("diff"))
	c.Git("checkout", "-q", ".")
	create := func(path string) string {
		return "diff --git a/" + path + " b/" + path + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n"
	}
	mail := func(patch string) string { return "From: a <a@example.com>\nSubject: x\n\nWords\n---\n\n" + patch }
	for name, x := range map[string]struct{ data, want string }{
		"words":              {"Sorry, I could not do it.\n", `"x.patch" holds no patch: 'git format-patch`},
		"JSON":               {`{"diff": "--- a"}`, "holds no patch"},
		"only a mail":        {mail(""), ""},
		"cut":                {"\n\n" + create("b.txt") + "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n", `line 13: git says "corrupt patch"`},
		"cut in a mail":      {mail("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n"), `"x.patch", line 11: git says "corrupt patch"`},
		"cut in a 2nd mail":  {"\nFrom 0 Mon Sep 17 00:00:00 2001\n" + mail(create("b.txt")) + "\nFrom 0 Mon Sep 17 00:00:00 2001\n" + mail("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n"), `mail 2 of "x.patch", line 27: git says "corrupt patch"`},
		"no name":            {"diff --git x y\n--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n", "line 4: git says"},
		"mixed prefixes":     {create("b.txt") + "diff --git a.txt a.txt\nold mode 100644\nnew mode 100755\n", "line 7: paths with and without a prefix"},
		"UTF-16":             {"\xff\xfed\x00i\x00", "UTF-16"},
		"binary":             {binary, "git diff --binary"},
		"large binary":       {"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 2000000000\nzcmZ\n\n", "line 5: a file of 2000000000 bytes"},
		"git's own":          {create(".git/hooks/post-checkout"), `leaves the repository or writes where git keeps its own files: "invalid path '.git/hooks/post-checkout'"`},
		"git's own, cased":   {create("sub/.GIT/config"), "leaves the repository"},
		"git's own on NTFS":  {create("GIT~1/config"), "leaves the repository"},
		"git's own on HFS":   {create(".g\u200cit/config"), "leaves the repository"},
		"outside":            {create("../evil"), "leaves the repository"},
		"outside, deep":      {create("x/../../evil"), "leaves the repository"},
		"absolute":           {create("/etc/passwd"), "leaves the repository"},
		"outside, no prefix": {"--- /dev/null\n+++ ../evil\n@@ -0,0 +1 @@\n+x\n", "leaves the repository"},
		"through a link":     {create("d")[:len("diff --git a/d b/d\nnew file mode 1")] + "20000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n" + create("d/passwd"), "d/passwd"},
		"a merge's":          {create("b.txt") + "diff --cc a.txt\nindex 1,2..3\n--- a/a.txt\n+++ b/a.txt\n@@@ -1,1 -1,1 +1,1 @@@\n--a\n -b\n++c\n", "line 7: the diff of a merge"},
		"many mails":         {"From 0 Mon Sep 17 00:00:00 2001\n" + strings.Repeat("\nFrom ", 10_001), "at most 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: []byte(x.data), Bases: []string{base}})
			if x.want == "" {
				if err != nil || len(s.Changes) > 0 || len(s.Notes) != 1 {
					t.Errorf("%+v, %v", s, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), x.want) || strings.ContainsAny(err.Error(), "\n\u200c") {
				t.Errorf("%v, want %q in it; %+v", err, x.want, s)
			}
		})
	}
	_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: bytes.Repeat([]byte{'\n'}, 128<<20+1), Bases: []string{base}})
	if !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Error(err)
	}
}
