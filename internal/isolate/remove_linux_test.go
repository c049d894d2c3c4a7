package isolate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

// nested makes folders in folders, more than this process may have files open, with
// names that are in each other's way, and some in which nothing may be removed.
const nested = `mkdir -p $(printf 'moved-%d/in ' $(seq 0 20)) $(printf 'd/%.0s' $(seq 400)) && cd d && echo >moved-25 && echo >f && cd d && mkdir locked && echo >locked/f && chmod 500 locked . ..`

// fewFiles lets this process have few files open until the test ends.
func fewFiles(t *testing.T) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 300, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
}

// TestDeepFoldersAreRemoved: in a room and in a shared folder.
func TestDeepFoldersAreRemoved(t *testing.T) {
	r := newRunner(t)
	room := open(t, r.config())
	if room == nil {
		return
	}
	left := fmt.Sprintf("/tmp/airlock-deep-%d", os.Getpid())
	said(t, room.Run, sh(nested))
	said(t, room.Run, sh(`mkdir $1 && cd $1 && `+nested, left))
	fewFiles(t)
	if err := room.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{filepath.Dir(room.Dir()), left} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestDeepScratchIsRemoved(t *testing.T) {
	workspace, temp := checkout(t)
	s, err := isolate.OpenScratch(t.Context(), isolate.Config{Workspace: workspace, Scratch: temp, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	said(t, s.Run, command.Spec{Program: "sh", Args: []string{"-c", nested}})
	fewFiles(t)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	assertNoScratch(t, temp)
}
