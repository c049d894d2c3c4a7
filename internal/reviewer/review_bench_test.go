package reviewer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/secrets"
)

// BenchmarkBothReviews is the goal of both reviews: 1,000 files, 10 MB together,
// within 3 s on two cores.
func BenchmarkBothReviews(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	var files []File
	size := 0
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d os.DirEntry, err error) error {
		if err != nil || len(files) == 1000 || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if len(text) > 5_000 && len(text) < 20_000 {
			size += len(text)
			files = append(files, File{Path: fmt.Sprintf("%d.go", len(files)), Text: string(text)})
		}
		return err
	})
	if err != nil || len(files) < 1000 {
		b.Fatalf("%d files: %v", len(files), err)
	}
	b.SetBytes(int64(size))
	r, err := New(Config{}, secrets.New(nil))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, review := range []func() (Result, error){
			func() (Result, error) { return r.Security(b.Context(), files) },
			func() (Result, error) { return r.Code(b.Context(), files) },
		} {
			if _, err := review(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
