//go:build unix

package phase

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func projectIn(t *testing.T, dir string) *project {
	t.Helper()
	p, err := openProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.root.Close() })
	return p
}

// TestReadDoesNotWaitForAFIFO replaces a file by a FIFO while it is read, as a program of a
// check that runs in another directory can. Reading must not wait until somebody writes to the
// FIFO.
func TestReadDoesNotWaitForAFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := projectIn(t, dir)
	name, file, pipe := filepath.Join(dir, "go.mod"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 {
			if text, err := p.read("go.mod"); err == nil && string(text) != "module x\n" {
				t.Errorf("it reads %q", text)
			}
		}
	}()
	for {
		for _, from := range []string{pipe, file} {
			next := filepath.Join(dir, "next")
			if err := os.Link(from, next); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(next, name); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-done:
			return
		case <-ctx.Done():
			t.Fatal("reading waits until somebody writes to the FIFO")
		default:
		}
	}
}

// TestSnapshotIsBounded asserts that a snapshot ends at its limits of depth and entries,
// whatever number of directories a program makes.
func TestSnapshotIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := projectIn(t, dir)
	deepest, tooDeep := strings.Repeat("d/", maxDepth), strings.Repeat("d/", maxDepth+1)
	if err := os.MkdirAll(filepath.Join(dir, tooDeep), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"", deepest, tooDeep} {
		if err := os.WriteFile(filepath.Join(dir, in, "f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := p.snapshot(".", nil)
	if len(found[""]) != 1 || len(found[strings.TrimSuffix(deepest, "/")]) != 1 || len(found) != 2 {
		t.Errorf("the snapshot has files in %d directories", len(found))
	}
	many := t.TempDir()
	for i := range 3000 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := walk{project: projectIn(t, many), found: snapshot{}}
	w.entries.Store(maxSnapshot)
	w.directory(".", "", 0)
	if n := len(w.found[""]); n == 0 || n > 1024 { // what one read of the directory returns at most
		t.Errorf("the snapshot has %d files after the limit", n)
	}
}
