package isolate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestProgramsThatNobodyMayReplace are no reason to refuse: behind the sticky bit, where
// nobody gets to them, or not there.
func TestProgramsThatNobodyMayReplace(t *testing.T) {
	r := newRunner(t)
	sticky, hidden := filepath.Join(r.base, "sticky"), filepath.Join(r.base, "hidden")
	if err := errors.Join(os.Mkdir(sticky, 0o755), os.Chmod(sticky, 0o777|os.ModeSticky), os.MkdirAll(hidden+"/bin", 0o755), os.Chmod(hidden+"/bin", 0o777), os.Chmod(hidden, 0o700)); err != nil {
		t.Fatal(err)
	}
	cfg := r.config()
	cfg.Environ = append(cfg.Environ, "PATH=/bin:"+sticky+":"+hidden+"/bin:"+r.base+"/none")
	if room := open(t, cfg); room != nil {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	}
}
