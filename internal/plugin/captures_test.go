package plugin_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/plugin"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestCaptures asserts what is read from the output of tools. Each but opengrep, whose output was
// written by hand, was run with the arguments of its preset on the small project next to its
// output; for out.broken, the files included one that cannot be parsed. The output calls the
// project's directory /src.
func TestCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset, out string
		code        int
		file        plugin.File
	}{
		{"ast-grep", "out", 1, plugin.File{Path: "app.js", Language: "javascript", Lines: 5}},
		{"bandit", "out", 1, plugin.File{Path: "app.py", Language: "python", Lines: 10}},
		{"bandit", "out.broken", 0, plugin.File{Path: "bad.py", Language: "python", Lines: 1}},
		{"eslint", "out", 1, plugin.File{Path: "app.js", Language: "javascript", Lines: 4}},
		{"opengrep", "out", 0, plugin.File{Path: "app.py", Language: "python", Lines: 7}},
		{"gosec", "out", 0, plugin.File{Path: "main.go", Language: "go", Lines: 25}},
		{"gosec", "out.broken", 0, plugin.File{Path: "main.go", Language: "go", Lines: 25}},
	} {
		t.Run(c.preset+" "+c.out, func(t *testing.T) {
			cfg, ok := plugin.Preset(c.preset)
			if !ok {
				t.Fatal("no such preset")
			}
			raw, err := os.ReadFile(filepath.Join("testdata", c.preset, c.out))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			text := strings.ReplaceAll(string(raw), "/src", filepath.ToSlash(dir))
			got, err := plugin.Review(t.Context(), tool(c.code, text, ""), cfg, plugin.Request{Repository: dir, Files: []plugin.File{c.file}})
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", c.preset, strings.Replace(c.out, "out", "want", 1)+".json")
			if *update {
				if err := os.WriteFile(golden, append(encoded, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(encoded)+"\n"); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
