package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// kindRow is a kind as configuration knows it.
type kindRow struct {
	kind policy.Kind
	also []string
	doc  string
	keys []key[policy.KindConfig]
}

// kindTable is the table of kinds with the keys that each of them takes, made
// when first needed. A test holds it together with the union's own table, which
// says what a kind is called, its limits and what it acts on.
var kindTable = sync.OnceValue(func() []kindRow {
	rows := kindRows()
	for i := range rows {
		row, spec := &rows[i], safeoutput.SpecOf(rows[i].kind)
		row.also = spec.Aliases
		if spec.AlwaysAllowed {
			row.doc += " Allowed without being listed, because it changes nothing."
		}
		row.keys = kindKeys(spec, row.keys)
	}
	return rows
})

// kindRows are the kinds with the keys that each has beyond those of kindKeys.
func kindRows() []kindRow {
	return []kindRow{
		{kind: "create-issue", doc: "Open issues.", keys: slices.Concat(titlePrefix(), addLabels(), allowedLabels("allowed-labels"), blockedLabels("blocked-labels"), ownFooter(),
			foreign("assignees", "expires", "group", "group-by-day", "close-older-issues", "close-older-key", "fields", "allowed-fields", "deduplicate-by-title", "require-temporary-id"),
			restricting("target-repo", "allowed-repos"))},
		{kind: "add-issue-comment", doc: "Comment on issues, pull requests and discussions.", keys: slices.Concat(ownFooter(),
			foreign("discussion", "hide-older-comments", "hide-older-comments-match", "allowed-reasons", "allows-comment-ids", "reply-to-id"),
			restricting("target-repo", "allowed-repos", "required-labels", "required-title-prefix", "title-prefix", "allowed-labels"),
			excludeKeys("issues", "pull-requests", "discussions"))},
		{kind: "create-pull-request", doc: "Open pull requests with the agent's changes.", keys: slices.Concat(titlePrefix(), addLabels(), allowedLabels("allowed-labels"), blockedLabels("blocked-labels"), ownFooter(), pullKeys(), changeKeys())},
		{kind: "add-issue-label", doc: "Add labels to issues and pull requests.", keys: slices.Concat(
			allowedLabels("allowed"), blockedLabels("blocked"), addLabels(),
			restricting("target-repo", "allowed-repos", "required-labels", "required-title-prefix", "title-prefix", "allowed-labels"),
			foreign("footer"), excludeKeys("issues", "pull-requests"))},
		{kind: "update-issue", doc: "Change an issue's status, title or body.", keys: slices.Concat(updateKeys(), ownFooter(),
			foreign("operation"),
			restricting("target-repo", "allowed-repos", "required-labels", "required-title-prefix", "title-prefix", "allowed-labels"))},
		{kind: "push-to-branch", doc: "Push the agent's changes to a pull request's branch.", keys: slices.Concat(pushKeys(), changeKeys())},
		{kind: "create-pull-request-review-comment", doc: "Comment on lines of a pull request's diff.", keys: slices.Concat(reviewKeys(), ownFooter(),
			foreign("commit-id", "commit-sha"),
			restricting("target-repo", "allowed-repos", "required-labels", "required-title-prefix", "title-prefix", "allowed-labels"))},
		{kind: "create-discussion", doc: "Open discussions.", keys: slices.Concat(titlePrefix(),
			[]key[policy.KindConfig]{{
				name: "category", also: []string{"category-id"}, takes: textOrNumber(100, "general"),
				doc: "The category of every discussion, by name, slug or id. Default: the item's, else the repository's first.",
				set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Discussion.Category = v.(string) },
			}}, ownFooter(),
			foreign("labels", "allowed-labels", "expires", "close-older-discussions", "close-older-key", "required-category", "fallback-to-issue", "min-body-length"),
			restricting("target-repo", "allowed-repos"))},
		{kind: "missing-tool", doc: "Report tools that the agent lacked.", keys: slices.Concat([]key[policy.KindConfig]{yesNo("create-issue", "Open an issue for what is missing. Default: false.", func(k *policy.KindConfig) *bool { return &k.MissingTool.CreateIssue })},
			titlePrefix(), addLabels(), ownFooter(), foreign("assignees"))},
		{kind: "create-security-report", doc: "Report findings to code scanning.", keys: slices.Concat([]key[policy.KindConfig]{
			word("driver", "The tool that findings are reported under. Default: Airlock's name for agents' findings.", text(100, "my-scanner"), func(k *policy.KindConfig) *string { return &k.Report.Driver }),
			word("category", "Code scanning's category of the report. Default: the item's.", text(200, "airlock"), func(k *policy.KindConfig) *string { return &k.Report.Category }),
		}, foreign("footer"), restricting("target-repo", "allowed-repos"))},
		{kind: "noop", doc: "Say that there was nothing to do.", keys: slices.Concat(foreign("footer", "report-as-issue"))},
	}
}

// kindKeys returns the keys of a kind: those that every kind has, those that follow from
// what the union knows of it, and its own.
func kindKeys(spec safeoutput.Spec, own []key[policy.KindConfig]) []key[policy.KindConfig] {
	keys := []key[policy.KindConfig]{
		{name: "enabled", doc: "Whether the kind is allowed at all. Default: true.", takes: boolean(),
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Disabled = !v.(bool) }},
		yesNo("staged", "Only plan items of this kind. Default: false.", func(k *policy.KindConfig) *bool { return &k.Staged }),
	}
	if n := spec.DefaultMaxLabels; n > 0 {
		keys = append(keys,
			number("max", "The most labels that one item may ask for. Default: "+itoa(n)+".", limit(n), func(k *policy.KindConfig) *int { return &k.MaxLabels }),
			maxKey("max-items", "The most items of this kind. Default: "+itoa(spec.DefaultMax)+".", spec.DefaultMax))
	} else {
		keys = append(keys, maxKey("max", "The most items of this kind; what is over it is listed and dropped. Default: "+itoa(spec.DefaultMax)+".", spec.DefaultMax))
	}
	if len(spec.ActsOn) > 0 {
		keys = append(keys, targetKey())
	}
	return slices.Concat(keys, own, foreign("github-token", "github-app", "app", "min", "samples", "normalize-closing-keywords", "data", "body-footer", "issue-intent"))
}

// decodeKind stores what an entry says about a kind.
func decodeKind(d *decoder, row kindRow, e *node, into map[policy.Kind]policy.KindConfig) {
	var kc policy.KindConfig
	switch e.kind {
	case nullNode:
	case boolNode:
		kc.Disabled = e.text != "true"
	case mapNode:
		d.restricted = false
		section(d, string(row.kind), e.entries, row.keys, &kc)
		kc.Staged = kc.Staged || d.restricted
	}
	into[row.kind] = kc
	if kc.Disabled {
		return
	}
	if row.kind == "update-issue" && kc.Update == (policy.UpdateSettings{}) {
		d.warn(e.line, e.col, "update-issue: no field is enabled, so every update is denied; add \"status:\", \"title:\" or \"body:\" below it")
	}
	if row.kind == "push-to-branch" && kc.Changes.Branch != "" && holdsPullRequests(kc) {
		d.warn(e.line, e.col, "push-to-branch: \"branch\" is pushed to without a pull request, so target, title-prefix and labels cannot be held to and items are only planned (staged); remove \"branch\", or those keys")
		kc.Staged = true
		into[row.kind] = kc
	}
	if row.kind == "create-pull-request-review-comment" && kc.Target.Any {
		d.warn(e.line, e.col, "%s: its items name no pull request, so target \"*\" means the triggering one", row.kind)
	}
}

// holdsPullRequests reports whether a push is allowed for certain pull requests only.
func holdsPullRequests(kc policy.KindConfig) bool {
	return kc.Target != (policy.TargetRule{}) || kc.Changes.RequiredTitlePrefix != "" || len(kc.Changes.RequiredLabels) > 0
}

// kindValue is what a kind takes: settings, true, false or nothing.
func kindValue(row kindRow) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + string(row.kind) + `"}, {"type": "boolean"}, {"type": "null"}]}`
	return shape{schema, "settings, true, false or no value, such as {max: 1}", func(n *node) (any, *fault) {
		if n.kind != nullNode && n.kind != boolNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}

// placeOf says in which section a key is known, or "".
func placeOf(name string) string {
	var kinds []string
	for _, row := range kindTable() {
		for _, k := range row.keys {
			if k.name == name && !k.foreign {
				kinds = append(kinds, string(row.kind))
			}
		}
		if string(row.kind) == name {
			return "at the top, or below safe-outputs"
		}
	}
	for _, k := range globalTable() {
		if k.name == name && !k.foreign {
			return "at the top, or below safe-outputs"
		}
	}
	if kinds == nil {
		for _, k := range checksTable() {
			if k.name == name {
				return "below checks"
			}
		}
		return ""
	}
	return "below " + strings.Join(kinds[:min(len(kinds), 3)], ", ")
}

// Constructors of keys whose value goes into one variable.

func yesNo[T any](name, doc string, in func(*T) *bool) key[T] {
	return into(name, doc, boolean(), in)
}

func number[T any](name, doc string, takes shape, in func(*T) *int) key[T] {
	return into(name, doc, takes, in)
}

func word[T any](name, doc string, takes shape, in func(*T) *string) key[T] {
	return into(name, doc, takes, in)
}

func list[T any](name, doc string, takes shape, in func(*T) *[]string) key[T] {
	return into(name, doc, takes, in)
}

// into is a key whose shape yields what its variable holds.
func into[T, V any](name, doc string, takes shape, in func(*T) *V) key[T] {
	return key[T]{name: name, doc: doc, takes: takes,
		set: func(_ *decoder, _ *node, v any, k *T) { *in(k) = v.(V) }}
}

// optional is a key whose variable is nil where the key is not given.
func optional[T, V any](name, doc string, takes shape, in func(*T) **V) key[T] {
	return key[T]{name: name, doc: doc, takes: takes,
		set: func(_ *decoder, _ *node, v any, k *T) { *in(k) = new(v.(V)) }}
}

// Keys that several kinds have.

func maxKey(name, doc string, example int) key[policy.KindConfig] {
	return key[policy.KindConfig]{name: name, doc: doc, takes: limit(example),
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Max = new(v.(int)) }}
}

func targetKey() key[policy.KindConfig] {
	return key[policy.KindConfig]{
		name: "target", takes: target(),
		doc: "What items may act on: \"triggering\" (what the event is about), \"*\" (the item names a number), or one number. Default: \"triggering\".",
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Target = v.(policy.TargetRule) },
	}
}

func titlePrefix() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{word("title-prefix", "Begins every title, exactly as written. Default: none.", text(100, `"[ai] "`), func(k *policy.KindConfig) *string { return &k.TitlePrefix })}
}

func addLabels() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list("labels", "Labels that are added to those the item asks for. Default: none.", labels(), func(k *policy.KindConfig) *[]string { return &k.Labels })}
}

func allowedLabels(name string) []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list(name, "Labels that an item may ask for; * stands for any text. Others are left out and listed. Default: all.", labels(), func(k *policy.KindConfig) *[]string { return &k.AllowedLabels })}
}

func blockedLabels(name string) []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list(name, "Labels that no item may ask for; * stands for any text. Default: none.", labels(), func(k *policy.KindConfig) *[]string { return &k.BlockedLabels })}
}

func ownFooter() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{{
		name: "footer", takes: footer(), doc: "As the footer at the top, for this kind alone.",
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Footer = new(v.(policy.Footer)) },
	}}
}

// excludeKeys make keys that say false to leave out issues, pull requests or
// discussions.
func excludeKeys(names ...string) []key[policy.KindConfig] {
	targets := map[string]safeoutput.Target{"issues": safeoutput.Issue, "pull-requests": safeoutput.PullRequest, "discussions": safeoutput.Discussion}
	keys := make([]key[policy.KindConfig], len(names))
	for i, name := range names {
		target := targets[name]
		keys[i] = key[policy.KindConfig]{
			name: name, takes: boolean(), doc: "Whether items may act on " + strings.ReplaceAll(name, "-", " ") + ". Default: true.",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				if !v.(bool) {
					k.Excludes = append(k.Excludes, target)
				}
			},
		}
	}
	return keys
}

// Keys of one kind.

func updateKeys() []key[policy.KindConfig] {
	one := func(name, also string, in func(*policy.KindConfig) *bool) key[policy.KindConfig] {
		k := yesNo(name, "Whether the "+name+" may be changed; no value means yes. Default: no.", in)
		k.also, k.takes = []string{also}, field()
		return k
	}
	return []key[policy.KindConfig]{
		one("status", "allow-status", func(k *policy.KindConfig) *bool { return &k.Update.Status }),
		one("title", "allow-title", func(k *policy.KindConfig) *bool { return &k.Update.Title }),
		one("body", "allow-body", func(k *policy.KindConfig) *bool { return &k.Update.Body }),
	}
}

func reviewKeys() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{
		word("side", "The side of the diff for items that name none. Default: \"RIGHT\".", oneOf("LEFT", "RIGHT"), func(k *policy.KindConfig) *string { return &k.Review.Side }),
		{
			name: "outside-diff", takes: oneOf("body", "file", "drop"),
			doc: "What becomes of a comment on lines that the diff does not show: into the review's \"body\", a comment on the \"file\", or \"drop\" with a notice. Default: \"body\".",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				k.Review.OutsideDiff = map[string]policy.OutsideDiff{"file": policy.OutsideFile, "drop": policy.OutsideDrop}[v.(string)]
			},
		},
	}
}
