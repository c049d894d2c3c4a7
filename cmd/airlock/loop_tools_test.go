//go:build tools && unix

package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestLoopProjects mends real projects with their real tools. The fixer knows what to
// write for each request: one project is mended in one round, the other in two. The
// checks apply the formatter's changes themselves.
func TestLoopProjects(t *testing.T) {
	for name, test := range map[string]struct {
		fixes map[string]map[string]string // by request and file
		want  []string
	}{
		"go-fail": {
			map[string]map[string]string{"FIXREQ-7-1": {
				"app.go":           "// Package app adds.\npackage app\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
				"show/print.go":    "// Package show prints.\npackage show\n\nimport \"fmt\"\n\n// Print prints.\nfunc Print(n int) { fmt.Printf(\"%d\\n\", n) }\n",
				"broken/broken.go": "// Package broken compiles.\npackage broken\n\n// Text returns a number as a text.\nfunc Text() string { return \"1\" }\n",
				"app_test.go":      "package app\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n",
			}},
			strings.Fields(`VFR-7-linter-1 VFR-7-build-1 VFR-7-tests-1 FIXREQ-7-1 FIXDONE-7-1
				REVAL-7-linter-2 REVAL-7-build-2 REVAL-7-tests-2 REVALRES-7-linter-2 REVALRES-7-build-2 REVALRES-7-tests-2
				SUCCESS-7-linter-2 SUCCESS-7-build-2 SUCCESS-7-tests-2`),
		},
		"python-fail": {
			map[string]map[string]string{
				"FIXREQ-7-1": {"app.py": "def add(a, b):\n    return a + b\n"},
				"FIXREQ-7-2": {"test_load.py": "def test_nothing():\n    assert True\n"},
			},
			strings.Fields(`VFR-7-linter-1 VFR-7-tests-1 FIXREQ-7-1 FIXDONE-7-1
				REVAL-7-linter-2 REVAL-7-tests-2 REVALRES-7-linter-2 REVALRES-7-tests-2
				VFR-7-tests-2 FIXREQ-7-2 FIXDONE-7-2 REVAL-7-tests-3 REVALRES-7-tests-3 SUCCESS-7-linter-3 SUCCESS-7-tests-3`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(filepath.Join(root, "testdata", "repos", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			p := newLoopPlace(t)
			for _, file := range []string{"package.json", "a.js", "test.sh"} {
				if err := os.Remove(filepath.Join(p.dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range archive.Files {
				switch f.Name {
				case "input.json", "suggestions", "want":
				default:
					writeFile(p.t, filepath.Join(p.dir, f.Name), string(f.Data))
				}
			}
			for request, files := range test.fixes {
				for file, content := range files {
					writeFile(p.t, filepath.Join(filepath.Join(p.base, "fixes", request), file), content)
				}
			}
			writeFile(p.t, filepath.Join(p.base, "fix.sh"), `cp -r "`+p.base+`/fixes/$AIRLOCK_FIX_REQUEST/." .`+"\n")
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(binary, "loop", "start", "--issue", "7", "--fixer", "sh "+filepath.Join(p.base, "fix.sh"))
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(p.env, "TMPDIR="+os.TempDir(), "GOPROXY=off"), &stdout, &stderr // black's socket needs a short name
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
			}
			var ids []string
			for _, line := range p.log() {
				var m struct {
					ID string `json:"id"`
				}
				if json.Unmarshal([]byte(line), &m) == nil && m.ID != "" {
					ids = append(ids, m.ID)
				}
			}
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Errorf("messages (-want +got):\n%s\n%s", diff, stderr.String())
			}
		})
	}
}
