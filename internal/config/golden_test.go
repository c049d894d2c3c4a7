package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files, and the published schema")

const testdata = "../../testdata/config"

// TestBadConfigurations asserts that each file of testdata/config/bad is refused with
// exactly the text of the golden file next to it.
func TestBadConfigurations(t *testing.T) {
	golden(t, "bad", func(t *testing.T, name string, data []byte) string {
		_, err := Parse(name, data)
		problems, ok := err.(Problems)
		if !ok {
			t.Fatalf("error is %T: %v", err, err)
		}
		for _, p := range problems {
			if strings.ContainsAny(p.Message, "\r\n\t") {
				t.Errorf("a message of more than one line: %q", p.Message)
			}
		}
		return err.Error()
	})
}

// TestWarnings asserts that each file of testdata/config/warn is accepted with exactly the
// warnings of the golden file next to it.
func TestWarnings(t *testing.T) {
	golden(t, "warn", func(t *testing.T, name string, data []byte) string {
		cfg, err := Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		return cfg.Warnings.Error()
	})
}

// golden compares what run returns for each file of a directory of testdata with the golden file.
func golden(t *testing.T, dir string, run func(t *testing.T, name string, data []byte) string) {
	files, err := filepath.Glob(filepath.Join(testdata, dir, "*.[yjm]*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, name, data) + "\n"
			want := file + ".golden"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			expected, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(expected), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
