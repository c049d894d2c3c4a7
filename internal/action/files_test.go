//go:build unix

package action_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
)

// tree makes a workspace with files, a FIFO, a socket, and links that lead inside, outside and
// nowhere.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sock, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sock.Close() })
	outside := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o755),
		os.WriteFile(filepath.Join(dir, "sub", "deep", "file"), []byte("hello"), 0o644),
		os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644),
		os.WriteFile(filepath.Join(outside, "file"), []byte("outside"), 0o644),
		os.Symlink("sub/deep/file", filepath.Join(dir, "link")),
		os.Symlink("/proc/self/environ", filepath.Join(dir, "environ")),
		os.Symlink("none", filepath.Join(dir, "dangling")),
		os.Symlink("sub", filepath.Join(dir, "linkdir")),
		os.Symlink(outside, filepath.Join(dir, "outdir")),
		syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openDir(t *testing.T, path string) *action.Dir {
	t.Helper()
	d, err := action.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestReadBelowTheWorkspace(t *testing.T) {
	dir := tree(t)
	d := openDir(t, dir)
	for _, name := range []string{"sub/deep/file", "./sub//deep/../deep/file", filepath.Join(dir, "sub/deep/file")} {
		if data, err := d.Read(name, 5); string(data) != "hello" || err != nil {
			t.Errorf("Read(%s) = %q, %v", name, data, err)
		}
	}
	if data, err := d.Read("empty", 0); len(data) != 0 || err != nil {
		t.Errorf("empty: %q, %v", data, err)
	}
	for name, want := range map[string]string{
		"none": "none does not exist: check the path", "sub/none/x": "does not exist", "sub": "sub is a directory: name a file in it", ".": "is a directory",
		"link": "link is a link: links are not followed here", "environ": "is a link", "dangling": "is a link", "fifo": "fifo is a FIFO: write its text into a file first",
		"socket": "is a socket", "linkdir/deep/file": "linkdir is a link", "outdir/file": "outdir is a link", "empty/x": "is not a directory",
		"../x": "lies outside of", "sub/../../x": "lies outside of", "/etc/passwd": "lies outside of", "": "no file is named", dir: "is a directory", dir + "2/x": "lies outside of",
	} {
		data, err := d.Read(name, 100)
		if err == nil || !strings.Contains(err.Error(), want) || data != nil {
			t.Errorf("Read(%q) = %q, %v, want an error with %q", name, data, err, want)
		}
	}
	_, err := d.Read("sub/deep/file", 4)
	if !errors.Is(err, action.ErrTooLarge) || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Errorf(`err = %v, want ErrTooLarge with "larger than 4 bytes"`, err)
	}
	dev := openDir(t, "/dev")
	if _, err := dev.Read("null", 100); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf(`err = %v, want one with "is a device"`, err)
	}
	for path, want := range map[string]string{"": "GITHUB_WORKSPACE is not set", dir + "/none": "does not exist", dir + "/empty": "not a directory"} {
		if _, err := action.OpenDir(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenDir(%q): %v", path, err)
		}
	}
}

func TestFileThatGrowsIsCutOffWithAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openDir(t, dir).Open("log", 6)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, []byte("1234567890"), 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := f.ReadAll()
	if string(data) != "123456" || !errors.Is(err, action.ErrTooLarge) {
		t.Errorf("%q, %v", data, err)
	}
}

func TestSwapWhileReading(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("good"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openDir(t, dir).Open("f", 100)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path)); err != nil {
		t.Fatal(err)
	}
	if data, err := f.ReadAll(); string(data) != "good" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// TestSwapRace replaces a directory by a link as fast as it can. A read must return the
// file's text or an error, never the text of a file that the link leads to.
func TestSwapRace(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d", "f"), []byte("inside"), 0o644),
		os.WriteFile(filepath.Join(outside, "f"), []byte("outside"), 0o644), os.Symlink(outside, filepath.Join(dir, "evil")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "tmp"))
			_ = os.Rename(filepath.Join(dir, "evil"), filepath.Join(dir, "d"))
			_ = os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "evil"))
			_ = os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "d"))
		}
	}()
	d := openDir(t, dir)
	read := 0
	for range 3000 {
		if data, err := d.Read("d/f", 100); err == nil {
			read++
			if string(data) != "inside" {
				t.Fatalf("read %q", data)
			}
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d of 3000 reads succeeded", read)
}

func TestOpenUserFile(t *testing.T) {
	dir := tree(t)
	read := func(path string, stdin io.Reader, limit int64) (string, error) {
		f, err := action.OpenUserFile(path, stdin, limit)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := f.ReadAll()
		return string(data), err
	}
	for _, name := range []string{"sub/deep/file", "link", "linkdir/deep/file"} {
		if got, err := read(filepath.Join(dir, name), nil, 5); got != "hello" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := read("-", strings.NewReader("piped"), 5); got != "piped" || err != nil {
		t.Errorf("-: %q, %v", got, err)
	}
	if _, err := read("-", strings.NewReader("piped"), 4); !errors.Is(err, action.ErrTooLarge) || !strings.Contains(err.Error(), "standard input is larger") {
		t.Errorf("-: %v", err)
	}
	for name, want := range map[string]string{"none": "does not exist", "sub": "is a directory", "fifo": "is a FIFO", "dangling": "does not exist", "empty/x": "not a directory"} {
		if _, err := read(filepath.Join(dir, name), nil, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := read("/dev/zero", nil, 100); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("/dev/zero: %v", err)
	}
	if _, err := read("", nil, 100); err == nil {
		t.Error("an empty name is accepted")
	}
}
