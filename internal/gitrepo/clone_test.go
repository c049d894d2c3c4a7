//go:build unix

package gitrepo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

func TestLocateShapes(t *testing.T) {
	t.Parallel()
	main := newClone(t)
	main.Write("a", "1\n")
	head := main.Commit("one")
	tests := map[string]func(t *testing.T) string{
		"plain": func(*testing.T) string { return main.Dir },
		"worktree": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "tree")
			main.Git("worktree", "add", "-q", "--detach", dir)
			return dir
		},
		"submodule": func(t *testing.T) string {
			dir := t.TempDir()
			outer := clone{gittest.Clone{T: t, Dir: dir}}
			outer.Git("init", "-q")
			outer.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.Dir, "sub")
			return filepath.Join(dir, "sub")
		},
		"borrowing": func(t *testing.T) string {
			c := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
			c.Git("clone", "-q", "--shared", main.Dir, "x")
			return filepath.Join(c.Dir, "x")
		},
		"borrowing from a borrower": func(t *testing.T) string {
			c := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
			c.Git("clone", "-q", "--shared", main.Dir, "x")
			c.Git("clone", "-q", "--shared", "x", "y")
			return filepath.Join(c.Dir, "y")
		},
		"a strange name": func(t *testing.T) string {
			c := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
			name := "we\"ird\\ #na\nme:ü"
			c.Git("clone", "-q", main.Dir, name)
			return filepath.Join(c.Dir, name)
		},
	}
	for name, dir := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := gitrepo.Locate(dir(t))
			if err != nil {
				t.Fatal(err)
			}
			if oid, err := c.Resolve("HEAD"); err != nil || oid != head {
				t.Errorf("HEAD = %s, %v", oid, err)
			}
			if data, err := gittest.Open(t, c).File(t.Context(), head, "a", 100); string(data) != "1\n" || err != nil {
				t.Errorf("a = %q, %v", data, err)
			}
			if c.MissingAlternates != nil || c.Shallow != nil {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestLocateRefusesWhatIsNoClone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		make func(dir string) error
		want string
	}{
		"nothing":            {func(string) error { return nil }, "check out the repository first"},
		"an empty directory": {func(d string) error { return os.Mkdir(d+"/.git", 0o755) }, "contains no directory of objects"},
		"an empty file":      {func(d string) error { return os.WriteFile(d+"/.git", nil, 0o644) }, "names no directory"},
		"a file to nowhere":  {func(d string) error { return os.WriteFile(d+"/.git", []byte("gitdir: ../none\n"), 0o644) }, "cannot be opened"},
		"a file with a NUL":  {func(d string) error { return os.WriteFile(d+"/.git", []byte("gitdir: a\x00b\n"), 0o644) }, "names no directory"},
		"a large file":       {func(d string) error { return os.WriteFile(d+"/.git", make([]byte, 1<<20), 0o644) }, "too large: it has 1 MiB, and at most "},
		"a link":             {func(d string) error { return os.Symlink("/etc", d+"/.git") }, "a symbolic link, not an ordinary file: put a file there that contains 'gitdir: '"},
		"a FIFO":             {func(d string) error { return syscall.Mkfifo(d+"/.git", 0o644) }, "not an ordinary file"},
		"a directory outside": {func(d string) error {
			return errors.Join(os.Mkdir(d+"/.git", 0o755), os.Symlink("/etc", d+"/.git/objects"))
		}, "contains no directory of objects"},
		"a FIFO as commondir": {func(d string) error {
			return errors.Join(os.MkdirAll(d+"/.git/objects", 0o755), syscall.Mkfifo(d+"/.git/commondir", 0o644))
		}, "not an ordinary file"},
		"a FIFO as alternates": {func(d string) error {
			return errors.Join(os.MkdirAll(d+"/.git/objects/info", 0o755), syscall.Mkfifo(d+"/.git/objects/info/alternates", 0o644))
		}, "not an ordinary file"},
		"a file to a FIFO": {func(d string) error {
			return errors.Join(syscall.Mkfifo(d+"/pipe", 0o644), os.WriteFile(d+"/.git", []byte("gitdir: pipe\n"), 0o644))
		}, "cannot be opened"},
		"a FIFO as the main repository": {func(d string) error {
			return errors.Join(os.MkdirAll(d+"/.git/objects", 0o755), syscall.Mkfifo(d+"/pipe", 0o644), os.WriteFile(d+"/.git/commondir", []byte("../pipe\n"), 0o644))
		}, "cannot be opened"},
		"a link as shallow": {func(d string) error {
			return errors.Join(os.MkdirAll(d+"/.git/objects", 0o755), os.Symlink("/etc/passwd", d+"/.git/shallow"))
		}, "not an ordinary file"},
		"no list as shallow": {func(d string) error {
			return errors.Join(os.MkdirAll(d+"/.git/objects", 0o755), os.WriteFile(d+"/.git/shallow", []byte("--upload-pack=x\n"), 0o644))
		}, "not a list of commits"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			_, err := gitrepo.Locate(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := gitrepo.Locate(filepath.Join(t.TempDir(), "none")); !errors.Is(err, gitrepo.ErrNotRepository) {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestAlternatesInCirclesAndMissing(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	head := c.Commit("one")
	c.Write(".git/objects/info/alternates", "# a comment\n\n../objects\n"+c.Dir+"/.git/objects\n/no/such/objects\n"+c.Dir+"/a-file\n")
	c.Write("a-file", "x")
	found := c.Locate()
	if diff := cmp.Diff([]string{"/no/such/objects", c.Dir + "/a-file"}, found.MissingAlternates); diff != "" {
		t.Error(diff)
	}
	r := gittest.Open(t, found)
	if ok, err := r.Has(t.Context(), head); !ok || err != nil {
		t.Errorf("Has = %v, %v", ok, err)
	}
	_, err := r.MergeBase(t.Context(), head, strings.Repeat("0", 40))
	want := "borrows objects from /no/such/objects, " + c.Dir + "/a-file, which cannot be opened"
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), want) {
		t.Errorf("err = %v, want ErrMissing with %q", err, want)
	}
	lines := ""
	for i := range 200 {
		lines += "/x/" + strings.Repeat("y", i+1) + "\n"
	}
	c.Write(".git/objects/info/alternates", lines)
	if _, err := gitrepo.Locate(c.Dir); err == nil || !strings.Contains(err.Error(), "64 directories or more") {
		t.Errorf(`err = %v, want one with "64 directories or more"`, err)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	first := c.Commit("one")
	c.Git("branch", "packed")
	c.Git("tag", "-a", "-m", "x", "v1")
	tag := c.Git("rev-parse", "refs/tags/v1")
	c.Git("pack-refs", "--all")
	second := c.Commit("two")
	c.Git("branch", "feature/x")
	c.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
	found := c.Locate()
	for name, want := range map[string]string{
		"refs/heads/feature/x": second, "refs/heads/main": second, "refs/heads/packed": first,
		"refs/remotes/origin/HEAD": second, "refs/tags/v1": tag,
	} {
		if oid, err := found.Resolve(name); oid != want || err != nil {
			t.Errorf("Resolve(%s) = %s, %v", name, oid, err)
		}
	}
	for _, bad := range []string{"main", "refs/heads/none", "refs/../config", "refs/heads/../../config", "-x", "", "refs/heads/a b", "refs/heads/\n"} {
		if oid, err := found.Resolve(bad); !errors.Is(err, gitrepo.ErrNoRef) {
			t.Errorf("Resolve(%q) = %s, %v", bad, oid, err)
		}
	}
}

// TestRefsAtDirectories asserts that a ref is found, or not, as git does where a directory has its
// name, or a file the name of one of its directories.
func TestRefsAtDirectories(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	oid := c.Commit("one")
	for _, name := range []string{"empty", "full", "file/below"} {
		c.Git("update-ref", "refs/remotes/origin/"+name, oid)
	}
	c.Git("pack-refs", "--all")
	c.Write(".git/refs/remotes/origin/full/other", oid+"\n")
	c.Write(".git/refs/remotes/origin/file", oid+"\n")
	for _, name := range []string{"empty", "nothing"} {
		if err := os.MkdirAll(c.Dir+"/.git/refs/remotes/origin/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found := c.Locate()
	for name, want := range map[string]string{"empty": oid, "full": oid, "full/other": oid, "file": oid, "file/below": "", "file/none": "", "file/none/x": "", "nothing": ""} {
		ref := "refs/remotes/origin/" + name
		if want != "" && c.Git("rev-parse", ref) != want {
			t.Errorf("git finds another %s", ref)
		}
		got, err := found.Resolve(ref)
		if got != want || want == "" && !errors.Is(err, gitrepo.ErrNoRef) || want != "" && err != nil {
			t.Errorf("Resolve(%s) = %q, %v", ref, got, err)
		}
	}
	if err := os.Remove(c.Dir + "/.git/HEAD"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(c.Dir+"/.git/HEAD", 0o755); err != nil {
		t.Fatal(err)
	}
	if oid, err := found.Resolve("HEAD"); err == nil || errors.Is(err, gitrepo.ErrNoRef) {
		t.Errorf("a HEAD that is a directory: %s, %v", oid, err)
	}
}

func TestBrokenRefs(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Commit("one")
	c.Write(".git/refs/heads/a", "ref: refs/heads/b\n")
	c.Write(".git/refs/heads/b", "ref: refs/heads/a\n")
	c.Write(".git/refs/heads/c", "hello\n")
	c.Write(".git/refs/heads/d", "ref: ../../../../etc/passwd\n")
	if err := os.Symlink("/etc/passwd", c.Dir+"/.git/refs/heads/e"); err != nil {
		t.Fatal(err)
	}
	found := c.Locate()
	for name, want := range map[string]string{"a": "in circles", "c": "contains no object id", "d": "points to no ref", "e": "not an ordinary file"} {
		if _, err := found.Resolve("refs/heads/" + name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want one with %q", name, err, want)
		}
	}
	c.Write(".git/HEAD", "ref: refs/heads/.invalid\n")
	if _, err := found.Resolve("HEAD"); err == nil || !strings.Contains(err.Error(), "reftable") {
		t.Errorf(`err = %v, want one with "reftable"`, err)
	}
}

func TestReadFileReportsThatAFileIsTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/index", make([]byte, 11), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := gitrepo.ReadFile(dir, "index", 10); !errors.Is(err, gitrepo.ErrTooLarge) || !strings.Contains(err.Error(), "index") {
		t.Errorf("%v, want ErrTooLarge with the file's name", err)
	}
}
