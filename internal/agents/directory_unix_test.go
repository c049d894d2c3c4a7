//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadDirectoryWaitsForNoFIFO asserts that a FIFO among the files is an error. Opening it would
// wait for its other end.
func TestReadDirectoryWaitsForNoFIFO(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "ask.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDirectory(os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), "ask.yaml: it is not a regular file") {
		t.Error(err)
	}
}
