package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/store"
)

// Hold fails if the file of a lock was removed, because another process can take the lock then,
// too.
func TestALockIsLostWithItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	if _, err := s.Lock(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.Hold(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := s.Hold(t.Context()); !errors.Is(err, store.ErrLost) || !s.Lasts(err) {
		t.Errorf("without the file: %v", err)
	}
}
