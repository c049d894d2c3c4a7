//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestImportOfAFIFO asserts that an import of a FIFO is a warning, and does not wait until somebody
// writes to the FIFO.
func TestImportOfAFIFO(t *testing.T) {
	dir := repository(t, map[string]string{workflow: "---\nimports: [pipe.md]\nsafe-outputs:\n  create-issue:\n---\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, filepath.Dir(workflow), "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := effects(dir, load(t, dir)); !strings.Contains(got, "it is not an ordinary file") {
		t.Errorf("the effects do not name the FIFO:\n%s", got)
	}
}
