package checks

import (
	"cmp"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/phase"
)

// ConfiguredInput returns the input of phase validation as the owner's configuration has
// it, without directory and files.
func ConfiguredInput(c config.Checks) phase.Input {
	in := phase.Input{Language: c.Language, FormatCommand: c.FormatCommand, LintCommand: c.LintCommand, BuildCommand: c.BuildCommand,
		TestCommand: c.TestCommand, MaxRetries: phase.DefaultMaxRetries, SkipBuild: c.SkipBuild, SkipTests: c.SkipTests}
	replace(&in.MaxRetries, c.MaxRetries)
	return in
}

// CompleteInput returns an input whose missing settings come from the owner's configuration.
// MaxRetries stays as it is, because 0 may be meant.
func CompleteInput(in phase.Input, c config.Checks) phase.Input {
	own := ConfiguredInput(c)
	in.Language = cmp.Or(in.Language, own.Language)
	in.FormatCommand, in.LintCommand = cmp.Or(in.FormatCommand, own.FormatCommand), cmp.Or(in.LintCommand, own.LintCommand)
	in.BuildCommand, in.TestCommand = cmp.Or(in.BuildCommand, own.BuildCommand), cmp.Or(in.TestCommand, own.TestCommand)
	in.SkipBuild, in.SkipTests = in.SkipBuild || own.SkipBuild, in.SkipTests || own.SkipTests
	return in
}

// HowToSetLanguage returns what to do where no language could be detected. The settings
// that it names are flags or keys of the configuration: prefix stands before each.
func HowToSetLanguage(prefix string) string {
	return strings.ReplaceAll("no package.json, go.mod or the like is in the directory or above a changed file: set @language, or all of"+
		" @format-command, @lint-command, @build-command (or @skip-build) and @test-command (or @skip-tests), which need no language, or @reviews-only, which runs no command", "@", prefix)
}
