//go:build unix

package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
)

// assertNames asserts that a directory contains these names and no others, such as
// those of temporary files.
func assertNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s contains %v, want %v", dir, got, want)
	}
}

func TestWriteBelowTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	d := openDir(t, dir)
	for _, text := range []string{"first", "second, longer"} {
		if err := d.Write("out.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "out.json")); string(got) != text || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	assertNames(t, dir, "out.json")

	p, err := d.Create("out.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "out.json")); string(got) != "second, longer" {
		t.Errorf("the file changed before Commit: %q", got)
	}
	if err := p.Abort(); err != nil {
		t.Error(err)
	}
	if err := p.Abort(); err != nil {
		t.Errorf("a second Abort: %v", err)
	}
	assertNames(t, dir, "out.json")
	if err := p.Commit(); err == nil {
		t.Error("Commit after Abort gives no error")
	}
}

func TestWriteRefusesAllButFiles(t *testing.T) {
	dir := tree(t)
	d := openDir(t, dir)
	for name, want := range map[string]string{
		"link": "is a link", "environ": "is a link", "dangling": "is a link", "fifo": "is a FIFO", "sub": "is a directory", "socket": "is a socket",
		"linkdir/new": "linkdir is a link", "outdir/new": "outdir is a link", "none/new": "does not exist", "../new": "lies outside", "sub/..": "is a directory",
	} {
		if err := d.Write(name, []byte("x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Write(%s): %v, want %q", name, err, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "link")); string(data) != "hello" || err != nil {
		t.Errorf("the link's target: %q, %v", data, err)
	}
}

func TestWriteGivesTheFileToTheDirectorysOwner(t *testing.T) {
	dir := t.TempDir()
	owner := os.Getuid()
	if owner == 0 {
		owner = 1001
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := openDir(t, dir).Write("f", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != owner {
		t.Errorf("owner %d, want %d", st.Uid, owner)
	}
}

func TestWriteUserFile(t *testing.T) {
	dir := tree(t)
	if err := action.WriteUserFile(filepath.Join(dir, "link"), []byte("through the link")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "sub/deep/file")); string(data) != "through the link" {
		t.Errorf("the link's target is %q", data)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	assertNames(t, filepath.Join(dir, "sub/deep"), "file")
	if err := action.WriteUserFile("/dev/null", []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat("/dev/null"); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Error("/dev/null was replaced")
	}
	t.Chdir(dir)
	if err := action.WriteUserFile("plain", []byte("x")); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"sub": "is a directory", "sub/": "is a directory", "none/x": "there is no directory none, make it first", "fifo": "is a FIFO", "": "no file is named", "dangling": "is a link"} {
		if err := action.WriteUserFile(name, []byte("x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("WriteUserFile(%q): %v, want %q", name, err, want)
		}
	}
}

func TestMkdir(t *testing.T) {
	dir := tree(t)
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "sub"), 1001, 1001); err != nil {
			t.Fatal(err)
		}
	}
	d := openDir(t, dir)
	for range 2 { // the second time it is there already
		if err := d.Mkdir("sub/new"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "sub/new"))
	if err != nil || !info.IsDir() {
		t.Fatalf("sub/new is not a directory: %v", err)
	}
	if st := info.Sys().(*syscall.Stat_t); os.Getuid() == 0 && st.Uid != 1001 {
		t.Errorf("owner %d, want that of the directory above", st.Uid)
	}
	for name, want := range map[string]string{
		"linkdir": "is a link", "linkdir/new": "is a link", "outdir/new": "is a link", "empty": "is not a directory", "fifo": "is not a directory",
		"none/new": "does not exist", "../new": "lies outside", "": "no file is named",
	} {
		if err := d.Mkdir(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Mkdir(%q): %v, want %q", name, err, want)
		}
	}
}
