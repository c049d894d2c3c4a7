package config

import (
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// checksKey is the key at the top that configures phase validation.
func checksKey() key[SafeOutputs] {
	return key[SafeOutputs]{
		name: "checks", takes: settingsOf("checks", "{lint-command: make lint}"), doc: "How a pull request's changed files are validated. It allows an agent nothing.",
		set: func(d *decoder, at *node, _ any, c *SafeOutputs) {
			c.Checks.Given = true
			if at.kind == mapNode {
				section(d, "checks", at.entries, checksTable(), &c.Checks)
			}
		},
	}
}

// checksTable is the table of keys below checks.
var checksTable = sync.OnceValue(checksKeys)

func checksKeys() []key[Checks] {
	keys := []key[Checks]{
		into("language", "The language of the project. Default: detected; none is needed where all four commands are named or left out.", language(), func(c *Checks) *phase.Language { return &c.Language }),
		word("format-command", "Runs instead of the language's formatter.", commandLine("npm run format"), func(c *Checks) *string { return &c.FormatCommand }),
		word("lint-command", "Runs instead of the language's linter. In all four, the word {files} stands for the changed files; there is no shell then.", commandLine("eslint {files}"), func(c *Checks) *string { return &c.LintCommand }),
		word("build-command", "Runs instead of the language's build.", commandLine("make"), func(c *Checks) *string { return &c.BuildCommand }),
		word("test-command", "Runs instead of the language's tests.", commandLine("make test"), func(c *Checks) *string { return &c.TestCommand }),
		optional("max-retries", "How often a failing formatter or linter is fixed and run again, where files may be written. Default: 3.", between(0, 10, 3), func(c *Checks) **int { return &c.MaxRetries }),
		yesNo("skip-build", "Leave out the build. Default: false.", func(c *Checks) *bool { return &c.SkipBuild }),
		yesNo("skip-tests", "Leave out the tests. Default: false.", func(c *Checks) *bool { return &c.SkipTests }),
		into("roots", "Folders to validate, all of them, whatever changed; each may name its language. Default: those that are found for the changed files.", roots(), func(c *Checks) *[]phase.Root { return &c.Phase.Roots }),
		into("informational", "Checks whose failure is shown and does not fail the whole. Default: none.", checkNames(), func(c *Checks) *[]phase.Check { return &c.Phase.Informational }),
		optional("new-only", "Whether findings on lines that did not change are left out of account. Default: true for pull requests.", boolean(), func(c *Checks) **bool { return &c.NewOnly }),
		optional("suggestions", "Whether what a formatter or linter would change becomes suggestions. Default: true.", boolean(), func(c *Checks) **bool { return &c.Suggestions }),
		into("max-parallel", "How many of the repository's projects are checked at the same time; 1 for those that share a port or a database. Projects of which one lies in another never are. Default: the number of processors.", between(1, 64, 2), func(c *Checks) *int { return &c.MaxParallel }),
		into("time-limit", "How long one command may run. Default: 300s.", duration(time.Second, 6*time.Hour, "5m"), func(c *Checks) *time.Duration { return &c.Phase.TimeLimit }),
		into("retry-delay", "How long to wait between a fix and the next try. Default: 2s.", duration(time.Millisecond, 10*time.Minute, "2s"), func(c *Checks) *time.Duration { return &c.Phase.RetryDelay }),
		list("pass-env", "Names of variables that commands get, beside those that toolchains need; never one that looks like a secret. Default: none.", variables(), func(c *Checks) *[]string { return &c.PassEnv }),
		reviewKey("code-review", phase.CodeReviewed, func(c *Checks) (*reviewer.Config, *bool) { return &c.CodeReview, &c.SkipCodeReview }),
		reviewKey("security-review", phase.SecurityReview, func(c *Checks) (*reviewer.Config, *bool) { return &c.SecurityReview, &c.SkipSecurityReview }),
		into("reviewers", "Other reviewers, which run beside the built-in ones. Default: none.", reviewers(), func(c *Checks) *[]plugin.Config { return &c.Plugins }),
		{
			name: "report", takes: settingsOf("checks-report", "{review-comments: 5}"), doc: "Where the result is shown.",
			set: func(d *decoder, at *node, _ any, c *Checks) {
				if at.kind == mapNode {
					section(d, "checks: report", at.entries, checkReportKeys(), &c.Report)
				}
			},
		},
	}
	keys[len(keys)-2].set = setReviewers
	return keys
}

// checkReportKeys are the keys below checks: report.
func checkReportKeys() []key[ReportSettings] {
	return []key[ReportSettings]{
		optional("comment", "Whether one comment on the pull request shows the result, and is kept up to date. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.Comment }),
		optional("review-comments", "The most findings on changed lines that become review comments, the most severe first. Default: 20.", between(0, 20, 20), func(r *ReportSettings) **int { return &r.ReviewComments }),
		optional("check-run", "Whether a check run with annotations shows the result, where the token may write checks. It is named after the job that reports, such as `Airlock checks (report)`; the second job of a matrix has `Airlock checks (report, 2)`, and so on. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.CheckRun }),
		optional("security-report", "Whether findings of the security review go to code scanning, where the token may. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.SecurityReport }),
	}
}

// reviewKey is the key of one of the built-in reviewers: settings, or false.
func reviewKey(name string, check phase.Check, in func(*Checks) (*reviewer.Config, *bool)) key[Checks] {
	return key[Checks]{
		name: name, takes: switchOf("checks-review", "{max-file-size: 512}"), doc: "The built-in reviewer's settings; false leaves it out.",
		set: func(d *decoder, at *node, _ any, c *Checks) {
			settings, skip := in(c)
			if at.kind == mapNode {
				section(d, "checks: "+name, at.entries, reviewRuleKeys(check), settings)
			}
			*skip = at.kind == boolNode && at.text == "false"
		},
	}
}

// reviewRuleKeys are the keys of a built-in reviewer. check is "" where only their
// names matter.
func reviewRuleKeys(check phase.Check) []key[reviewer.Config] {
	return []key[reviewer.Config]{
		list("on", "Rules that are off by default and are used. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.On }),
		list("off", "Rules that are not used. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Off }),
		list("only", "The only rules that are used. Default: all that are on.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Only }),
		yesNo("tests", "Whether the security review looks for weaknesses in tests, migrations and rake's tasks too. Default: false.", func(r *reviewer.Config) *bool { return &r.Tests }),
		{
			name: "max-file-size", takes: between(1, 1024, 512), doc: "The size in KiB over which a file is not reviewed. Default: 1024, the most.",
			set: func(_ *decoder, _ *node, v any, r *reviewer.Config) { r.MaxFileBytes = v.(int) << 10 },
		},
	}
}
