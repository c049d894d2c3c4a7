//go:build unix

package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// changedTree makes a commit on another that differs in every way.
func changedTree(t *testing.T, initArgs ...string) (c clone, from, to string) {
	t.Helper()
	c = newClone(t, initArgs...)
	for _, name := range []string{"same/deep/er", "gone", "changed", "exec", "link", "file-to-dir", "dir-to-file/x", "a-", "a/b", "a0"} {
		c.Write(name, "old "+name)
	}
	from = c.Commit("from")
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
	c.Git("update-index", "--add", "--cacheinfo", "160000,"+from+",sub")
	c.Git("commit", "-q", "-m", "to")
	return c, from, c.Git("rev-parse", "HEAD")
}

func TestTreeChangesAreGits(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			c, from, to := changedTree(t, "--object-format="+format)
			changes, err := c.Open().TreeChanges(t.Context(), from, to)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, ch := range changes {
				none := strings.Repeat("0", len(from))
				or := func(s, absent string) string {
					if s == "" {
						return absent
					}
					return s
				}
				status := "M"
				switch {
				case ch.OldMode == "":
					status = "A"
				case ch.NewMode == "":
					status = "D"
				case ch.OldMode[:2] != ch.NewMode[:2]:
					status = "T"
				}
				fmt.Fprintf(&got, ":%s %s %s %s %s\x00%s\x00", or(ch.OldMode, "000000"), or(ch.NewMode, "000000"), or(ch.OldOID, none), or(ch.NewOID, none), status, ch.Path)
			}
			want := records(c.Git("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", from, to))
			if have := records(got.String()); !slices.Equal(have, want) {
				t.Errorf("got\n%q\nwant\n%q", have, want)
			}
		})
	}
}

// records sorts the pairs of lines that diff-tree -z gives.
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
	c, _, to := changedTree(t)
	got, err := c.Open().TreePaths(t.Context(), to)
	want := strings.Split(strings.TrimSuffix(c.Git("ls-tree", "-r", "-z", "--name-only", to), "\x00"), "\x00")
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("TreePaths = %q, %v, want %q", got, err, want)
	}
}

func TestHostileTrees(t *testing.T) {
	c := newClone(t)
	c.Write("f", "x")
	empty := c.Commit("f")
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
		"twice": entry("100644", "a") + entry("100755", "a"), "no mode": entry("x", "a"), "cut off": entry("100644", "a")[:20],
	} {
		if got, err := r.TreeChanges(t.Context(), empty, write(data)); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	odd, err := r.TreeChanges(t.Context(), "", write(entry("100664", "a")+entry("100775", "b")))
	if err != nil || odd[0].NewMode != "100644" || odd[1].NewMode != "100755" {
		t.Errorf("modes of old times: %+v, %v", odd, err)
	}

	// Each tree holds the one before it ten times: 10^12 files.
	bomb := c.Git("rev-parse", empty+"^{tree}")
	for range 12 {
		var list strings.Builder
		for i := range 10 {
			fmt.Fprintf(&list, "040000 tree %s\t%d\n", bomb, i)
		}
		bomb = c.Mktree(list.String())
	}
	if _, err := r.TreePaths(t.Context(), bomb); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Errorf("a bomb: %v", err)
	}
}
