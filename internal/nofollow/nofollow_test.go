//go:build unix

package nofollow

import (
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// others has functions that each make, at a path, something that is not an ordinary file. Devices
// are missing, because only root may make them.
var others = map[string]func(path string) error{
	"directory": func(path string) error { return os.Mkdir(path, 0o755) },
	"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
	"socket": func(path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
	"symbolic link to a file":      func(path string) error { return os.Symlink("ordinary", path) },
	"symbolic link to a device":    func(path string) error { return os.Symlink("/dev/zero", path) },
	"symbolic link to a directory": func(path string) error { return os.Symlink(".", path) },
	"symbolic link to nothing":     func(path string) error { return os.Symlink("none", path) },
}

// open opens a new directory that contains the file "ordinary".
func open(t *testing.T) *os.Root {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ordinary"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestOpensOnlyOrdinaryFilesAndDirectories(t *testing.T) {
	t.Parallel()
	root := open(t)
	for name, create := range others {
		if err := create(filepath.Join(root.Name(), name)); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND} {
			if _, _, err := Open(root, name, flag); !isKind(err) {
				t.Errorf("opening a %s: %v", name, err)
			}
		}
		if _, _, err := Read(root, name, 10); !isKind(err) {
			t.Errorf("reading a %s: %v", name, err)
		}
		dir, err := OpenPath(filepath.Join(root.Name(), name))
		if err == nil {
			_ = dir.Close()
		}
		if want := strings.HasSuffix(name, "directory"); (err == nil) != want { // it follows links
			t.Errorf("opening the path of a %s: %v, want it opened: %t", name, err, want)
		}
		if dir, err := OpenDir(root, name); name == "directory" && (err != nil || dir.Close() != nil) || name != "directory" && !isKind(err) {
			t.Errorf("opening a %s as a directory: %v", name, err)
		}
	}
	if data, _, err := Read(root, "ordinary", 4); string(data) != "text" || err != nil {
		t.Errorf("the ordinary file: %q, %v", data, err)
	}
	if _, _, err := Read(root, "ordinary", 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, err := OpenDir(root, "ordinary"); !isKind(err) || err.Error() != "it is a file, not a directory" {
		t.Errorf("an ordinary file as a directory: %v", err)
	}
	if _, err := OpenPath(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no path: %v", err)
	}
	for _, name := range []string{"none", "none/x"} {
		if _, _, err := Read(root, name, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isKind(err error) bool {
	_, ok := errors.AsType[*KindError](err)
	return ok
}

// TestReplacedBeforeItIsOpened asserts that a file or a directory is not opened if it was replaced
// after it had been looked at.
func TestReplacedBeforeItIsOpened(t *testing.T) {
	t.Parallel()
	replacements := maps.Clone(others)
	replacements["file"] = func(path string) error { return os.WriteFile(path, []byte("text"), 0o644) }
	replacements["missing file"] = func(string) error { return nil }
	for name, create := range replacements {
		root := open(t)
		path := filepath.Join(root.Name(), "looked at")
		for _, what := range []string{"file", "directory"} {
			if err := replacements[what](path); err != nil {
				t.Fatal(err)
			}
			expected, err := root.Lstat("looked at")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Rename(path, path+" before"), create(path)); err != nil {
				t.Fatal(err)
			}
			if what == "directory" {
				_, err = openExpectedDir(root, "looked at", expected)
			} else {
				_, _, err = openExpected(root, "looked at", os.O_RDWR, expected)
			}
			if err == nil {
				t.Errorf("a %s in the place of a %s is opened", name, what)
			}
			if err := errors.Join(os.RemoveAll(path), os.RemoveAll(path+" before")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWrittenWhileItIsRead asserts that the error is ErrChanged if a file changes after it was opened.
func TestWrittenWhileItIsRead(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(path string) error{
		"longer":  func(path string) error { return os.Truncate(path, 5) },
		"shorter": func(path string) error { return os.Truncate(path, 3) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"other text of the same size": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path, []byte("TEXT"), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime().Add(1)))
		},
	} {
		root := open(t)
		f, info, err := Open(root, "ordinary", os.O_RDONLY)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := write(filepath.Join(root.Name(), "ordinary")); err != nil {
			t.Fatal(err)
		}
		if data, err := readUnchanged(f, info, 10); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %q, %v, want ErrChanged", name, data, err)
		}
	}
}
