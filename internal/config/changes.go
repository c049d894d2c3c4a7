package config

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/policy"
)

// pullKeys returns the keys of create-pull-request alone.
func pullKeys() []kindKey {
	keys := []kindKey{
		optional("draft", "Whether pull requests are drafts, whatever the item asks for. Default: the item's, otherwise true.", boolean(), func(k *policy.KindConfig) **bool { return &k.Changes.Draft }),
		into("branch", "The name of the new branch. Default: the item's below branch-prefix, otherwise made from the title.", branchName("bot/docs"), func(k *policy.KindConfig) *string { return &k.Changes.Branch }),
		into("base-branch", "The branch that pull requests are opened against. Default: the event's, otherwise the default branch.", branchName("main"), func(k *policy.KindConfig) *string { return &k.Changes.Base }).alias("base"),
		into("reviewers", "Who is asked to review. Default: nobody.", mentioned(), func(k *policy.KindConfig) *[]string { return &k.Changes.Reviewers }),
		yesNo("fallback-as-issue", "If creating pull requests is forbidden, open an issue that links to the branch; otherwise only the result has the link. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.FallbackIssue }),
		into("branch-prefix", "Begins the name of every new branch, except that of \"branch\". Default: airlock/, and none where allowed-branches is set.", branchPrefix("bot/"), func(k *policy.KindConfig) *string { return &k.Changes.BranchPrefix }),
		into("allowed-branches", "Patterns that the branch of an item must match; an item that names none is denied. Default: all.", branches(), func(k *policy.KindConfig) *[]string { return &k.Changes.AllowedBranches }),
		setting("rebase", "Carry the changes over to the base branch's newest commit; false leaves them on the commit that they were made from. Default: true.", boolean(), func(k *policy.KindConfig, v bool) { k.Changes.StayOnBase = !v }),
	}
	keys = append(keys, foreign[policy.KindConfig]("assignees", "team-reviewers", "fallback-labels", "auto-merge", "allow-empty", "expires", "preserve-branch-name", "recreate-ref",
		"stacked", "auto-close-issue", "allow-workflows", "allowed-base-branches",
		"head-github-token", "head-github-app", "close-older-pull-requests", "close-older-key")...)
	return append(keys, restricting("target-repo", "allowed-repos", "head-repo", "require-temporary-id")...)
}

// pushKeys returns the keys of push-to-branch alone.
func pushKeys() []kindKey {
	keys := []kindKey{
		setting("branch", "The one branch that is pushed to, instead of a pull request's. Default: \"triggering\", the pull request's.", branchName("bot/docs"), func(k *policy.KindConfig, v string) {
			if v != "triggering" {
				k.Changes.Branch = v
			}
		}),
		into("title-prefix", "Only pull requests whose title begins with it are pushed to. Default: all.", line(100, `"[ai] "`), func(k *policy.KindConfig) *string { return &k.Changes.RequiredTitlePrefix }).alias("required-title-prefix"),
		into("labels", "Only pull requests with all of these labels are pushed to. Default: all.", labels(), func(k *policy.KindConfig) *[]string { return &k.Changes.RequiredLabels }).alias("required-labels"),
		into("commit-title-suffix", "Ends the first line of every commit's message, exactly as written. Default: none.", line(100, `" [skip-ci]"`), func(k *policy.KindConfig) *string { return &k.Changes.CommitTitleSuffix }),
	}
	keys = append(keys, foreign[policy.KindConfig]("footer", "base-branch", "ignore-missing-branch-failure", "fallback-as-pull-request", "check-branch-protection", "allow-workflows", "head-github-token", "head-github-app")...)
	return append(keys, restricting("target-repo", "allowed-repos", "head-repo", "allowed-branches")...)
}

// changeKeys returns the keys of both kinds that carry code.
func changeKeys() []kindKey {
	keys := []kindKey{
		setting("if-no-changes", "What an empty set of changes leads to. Default: \"warn\".", oneOf("warn", "error", "ignore"), func(k *policy.KindConfig, v string) {
			k.Changes.IfNoChanges = map[string]policy.IfNoChanges{"error": policy.NoChangesError, "ignore": policy.NoChangesIgnore}[v]
		}),
		into("excluded-files", "Patterns of files that are left out of the changes, as if they had not been changed; the rules do not see them. Default: none.", patterns(), func(k *policy.KindConfig) *[]string { return &k.Changes.Excluded }),
		into("allowed-files", "Patterns that every changed path must match. Default: all paths.", patterns(), func(k *policy.KindConfig) *[]string { return &k.Changes.Files.Allowed }),
		{
			name: "protected-files", takes: protectedFiles(), set: setProtection,
			doc: "Patterns that no changed path may match, instead of the built-in list; a mapping changes that list. \"allowed\" protects none, \"fallback-to-issue\" also sets on-violation. Default: the built-in list.",
		},
		yesNo("protect-manifests", "Protect dependency manifests and lock files too. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.Files.ProtectManifests }),
		into("max-patch-files", "The most files that may change. Default: 100.", limit(100), func(k *policy.KindConfig) *int { return &k.Changes.Files.MaxFiles }),
		into("max-patch-size", "The most new contents that the changes may have, in KiB. Default: 1024.", limit(1024), func(k *policy.KindConfig) *int { return &k.Changes.Files.MaxSizeKB }),
		setting("on-violation", "What changes that break a rule about files lead to: nothing is pushed, or an \"issue\" with the patch is opened. Default: \"refuse\".", oneOf("refuse", "issue"), func(k *policy.KindConfig, v string) {
			k.Changes.OnViolation = map[string]policy.OnViolation{"issue": policy.ViolationIssue}[v]
		}),
		setting("commits", "\"keep\" pushes several commits as they are or not at all, \"squash\" always makes one of them. Default: as \"keep\", but one commit if an earlier commit breaks a rule that the result keeps.", oneOf("keep", "squash"), func(k *policy.KindConfig, v string) {
			k.Changes.Commits = map[string]policy.Commits{"keep": policy.CommitsKeep, "squash": policy.CommitsSquash}[v]
		}),
		yesNo("signed-commits", "Commit through the API, which signs the commits. Default: false.", func(k *policy.KindConfig) *bool { return &k.Changes.SignedCommits }),
	}
	return append(keys, foreign[policy.KindConfig]("patch-format", "github-token-for-extra-empty-commit")...)
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

const (
	protectionWords     = `"blocked", "allowed", "fallback-to-issue"`
	protectionWordsItem = `{"enum": [` + protectionWords + `, "request-review", "request_review"]}`
)

// protectedFiles returns the shape of a protection. The value of a mapping is an empty protection:
// setProtection reads the mapping's keys.
func protectedFiles() shape {
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[2]s, {"type": "object", "additionalProperties": false, "properties": {"policy": %[2]s, "include": {"type": "array", "items": %[1]s}, "exclude": {"type": "array", "items": %[1]s}}}]}`, patternItem, protectionWordsItem)
	const wants = `a list of patterns, such as [".github/**"], a mapping, such as {exclude: [AGENTS.md]}, or one of ` + protectionWords
	return shape{schema, wants, func(n *node) (any, *fault) {
		switch n.kind {
		case textNode:
			return protectionWord().parse(n)
		case listNode:
			files, f := patterns().parse(n)
			if f != nil {
				return nil, f
			}
			return protection{files: files.([]string)}, nil
		case mapNode:
			return protection{}, nil
		}
		return mismatch()
	}}
}

// protectionWord returns the shape of one of the words of the widely used front matter.
func protectionWord() shape {
	words := map[string]protection{
		"blocked": {}, "allowed": {files: []string{}}, "fallback-to-issue": {violation: policy.ViolationIssue}, "request-review": {reviewed: true},
	}
	return matching(protectionWordsItem, "one of "+protectionWords, func(n *node) (protection, bool) {
		p, ok := words[canonical(n.text)]
		return p, ok && n.kind == textNode
	})
}

// protectionKeys returns the keys below protected-files. They have no descriptions of their own:
// docs/configuration.md explains them.
func protectionKeys() []key[protection] {
	return []key[protection]{
		setting("policy", "", protectionWord(), func(p *protection, word protection) {
			p.files, p.violation, p.reviewed = word.files, word.violation, word.reviewed
		}),
		into("include", "", patterns().onlyList(), func(p *protection) *[]string { return &p.include }),
		into("exclude", "", patterns().onlyList(), func(p *protection) *[]string { return &p.exclude }),
	}
}

// setProtection applies protected-files to a kind's settings.
func setProtection(d *decoder, given *node, v any, k *policy.KindConfig) {
	p := v.(protection)
	if given.kind == mapNode {
		section(d, "protected-files", given.entries, protectionKeys(), &p)
	}
	k.Changes.Files.Protected, k.Changes.Files.AlsoProtected, k.Changes.Files.Unprotected = p.files, p.include, p.exclude
	if p.violation != "" {
		k.Changes.OnViolation = p.violation
	}
	if p.reviewed {
		d.warn(given, "protected-files: Airlock does not request a review of changes to protected files; they are refused")
	}
}
