package guide

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func load(t *testing.T, yaml string) config.SafeOutputs {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{File: file, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestRulesAreTold asserts that the prompt and the tool name each rule that can refuse an
// item or change it.
func TestRulesAreTold(t *testing.T) {
	for yaml, want := range map[string]string{
		"create-pull-request: {allowed-files: [\"src/**\", \"docs/*\"]}": "Files that may change: src/**, docs/*.",
		"create-pull-request: {allowed-files: []}":                       "Files that may change: none.",
		"push-to-branch:": "AGENTS.md",
		"push-to-branch: {protected-files: [secret/]}":              "Files that may not change: secret/.",
		"push-to-branch: {protected-files: {exclude: [AGENTS.md]}}": "but these may: AGENTS.md.",
		"push-to-branch: {max-patch-files: 3, max-patch-size: 20}":  "At most 3 changed files and 20 KiB of new content.",
		"push-to-branch: {excluded-files: [\"*.lock\"]}":            "Changes of these files are left out: *.lock.",
		"push-to-branch: {title-prefix: \"[bot]\"}":                 `Only pull requests whose title begins with "[bot]".`,
		"create-pull-request: {branch-prefix: \"agents/\"}":         "New branches begin with `agents/`",
		"create-pull-request: {allowed-branches: [\"fix/*\"]}":      "must match one of: fix/*.",
		"create-issue: {title-prefix: \"[bot] \"}":                  `Titles begin with "[bot] "`,
		"add-issue-label: {allowed: [bug], blocked: [\"~*\"]}":      "Labels that are not allowed: ~*.",
		"add-issue-comment: {target: \"*\"}":                        "is required.",
		"add-issue-comment: {target: 7}":                            "It acts on #7 and nothing else.",
		"create-issue: {max: 4}":                                    "At most 4 ",
		"create-issue: {max: -1}":                                   "Any number of ",
		"create-discussion: {category: ideas}":                      "The category is set; leave it out.",
		"update-issue: {body: true, operation: append}":             "Without `operation` it is `append`.",
		"create-issue:\nallowed-domains: [docs.example]":            "docs.example",
		"create-issue:\nmentions: {allowed: [octocat]}":             "Mentions notify nobody but: octocat.",
	} {
		cfg := load(t, yaml+"\n")
		prompt, err := Prompt(cfg, "")
		if err != nil {
			t.Fatal(err)
		}
		tools, err := Tools(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(prompt, want) {
			t.Errorf("%s: the prompt lacks %q", yaml, want)
		}
		if !slices.ContainsFunc(tools, func(t Tool) bool { return strings.Contains(t.Description, want) }) {
			t.Errorf("%s: no tool says %q", yaml, want)
		}
	}
}

// TestToolNames asserts that every kind has a name of its own, which leads to it.
func TestToolNames(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range safeoutput.Kinds() {
		name := ToolName(spec)
		if found, ok := safeoutput.Lookup(name); !ok || found.Kind != spec.Kind || seen[name] {
			t.Errorf("%s is called %s", spec.Kind, name)
		}
		seen[name] = true
	}
}
