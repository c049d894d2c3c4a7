package checks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
)

// failingFile is a file of which one call fails, after it has written some bytes.
type failingFile struct {
	data    []byte
	calls   int // so far
	fails   int // the call that fails, from 1
	writes  int // how many bytes it writes nevertheless
	forever bool
}

func (f *failingFile) fail() bool {
	f.calls++
	return f.calls == f.fails || f.forever && f.calls > f.fails
}

func (f *failingFile) WriteAt(p []byte, offset int64) (n int, err error) {
	if f.fail() {
		p, err = p[:min(len(p), f.writes)], syscall.ENOSPC
	}
	if end := int(offset) + len(p); end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	return copy(f.data[offset:], p), err
}

func (f *failingFile) Truncate(size int64) error {
	if f.fail() {
		return syscall.ENOSPC
	}
	f.data = append(f.data, make([]byte, max(0, int(size)-len(f.data)))...)[:size]
	return nil
}

// TestFileIsOldOrNew asserts that a file has its old content if its new one could not be written,
// whichever call fails, and that the error says so if it has neither.
func TestFileIsOldOrNew(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "old text", "new", "a new and longer text"}
	for _, before := range texts {
		for _, after := range texts {
			for fails := 0; fails <= 4; fails++ {
				for _, writes := range []int{0, 2, 100} {
					for _, forever := range []bool{false, true} {
						f := &failingFile{data: []byte(before), fails: fails, writes: writes, forever: forever && fails > 0}
						err := replaceContent(f, []byte(before), []byte(after))
						want := before
						if err == nil {
							want = after
						}
						told := err != nil && strings.Contains(err.Error(), "restore it from git")
						if string(f.data) != want && !told || err != nil && !errors.Is(err, syscall.ENOSPC) || !f.forever && told {
							t.Errorf("%q to %q, where call %d fails after %d bytes (%t): %q, %v", before, after, fails, writes, forever, f.data, err)
						}
					}
				}
			}
		}
	}
}

// TestWrittenBackInPlace asserts that a file which is fixed keeps its permissions, and that its other
// names lead to the new content.
func TestWrittenBackInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sh")
	if err := errors.Join(os.WriteFile(path, []byte("old\n"), 0o700), os.Link(path, filepath.Join(dir, "b.sh"))); err != nil {
		t.Fatal(err)
	}
	old, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"new, and longer\n", "short\n", ""} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if notes := writeBack(dir, []phase.FixedFile{{Path: "a.sh", Before: before, After: []byte(text)}}); notes != nil {
			t.Fatal(notes)
		}
		got, err := os.ReadFile(filepath.Join(dir, "b.sh"))
		info, statErr := os.Stat(path)
		if err = errors.Join(err, statErr); err != nil || string(got) != text || info.Mode() != old.Mode() {
			t.Errorf("%q instead of %q, %v: %v", got, text, info, err)
		}
	}
}
