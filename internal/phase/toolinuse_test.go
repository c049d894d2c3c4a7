package phase_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
)

// TestToolsInUse asserts which tool runs if a project's files name several. If the project lists
// packages, a tool that is among them comes before one that is not. Then a tool that the nearest file
// or a command names comes before others, and Prettier before Biome.
func TestToolsInUse(t *testing.T) {
	t.Parallel()
	const prettier, biome = "npx prettier --check .", "npx biome format ."
	pkg := func(names ...string) string {
		return `{"devDependencies":{"` + strings.Join(names, `":"1","`) + `":"1"}}`
	}
	for name, tt := range map[string]struct {
		files  map[string]string
		format string
	}{
		"both in one directory":                    {map[string]string{"web/.prettierrc": "", "web/biome.json": "{}", "web/package.json": "{}"}, prettier},
		"both, and both listed":                    {map[string]string{"web/.prettierrc": "", "web/biome.json": "{}", "web/package.json": pkg("prettier", "@biomejs/biome")}, prettier},
		"one is left from before":                  {map[string]string{"web/.prettierrc": "", "web/biome.json": "{}", "web/package.json": pkg("@biomejs/biome")}, biome},
		"listed above":                             {map[string]string{"package.json": pkg("@biomejs/biome"), "web/.prettierrc": "", "web/biome.json": "{}", "web/package.json": pkg("jest")}, biome},
		"one is nearer":                            {map[string]string{".prettierrc": "", "package.json": "{}", "web/biome.json": "{}", "web/package.json": "{}"}, biome},
		"the other is nearer":                      {map[string]string{"biome.json": "{}", "package.json": "{}", "web/.prettierrc": "", "web/package.json": "{}"}, prettier},
		"one is nearer, a command names the other": {map[string]string{".prettierrc": "", "package.json": "{}", "web/biome.json": "{}", "web/package.json": "{}", "web/Makefile": "x:\n\tprettier --check a.md\n"}, prettier},
	} {
		dir := files(t, tt.files)
		in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"web/a.js"}}
		r := validate(t, phase.Job{Input: in}, phase.Config{CheckOnly: true}, newStage(t, dir, nil).deps())
		if len(r.Roots) != 1 || r.Roots[0].Dir != "web" {
			t.Errorf("%s: %+v, want the root web", name, r.Roots)
		}
		if c := checkOf(r, phase.Formatter); c.Command != tt.format {
			t.Errorf("%s: %q, want %q", name, c.Command, tt.format)
		}
	}
}
