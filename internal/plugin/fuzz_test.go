package plugin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/plugin"
)

// FuzzOutput holds, whatever a reviewer prints, that findings are about changed files
// and lines that these have, and control no terminal.
func FuzzOutput(f *testing.F) {
	captures, err := filepath.Glob("testdata/*/out*")
	if err != nil || len(captures) == 0 {
		f.Fatal(captures, err)
	}
	for _, name := range captures {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.ReplaceAll(string(raw), "/src/", ""), uint8(0), uint8(1))
	}
	f.Add("{type: 'create-pull-request-review-comment', path: 'a.go', line: 9, body: 'x\x1b[2J'}\n```\n{\"type\":\"noop\"", uint8(5), uint8(0))
	f.Add("a.go:7:1: \x1b]0;x\x07message\n", uint8(9), uint8(1))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, printed string, format, code uint8) {
		cfg := plugin.Config{Name: "lint", Command: "lint"}
		if all := plugin.Formats(); int(format) < len(all) {
			cfg.Format = all[format]
		} else {
			cfg.Patterns = []string{"%f:%l:%c: %m", "%f:%l: %m"}
		}
		req := plugin.Request{Repository: dir, Files: []plugin.File{{Path: "a.go", Lines: 5}, {Path: "app.js", Lines: 3}, {Path: "app.py", Lines: 9}, {Path: "main.go", Lines: 30}}, Diff: []changes.ChangedFile{{Path: "gone.go"}}}
		got, _ := plugin.Review(t.Context(), tool(int(code), printed, printed), cfg, req) // an error says that it was no review
		for _, x := range got.Findings {
			i := slices.IndexFunc(req.Files, func(file plugin.File) bool { return file.Path == x.Path })
			if i < 0 && x.Path != "gone.go" {
				t.Errorf("a finding in %q", x.Path)
			}
			if i >= 0 && max(x.Range.StartLine, x.Range.EndLine) > req.Files[i].Lines {
				t.Errorf("a finding in %s at %+v", x.Path, x.Range)
			}
			if x.Tool == "" || strings.EqualFold(x.Tool, "airlock") {
				t.Errorf("a finding of %q", x.Tool)
			}
			for _, text := range append([]string{x.Tool, x.Rule, x.Message, x.Suggestion}, got.Notes...) {
				if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
					t.Errorf("%q controls a terminal", text)
				}
			}
		}
	})
}
