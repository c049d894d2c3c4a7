//go:build unix

package gitrepo_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestAbandonedRepositoriesAreRemoved asserts that New removes the directory that a killed process
// left, and nothing else.
func TestAbandonedRepositoriesAreRemoved(t *testing.T) {
	t.Parallel()
	temp, outside := t.TempDir(), t.TempDir()
	dir := func(name string, perm os.FileMode, files ...string) string {
		path := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Join(path, "repo.git"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(path, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(path, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, perm); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.WriteFile(filepath.Join(outside, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inUse, err := gitrepo.New(nil, gitrepo.Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	used, _ := os.ReadDir(temp)
	dir("airlock-git-dead", 0o700, "lock")
	kept := []string{used[0].Name(), "airlock-git-0755", "airlock-git-unlocked", "airlock-git-link", "airlock-git-file", "airlock-gitx", "other", "airlock-new-young"}
	dir("airlock-git-0755", 0o755, "lock")
	dir("airlock-git-unlocked", 0o700)
	dir("airlock-gitx", 0o700, "lock")
	dir("other", 0o700, "lock")
	dir("airlock-new-young", 0o700)
	if err := os.Symlink(outside, filepath.Join(temp, "airlock-git-link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(temp, "airlock-git-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		kept = append(kept, "airlock-git-foreign")
		if err := os.Chown(dir("airlock-git-foreign", 0o700, "lock"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	r, err := gitrepo.New(nil, gitrepo.Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(kept)
	if !slices.Equal(left, kept) {
		t.Errorf("%q is left, want %q", left, kept)
	}
	if _, err := os.Stat(filepath.Join(outside, "lock")); err != nil {
		t.Error(err)
	}
	if _, err := inUse.EditTree(t.Context(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904", nil); err != nil {
		t.Error(err)
	}
	if err := inUse.Close(); err != nil {
		t.Error(err)
	}
}
