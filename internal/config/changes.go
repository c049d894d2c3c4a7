package config

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
)

// pullKeys are the keys of create-pull-request alone.
func pullKeys() []key[policy.KindConfig] {
	keys := []key[policy.KindConfig]{
		{
			name: "draft", takes: boolean(), doc: "Whether pull requests are drafts, whatever the item says. Default: the item's, else true.",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Changes.Draft = new(v.(bool)) },
		},
		word("branch", "The name of the new branch. Default: the item's, else made from the title.", text(200, "bot/docs"), func(k *policy.KindConfig) *string { return &k.Changes.Branch }),
		word("base-branch", "The branch that pull requests are opened against. Default: the event's, else the default branch.", text(200, "main"), func(k *policy.KindConfig) *string { return &k.Changes.Base }),
		list("reviewers", "Who is asked to review. Default: nobody.", mentioned(), func(k *policy.KindConfig) *[]string { return &k.Changes.Reviewers }),
		yesNo("fallback-as-issue", "Open an issue that links to the branch where creating pull requests is forbidden; otherwise the result says the link. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.FallbackIssue }),
		word("branch-prefix", "Begins the name of every new branch, save that of \"branch\". Default: none.", text(100, "bot/"), func(k *policy.KindConfig) *string { return &k.Changes.BranchPrefix }),
		list("allowed-branches", "Patterns that the branch which an item names must match; an item that names none is denied. Default: all.", branches(), func(k *policy.KindConfig) *[]string { return &k.Changes.AllowedBranches }),
		{
			name: "rebase", takes: boolean(), doc: "Carry the changes over to the base branch's newest commit; false leaves them on the commit that they were made from. Default: true.",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Changes.StayOnBase = !v.(bool) },
		},
	}
	keys[2].also = []string{"base"}
	keys = append(keys, foreign("assignees", "team-reviewers", "fallback-labels", "auto-merge", "allow-empty", "expires", "preserve-branch-name", "recreate-ref",
		"require-temporary-id", "stacked", "auto-close-issue", "allow-workflows", "allowed-base-branches",
		"head-github-token", "head-github-app", "close-older-pull-requests", "close-older-key")...)
	return append(keys, restricting("target-repo", "allowed-repos", "head-repo")...)
}

// pushKeys are the keys of push-to-branch alone.
func pushKeys() []key[policy.KindConfig] {
	keys := []key[policy.KindConfig]{
		{
			name: "branch", takes: text(200, "bot/docs"), doc: "The one branch that is pushed to, instead of a pull request's. Default: \"triggering\", the pull request's.",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				if k.Changes.Branch = v.(string); k.Changes.Branch == "triggering" {
					k.Changes.Branch = ""
				}
			},
		},
		word("title-prefix", "Only pull requests whose title begins so are pushed to. Default: all.", text(100, `"[ai] "`), func(k *policy.KindConfig) *string { return &k.Changes.RequiredTitlePrefix }),
		list("labels", "Only pull requests with all of these labels are pushed to. Default: all.", labels(), func(k *policy.KindConfig) *[]string { return &k.Changes.RequiredLabels }),
		word("commit-title-suffix", "Ends the first line of every commit's message, exactly as written. Default: none.", text(100, `" [skip-ci]"`), func(k *policy.KindConfig) *string { return &k.Changes.CommitTitleSuffix }),
	}
	keys[1].also, keys[2].also = []string{"required-title-prefix"}, []string{"required-labels"}
	keys = append(keys, foreign("footer", "base-branch", "ignore-missing-branch-failure", "fallback-as-pull-request", "check-branch-protection", "allow-workflows", "head-github-token", "head-github-app")...)
	return append(keys, restricting("target-repo", "allowed-repos", "head-repo", "allowed-branches")...)
}

// changeKeys are the keys of both kinds that carry code.
func changeKeys() []key[policy.KindConfig] {
	keys := []key[policy.KindConfig]{
		{
			name: "if-no-changes", takes: oneOf("warn", "error", "ignore"), doc: "What an empty set of changes leads to. Default: \"warn\".",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				k.Changes.IfNoChanges = map[string]policy.IfNoChanges{"error": policy.NoChangesError, "ignore": policy.NoChangesIgnore}[v.(string)]
			},
		},
		list("allowed-files", "Patterns that every changed path must match. Default: all paths.", patterns(), func(k *policy.KindConfig) *[]string { return &k.Changes.Files.Allowed }),
		{
			name: "protected-files", takes: protectedFiles(), set: setProtection,
			doc: "Patterns that no changed path may match, instead of the built-in list; a mapping with \"include\" and \"exclude\" changes that list. \"blocked\" is the built-in list, \"allowed\" none, \"fallback-to-issue\" the built-in list with on-violation: issue. Default: the built-in list.",
		},
		yesNo("protect-manifests", "Protect dependency manifests and lock files too. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.Files.ProtectManifests }),
		number("max-patch-files", "The most files that may change. Default: 100.", limit(100), func(k *policy.KindConfig) *int { return &k.Changes.Files.MaxFiles }),
		number("max-patch-size", "The most new contents that the changes may hold, in KiB. Default: 1024.", limit(1024), func(k *policy.KindConfig) *int { return &k.Changes.Files.MaxSizeKB }),
		{
			name: "on-violation", takes: oneOf("refuse", "issue"), doc: "What changes that break a rule about files lead to: nothing is pushed, or an \"issue\" with the patch is opened. Default: \"refuse\".",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				k.Changes.OnViolation = map[string]policy.OnViolation{"issue": policy.ViolationIssue}[v.(string)]
			},
		},
		yesNo("signed-commits", "Commit through the API, which signs the commits. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.SignedCommits }),
	}
	keys = append(keys, foreign("patch-format", "github-token-for-extra-empty-commit")...)
	return append(keys, restricting("excluded-files")...)
}

func setProtection(d *decoder, at *node, v any, k *policy.KindConfig) {
	p := v.(protection)
	k.Changes.Files.Protected, k.Changes.Files.AlsoProtected, k.Changes.Files.Unprotected = p.files, p.include, p.exclude
	if p.violation != "" {
		k.Changes.OnViolation = p.violation
	}
	if p.reviewed {
		d.warn(at.line, at.col, "protected-files: Airlock requests no review; changes to protected files are refused")
	}
}

// protection is what protected-files takes: patterns, or one of the words of
// the widely used front matter, or both in a mapping.
type protection struct {
	files     []string // nil: the built-in list
	include   []string
	exclude   []string
	violation policy.OnViolation
	reviewed  bool // request-review was asked for
}

func protectedFiles() shape {
	const words = `{"enum": ["blocked", "allowed", "fallback-to-issue", "request-review", "request_review"]}`
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[2]s, {"type": "object", "additionalProperties": false, "properties": {"policy": %[2]s, "include": {"type": "array", "items": %[1]s}, "exclude": {"type": "array", "items": %[1]s}}}]}`, patternItem, words)
	const wants = `a list of patterns, such as [".github/**"], a mapping, such as {exclude: [AGENTS.md]}, or one of "blocked", "allowed", "fallback-to-issue"`
	return shape{schema, wants, func(n *node) (any, *fault) {
		switch n.kind {
		case textNode:
			return protectionWord(n)
		case listNode:
			files, f := patterns().parse(n)
			if f != nil {
				return nil, f
			}
			return protection{files: files.([]string)}, nil
		case mapNode:
			return protectionMapping(n)
		}
		return mismatch()
	}}
}

func protectionWord(n *node) (any, *fault) {
	switch canonical(n.text) {
	case "blocked":
		return protection{}, nil
	case "allowed":
		return protection{files: []string{}}, nil
	case "fallback-to-issue":
		return protection{violation: policy.ViolationIssue}, nil
	case "request-review":
		return protection{reviewed: true}, nil
	}
	return mismatch()
}

func protectionMapping(n *node) (any, *fault) {
	var p protection
	for i := range n.entries {
		e := &n.entries[i]
		switch e.key {
		case "policy":
			word, f := protectionWord(&e.value)
			if f != nil || e.value.kind != textNode {
				return wrong(&e.value, "policy: expected one of \"blocked\", \"allowed\", \"fallback-to-issue\", found %s", e.value.describe())
			}
			include, exclude := p.include, p.exclude
			p = word.(protection)
			p.include, p.exclude = include, exclude
		case "include", "exclude":
			if e.value.kind != listNode {
				return wrong(&e.value, "%s: expected %s, found %s", e.key, patterns().wants, e.value.describe())
			}
			list, at, why := patterns().read(&e.value)
			if why != "" {
				return wrong(at, "%s: %s", e.key, why)
			}
			if e.key == "include" {
				p.include = list.([]string)
			} else {
				p.exclude = list.([]string)
			}
		default:
			known := []string{"policy", "include", "exclude"}
			if near := nearest(e.key, known); near != "" {
				return wrong(&node{line: e.line, col: e.col}, "unknown key %q; did you mean %q?", shorten(e.key), near)
			}
			return wrong(&node{line: e.line, col: e.col}, "unknown key %q; known are: %s", shorten(e.key), strings.Join(known, ", "))
		}
	}
	return p, nil
}
