//go:build unix

package gitrepo_test

import (
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

func TestTreeID(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a", "x")
	head := c.Commit("one")
	c.Git("tag", "-a", "-m", "x", "v1")
	r, tree := c.Open(), c.Tree(head)
	for name, id := range map[string]string{"a commit": head, "a tree": tree, "a tag": c.Git("rev-parse", "v1")} {
		if got, err := r.TreeID(t.Context(), id); got != tree || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tree)
		}
	}
	missing := strings.Repeat("1", 40)
	for id, want := range map[string]string{c.Git("rev-parse", "HEAD:a"): "has no tree of", missing: "has no tree of " + missing + "; objects of the clone are missing or damaged", "HEAD": "not a full object id"} {
		if got, err := r.TreeID(t.Context(), id); got != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", id, got, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("policy.yml", "max: 1\n")
	c.Write("deep/er/still/x", "deep")
	c.Write("deep/er/y", "y")
	c.Write("empty", "")
	c.Write("odd\nname ü", "odd")
	c.Write("big", strings.Repeat("x", 1001))
	c.Write("run.sh", "#!/bin/sh\n")
	for _, err := range []error{os.Chmod(c.Dir+"/run.sh", 0o755), os.Symlink("policy.yml", c.Dir+"/link"), os.Symlink("deep", c.Dir+"/linkdir")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	head := c.Commit("one")
	c.Write("policy.yml", "max: 1000\n") // not committed, so it must not be read
	r := c.Open()
	text := map[string]string{"policy.yml": "max: 1\n", "deep/er/still/x": "deep", "deep/er/y": "y", "empty": "", "odd\nname ü": "odd", "run.sh": "#!/bin/sh\n"}
	bad := map[string]string{
		"big": "too large: 1001 bytes, at most 1000 bytes", "none": "does not exist", "deep/none": "does not exist", "policy.yml/x": "does not exist",
		"deep": "is a directory", "link": "a link is not followed", "linkdir/er/y": "a link is not followed",
		"../x": "not a path", "/etc/passwd": "not a path", "": "not a path", ".": "not a path", "a//b": "not a path", "deep/../policy.yml": "not a path",
	}
	paths := slices.AppendSeq(slices.Collect(maps.Keys(text)), maps.Keys(bad))
	files, err := r.Files(t.Context(), head, paths, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(paths) {
		t.Errorf("%d files of %d", len(files), len(paths))
	}
	for p, want := range text {
		if f := files[p]; string(f.Data) != want || f.Err != nil || (f.Mode == "100755") != (p == "run.sh") {
			t.Errorf("%q: %q, %v", p, f.Data, f.Err)
		}
	}
	for p, want := range map[string]string{"policy.yml": "100644", "run.sh": "100755", "link": "120000", "deep": "040000", "linkdir/er/y": "", "none": "", "big": "100644"} {
		if got := files[p].Mode; got != want {
			t.Errorf("the mode of %s is %q, not %q", p, got, want)
		}
	}
	for p, want := range bad {
		if f := files[p]; f.Err == nil || !strings.Contains(f.Err.Error(), want) || f.Data != nil {
			t.Errorf("%q: %q, %v, want %q", p, f.Data, f.Err, want)
		}
	}
	again, err := r.Files(t.Context(), head, paths, 1000) // now from the cache
	if err != nil {
		t.Fatal(err)
	}
	for p := range files {
		if string(again[p].Data) != string(files[p].Data) || (again[p].Err == nil) != (files[p].Err == nil) {
			t.Errorf("%q: first %q, %v, then %q, %v", p, files[p].Data, files[p].Err, again[p].Data, again[p].Err)
		}
	}
	if !errors.Is(files["none"].Err, fs.ErrNotExist) || !errors.Is(files["big"].Err, gitrepo.ErrTooLarge) {
		t.Error("the errors do not wrap their sentinels")
	}
}

func TestSubmoduleIsNotFollowed(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	head := c.Commit("one")
	c.Git("update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
	c.Git("commit", "-q", "-m", "two")
	if _, err := c.Open().File(t.Context(), c.Git("rev-parse", "HEAD"), "sub", 10); err == nil || !strings.Contains(err.Error(), "submodule") {
		t.Errorf(`err = %v, want one with "submodule"`, err)
	}
}

// TestForgedObjects replaces, in a clone for each, the content of an object on the
// way to a file, as an agent with write access to .git could.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"HEAD", "HEAD^{tree}", "HEAD:dir", "HEAD:dir/policy.yml"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.Write("dir/policy.yml", "max: 1\n")
			head := c.Commit("one")
			other := newClone(t)
			other.Write("dir/policy.yml", "max: 999\n")
			other.Commit("one")
			target := c.Git("rev-parse", what)
			// The objects that the forged one leads to are there as well.
			for _, o := range []string{"HEAD^{tree}", "HEAD:dir", "HEAD:dir/policy.yml"} {
				id := other.Git("rev-parse", o)
				c.forge(id, other.loose(id))
			}
			c.forge(target, other.loose(other.Git("rev-parse", what)))
			data, err := c.Open().File(t.Context(), head, "dir/policy.yml", 100)
			if err == nil {
				t.Fatalf("read %q without an error", data)
			}
			if strings.Contains(string(data), "999") {
				t.Errorf("the forged text is returned")
			}
		})
	}
}

// loose returns an object's file as git stores it.
func (c clone) loose(oid string) []byte {
	c.T.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir, ".git/objects", oid[:2], oid[2:]))
	if err != nil {
		c.T.Fatal(err)
	}
	return data
}

// forge stores an object's file under an id, which need not be the object's own.
func (c clone) forge(oid string, data []byte) {
	c.T.Helper()
	path := filepath.Join(c.Dir, ".git/objects", oid[:2], oid[2:])
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	_ = os.Remove(path)
	if err := os.WriteFile(path, data, 0o444); err != nil {
		c.T.Fatal(err)
	}
}

func TestBrokenTreeIsAnError(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a", "x")
	head := c.Commit("one")
	tree := c.Git("rev-parse", "HEAD^{tree}")
	var b strings.Builder
	w := zlib.NewWriter(&b)
	fmt.Fprintf(w, "tree %d\x00%s", 5, "hello")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c.forge(tree, []byte(b.String()))
	if _, err := c.Open().File(t.Context(), head, "a", 10); err == nil {
		t.Error("a broken tree is read")
	}
}

func BenchmarkFile(b *testing.B) {
	c := newClone(b)
	c.Write("a/b/c/file", strings.Repeat("x\n", 100))
	head := c.Commit("one")
	r := c.Open()
	for b.Loop() {
		if _, err := r.File(b.Context(), head, "a/b/c/file", 1000); err != nil {
			b.Fatal(err)
		}
	}
}

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// changedTree makes two commits, the second of which changes files in every way.
func changedTree(t *testing.T, initArgs ...string) (c clone, first, second string) {
	t.Helper()
	c = newClone(t, initArgs...)
	for _, name := range []string{"same/deep/er", "gone", "changed", "exec", "link", "file-to-dir", "dir-to-file/x", "a-", "a/b", "a0"} {
		c.Write(name, "old "+name)
	}
	first = c.Commit("from")
	for _, name := range []string{"gone", "file-to-dir", "dir-to-file/x", "dir-to-file", "link"} {
		if err := os.Remove(filepath.Join(c.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c.Write("changed", "new")
	c.Write("file-to-dir/in", "new")
	c.Write("dir-to-file", "new")
	c.Write("new\n\"dir\"/\xff", "bytes")
	c.Write("lfs", pointer)
	c.Write("not-lfs", "see "+pointer)
	c.Write("a/b", "new")
	if err := os.Symlink("../outside", filepath.Join(c.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(c.Dir, "exec"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Git("add", "-A")
	c.Git("update-index", "--add", "--cacheinfo", "160000,"+first+",sub")
	c.Git("commit", "-q", "-m", "to")
	return c, first, c.Git("rev-parse", "HEAD")
}

func TestTreeChangesEqualGitDiffTree(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c, from, to := changedTree(t, "--object-format="+format)
			changes, err := c.Open().TreeChanges(t.Context(), from, to)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, ch := range changes {
				none := strings.Repeat("0", len(from))
				status := "M"
				switch {
				case ch.OldMode == "":
					status = "A"
				case ch.NewMode == "":
					status = "D"
				case ch.OldMode[:2] != ch.NewMode[:2]:
					status = "T"
				}
				fmt.Fprintf(&got, ":%s %s %s %s %s\x00%s\x00", cmp.Or(ch.OldMode, "000000"), cmp.Or(ch.NewMode, "000000"), cmp.Or(ch.OldOID, none), cmp.Or(ch.NewOID, none), status, ch.Path)
			}
			want := records(c.Git("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", from, to))
			if got := records(got.String()); !slices.Equal(got, want) {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// records returns the records of git diff-tree --raw -z, each with its path first, in order.
func records(raw string) []string {
	var list []string
	parts := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		list = append(list, parts[i+1]+" "+parts[i])
	}
	slices.Sort(list)
	return list
}

func TestTreeChangesDescribeContents(t *testing.T) {
	t.Parallel()
	c, from, to := changedTree(t)
	r := c.Open()
	changes, err := r.TreeChanges(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]gitrepo.TreeChange{}
	for _, ch := range changes {
		at[ch.Path] = ch
	}
	if ch := at["link"]; ch.Link != "../outside" || ch.NewMode != "120000" || ch.OldMode != "100644" {
		t.Errorf("link: %+v", ch)
	}
	if !at["lfs"].LFS || at["not-lfs"].LFS || at["changed"].LFS {
		t.Errorf("LFS pointers: %+v, %+v", at["lfs"], at["not-lfs"])
	}
	if at["changed"].Size != 3 || at["gone"].Size != 0 || at["sub"].Size != 0 || at["lfs"].Size != int64(len(pointer)) {
		t.Errorf("sizes: %+v", at)
	}
	if none, err := r.TreeChanges(t.Context(), to, to); len(none) != 0 || err != nil {
		t.Errorf("equal trees: %v, %v", none, err)
	}
	all, err := r.TreeChanges(t.Context(), "", from)
	if err != nil || len(all) != 10 || all[0].OldMode != "" {
		t.Errorf("from nothing: %v, %v", all, err)
	}
	if _, err := r.TreeChanges(t.Context(), from, strings.Repeat("1", 40)); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a missing commit: %v", err)
	}
	if _, err := r.TreeChanges(t.Context(), "HEAD", to); err == nil {
		t.Error("a name is read as an id")
	}
}

func TestTreePaths(t *testing.T) {
	t.Parallel()
	c, _, to := changedTree(t)
	got, _, err := c.Open().TreePaths(t.Context(), to)
	want := strings.Split(strings.TrimSuffix(c.Git("ls-tree", "-r", "-z", "--name-only", to), "\x00"), "\x00")
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("TreePaths = %q, %v, want %q", got, err, want)
	}
}

func TestHostileTrees(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("f", "x")
	commit := c.Commit("f")
	blob := c.Git("rev-parse", "HEAD:f")
	entry := func(mode, name string) string {
		raw := make([]byte, 20)
		if _, err := fmt.Sscanf(blob, "%x", &raw); err != nil {
			t.Fatal(err)
		}
		return mode + " " + name + "\x00" + string(raw)
	}
	write := func(data string) string {
		c.Write("tree", data)
		return c.Git("hash-object", "-t", "tree", "-w", "--literally", "tree")
	}
	r := c.Open()
	for name, data := range map[string]string{
		"a slash": entry("100644", "a/b"), "dots": entry("100644", ".."), "no name": entry("100644", ""),
		"twice": entry("100644", "a") + entry("100755", "a"), "not a mode": entry("x", "a"), "cut off": entry("100644", "a")[:20],
	} {
		if got, err := r.TreeChanges(t.Context(), commit, write(data)); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	odd, err := r.TreeChanges(t.Context(), "", write(entry("100664", "a")+entry("100775", "b")))
	if err != nil || odd[0].NewMode != "100644" || odd[1].NewMode != "100755" {
		t.Errorf("modes of old times: %+v, %v", odd, err)
	}

	// Each tree contains the one before it ten times: 10^12 files.
	bomb := c.Git("rev-parse", commit+"^{tree}")
	for range 12 {
		var list strings.Builder
		for i := range 10 {
			fmt.Fprintf(&list, "040000 tree %s\t%d\n", bomb, i)
		}
		bomb = c.Mktree(list.String())
	}
	if _, _, err := r.TreePaths(t.Context(), bomb); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Errorf("a bomb: %v", err)
	}
}
