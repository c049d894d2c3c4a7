//go:build linux

package changes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

// openRepo borrows the objects of a clone.
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

// commitAll commits what is in a work tree.
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
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		switch text := text.(type) {
		case nil:
			err = errors.Join(err, os.Remove(full))
		case string:
			err = errors.Join(err, os.WriteFile(full, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// pull makes a repository whose base went on after a pull request had left it.
func pull(t testing.TB) (dir, left, base, head string) {
	t.Helper()
	lines := strings.Repeat("line\n", 20)
	dir = writeTree(t, map[string]string{
		"a.go": "package a\n" + lines, "old.py": lines, "gone.rb": "x\n", "was.txt": "x", "bin": "\x00", "now-text": "\x00", "same.go": "package same\n", "mode.sh": "#!/bin/sh\n",
		".gitattributes": "gen/* linguist-generated\n",
	})
	gitIn(t, dir, "init", "-q", "-b", "main")
	left = commitAll(t, dir)
	change(t, dir, map[string]any{"base-only.go": "package b\n"})
	base = commitAll(t, dir)
	gitIn(t, dir, "checkout", "-q", "--detach", left)
	change(t, dir, map[string]any{
		"a.go": "package a\n" + "new\n" + lines + "last\n", "old.py": nil, "dir/new name.py": lines + "more\n", "gone.rb": nil, "was.txt": nil, "bin": "\x00\x01", "now-text": "text\n",
		"gen/x.go": "package gen\n", "evil.go": "package evil\n", ".gitattributes": "gen/* -linguist-generated\nevil.go linguist-generated\n", "model.bin": lfsPointer, "empty.rs": "", "ü\t\n.ts": "let x\n",
	})
	for _, err := range []error{os.Symlink("a.go", filepath.Join(dir, "was.txt")), os.Chmod(filepath.Join(dir, "mode.sh"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+left+",sub")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	head = commitAll(t, dir)
	return dir, left, base, head
}

func TestSetFromGit(t *testing.T) {
	dir, left, base, head := pull(t)
	change(t, dir, map[string]any{"a.go": "not the head's text\n"})
	s, err := changes.SetFromGit(t.Context(), changes.GitSource{Repo: openRepo(t, dir), Base: base, Head: head}, changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Base != left || s.Head != head || s.Missing != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], ".gitattributes") {
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
		if f.Path == "a.go" && (!strings.HasPrefix(string(f.Text), "package a\nnew\n") || !f.ChangedLine(2) || f.ChangedLine(3) || !f.ChangedLine(23) || f.ChangedLine(24)) {
			t.Errorf("a.go: %q, %v", f.Text, f.Changed)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSetFromGitOnly(t *testing.T) {
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
		t.Error("a path that leads out is taken")
	}
}

// A diff over the limit costs the changed lines, not the files.
func TestSetFromGitWithoutHunks(t *testing.T) {
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

// What a shallow clone lacks is fetched, or the error says what to set.
func TestSetFromGitOfAShallowClone(t *testing.T) {
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
		"no remote":                  {changes.GitSource{Base: base, Head: head}, gitrepo.ErrMissing},
		"fetched":                    {changes.GitSource{Base: base, Head: head, Remote: remote}, nil},
		"merge base fetched":         {changes.GitSource{MergeBase: left, Head: head, Remote: remote}, nil},
		"merge base, no remote":      {changes.GitSource{MergeBase: left, Head: head}, gitrepo.ErrMissing},
		"the server lacks it":        {changes.GitSource{Base: strings.Repeat("1", 40), Head: head, Remote: remote}, gitrepo.ErrMissing},
		"the server lacks the other": {changes.GitSource{MergeBase: left, Head: strings.Repeat("1", 40), Remote: remote}, gitrepo.ErrMissing},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gitIn(t, dir, "clone", "-q", "--depth=1", "--branch=topic", "file://"+git.Dir(), ".")
			tt.src.Repo = openRepo(t, dir)
			s, err := changes.SetFromGit(t.Context(), tt.src, changes.Options{})
			if !errors.Is(err, tt.fail) {
				t.Fatalf("err = %v", err)
			}
			if err != nil {
				if tt.src.Remote == nil && !strings.Contains(err.Error(), "fetch-depth: 0") {
					t.Errorf("it does not say what to set: %v", err)
				}
				return
			}
			if len(s.Files) != 1 || s.Files[0].Path != "a.go" || fmt.Sprint(s.Files[0].Changed) != "[2-3]" || s.Base != left {
				t.Errorf("%+v", s)
			}
		})
	}
}

// BenchmarkSetFromGit takes 3,000 changed files of 3 KB from git.
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

// BenchmarkSetFromList takes 3,000 files of 3 KB from a work tree.
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
