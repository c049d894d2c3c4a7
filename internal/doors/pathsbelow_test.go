package doors_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/doors"
)

// TestPathsBelow asserts that the paths below a directory are found among other arguments, also if
// a symbolic link names the directory or the working directory.
func TestPathsBelow(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, link := filepath.Join(base, "repo"), filepath.Join(base, "link")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{root}
	if os.Symlink(root, link) == nil { // not everybody may on Windows
		names = append(names, link)
	}
	for _, dir := range names {
		for _, cwd := range names {
			got := doors.PathsBelow(dir, cwd, "new.json", "sub/../sub/new.json", "../out.json", "", "-", `{"a":1}`, base, cwd, filepath.Join(cwd, "sub", "absolute.json"))
			want := []string{"new.json", "sub/new.json", "sub/absolute.json"}
			if !slices.Equal(got, want) {
				t.Errorf("below %s, in %s: %q, want %q", dir, cwd, got, want)
			}
		}
	}
}
