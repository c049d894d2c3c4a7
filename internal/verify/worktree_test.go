package verify

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestListPaths asserts that a directory with too many entries is an error: a file that is not listed
// would count as one that is not there.
func TestListPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b/c", "b/d/e", "b/d/f", "b/d/g", ".git/config"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if got, err := listPaths(t.Context(), files, 3); err != nil || !slices.Equal(got, []string{"a", "b/c", "b/d/e", "b/d/f", "b/d/g"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := listPaths(t.Context(), files, 2); !errors.Is(err, gitrepo.ErrTooLarge) || !strings.Contains(err.Error(), "more than 2") {
		t.Errorf("%v, %v, want ErrTooLarge", got, err)
	}
}
