//go:build unix

package agentchanges_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestPatchSeriesOfMails(t *testing.T) {
	t.Parallel()
	c, base, commits := variedClone(t)
	fresh := cloneOf(t, c, base)
	for name, args := range shorttest.Some(1, map[string][]string{
		"mails":      {},
		"full index": {"--full-index", "--numbered", "--thread"},
		"no stat":    {"--no-stat", "-p", "--no-signature", "--no-renames"},
		"no prefix":  {"--no-prefix", "--subject-prefix=PATCH v2"},
		"attached":   {"--attach"},
		"inline":     {"--inline"},
		"cover":      {"--cover-letter", "--base=" + base},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := c.Output(append([]string{"format-patch", "--stdout", "--binary", "--encode-email-headers"}, append(args, base+".."+commits[len(commits)-1])...)...)
			r := fresh.Copy(t).Open()
			bases := []string{base}
			if name == "cover" {
				bases = nil
			}
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: data, Bases: bases})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if s.Base != base || len(s.Changes) != len(commits) {
				t.Fatalf("%d changes from %s, want %d from %s", len(s.Changes), s.Base, len(commits), base)
			}
			for i, commit := range commits {
				want := gitrepo.Change{After: c.Tree(commit), Author: gitrepo.Person{Name: "a", Email: "a@example.com"}, Message: c.Git("log", "-1", "--format=%B", commit)}
				if want.Before = c.Tree(commit + "~"); s.Changes[i] != want {
					t.Errorf("%d: %+v, want %+v", i, s.Changes[i], want)
				}
			}
			if cover := strings.Contains(strings.Join(s.Notes, "\n"), `mail 1 of "x.patch" contains no patch`); cover != (name == "cover") || len(s.Notes) > 1 {
				t.Errorf("notes %q", s.Notes)
			}
		})
	}
}

func TestPatchSeriesOfDiffs(t *testing.T) {
	t.Parallel()
	c, base, commits := variedClone(t)
	fresh := cloneOf(t, c, base)
	tip := commits[len(commits)-1]
	diff := func(args ...string) []byte {
		return c.Output(append(append([]string{"diff", "--binary"}, args...), base, tip)...)
	}
	for name, data := range shorttest.Some(2, map[string][]byte{
		"diff":            diff(),
		"no prefix":       diff("--no-prefix"),
		"other prefixes":  diff("--src-prefix=i/", "--dst-prefix=w/"),
		"no renames":      diff("--no-renames"),
		"copies":          diff("-C", "--find-copies-harder", "--no-prefix"),
		"more context":    diff("-U10", "--full-index"),
		"text around it":  append([]byte("Here it is:\n\n```diff\n"), append(diff(), "```\nDone.\n"...)...),
		"byte order mark": append([]byte("\xef\xbb\xbf\n"), diff()...),
		"cut line end":    bytes.TrimSuffix(diff(), []byte("\n")),
		"CRLF throughout": bytes.ReplaceAll(diff(), []byte("\n"), []byte("\r\n")),
		"show":            c.Output("show", "--binary", "--format=fuller", "-m", "--first-parent", tip),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, r := base, fresh.Copy(t).Open()
			if name == "show" {
				from = commits[len(commits)-2]
				r = cloneOf(t, c, from).Open()
			}
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x", Data: data, Bases: []string{from}})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if len(s.Changes) != 1 || s.Changes[0].After != c.Tree(tip) || len(s.Notes) > 0 {
				t.Errorf("%+v, want the tree %s", s, c.Tree(tip))
			}
		})
	}
}

func TestPatchSeriesOfOtherDiffs(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a.txt", "one\ntwo\n")
	c.Write("src/a.txt", "one\ntwo\n")
	base := c.Commit("base")
	const hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	const mail = "From: =?ISO-8859-1?Q?J=F6rg?= <j@example.com>\nSubject: [PATCH 1/2]\n =?UTF-8?B?w4Q=?= [x]\nContent-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n" +
		"Gr=FC=DFe=\n dich\n---\n\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+=C3=A4\n"
	for name, x := range map[string]struct{ data, path, text, message string }{
		"diff -u":            {"--- a.txt\t2024-01-01 00:00:00\n+++ a.txt\t2024-01-01 00:00:01\n" + hunk, "a.txt", "one\n2\n", ""},
		"diff -u deep":       {"--- src/a.txt\n+++ src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"diff -ru":           {"diff -ru old/src/a.txt new/src/a.txt\n--- old/src/a.txt\n+++ new/src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"new file":           {"--- /dev/null\n+++ src/b.txt\n@@ -0,0 +1 @@\n+b\n", "src/b.txt", "b\n", ""},
		"new file, b/":       {"--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n", "b.txt", "b\n", ""},
		"no index line":      {"diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n" + hunk, "src/a.txt", "one\n2\n", ""},
		"line like a header": {"--- a.txt\n+++ a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+++ b/x\n", "a.txt", "one\ntwo\n++ b/x\n", ""},
		"encoded mail":       {mail, "src/a.txt", "one\n\u00e4\n", "\u00c4 [x]\n\nGr\u00fc\u00dfe dich"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x", Data: []byte(x.data), Bases: []string{base}})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if len(s.Changes) != 1 {
				t.Fatalf("%+v", s)
			}
			own := clone{gittest.In(t, r)}
			if got := string(own.Output("cat-file", "blob", s.Changes[0].After+":"+x.path)); got != x.text {
				t.Errorf("%s becomes %q, want %q", x.path, got, x.text)
			}
			if got := own.Git("diff-tree", "--name-only", "-r", s.Changes[0].Before, s.Changes[0].After); got != x.path {
				t.Errorf("the change is in %q, want %q", got, x.path)
			}
			if got := s.Changes[0]; got.Message != x.message || x.message != "" && got.Author.Name != "J\u00f6rg" {
				t.Errorf("message %q of %q, want %q", got.Message, got.Author.Name, x.message)
			}
		})
	}
}

// patched returns a clone with three commits on base: the tip of main changes line 20, the commit
// near changes a line near line 20, and the commit same also changes line 20. diff is a mail with
// the change of main.
func patched(t *testing.T) (c clone, base, near, same string, diff []byte) {
	t.Helper()
	c = newClone(t)
	c.Write("a.txt", numbers(40))
	base = c.Commit("base")
	edit := func(at, to string) { c.Write("a.txt", strings.Replace(numbers(40), "line "+at+"\n", to+"\n", 1)) }
	edit("20", "topic")
	topic := c.Commit("topic")
	diff = c.Output("format-patch", "--stdout", "-1", topic)
	c.Git("checkout", "-q", "-b", "near", base)
	edit("22", "near")
	near = c.Commit("near")
	c.Git("checkout", "-q", "-b", "same", base)
	edit("20", "same")
	same = c.Commit("same")
	return c, base, near, same, diff
}

func TestPatchSeriesFindsItsBase(t *testing.T) {
	t.Parallel()
	c, base, near, same, diff := patched(t)
	none := strings.Repeat("1", 40)
	named := func(oid string) []byte {
		return []byte(strings.Replace(string(diff), "\n-- \n", "\nbase-commit: "+oid+"\n-- \n", 1))
	}
	for name, x := range map[string]struct {
		data  []byte
		bases []string
		want  string
		note  string
	}{
		"the first that it applies to": {diff, []string{none, "", same, near, base}, base, ""},
		"by a merge":                   {diff, []string{same, near}, near, "was merged"},
		"named":                        {named(base), []string{near}, base, ""},
		"named, alone":                 {named(base), nil, base, ""},
		"named, but not there":         {named(none), []string{base}, base, "made from " + none},
		"named, but wrong":             {named(same), []string{base}, base, "made from " + same},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.Open()
			s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: x.data, Bases: x.bases})
			if err != nil {
				t.Fatal(err)
			}
			checkSeries(t, r, s)
			if s.Base != x.want || len(s.Changes) != 1 || s.Changes[0].Message != "topic" {
				t.Errorf("%+v, want the base %s", s, x.want)
			}
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, x.note) || x.note == "" && notes != "" {
				t.Errorf("notes %q", notes)
			}
			own := clone{gittest.In(t, r)}
			if d := own.Git("diff-tree", "-U0", "-p", s.Changes[0].Before, s.Changes[0].After); !strings.Contains(d, "\n-line 20\n+topic") {
				t.Errorf("the change is not that of the patch:\n%s", d)
			}
		})
	}
}

func TestPatchSeriesConflict(t *testing.T) {
	t.Parallel()
	c, _, near, same, diff := patched(t)
	_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: diff, Bases: []string{same}})
	var conflict *gitrepo.Conflict
	if !errors.As(err, &conflict) || conflict.Change != 0 || !slices.Equal(conflict.Paths, []string{"a.txt"}) {
		t.Errorf("%+v", err)
	}
	// The second change is the one that does not fit, and names no version that could be merged.
	second := "From: a <a@example.com>\nSubject: second\n\n---\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n"
	_, err = agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: append(diff, "From 0 Mon Sep 17 00:00:00 2001\n"+second...), Bases: []string{near}})
	if !errors.As(err, &conflict) || conflict.Change != 1 || !slices.Equal(conflict.Paths, []string{"b.txt"}) ||
		!strings.Contains(conflict.Detail, `mail 2 of "x.patch": git says "b.txt: does not exist in index"`) {
		t.Errorf("%+v", err)
	}
	// git applies no change in the middle of a file without the lines around it.
	const bare = "--- a/a.txt\n+++ b/a.txt\n@@ -5 +5 @@\n-line 5\n+five\n"
	_, err = agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x.patch", Data: []byte(bare), Bases: []string{near}})
	if !errors.As(err, &conflict) || !strings.Contains(conflict.Detail, "no lines of context (git diff -U0)") {
		t.Errorf("%+v", err)
	}
}

func TestPatchSeriesWithoutChangesOrBase(t *testing.T) {
	t.Parallel()
	c, base, _, _, diff := patched(t)
	for _, data := range []string{"", " \r\n\n"} {
		s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: []byte(data), Bases: []string{base}})
		if err != nil || s.Base != base || len(s.Changes) > 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	// A change that the base already has changes nothing, and is noted.
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: diff, Bases: []string{c.Git("rev-parse", "main")}})
	if err != nil || len(s.Changes) > 0 || !strings.Contains(strings.Join(s.Notes, "\n"), "changes nothing") {
		t.Errorf("%+v, %v", s, err)
	}
	none := strings.Repeat("1", 40)
	for _, bases := range [][]string{nil, {none}} {
		_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: diff, Bases: bases})
		if !errors.Is(err, agentchanges.ErrNoBase) || len(bases) > 0 && !strings.Contains(err.Error(), none) {
			t.Errorf("bases %q: %v, want ErrNoBase", bases, err)
		}
	}
	if _, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Data: diff, Bases: []string{"main"}}); err == nil || errors.Is(err, agentchanges.ErrNoBase) {
		t.Errorf("a base that is not an id: %v, want another error than ErrNoBase", err)
	}
}

func TestRepoWithoutClone(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 40, 64} {
		r, err := gitrepo.New(nil, gitrepo.Options{TempDir: t.TempDir(), OIDLen: length})
		if err != nil {
			t.Fatal(err)
		}
		if has, err := r.Has(t.Context(), strings.Repeat("1", max(length, 40))); err != nil || has {
			t.Errorf("%v, %v", has, err)
		}
		own := clone{gittest.In(t, r)}
		if got := len(own.Git("hash-object", "-w", "config")); got != max(length, 40) {
			t.Errorf("ids of %d digits, want %d", got, max(length, 40))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := gitrepo.New(nil, gitrepo.Options{OIDLen: 41}); err == nil {
		t.Error("ids of 41 digits are accepted")
	}
}

func TestPatchSeriesNotesASubmoduleInWords(t *testing.T) {
	t.Parallel()
	c, base, _, _, diff := patched(t)
	data := "Submodule sub 1234567..89abcde:\n  > more\n" + string(diff[strings.Index(string(diff), "diff --git"):])
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: []byte(data), Bases: []string{base}})
	if err != nil || len(s.Changes) != 1 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"Submodule sub 1234567..89abcde"`) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestPatchSeriesNotesFilesInWords asserts that lines of diff -r about files that it does not
// compare are noted, and that lines in hunks that look the same are not.
func TestPatchSeriesNotesFilesInWords(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a.txt", "Only in b: c\n")
	base := c.Commit("base")
	data := "Only in new: logo.png\n--- old/a.txt\n+++ new/a.txt\n@@ -1 +1,2 @@\n Only in b: c\n+Binary files x and y differ\nBinary files old/x and new/x differ\n"
	s, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "x", Data: []byte(data), Bases: []string{base}})
	if err != nil || len(s.Changes) != 1 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `only mentions some changes, without their content (2, the first is "Only in new: logo.png")`) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestPatchSeriesErrors asserts that the error names the place of what is wrong, for files that
// are not patches and for hostile ones.
func TestPatchSeriesErrors(t *testing.T) {
	t.Parallel()
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
	for name, x := range map[string]struct {
		data string
		want string // "" for no error and no change, but a note
	}{
		"words":              {"Sorry, I could not do it.\n", `"x.patch" contains no patch: 'git format-patch`},
		"colors":             {"\x1b[1mdiff --git a/a.txt b/a.txt\x1b[m\n\x1b[1m--- a/a.txt\x1b[m\n\x1b[1m+++ b/a.txt\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m-one\x1b[m\n\x1b[32m+1\x1b[m\n", "git diff --no-color"},
		"JSON":               {`{"diff": "--- a"}`, "contains no patch"},
		"only a mail":        {mail(""), ""},
		"cut":                {"\n\n" + create("b.txt") + "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n", `line 13: git says "corrupt patch"`},
		"cut in a mail":      {mail("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n"), `"x.patch", line 11: git says "corrupt patch"`},
		"cut in a 2nd mail":  {"\nFrom 0 Mon Sep 17 00:00:00 2001\n" + mail(create("b.txt")) + "\nFrom 0 Mon Sep 17 00:00:00 2001\n" + mail("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n"), `mail 2 of "x.patch", line 27: git says "corrupt patch"`},
		"no name":            {"diff --git x y\n--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n", "line 4: git says"},
		"mixed prefixes":     {create("b.txt") + "diff --git a.txt a.txt\nold mode 100644\nnew mode 100755\n", "line 7: paths with and without a prefix"},
		"UTF-16":             {"\xff\xfed\x00i\x00", "UTF-16"},
		"binary":             {binary, "git diff --binary"},
		"large binary":       {"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 2000000000\nzcmZ\n\n", "line 5: a file of 2000000000 bytes"},
		"a bomb":             {strings.Repeat("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 99614720\nzcmZ\n\n", 40), "line 19: up to here the binary files have more than 256 MiB together"},
		"git's own":          {create(".git/hooks/post-checkout"), `leaves the repository or writes where git keeps its own files: "invalid path '.git/hooks/post-checkout'"`},
		"git's own, cased":   {create("sub/.GIT/config"), "leaves the repository"},
		"git's own on NTFS":  {create("GIT~1/config"), "leaves the repository"},
		"git's own on HFS":   {create(".g\u200cit/config"), "leaves the repository"},
		"outside":            {create("../evil"), "leaves the repository"},
		"outside, deep":      {create("x/../../evil"), "leaves the repository"},
		"absolute":           {create("/etc/passwd"), "leaves the repository"},
		"outside, no prefix": {"--- /dev/null\n+++ ../evil\n@@ -0,0 +1 @@\n+x\n", "leaves the repository"},
		"through a link":     {create("d")[:len("diff --git a/d b/d\nnew file mode 1")] + "20000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n" + create("d/passwd"), "d/passwd"},
		"a hunk too long":    {"\n" + create("b.txt") + "+y\n", `line 8: by its @@ line, the hunk before has ended`},
		"too long, context":  {mail("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n two\n-three\n-- \n2.39\n"), `line 13: by its @@ line`},
		"a merge's":          {create("b.txt") + "diff --cc a.txt\nindex 1,2..3\n--- a/a.txt\n+++ b/a.txt\n@@@ -1,1 -1,1 +1,1 @@@\n--a\n -b\n++c\n", "line 7: the diff of a merge"},
		"many mails":         {"From 0 Mon Sep 17 00:00:00 2001\n" + strings.Repeat("\nFrom ", 10_000), "has 10001 mails, and at most 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
		t.Errorf("a file over the limit: %v", err)
	}
}
