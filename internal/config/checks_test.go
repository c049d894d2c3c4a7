package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

const allChecks = `
checks:
  language: js
  format-command: npm run format
  lint-command: eslint {files}
  build-command: |
    make deps
    make
  test-command: make test
  max-retries: 0
  skip-build: true
  skip-tests: true
  roots: [api/, {dir: ./web, language: ts}]
  informational: [code-review, tests]
  new-only: false
  suggestions: false
  max-parallel: 1
  time-limit: 1m30s
  retry-delay: 5ms
  pass-env: [NODE_OPTIONS]
  network: none
  code-review: {min-precision: high, on: [no-test-change], off: [long-file], only: [no-test-change, breakpoint], max-file-size: 64, tests: true}
  security-review: false
  reviewers:
    - gosec
    - {name: semgrep, args: [semgrep, "{files}"], dirs: api, min-severity: high}
    - name: our-agent
      command: agent --print
      check: security-review
      format: ndjson
      input: diff
      instructions: |
        Look for this.
        And that.
      languages: [go]
      severity: {R1: critical}
      precision: very-high
      exit-codes: 3
      time-limit: 10m
    - {name: our-linter, command: "lint {files}", patterns: "%f:%l: %m"}
    - {name: bandit, command: bandit -r ., patterns: ["%f:%l: %m"]}
  report: {comment: false, review-comments: 0, check-run: false, security-report: true}
`

func wantChecks() Checks {
	gosec, _ := plugin.Preset("gosec")
	semgrep, _ := plugin.Preset("semgrep")
	semgrep.Args, semgrep.Dirs, semgrep.MinSeverity = []string{"semgrep", "{files}"}, []string{"api"}, finding.High
	bandit, _ := plugin.Preset("bandit")
	bandit.Command, bandit.Args, bandit.Format, bandit.Patterns = "bandit -r .", nil, "", []string{"%f:%l: %m"}
	return Checks{
		Given: true, Language: phase.JavaScript,
		FormatCommand: "npm run format", LintCommand: "eslint {files}", BuildCommand: "make deps\nmake\n", TestCommand: "make test",
		MaxRetries: new(0), SkipBuild: true, SkipTests: true,
		Phase:   phase.Config{Informational: []phase.Check{phase.CodeReview, phase.Tests}, Roots: []phase.Root{{Dir: "api"}, {Dir: "web", Language: phase.TypeScript}}, TimeLimit: 90 * time.Second, RetryDelay: 5 * time.Millisecond},
		NewOnly: new(false), Suggestions: new(false), PassEnv: []string{"NODE_OPTIONS"}, Network: NetworkNone, MaxParallel: 1,
		CodeReview:         reviewer.Config{MinPrecision: finding.PrecisionHigh, On: []string{"no-test-change"}, Off: []string{"long-file"}, Only: []string{"no-test-change", "breakpoint"}, MaxFileBytes: 64 << 10, Tests: true},
		SkipSecurityReview: true,
		Plugins: []plugin.Config{gosec, semgrep, {
			Name: "our-agent", Command: "agent --print", Check: phase.SecurityReview, Format: plugin.SafeOutputs, Diff: true, Instructions: "Look for this.\nAnd that.\n",
			Languages: []string{"go"}, Severity: map[string]finding.Severity{"R1": finding.Critical}, Precision: finding.PrecisionVeryHigh, FoundExits: []int{3}, TimeLimit: 10 * time.Minute,
		}, {Name: "our-linter", Command: "lint {files}", Patterns: []string{"%f:%l: %m"}}, bandit},
		Report: ReportSettings{Comment: new(false), CheckRun: new(false), SecurityReport: new(true), ReviewComments: new(0)},
	}
}

func TestChecks(t *testing.T) {
	names := strings.NewReplacer("code-review", "code_review", "format-command", "format_command", "lint-command", "lint_command", "build-command", "build_command",
		"test-command", "test_command", "max-retries", "max_retries", "skip-", "skip_", "new-only", "new_only", "max-parallel", "max_parallel", "time-limit", "time_limit", "retry-delay", "retry_delay", "pass-env", "pass_env",
		"security-review: f", "security_review: f", "min-severity", "min_severity", "exit-codes", "exit_codes", "max-file-size", "max_file_size", "review-comments", "review_comments", "check-run", "check_run", "security-report", "security_report")
	for name, text := range map[string]string{
		"with -":             allChecks,
		"with _":             names.Replace(allChecks),
		"below safe-outputs": "safe-outputs:" + strings.ReplaceAll(allChecks, "\n", "\n  "),
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("x", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantChecks(), cfg.Checks); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if cfg.Warnings != nil {
				t.Errorf("warnings: %v", cfg.Warnings)
			}
		})
	}
}

// TestChecksAllowAgentsNothing asserts that a file with checks alone is a configuration, and that
// checks enable nothing: an agent may do the same as without them.
func TestChecksAllowAgentsNothing(t *testing.T) {
	for _, text := range []string{"checks:", "checks: {}", allChecks} {
		cfg, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !cfg.Checks.Given || !cfg.Policy.Configured() {
			t.Errorf("%q: given %t, configured %t", text, cfg.Checks.Given, cfg.Policy.Configured())
		}
		for _, spec := range safeoutput.Kinds() {
			_, allowed := cfg.Policy.Kind(spec.Kind)
			if want := spec.AlwaysAllowed; allowed != want {
				t.Errorf("%q: %s is allowed: %t, want %t", text, spec.Kind, allowed, want)
			}
		}
		if diff := cmp.Diff(map[policy.Kind]bool{"noop": true, "missing-tool": true, "missing-data": true, "report-incomplete": true}, cfg.Enabled()); diff != "" {
			t.Errorf("%q: enabled (-want +got):\n%s", text, diff)
		}
	}
	with, err := Parse("x", []byte("create-issue: {max: 2}\nstaged: true\n"+allChecks))
	if err != nil {
		t.Fatal(err)
	}
	without, err := Parse("x", []byte("create-issue: {max: 2}\nstaged: true\n"))
	if err != nil || without.Checks.Given {
		t.Fatalf("given %t, error %v", without.Checks.Given, err)
	}
	if diff := cmp.Diff(without.Policy, with.Policy); diff != "" {
		t.Errorf("checks change the policy (-without +with):\n%s", diff)
	}
}

// TestChecksKnowEveryWord asserts that the decoder and the schema accept the id of every rule below
// "off", and that the decoder knows every preset of a reviewer by its name.
func TestChecksKnowEveryWord(t *testing.T) {
	rules, err := reviewer.Rules()
	if err != nil {
		t.Fatal(err)
	}
	schema := compileSchema(t)
	for _, r := range rules {
		text := `{"checks": {"` + r.Check + `": {"off": ["` + r.ID + `"]}}}`
		if _, err := Parse("x", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range plugin.Presets() {
		cfg, err := Parse("x", []byte("checks: {reviewers: ["+name+"]}"))
		want, _ := plugin.Preset(name)
		if diff := cmp.Diff([]plugin.Config{want}, cfg.Checks.Plugins); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestSuppressions(t *testing.T) {
	cfg, err := Parse("x", []byte("checks: {suppressions: any, security-review: {accepted: ['go/sql-injection  internal/db/**', secret testdata/*]}}"))
	if err != nil {
		t.Fatal(err)
	}
	security := cfg.Checks.SecurityReview
	want := []reviewer.Accepted{{Rule: "go/sql-injection", Pattern: "internal/db/**"}, {Rule: "secret", Pattern: "testdata/*"}}
	if diff := cmp.Diff(want, security.Accepted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !security.NewSuppressions || !cfg.Checks.CodeReview.NewSuppressions || !security.Matches("internal/db/**", "internal/db/a/b.go") || security.Matches("testdata/*", "x.go") {
		t.Errorf("%+v", security)
	}
	for text, want := range map[string]string{
		"go/sqlinjection x": `did you mean "go/sql-injection"?`, "secret": "is empty; write for example docs/**", "secret ../x": `contains ".."`, "todo-without-issue a": `it belongs below "code-review"`,
	} {
		_, err := Parse("x", []byte("checks: {security-review: {accepted: ["+text+"]}}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
