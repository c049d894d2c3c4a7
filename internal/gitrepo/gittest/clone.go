//go:build unix

// Package gittest makes clones with git itself, for the tests of code that reads clones.
package gittest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Clone is a clone that a test writes. A method that fails ends the test.
type Clone struct {
	T   testing.TB
	Dir string
}

// New makes a clone without commits, whose branch is main.
func New(t testing.TB, initArgs ...string) Clone {
	t.Helper()
	return empty.clone(t, strings.Join(initArgs, " "), func() Clone {
		c := Clone{t, t.TempDir()}
		c.Git(append([]string{"init", "-q", "--template=", "-b", "main"}, initArgs...)...)
		return c
	})
}

var empty, forked templates

// templates keeps the files of clones in memory, so that each clone is built once. The directory of
// a clone cannot be copied later, because it is removed when the test that made it ends.
type templates struct {
	mu    sync.Mutex
	files map[string]fstest.MapFS // by the arguments of git init
}

// clone makes a copy of the clone that build returned the first time that name was given.
func (p *templates) clone(t testing.TB, name string, build func() Clone) Clone {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files = map[string]fstest.MapFS{}
	}
	if p.files[name] == nil {
		p.files[name] = readTree(t, build().Dir)
	}
	c := Clone{t, t.TempDir()}
	if err := os.CopyFS(c.Dir, p.files[name]); err != nil {
		t.Fatal(err)
	}
	return c
}

// readTree reads all files below a directory.
func readTree(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files, tree := fstest.MapFS{}, os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			file.Data, err = fs.ReadFile(tree, name)
		}
		files[name] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Copy copies the clone for a test that changes it. The index does not know the times of
// the files of a copy.
func (c Clone) Copy(t testing.TB) Clone {
	t.Helper()
	to := Clone{t, filepath.Join(t.TempDir(), filepath.Base(c.Dir))}
	if err := os.CopyFS(to.Dir, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Git runs git in the clone, as somebody who trusts it would, and returns what it prints, without
// space around it.
func (c Clone) Git(args ...string) string {
	c.T.Helper()
	return strings.TrimSpace(c.GitFed("", args...))
}

// GitFed runs git as Git does, with a standard input, and returns all it prints.
func (c Clone) GitFed(stdin string, args ...string) string {
	c.T.Helper()
	var out bytes.Buffer
	res, err := command.Run(c.T.Context(), command.Spec{Program: "git", Args: args, Dir: c.Dir, Env: c.env(), Stdin: strings.NewReader(stdin), Stdout: &out})
	if err != nil || !res.OK() {
		c.T.Fatalf("git %v: %v\n%s%s", args, err, &out, res.Stderr)
	}
	return out.String()
}

// Output returns what git prints, byte for byte.
func (c Clone) Output(args ...string) []byte {
	c.T.Helper()
	return []byte(c.GitFed("", args...))
}

func (c Clone) env() []string {
	return []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + c.Dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
		// No second process after each commit and fetch.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false"}
}

// Mktree makes a tree and returns its id. lines are the lines that git ls-tree would print of the
// tree.
func (c Clone) Mktree(lines string) string {
	c.T.Helper()
	return strings.TrimSpace(c.GitFed(lines, "mktree"))
}

// Commit commits all that is in the work tree and returns the commit's id.
func (c Clone) Commit(message string) string {
	c.T.Helper()
	c.Git("add", "-A")
	c.Git("commit", "-q", "--allow-empty", "-m", message)
	return c.Head()
}

// Head returns the id of the commit that is checked out.
func (c Clone) Head() string {
	c.T.Helper()
	oid, err := c.Locate().Resolve("HEAD")
	if err != nil {
		c.T.Fatal(err)
	}
	return oid
}

// Trees returns the ids of the trees of the commits after base up to tip, oldest first.
func (c Clone) Trees(base, tip string) []string {
	c.T.Helper()
	return strings.Fields(c.Git("log", "--reverse", "--format=%T", base+".."+tip))
}

// Tree returns the id of a commit's tree.
func (c Clone) Tree(commit string) string {
	c.T.Helper()
	return c.Git("rev-parse", commit+"^{tree}")
}

// Write writes a file of the work tree, with the directories above it.
func (c Clone) Write(name, text string) {
	c.T.Helper()
	path := filepath.Join(c.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.T.Fatal(err)
	}
}

// Remove removes a file or a directory of the work tree.
func (c Clone) Remove(name string) {
	c.T.Helper()
	if err := os.RemoveAll(filepath.Join(c.Dir, name)); err != nil {
		c.T.Fatal(err)
	}
}

// Link makes a symbolic link in the work tree.
func (c Clone) Link(target, name string) {
	c.T.Helper()
	if err := os.Symlink(target, filepath.Join(c.Dir, name)); err != nil {
		c.T.Fatal(err)
	}
}

// Mkfifo makes a FIFO in the work tree.
func (c Clone) Mkfifo(name string) {
	c.T.Helper()
	if err := syscall.Mkfifo(filepath.Join(c.Dir, name), 0o644); err != nil {
		c.T.Fatal(err)
	}
}

// Locate finds the clone.
func (c Clone) Locate() *gitrepo.Clone {
	c.T.Helper()
	found, err := gitrepo.Locate(c.Dir)
	if err != nil {
		c.T.Fatal(err)
	}
	return found
}

// Open makes a repository that borrows the clone's objects.
func (c Clone) Open() *gitrepo.Repo {
	c.T.Helper()
	return Open(c.T, c.Locate())
}

// Open makes a repository that borrows a clone's objects, and asserts at the test's end
// that nothing is left of it.
func Open(t testing.TB, c *gitrepo.Clone) *gitrepo.Repo {
	t.Helper()
	temp := t.TempDir()
	r, err := gitrepo.New(c, gitrepo.Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("Close left %v", left)
		}
	})
	return r
}

// In returns the repository that r keeps its own objects in, so that a test can ask git about it.
func In(t testing.TB, r *gitrepo.Repo) Clone {
	t.Helper()
	dir, remove, err := r.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	remove()
	return Clone{t, filepath.Join(filepath.Dir(dir), "repo.git")}
}

// Fork makes a clone whose two branches each have one commit after their common root: the base, on
// main, and the head, on topic.
func Fork(t testing.TB, initArgs ...string) (c Clone, root, base, head string) {
	t.Helper()
	c = forked.clone(t, strings.Join(initArgs, " "), func() Clone { return fork(t, initArgs...) })
	c.Git("update-index", "-q", "--refresh")
	ids := strings.Fields(c.Git("rev-parse", "main~", "main", "topic"))
	return c, ids[0], ids[1], ids[2]
}

func fork(t testing.TB, initArgs ...string) Clone {
	t.Helper()
	c := New(t, initArgs...)
	c.Write("a.txt", "1\n2\n3\n")
	c.Write(".gitattributes", "* diff=evil filter=evil textconv=evil\n")
	c.Write("dir/old", strings.Repeat("line\n", 20))
	c.Commit("root")
	c.Git("checkout", "-q", "-b", "topic")
	c.Write("a.txt", "1\nzwei\n3\n")
	c.Git("mv", "dir/old", "dir/new\nname")
	c.Commit("head")
	c.Git("checkout", "-q", "main")
	c.Write("b.txt", "only on main\n")
	c.Commit("base")
	return c
}
