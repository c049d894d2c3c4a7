package config

import (
	"sync"

	"github.com/agent-airlock/airlock/internal/policy"
)

// globalTable is the table of keys at the top: the kinds, what holds for all of
// them, and what is understood without effect.
var globalTable = sync.OnceValue(globalKeys)

func globalKeys() []key[SafeOutputs] {
	var keys []key[SafeOutputs]
	for _, row := range kindTable() {
		keys = append(keys, key[SafeOutputs]{
			name: string(row.kind), also: row.also, doc: row.doc, takes: kindValue(row),
			set: func(d *decoder, at *node, _ any, c *SafeOutputs) { decodeKind(d, row, at, c.Policy.Kinds) },
		})
	}
	keys = append(keys,
		key[SafeOutputs]{name: "staged", takes: boolean(), doc: "Only plan, for every kind. Default: false.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.Policy.Staged = v.(bool) }},
		key[SafeOutputs]{name: "footer", takes: footer(), doc: "The text below every body, in Markdown; false for none. Default: a line that names the workflow run.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.Policy.Footer = v.(policy.Footer) }},
		key[SafeOutputs]{name: "allowed-domains", takes: domains(), doc: "Hosts that links may lead to, with their subdomains, beside GitHub's own. Default: none.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.AllowedDomains = v.([]string) }},
		key[SafeOutputs]{name: "allowed-mentions", takes: mentioned(), doc: "Users and teams that texts may mention. Default: none.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) {
				c.AllowedMentions = append(c.AllowedMentions, v.([]string)...)
			}},
		key[SafeOutputs]{name: "mentions", takes: mentions(), doc: "Users and teams that texts may mention, as \"allowed\" below it; false for none. Default: none.", set: setMentions},
		key[SafeOutputs]{name: "allow-closing-words", also: []string{"closing-words"}, takes: boolean(), doc: "Whether words such as \"fixes #12\" may close issues. Default: false.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.ClosingWords = v.(bool) }},
		key[SafeOutputs]{name: "after-failed-code", takes: oneOf("note", "hold"), doc: "What becomes of texts after an item that carries code failed: they are applied with a \"note\" of it, or held (\"hold\"). Default: \"note\".",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.Policy.HoldAfterFailedCode = v.(string) == "hold" }},
		key[SafeOutputs]{name: "max-patch-files", takes: limit(100), doc: "As max-patch-files of the kinds that carry code, for both.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.maxFiles = v.(int) }},
		key[SafeOutputs]{name: "max-patch-size", takes: limit(1024), doc: "As max-patch-size of the kinds that carry code, for both.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) { c.maxSizeKB = v.(int) }},
	)
	keys = append(keys, checksKey())
	keys = append(keys, foreignKinds()...)
	return append(keys, foreignKeys[SafeOutputs](
		"actions", "allowed-github-references", "app", "body-footer", "concurrency-group", "data", "env", "environment",
		"failure-issue-repo", "github-app", "github-token", "group-reports", "id-token", "jobs", "linear-token",
		"max-bot-mentions", "messages", "needs", "report-failed-jobs", "report-failure-as-issue", "runs-on",
		"scripts", "steer", "steps", "threat-detection", "timeout-minutes", "urls")...)
}

// mentionKeys is the table of keys below mentions.
func mentionKeys() []key[SafeOutputs] {
	return append([]key[SafeOutputs]{
		{name: "allowed", takes: mentioned(), doc: "Users and teams that texts may mention. Default: none.",
			set: func(_ *decoder, _ *node, v any, c *SafeOutputs) {
				c.AllowedMentions = append(c.AllowedMentions, v.([]string)...)
			}},
	}, foreignKeys[SafeOutputs]("allow-context", "allow-team-members", "allowed-collaborators", "allowed-teams", "enabled", "max")...)
}

func setMentions(d *decoder, at *node, _ any, c *SafeOutputs) {
	switch {
	case at.kind == mapNode:
		section(d, "mentions", at.entries, mentionKeys(), c)
	case at.text == "true":
		d.warn(at.line, at.col, "mentions: Airlock lets no text mention everybody; list those allowed with \"allowed-mentions:\"")
	}
}
