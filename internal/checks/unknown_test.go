package checks

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// TestLanguagesThatNoCheckKnows asserts that a file's language counts as unknown unless the reviews
// have rules for the file, or the owner's commands or plug-ins may have looked at it, or the build may
// have compiled it.
func TestLanguagesThatNoCheckKnows(t *testing.T) {
	inGo, inJava := phase.Result{Roots: []phase.RootResult{{Language: phase.Go}}}, phase.Result{Roots: []phase.RootResult{{Language: phase.Java}}}
	for _, c := range []struct {
		path         string
		withoutRules bool
		v            validation
		r            phase.Result
		want         string
	}{
		{"index.php", true, validation{}, inGo, "PHP"},
		{"src/A.KT", true, validation{}, inGo, "Kotlin"},
		{"src/A.kt", true, validation{}, inJava, ""},
		{"src/a.c", true, validation{}, inGo, ""},
		{"index.php", false, validation{}, inGo, ""},
		{"index.php", true, validation{Config: Config{Input: phase.Input{LintCommand: "phpstan"}}}, inGo, ""},
		{"index.php", true, validation{Config: Config{Checks: config.Checks{Plugins: []plugin.Config{{Name: "semgrep"}}}}}, inGo, ""},
	} {
		if got := c.v.unknownLanguage(reviewer.Skipped{Path: c.path, WithoutRules: c.withoutRules}, c.r); got != c.want {
			t.Errorf("%s, %+v: %q, want %q", c.path, c.v.Input, got, c.want)
		}
	}
}
