package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestContradictionsOfBranches compares the warning with names that policy makes: a prefix
// and a pattern are warned of if and only if no name of a sample is allowed.
func TestContradictionsOfBranches(t *testing.T) {
	asked := []string{"x", "a/b", "fix/1", "ai/fix/1", "bot", "bot-1", "ai/x", "x-ai/x", "a-b/c", "abc/def/ghi", "ai.x", "ö", "feature #1", "f1/ai/y", "a/b/c/d", "a/i/y", "a/b/z", "ai/q/y", "xi/q"}
	prefixes := []string{"", "ai/", "bot-", "a/b/", "x", "bot+"}
	patterns := []string{"*", "**", "fix/*", "fix/**", "ai/*", "ai*", "a?/*", "?i/**", "*/x", "*-1", "bot-*", "bot", "b*t-*", "x*", "a/*", "a/*/*", "a/b/?*", "*/*/*/*", "ai/{x,y}", "[a-z]*",
		"feature #*", "ö*", "größe/**", `\*`, `ai\/x`, "**/x", "ai/**/y", "*x/**", "*+*", "bot+?"}
	for _, prefix := range prefixes {
		for _, pattern := range patterns {
			settings := policy.ChangeSettings{BranchPrefix: prefix, AllowedBranches: []string{pattern}}
			passes := false
			for _, name := range asked {
				if name = branchname.Clean(name); !strings.HasPrefix(name, prefix) || name == prefix {
					name = prefix + name
				}
				passes = passes || policy.BranchAllowed(settings, name)
			}
			text := fmt.Sprintf("create-pull-request:\n  allowed-branches: [%q]\n", pattern)
			if prefix != "" {
				text += fmt.Sprintf("  branch-prefix: %q\n", prefix)
			}
			cfg, err := Parse("policy.yml", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if warned := len(cfg.Warnings) > 0; warned == passes {
				t.Errorf("prefix %q, pattern %q: a name passes: %t, but the warnings are %v", prefix, pattern, passes, cfg.Warnings)
			}
		}
	}
}

// TestNoContradictions asserts that there is no warning about restrictions that some item can meet.
func TestNoContradictions(t *testing.T) {
	for _, text := range []string{
		"add-issue-label: {allowed: [bug, \"ai-*\"], blocked: [\"ai-x*\", bug]}",
		"add-issue-label: {blocked: [\"a*\"]}",
		"add-issue-comment: {issues: false, pull-requests: false}",
		"create-pull-request: {allowed-files: [.github/workflows/*.yml, \"docs/{a,b}.md\"]}",
		"create-pull-request: {allowed-files: [.github/workflows/*.yml, docs/*.md], excluded-files: [docs/a.md]}",
		"create-pull-request: {branch: bot/docs, branch-prefix: ai/, allowed-branches: [fix/*]}",
		"push-to-branch: {allowed-files: [.github/workflows/gen.yml], protected-files: {exclude: [.github/workflows/gen.yml]}}",
		"push-to-branch: {allowed-files: [CODEOWNERS], on-violation: issue}",
		"push-to-branch: {allowed-files: [go.mod]}",
		"create-pull-request: {allowed-files: [\"**\"], excluded-files: [\"*/*\"]}",
	} {
		cfg, err := Parse("policy.yml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(cfg.Warnings) > 0 {
			t.Errorf("%s: %v", text, cfg.Warnings)
		}
	}
}
