//go:build tools

package plugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/plugin"
)

// TestPresetsWithRealTools runs the tools of those presets that .ci/tools can install, each on its
// project in testdata. It asserts that their output leads to the same findings as the output in
// testdata, which TestCaptures reads. It needs bandit and gosec in PATH, and the others in the
// node_modules directory that AIRLOCK_NODE_MODULES names. A tool that is missing fails its test.
func TestPresetsWithRealTools(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("AIRLOCK_NODE_MODULES")
	for preset, file := range map[string]plugin.File{
		"ast-grep": {Path: "app.js", Language: "javascript", Lines: 5},
		"bandit":   {Path: "app.py", Language: "python", Lines: 10},
		"eslint":   {Path: "app.js", Language: "javascript", Lines: 4},
		"gosec":    {Path: "main.go", Language: "go", Lines: 25},
	} {
		t.Run(preset, func(t *testing.T) {
			cfg, ok := plugin.Preset(preset)
			if !ok {
				t.Fatal("no such preset")
			}
			dir := t.TempDir()
			from := filepath.Join("testdata", preset)
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"go.mod", "main.go"} {
				if err := os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			env := append(os.Environ(), "PATH="+filepath.Join(modules, ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			got, err := plugin.Review(t.Context(), command.Run, cfg, plugin.Request{Repository: dir, Files: []plugin.File{file}, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(from, "want.json"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(encoded)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
