//go:build linux

package changes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

// openRepo opens a repository that reads the objects of a clone.
func openRepo(t testing.TB, dir string) *gitrepo.Repo { return openRepoWith(t, dir, gitrepo.Options{}) }

func openRepoWith(t testing.TB, dir string, opt gitrepo.Options) *gitrepo.Repo {
	t.Helper()
	clone, err := gitrepo.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	opt.TempDir = t.TempDir()
	repo, err := gitrepo.New(clone, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// commitAll commits what is in a work tree, and returns the commit.
func commitAll(t testing.TB, dir string) string {
	t.Helper()
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	return gitIn(t, dir, "rev-parse", "HEAD")
}

// change writes files below dir; a nil text removes the file.
func change(t testing.TB, dir string, files map[string]any) {
	t.Helper()
	for name, text := range files {
		switch text := text.(type) {
		case nil:
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		case string:
			writeFile(t, dir, name, text)
		}
	}
}

// pull makes a repository with two lines of commits, as a pull request has them: base and head are
// their last commits, and fork is the commit at which they part.
func pull(t testing.TB) (dir, fork, base, head string) {
	t.Helper()
	lines := strings.Repeat("line\n", 20)
	dir = writeTree(t, map[string]string{
		"a.go": "package a\n" + lines, "old.py": lines, "gone.rb": "x\n", "was.txt": "x", "bin": "\x00", "now-text": "\x00", "same.go": "package same\n", "mode.sh": "#!/bin/sh\n",
		".gitattributes": "gen/* linguist-generated\n",
	})
	gitIn(t, dir, "init", "-q", "-b", "main")
	fork = commitAll(t, dir)
	change(t, dir, map[string]any{"base-only.go": "package b\n"})
	base = commitAll(t, dir)
	gitIn(t, dir, "checkout", "-q", "--detach", fork)
	change(t, dir, map[string]any{
		"a.go": "package a\n" + "new\n" + lines + "last\n", "old.py": nil, "dir/new name.py": lines + "more\n", "gone.rb": nil, "was.txt": nil, "bin": "\x00\x01", "now-text": "text\n",
		"gen/x.go": "package gen\n", "evil.go": "package evil\n", ".gitattributes": "gen/* -linguist-generated\nevil.go linguist-generated\n", "model.bin": lfsPointer, "empty.rs": "", "ü\t\n.ts": "let x\n",
	})
	for _, err := range []error{os.Symlink("a.go", filepath.Join(dir, "was.txt")), os.Chmod(filepath.Join(dir, "mode.sh"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+fork+",sub")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	head = commitAll(t, dir)
	return dir, fork, base, head
}

func TestSetFromGit(t *testing.T) {
	t.Parallel()
	dir, fork, base, head := pull(t)
	change(t, dir, map[string]any{"a.go": "not the head's text\n"})
	s, err := changes.SetFromGit(t.Context(), changes.GitSource{Repo: openRepo(t, dir), Base: base, Head: head}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Base != fork || s.Head != head || s.Missing != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], ".gitattributes") {
		t.Errorf("base %s, head %s, missing %d, notes %q", s.Base, s.Head, s.Missing, s.Notes)
	}
	want := map[string]string{
		".gitattributes": "modified 100644 [1-2]", "a.go": "modified 100644 [2 23] go", "bin": "modified 100644 [] binary", "now-text": "modified 100644 all", "dir/new name.py": "renamed<old.py 100644 [21] python",
		"empty.rs": "added 100644 [] rust", "evil.go": "added 100644 [1] go", "gen/x.go": "added 100644 [1] go generated", "gone.rb": "deleted  [] ruby deleted", "mode.sh": "changed 100755 []",
		"model.bin": "added 100644 [1-3] lfs-pointer", "sub": "added 160000 [1] submodule", "was.txt": "changed 120000 [1] link", "ü\t\n.ts": "added 100644 [1] typescript",
	}
	got := map[string]string{}
	for _, f := range s.Files {
		text := string(f.Status)
		if f.PreviousPath != "" {
			text += "<" + f.PreviousPath
		}
		text += " " + f.Mode + " " + fmt.Sprint(f.Changed)
		if f.AllChanged {
			text = strings.TrimSuffix(text, "[]") + "all"
		}
		if f.Language != "" {
			text += " " + f.Language
		}
		for _, m := range f.Marks {
			text += " " + string(m.Mark)
		}
		got[f.Path] = text
		if f.Path == "a.go" && (!strings.HasPrefix(string(f.Text), "package a\nnew\n") || !changedLine(&f, 2) || changedLine(&f, 3) || !changedLine(&f, 23) || changedLine(&f, 24)) {
			t.Errorf("a.go: %q, %v", f.Text, f.Changed)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSetFromGitOnly(t *testing.T) {
	t.Parallel()
	dir, _, base, head := pull(t)
	src := changes.GitSource{Repo: openRepo(t, dir), Base: base, Head: head, Only: []string{"same.go", "./a.go", "old.py", "none.go"}}
	s, err := changes.SetFromGit(t.Context(), src, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Files {
		got = append(got, fmt.Sprintf("%s %s %v %v", f.Path, f.Status, f.Changed, f.Marks))
	}
	want := []string{"a.go modified [2 23] []", "none.go unchanged [] [{unread it is not there}]", "old.py deleted [] [{deleted it is deleted}]", "same.go unchanged [] []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	src.Only = []string{"../x"}
	if _, err := changes.SetFromGit(t.Context(), src, changes.Options{}); err == nil {
		t.Error("a path that leads out is accepted")
	}
}

// TestSetFromGitWithoutHunks asserts that a diff over the limit gives the changed files without
// their changed lines.
func TestSetFromGitWithoutHunks(t *testing.T) {
	t.Parallel()
	dir, _, base, head := pull(t)
	s, err := changes.SetFromGit(t.Context(), changes.GitSource{Repo: openRepoWith(t, dir, gitrepo.Options{MaxDiff: 100}), Base: base, Head: head}, changes.Options{MaxFile: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) != 14 || len(s.Notes) == 0 || !strings.Contains(s.Notes[0], "every line") {
		t.Errorf("%d files, notes %q", len(s.Files), s.Notes)
	}
	for _, f := range s.Files {
		if f.AllChanged == (f.Status == changes.Deleted) {
			t.Errorf("%s: all lines count as changed: %v", f.Path, f.AllChanged)
		}
		if _, large := f.Marked(changes.MarkTooLarge); large != (f.Size > 50) || f.Path == "a.go" && f.Size != 119 {
			t.Errorf("%s has %d bytes, too large: %v", f.Path, f.Size, large)
		}
	}
}

// TestSetFromGitOfAShallowClone asserts that commits that the clone lacks are fetched, and that
// the error names the setting to change where that is not possible.
func TestSetFromGitOfAShallowClone(t *testing.T) {
	t.Parallel()
	git := githubtest.NewGit(t)
	left := git.Commit("main", map[string]string{"a.go": "package a\n"}, "one")
	git.SetBranch("topic", left)
	base := git.Commit("main", map[string]string{"b.go": "package b\n"}, "two")
	head := git.Commit("topic", map[string]string{"a.go": "package a\n\nvar x int\n"}, "three")
	server := githubtest.New(t, githubtest.Fixture{Repo: githubtest.Repo{Owner: "o", Name: "r"}}, githubtest.Options{Git: git})
	server.Start(t)
	remote, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: server.GitURL(), Token: token.New("ghs_test", server.APIURL()), AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		src  changes.GitSource
		fail error
	}{
		"no remote":                 {changes.GitSource{Base: base, Head: head}, gitrepo.ErrMissing},
		"fetched":                   {changes.GitSource{Base: base, Head: head, Remote: remote}, nil},
		"merge base fetched":        {changes.GitSource{MergeBase: left, Head: head, Remote: remote}, nil},
		"merge base, no remote":     {changes.GitSource{MergeBase: left, Head: head}, gitrepo.ErrMissing},
		"the server lacks the base": {changes.GitSource{Base: strings.Repeat("1", 40), Head: head, Remote: remote}, gitrepo.ErrMissing},
		"the server lacks the head": {changes.GitSource{MergeBase: left, Head: strings.Repeat("1", 40), Remote: remote}, gitrepo.ErrMissing},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gitIn(t, dir, "clone", "-q", "--depth=1", "--branch=topic", "file://"+git.Dir(), ".")
			tt.src.Repo = openRepo(t, dir)
			s, err := changes.SetFromGit(t.Context(), tt.src, changes.Options{})
			if !errors.Is(err, tt.fail) {
				t.Fatalf("err = %v, want %v", err, tt.fail)
			}
			if err != nil {
				if tt.src.Remote == nil && !strings.Contains(err.Error(), "fetch-depth: 0") {
					t.Errorf("the error does not advise what to set: %v", err)
				}
				return
			}
			if len(s.Files) != 1 || s.Files[0].Path != "a.go" || fmt.Sprint(s.Files[0].Changed) != "[2-3]" || s.Base != left {
				t.Errorf("%+v", s)
			}
		})
	}
}

// BenchmarkSetFromGit reads 3,000 changed files of 3 KB from git.
func BenchmarkSetFromGit(b *testing.B) {
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", i%30, i%7, i)] = strings.Repeat("var x = 1\n", 300)
	}
	dir := writeTree(b, files)
	gitIn(b, dir, "init", "-q", "-b", "main")
	base := commitAll(b, dir)
	for name, text := range files {
		change(b, dir, map[string]any{name: "package p\n" + text})
	}
	head := commitAll(b, dir)
	for b.Loop() {
		s, err := changes.SetFromGit(b.Context(), changes.GitSource{Repo: openRepo(b, dir), Base: base, Head: head}, changes.Options{})
		if err != nil || len(s.Files) != 3000 || len(s.Files[0].Text) != 3010 {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetFromList reads 3,000 files of 3 KB from a work tree.
func BenchmarkSetFromList(b *testing.B) {
	files, list := map[string]string{}, []string{}
	for i := range 3000 {
		name := fmt.Sprintf("d%d/e%d/f%d.go", i%30, i%7, i)
		files[name], list = strings.Repeat("var x = 1\n", 300), append(list, name)
	}
	tree := openTree(b, writeTree(b, files))
	for b.Loop() {
		s, err := changes.SetFromList(b.Context(), tree, list, changes.Options{})
		if err != nil || len(s.Files) != 3000 || len(s.Files[0].Text) != 3000 {
			b.Fatal(err)
		}
	}
}

// listed returns the files of a pull request as a caller reads them through the API.
func listed(t *testing.T, files []githubtest.File) (list []changes.ChangedFile, total int) {
	t.Helper()
	sha := strings.Repeat("a", 40)
	server := githubtest.New(t, githubtest.Fixture{
		Repo:   githubtest.Repo{Owner: "o", Name: "r", DefaultBranch: "main"},
		Issues: []*githubtest.Issue{{Title: "x", Pull: &githubtest.Pull{Head: githubtest.Branch{Ref: "topic", SHA: sha}, Base: githubtest.Branch{Ref: "main", SHA: strings.Repeat("b", 40)}, Files: files}}},
	}, githubtest.Options{})
	client, err := githubapi.New(githubapi.Options{APIURL: server.APIURL(), Token: token.New("ghs_test", server.APIURL()), Transport: server.Transport(), Clock: githubtest.NewVirtualClock(server.State().Issues[0].CreatedAt), Pace: githubapi.Unpaced()})
	if err != nil {
		t.Fatal(err)
	}
	repo := githubapi.Repo{Owner: "o", Name: "r"}
	for f, err := range client.ListPullFiles(t.Context(), repo, 1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, changes.FromAPI(f.Path, f.PreviousPath, f.Status, f.Patch, f.Changes))
	}
	p, err := client.GetPull(t.Context(), repo, 1)
	if err != nil {
		t.Fatal(err)
	}
	return list, p.ChangedFiles
}

func TestSetFromAPI(t *testing.T) {
	t.Parallel()
	list, total := listed(t, []githubtest.File{
		{Path: "a.go", Patch: "@@ -1 +1,2 @@\n a\n+b"}, {Path: "new.py", PreviousPath: "old.py", Status: "renamed"}, {Path: "gone.rb", Status: "removed", Patch: "@@ -1 +0,0 @@\n-x"},
		{Path: "bin.png"}, {Path: "empty.rs", Status: "added"}, {Path: "late.ts", Patch: "@@ -1 +1 @@\n-a\n+b"}, {Path: "cut.java", Patch: "@@ -1,3 +1,3 @@\n a\n-b"},
	})
	list = append(list, changes.FromAPI("large.js", "", "modified", "", 90_000)) // GitHub leaves such a diff out
	tree := openTree(t, writeTree(t, map[string]string{
		"a.go": "a\nb\n", "new.py": "same\n", "bin.png": "\x00", "empty.rs": "", "large.js": "let x\n", "cut.java": "a\nc\n", ".gitattributes": "a.go linguist-generated\n"}))
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: total + 1, Contents: changes.TreeContents(tree)}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Files {
		got = append(got, fmt.Sprintf("%s %s %v %v %v", f.Path, f.Status, f.Changed, f.AllChanged, f.Marks))
	}
	want := []string{
		"a.go modified [2] false []", "bin.png modified [] false [{binary it is a binary file}]", "cut.java modified [] true []", "empty.rs added [] true []",
		"gone.rb deleted [] false [{deleted it is deleted}]", "large.js modified [] true []", "late.ts modified [1] false [{unread it is not there}]", "new.py renamed [] false []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s.Missing != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `"cut.java"`) {
		t.Errorf("missing %d, notes %q", s.Missing, s.Notes)
	}
	if s, err = changes.SetFromAPI(t.Context(), changes.APISource{Files: list[:1], Total: 3, Contents: changes.TreeContents(tree), Rules: changes.TreeContents(tree)}, changes.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, generated := s.Files[0].Marked(changes.MarkGenerated); !generated || s.Missing != 2 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "run again") {
		t.Errorf("%+v", s)
	}
	if _, err := changes.SetFromAPI(t.Context(), changes.APISource{}, changes.Options{}); err == nil {
		t.Error("missing Contents are not an error")
	}
}

func TestSetFromAPIBeyondItsLimit(t *testing.T) {
	t.Parallel()
	var files []githubtest.File
	for i := range changes.MaxAPIFiles + 50 {
		files = append(files, githubtest.File{Path: fmt.Sprintf("f%05d.go", i), Patch: "@@ -0,0 +1 @@\n+x", Status: "added"})
	}
	list, total := listed(t, files)
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: total, Contents: changes.TreeContents(openTree(t, t.TempDir()))}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) != changes.MaxAPIFiles || s.Missing != 50 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "50 of 3050 changed files are not looked at") || !strings.Contains(s.Notes[0], "fetch-depth: 0") {
		t.Errorf("%d files, %d missing, %q", len(s.Files), s.Missing, s.Notes)
	}
}

// countingContents counts the files that are read.
type countingContents struct {
	changes.Contents
	read *int
}

func (c countingContents) Read(ctx context.Context, paths []string, limit int64) (map[string]changes.Content, error) {
	*c.read += len(paths)
	return c.Contents.Read(ctx, paths, limit)
}

// TestTextsAreReadInBatches asserts that reading stops once all texts together exceed the limit.
func TestTextsAreReadInBatches(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var list []changes.ChangedFile
	for i := range 700 { // a batch has 512
		name := fmt.Sprintf("f%04d", i)
		files[name], list = "1234567890", append(list, changes.ChangedFile{Path: name, Status: changes.Added})
	}
	read := 0
	contents := countingContents{changes.TreeContents(openTree(t, writeTree(t, files))), &read}
	s, err := changes.SetFromAPI(t.Context(), changes.APISource{Files: list, Total: len(list), Contents: contents}, changes.Options{MaxTotal: 1000})
	if err != nil {
		t.Fatal(err)
	}
	kept, skipped := split(s)
	if len(kept) != 100 || len(skipped) != 600 || skipped[599].Mark != changes.MarkTooLarge || read > 600 {
		t.Errorf("%d kept, %d skipped, %d read", len(kept), len(skipped), read)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := changes.SetFromAPI(ctx, changes.APISource{Files: list, Contents: contents}, changes.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// TestAttributesAreBounded asserts that no more attribute rules are read than the limit, and that
// a note reports it.
func TestAttributesAreBounded(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{".gitattributes": "a linguist-generated\n", "d/.gitattributes": strings.Repeat("a linguist-generated\n", 500), "e/.gitattributes": strings.Repeat("#\n", 60_000), "a": "", "d/a": "", "e/a": ""})
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), []string{"a", "d/a", "e/a"}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, generated := s.Files[0].Marked(changes.MarkGenerated); !generated || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "d/.gitattributes") {
		t.Errorf("%+v, notes %q", s.Files[0].Marks, s.Notes)
	}
	if s, err = changes.SetFromList(t.Context(), openTree(t, dir), []string{"e/a"}, changes.Options{}); err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "too large") {
		t.Errorf("notes %q, %v", s.Notes, err)
	}
}

// TestFromGit asserts that git's own diff is read correctly, also for files whose names and texts
// look like parts of a diff.
func TestFromGit(t *testing.T) {
	t.Parallel()
	forged := "x\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,1 +1,9999 @@"
	spaces, quoted, umlaut := " lead and trail ", "q\"uo\\te\t\x01\x7f", "ü/\xff.txt"
	lines := strings.Repeat("line\n", 30)
	dir := writeTree(t, map[string]string{"a.go": lines, "gone": "old\n", "from me": lines, "mode.sh": "x\n", "becomes-link": "x\n", "bin": "\x00\x01"})
	gitIn(t, dir, "init", "-q", "-b", "main")
	base := commitAll(t, dir)
	change(t, dir, map[string]any{
		"a.go": "new\n" + lines + "no end", forged: "y\n@@ -1 +1 @@\n", spaces: "s\n", quoted: "q\n", umlaut: "u\n", "empty": "", "bin": "\x00\x02", "to": lines + "more\n",
		"gone": nil, "from me": nil, "becomes-link": nil,
	})
	for _, err := range []error{
		os.Symlink("a.go", filepath.Join(dir, "becomes-link")), os.Chmod(filepath.Join(dir, "mode.sh"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	head := commitAll(t, dir)
	repo := openRepo(t, dir)
	files, err := changes.FromGit(t.Context(), repo, base, head)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]changes.ChangedFile{}
	for _, f := range files {
		got[f.Path] = f
	}
	want := map[string]changes.ChangedFile{
		"a.go": {Status: changes.Modified, Patch: "@@ -1,3 +1,4 @@\n+new\n line\n line\n line\n@@ -28,3 +29,4 @@ line\n line\n line\n line\n+no end\n\\ No newline at end of file"},
		forged: {Status: changes.Added, Patch: "@@ -0,0 +1,2 @@\n+y\n+@@ -1 +1 @@"}, spaces: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+s"},
		quoted: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+q"}, umlaut: {Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+u"},
		"empty": {Status: changes.Added}, "gone": {Status: changes.Deleted, Patch: "@@ -1 +0,0 @@\n-old"}, "mode.sh": {Status: changes.TypeChanged},
		"bin": {Status: changes.Modified, Binary: true}, "becomes-link": {Status: changes.TypeChanged, Patch: "@@ -0,0 +1 @@\n+a.go\n\\ No newline at end of file"},
		"to": {Status: changes.Renamed, PreviousPath: "from me", Patch: "@@ -28,3 +28,4 @@ line\n line\n line\n line\n+more"},
	}
	for path, f := range want {
		f.Path = path
		want[path] = f
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a := changes.NewAnchors(files)
	if err := a.Check("a.go", changes.Right, 29, 32); err != nil {
		t.Error(err)
	}
	if err := a.Check("a.go", changes.Right, 0, 5000); err == nil {
		t.Error("a forged hunk is accepted")
	}
	if _, err := changes.FromGit(t.Context(), repo, base, strings.Repeat("1", 40)); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("err = %v", err)
	}
}

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// writeTree writes files below a new directory.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, dir, name, text)
	}
	return dir
}

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openTree(t testing.TB, dir string) *gitrepo.WorkTree {
	t.Helper()
	tree, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

// marksOf returns the marks of each file with their reasons, or its language if it has
// no marks.
func marksOf(s *changes.Set) map[string]string {
	got := map[string]string{}
	for _, f := range s.Files {
		var reasons []string
		for _, m := range f.Marks {
			reasons = append(reasons, string(m.Mark)+": "+m.Why)
		}
		if got[f.Path] = strings.Join(reasons, "; "); len(reasons) == 0 {
			got[f.Path] = f.Language
		}
	}
	return got
}

func TestSetFromList(t *testing.T) {
	t.Parallel()
	secret := writeTree(t, map[string]string{"id": "secret"})
	dir := writeTree(t, map[string]string{
		"a.go": "package a\n", "empty.py": "", "bin.png": "x\x00y", "late.bin": strings.Repeat("x", 9000) + "\x00", "latin.txt": "gr\xfc\xdfe",
		"big.js": strings.Repeat("x\n", 600), "model.bin": lfsPointer, "sub/.git": "gitdir: elsewhere", "sub/x": "", "dir/x": "", "file": "x",
		"go.sum": "x", "vendor/a/b.go": "package b\n", "app.min.js": "x",
	})
	for _, err := range []error{
		os.Symlink("/etc/passwd", filepath.Join(dir, "link")), os.Symlink(secret, filepath.Join(dir, "away")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Chmod(filepath.Join(dir, "a.go"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	list := []string{"./a.go", "a.go", "empty.py", "bin.png", "late.bin", "latin.txt", "big.js", "model.bin", "sub", "dir", "link", "away/id", "pipe", "gone.go", "file/x", "go.sum",
		"vendor/a/b.go", "app.min.js"}
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), list, changes.Options{MaxFile: 1000})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.go": "go", "empty.py": "python", "bin.png": "binary: it is a binary file", "late.bin": "too-large: it is larger than 1000 bytes", "latin.txt": "not-utf8: it is not UTF-8 text: invalid bytes were replaced",
		"big.js": "too-large: it is larger than 1000 bytes", "model.bin": "lfs-pointer: Git LFS keeps its content elsewhere",
		"sub": "submodule: it is a submodule: its commit, not its files, is changed here", "dir": "not-a-file: it is a directory",
		"link": `link: it is a link to "/etc/passwd", which is not followed`, "away/id": "deleted: there is no such file: it is deleted, or its name is misspelt",
		"pipe": "not-a-file: it is a FIFO, not a regular file", "gone.go": "deleted: there is no such file: it is deleted, or its name is misspelt", "file/x": "deleted: there is no such file: it is deleted, or its name is misspelt",
		"go.sum": "generated: it is a lock file", "vendor/a/b.go": "vendored: it lies in a directory vendor", "app.min.js": "generated: it has the name of a minified file",
	}
	if diff := cmp.Diff(want, marksOf(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, f := range s.Files {
		if i > 0 && s.Files[i-1].Path >= f.Path {
			t.Errorf("%s comes after %s", f.Path, s.Files[i-1].Path)
		}
		if _, skip := f.Skip(); skip && f.Text != nil {
			t.Errorf("%s has a text", f.Path)
		}
		if strings.Contains(string(f.Text), "secret") || strings.Contains(string(f.Text), "root:") {
			t.Errorf("%s: a link was followed", f.Path)
		}
	}
	if f := s.Files[0]; f.Path != "a.go" || string(f.Text) != "package a\n" || f.Mode != "100755" || f.Size != 10 || !changedLine(&f, 1) || changedLine(&f, 0) {
		t.Errorf("%+v", f)
	}
	if got := ofLanguage(s, "go"); !cmp.Equal(got, []string{"a.go", "vendor/a/b.go"}) {
		t.Errorf("the files in Go: %q", got)
	}
	kept, skipped := split(s, changes.MarkVendored)
	if len(kept) != 5 || len(skipped) != 12 || skipped[len(skipped)-1] != (skippedFile{Path: "vendor/a/b.go", Mark: changes.MarkVendored, Reason: "it lies in a directory vendor"}) {
		t.Errorf("kept %d, skipped %+v", len(kept), skipped)
	}
}

// TestNoByteHidesSource asserts that bytes which are not text do not keep a source file
// from being read: interpreters skip them in a comment.
func TestNoByteHidesSource(t *testing.T) {
	t.Parallel()
	line := "eval(input()) # "
	texts := map[string]string{
		"nul.py": line + "\x00\n", "latin.py": line + "\xfc\n", "both.py": line + "\x00\xff\n", "long.js": strings.Repeat("a();\n", 400) + "/*" + strings.Repeat("\x00", 20) + "*/",
		"film.ts": strings.Repeat("G\x00\xff", 100), "nul.txt": "a\x00b",
	}
	dir := writeTree(t, texts)
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), slices.Collect(maps.Keys(texts)), changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"nul.py": line + "\uFFFD\n", "latin.py": line + "\uFFFD\n", "both.py": line + "\uFFFD\uFFFD\n", "long.js": strings.ReplaceAll(texts["long.js"], "\x00", "\uFFFD"),
		"film.ts": "", "nul.txt": "",
	}
	for _, f := range s.Files {
		if _, skip := f.Skip(); string(f.Text) != want[f.Path] || skip != (f.Text == nil) || f.Binary != skip {
			t.Errorf("%s: %q, skipped %v, binary %v", f.Path, f.Text, skip, f.Binary)
		}
	}
}

func TestSetFromListLimitsAllTexts(t *testing.T) {
	t.Parallel()
	dir := writeTree(t, map[string]string{"a": "12345", "b": "12345", "c": "1", "d": ""})
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), []string{"d", "c", "b", "a"}, changes.Options{MaxTotal: 9})
	if err != nil {
		t.Fatal(err)
	}
	kept, skipped := split(s)
	if len(kept) != 1 || kept[0].Path != "a" || len(skipped) != 3 || skipped[0].Reason != "the changed files have more than 9 bytes together" {
		t.Errorf("kept %v, skipped %v", kept, skipped)
	}
}

func TestSetFromListRefusesPaths(t *testing.T) {
	t.Parallel()
	tree := openTree(t, t.TempDir())
	_, err := changes.SetFromList(t.Context(), tree, []string{"ok", "", "/etc/passwd", "../x", "a/../../x", "a/..", ".", "a\x00b"}, changes.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"file 2: the path is empty", `file 3: "/etc/passwd" must be relative`, `file 4: "../x" must not contain '..'`, "file 5", "file 6", `file 7: "." is not`, "file 8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if s, err := changes.SetFromList(t.Context(), tree, nil, changes.Options{}); err != nil || len(s.Files) != 0 {
		t.Errorf("an empty list: %v, %v", s, err)
	}
}

// TestAttributesAsGitReadsThem compares the marks with git's own reading of the
// attributes.
func TestAttributesAsGitReadsThem(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".gitattributes": "# comment\n*.pb.go linguist-generated\n/top.txt linguist-generated=true\ngen/** linguist-generated\n**/deep/x.? linguist-vendored\na/**/z linguist-generated\n" +
			"dir/ linguist-generated\n\"with blank.txt\" linguist-generated\n[a-c]*.t[!x]t linguist-generated\nkeep.pb.go -linguist-generated\nvendor/own/* linguist-vendored=false\n" +
			"back\\*slash linguist-generated text\n!neg linguist-generated\n[bad linguist-generated\nstar**star linguist-generated\nu.txt linguist-generated\nu.txt !linguist-generated\n",
		"sub/.gitattributes": "top.txt linguist-generated\n*.pb.go -linguist-generated\n/only linguist-generated\n",
	}
	names := []string{"x.pb.go", "a/b/x.pb.go", "top.txt", "other/top.txt", "gen/a", "gen/b/c", "x/gen/a", "deep/x.y", "q/deep/x.y", "q/deep/x.yy", "a/z", "a/b/c/z", "b/a/z",
		"dir/f", "with blank.txt", "a.txt", "a.txx", "keep.pb.go", "vendor/own/f.go", "vendor/f.go", "back*slash", "backXslash", "neg", "star-star", "s/star-star", "sub/top.txt", "sub/in/top.txt",
		"sub/x.pb.go", "sub/only", "sub/in/only", "[bad", "u.txt"}
	for _, name := range names {
		files[name] = ""
	}
	dir := writeTree(t, files)
	s, err := changes.SetFromList(t.Context(), openTree(t, dir), names, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q")
	for _, f := range s.Files {
		for attr, mark := range map[string]changes.Mark{"linguist-generated": changes.MarkGenerated, "linguist-vendored": changes.MarkVendored} {
			_, value, _ := strings.Cut(gitIn(t, dir, "check-attr", attr, "--", f.Path), ": "+attr+": ")
			want := value == "set" || value == "true" || value == "unspecified" && mark == changes.MarkVendored && strings.HasPrefix(f.Path, "vendor/")
			if _, got := f.Marked(mark); got != want {
				t.Errorf("%s: %s is %v, git says %q", f.Path, attr, got, value)
			}
		}
	}
}

// gitIn runs git in a directory that the test wrote, and returns what it prints.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	res, err := command.Run(t.Context(), command.Spec{Program: "git", Args: args, Dir: dir, Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + dir,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"}})
	if err != nil || !res.OK() {
		t.Fatalf("git %v: %v %s", args, err, res.Stderr)
	}
	return strings.TrimSpace(res.Stdout.String())
}
