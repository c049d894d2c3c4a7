package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// kindRow is a kind in the configuration.
type kindRow struct {
	kind policy.Kind
	also []string
	doc  string
	keys []kindKey
}

// kindKey is a key below a kind.
type kindKey = key[policy.KindConfig]

// kindTable is the table of kinds with the keys that each of them takes, made when
// first needed. The kinds' names and limits, and what they act on, are those of safeoutput.
var kindTable = sync.OnceValue(func() []kindRow {
	rows := kindRows()
	for i := range rows {
		row, spec := &rows[i], safeoutput.SpecOf(rows[i].kind)
		row.also = spec.Aliases
		if spec.AlwaysAllowed {
			row.doc += " Allowed without being listed, because it changes nothing."
		}
		row.keys = slices.Concat(commonKeys(spec), row.keys,
			foreign[policy.KindConfig]("github-token", "github-app", "app", "samples", "normalize-closing-keywords", "data", "body-footer", "issue-intent"))
	}
	return rows
})

// kindRows returns the kinds with the keys that each has in addition to commonKeys. A test
// asserts that they are the kinds of safeoutput.
func kindRows() []kindRow {
	row := func(kind policy.Kind, doc string, keys ...[]kindKey) kindRow {
		return kindRow{kind: kind, doc: doc, keys: slices.Concat(keys...)}
	}
	titlePrefix := into("title-prefix", "Begins every title, exactly as written. Default: none.", line(100, `"[ai] "`), func(k *policy.KindConfig) *string { return &k.TitlePrefix })
	addLabels := into("labels", "Labels that are added to those the item asks for. Default: none.", labels(), func(k *policy.KindConfig) *[]string { return &k.Labels })
	allowedLabels := into("allowed-labels", "Labels that an item may ask for; * stands for any text. Others are left out and listed. Default: all.", labelPatterns(), func(k *policy.KindConfig) *[]string { return &k.AllowedLabels })
	blockedLabels := into("blocked-labels", "Labels that no item may ask for; * stands for any text. Default: none.", labelPatterns(), func(k *policy.KindConfig) *[]string { return &k.BlockedLabels })
	allowed, blocked := allowedLabels, blockedLabels // add-issue-label, which is about labels alone, has shorter names for them
	allowed.name, blocked.name = "allowed", "blocked"
	ownFooter := optional("footer", "As the footer at the top, for this kind alone.", footer(), func(k *policy.KindConfig) **policy.Footer { return &k.Footer })
	issueOfReports := func(doc string) []kindKey { // of kinds that report: whether an issue is opened, and how it looks
		return slices.Concat(group(yesNo("create-issue", doc, func(k *policy.KindConfig) *bool { return &k.CreateIssue }), titlePrefix, addLabels, ownFooter),
			foreign[policy.KindConfig]("assignees"))
	}
	return []kindRow{
		row("create-issue", "Open issues.", group(titlePrefix, addLabels, allowedLabels, blockedLabels, ownFooter),
			foreign[policy.KindConfig]("assignees", "expires", "group", "group-by-day", "close-older-issues", "close-older-key", "fields", "allowed-fields"),
			restricting("deduplicate-by-title", "require-temporary-id"), otherRepositories()),
		row("add-issue-comment", "Comment on issues, pull requests and discussions.", group(ownFooter),
			foreign[policy.KindConfig]("discussion", "hide-older-comments", "hide-older-comments-match", "allowed-reasons", "allows-comment-ids", "reply-to-id"),
			otherTargets(), exclusions(safeoutput.Issue, safeoutput.PullRequest, safeoutput.Discussion)),
		row("create-pull-request", "Open pull requests with the agent's changes.", group(titlePrefix, addLabels, allowedLabels, blockedLabels, ownFooter), pullKeys(), changeKeys()),
		row("add-issue-label", "Add labels to issues and pull requests.", group(allowed, blocked, addLabels),
			otherTargets(), foreign[policy.KindConfig]("footer"), exclusions(safeoutput.Issue, safeoutput.PullRequest)),
		row("update-issue", "Change an issue's status, title or body.", updateKeys(), group(ownFooter),
			otherTargets()),
		row("push-to-branch", "Push the agent's changes to a pull request's branch.", pushKeys(), changeKeys()),
		row("create-pull-request-review-comment", "Comment on lines of a pull request's diff.", reviewKeys(), group(ownFooter),
			foreign[policy.KindConfig]("commit-id", "commit-sha"), otherTargets()),
		row("create-discussion", "Open discussions.", group(titlePrefix,
			into("category", "The category of every discussion, by name, slug or id. Default: the item's, otherwise the repository's first.", lineOrNumber(100, "general"), func(k *policy.KindConfig) *string { return &k.Discussion.Category }).alias("category-id"),
			ownFooter),
			foreign[policy.KindConfig]("labels", "allowed-labels", "expires", "close-older-discussions", "close-older-key", "fallback-to-issue"),
			restricting("required-category", "min-body-length"), otherRepositories()),
		row("missing-tool", "Report tools that the agent lacked.", issueOfReports("Open an issue for what is missing. Default: false.")),
		row("missing-data", "Report data that the agent lacked.", issueOfReports("Open an issue for what is missing. Default: false.")),
		row("report-incomplete", "Report that the task was not completed, which counts as a failed item.", issueOfReports("Open an issue for it. Default: false.")),
		row("create-security-report", "Report findings to code scanning.",
			group(into("driver", "The tool that findings are reported under. Default: Airlock's name for agents' findings.", line(100, "my-scanner"), func(k *policy.KindConfig) *string { return &k.Report.Driver }),
				into("category", "Code scanning's category of the report. Default: the item's, otherwise, in a matrix or a reusable workflow, that of the job.", line(200, "airlock"), func(k *policy.KindConfig) *string { return &k.Report.Category })),
			foreign[policy.KindConfig]("footer"), otherRepositories()),
		row("noop", "Report that there was nothing to do.", foreign[policy.KindConfig]("footer", "report-as-issue")),
	}
}

// commonKeys returns the keys that every kind has, and the keys that depend on the kind's limits
// and targets.
func commonKeys(spec safeoutput.Spec) []kindKey {
	keys := []kindKey{
		setting("enabled", "Whether the kind is allowed at all. Default: true.", boolean(), func(k *policy.KindConfig, v bool) { k.Disabled = !v }),
		yesNo("staged", "Only plan items of this kind. Default: false.", func(k *policy.KindConfig) *bool { return &k.Staged }),
	}
	maxItems := optional("max", fmt.Sprintf("The most items of this kind; those beyond it are listed and dropped. Default: %d.", spec.DefaultMax), limit(spec.DefaultMax), func(k *policy.KindConfig) **int { return &k.Max })
	if n := spec.DefaultMaxLabels; n > 0 {
		keys = append(keys, into("max", fmt.Sprintf("The most labels that one item may ask for. Default: %d.", n), limit(n), func(k *policy.KindConfig) *int { return &k.MaxLabels }))
		maxItems.name = "max-items"
	}
	keys = append(keys, maxItems,
		into("min", "The fewest items of this kind; the run fails if there are fewer. Default: 0.", integerBetween(0, 10000, 1), func(k *policy.KindConfig) *int { return &k.Min }))
	if len(spec.ActsOn) > 0 {
		keys = append(keys, into("target", "What items may act on: \"triggering\" (what the event is about), \"*\" (the item names a number), or one number. Default: \"triggering\".",
			target(), func(k *policy.KindConfig) *policy.TargetRule { return &k.Target }))
	}
	return keys
}

// group returns a list of keys.
func group(keys ...kindKey) []kindKey { return keys }

// otherRepositories returns the restricting keys by which items act in other repositories.
func otherRepositories() []kindKey {
	return restricting("target-repo", "allowed-repos")
}

// otherTargets returns the restricting keys by which items act in other repositories, or only on
// targets with certain labels or titles.
func otherTargets() []kindKey {
	return restricting("target-repo", "allowed-repos", "required-labels", "required-title-prefix", "title-prefix", "allowed-labels")
}

// exclusions returns a key for each target. If the key is false, items may not act on the target.
func exclusions(targets ...safeoutput.Target) []kindKey {
	keys := make([]kindKey, len(targets))
	for i, target := range targets {
		plural := string(target) + "s"
		keys[i] = setting(strings.ReplaceAll(plural, " ", "-"), "Whether items may act on "+plural+". Default: true.", boolean(), func(k *policy.KindConfig, v bool) {
			if !v {
				k.Excludes = append(k.Excludes, target)
			}
		})
	}
	return keys
}

// updateKeys returns the keys of update-issue alone.
func updateKeys() []kindKey {
	mayChange := func(name string, in func(*policy.KindConfig) *bool) kindKey {
		return into(name, "Whether the "+name+" may be changed; no value means yes. Default: no.", yesUnlessFalse(), in).alias("allow-" + name)
	}
	return group(
		mayChange("status", func(k *policy.KindConfig) *bool { return &k.Update.Status }),
		mayChange("title", func(k *policy.KindConfig) *bool { return &k.Update.Title }),
		mayChange("body", func(k *policy.KindConfig) *bool { return &k.Update.Body }),
		into("operation", "What becomes of an item's body if the item has no operation: it replaces the issue's text, goes below or above it, or replaces what the job wrote there before. Default: \"replace\".",
			oneOf(safeoutput.OperationReplace, safeoutput.OperationAppend, safeoutput.OperationPrepend, safeoutput.OperationReplaceIsland), func(k *policy.KindConfig) *string { return &k.Update.Operation }),
	)
}

// reviewKeys returns the keys of create-pull-request-review-comment alone.
func reviewKeys() []kindKey {
	return []kindKey{
		into("side", "The side of the diff for items that name none. Default: \"RIGHT\".", oneOf("LEFT", "RIGHT"), func(k *policy.KindConfig) *string { return &k.Review.Side }),
		setting("outside-diff", "What becomes of a comment on lines that the diff does not show: into the review's \"body\", a comment on the \"file\", or \"drop\" with a notice. Default: \"body\".",
			oneOf("body", "file", "drop"), func(k *policy.KindConfig, v string) {
				k.Review.OutsideDiff = map[string]policy.OutsideDiff{"file": policy.OutsideFile, "drop": policy.OutsideDrop}[v]
			}),
	}
}

// decodeKind reads the entry of a kind, and warns of settings that cannot work.
func decodeKind(d *decoder, row kindRow, given *node) policy.KindConfig {
	kc := policy.KindConfig{Disabled: given.kind == boolNode && given.text != "true"}
	d.restricted = false
	section(d, string(row.kind), given.entries, row.keys, &kc)
	kc.Staged = kc.Staged || d.restricted
	if kc.Disabled {
		return kc
	}
	most := safeoutput.SpecOf(row.kind).DefaultMax
	if kc.Max != nil {
		most = *kc.Max
	}
	if most >= 0 && kc.Min > most {
		d.warn(given, "%s: min is %d and the most items are %d, so every run fails; lower min or raise max", row.kind, kc.Min, most)
	}
	switch {
	case row.kind == "update-issue" && !kc.Update.Status && !kc.Update.Title && !kc.Update.Body:
		d.warn(given, "update-issue: no field is enabled, so every update is denied; add \"status:\", \"title:\" or \"body:\" below it")
	case row.kind == "push-to-branch" && kc.Changes.Branch != "" && limitsPullRequests(kc):
		d.warn(given, "push-to-branch: \"branch\" is pushed to without a pull request, so target, title-prefix and labels cannot apply and items are only planned (staged); remove \"branch\", or those keys")
		kc.Staged = true
	}
	warnOfContradictions(d, row.kind, given, kc)
	return kc
}

// limitsPullRequests reports whether a key other than branch says which pull requests may be
// pushed to.
func limitsPullRequests(kc policy.KindConfig) bool {
	return kc.Target != (policy.TargetRule{}) || kc.Changes.RequiredTitlePrefix != "" || len(kc.Changes.RequiredLabels) > 0
}

// placeOf returns in which section a key is known, or "".
func placeOf(name string) string {
	var kinds []string
	for _, row := range kindTable() {
		if knows(row.keys, name) {
			kinds = append(kinds, string(row.kind))
		}
	}
	switch {
	case knows(globalTable(), name):
		return "at the top, or below safe-outputs"
	case kinds != nil:
		return "below " + strings.Join(kinds[:min(len(kinds), 3)], ", ")
	case knows(checksTable(), name):
		return "below checks"
	case knows(acceptanceTable(), name):
		return "below acceptance"
	}
	return ""
}

// knows reports whether a table has a key of that name that is not foreign.
func knows[T any](keys []key[T], name string) bool {
	return slices.ContainsFunc(keys, func(k key[T]) bool { return k.name == name && !k.foreign })
}
