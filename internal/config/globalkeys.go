package config

import (
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/text"
)

// globalTable is the table of keys at the top: the kinds, what applies to all of
// them, and what is understood without effect.
var globalTable = sync.OnceValue(func() []key[SafeOutputs] {
	var keys []key[SafeOutputs]
	for _, row := range kindTable() {
		takes := sectionOr(string(row.kind), "settings, true, false or no value, such as {max: 1}", boolNode, nullNode)
		keys = append(keys, key[SafeOutputs]{name: string(row.kind), also: row.also, doc: row.doc, takes: takes,
			set: func(d *decoder, given *node, _ any, c *SafeOutputs) {
				c.Policy.Kinds[row.kind] = decodeKind(d, row, given)
			}})
	}
	keys = append(keys,
		setting("staged", "Only plan, for every kind. Default: false.", boolean(), func(c *SafeOutputs, v bool) { c.Policy.Staged, c.notStaged = c.Policy.Staged || v, !v }),
		into("footer", "The text below every body, in Markdown; false for none. Default: a line that names the workflow run.", footer(), func(c *SafeOutputs) *policy.Footer { return &c.Policy.Footer }),
		key[SafeOutputs]{name: "allowed-domains", takes: domains(), set: setDomains,
			doc: "Hosts that links may lead to, with their subdomains, in addition to GitHub's own. Default: none."},
		mentionsAllowed("allowed-mentions"),
		key[SafeOutputs]{name: "mentions", takes: sectionOr("mentions", "false, or a mapping, such as {allowed: [octocat]}", boolNode),
			doc: "Users and teams that texts may mention, as \"allowed\" below it; false for none. Default: none.", set: setMentions},
		key[SafeOutputs]{name: "allowed-secrets", takes: sectionOr("allowed-secrets", "a mapping, such as {files: [\"testdata/**\"]}"),
			doc: "What may be written and pushed although it looks like a secret; see [secrets](#secrets). Default: none.", set: setSecrets},
		yesNo("allow-closing-words", "Whether words such as \"fixes #12\" may close issues. Default: false.", func(c *SafeOutputs) *bool { return &c.ClosingWords }).alias("closing-words"),
		into("max-bot-mentions", "How many closing words may close issues in one text, counted from its beginning, if allow-closing-words is true. Default: any number.", integerBetween(1, 10000, 10), func(c *SafeOutputs) *int { return &c.MaxClosingWords }),
		into("allowed-github-references", "Repositories whose issues, pull requests and discussions texts may refer to: \"repo\" for the text's own, \"owner/name\", \"owner/*\"; others become inert. Default: all.",
			references(), func(c *SafeOutputs) *[]string { return &c.References }),
		key[SafeOutputs]{name: "threat-detection", takes: anything(), foreign: true, set: stageForDetection},
		setting("after-failed-code", "What becomes of texts after an item that carries code failed: they are applied with a \"note\" of it, or held (\"hold\"). Default: \"note\".",
			oneOf("note", "hold"), func(c *SafeOutputs, v string) { c.Policy.HoldAfterFailedCode = v == "hold" }),
		into("max-patch-files", "As max-patch-files of the kinds that carry code, for both.", limit(100), func(c *SafeOutputs) *int { return &c.maxFiles }),
		into("max-patch-size", "As max-patch-size of the kinds that carry code, for both.", limit(1024), func(c *SafeOutputs) *int { return &c.maxSizeKB }),
		checksKey(),
		acceptanceKey(),
	)
	keys = append(keys, foreignKinds()...)
	return append(keys, foreign[SafeOutputs](
		"actions", "app", "body-footer", "concurrency-group", "data", "env", "environment",
		"failure-issue-repo", "github-app", "github-token", "group-reports", "id-token", "jobs", "linear-token",
		"messages", "needs", "report-failed-jobs", "report-failure-as-issue", "runs-on",
		"scripts", "steer", "steps", "timeout-minutes", "urls")...)
})

// mentionsAllowed returns the key of the users and teams that texts may mention. It is
// known in two sections, whose lists add up.
func mentionsAllowed(name string) key[SafeOutputs] {
	return setting(name, "Users and teams that texts may mention. Default: none.", mentioned(),
		func(c *SafeOutputs, v []string) { c.AllowedMentions = append(c.AllowedMentions, v...) })
}

// mentionKeys returns the table of keys below mentions.
func mentionKeys() []key[SafeOutputs] {
	return append([]key[SafeOutputs]{
		mentionsAllowed("allowed"),
		into("max", "The most users and teams that one text may mention.", integerBetween(1, 10000, 10), func(c *SafeOutputs) *int { return &c.MaxMentions }),
		setting("enabled", "Whether texts may mention those allowed.", boolean(), func(c *SafeOutputs, v bool) { c.noMentions = !v }),
	}, foreign[SafeOutputs]("allow-context", "allow-team-members", "allowed-collaborators", "allowed-teams")...)
}

func setMentions(d *decoder, given *node, _ any, c *SafeOutputs) {
	switch {
	case given.kind == mapNode:
		section(d, "mentions", given.entries, mentionKeys(), c)
	case given.text != "true":
		c.noMentions = true
	default:
		d.warn(given, "mentions: Airlock does not let texts mention everybody; list those allowed with \"allowed-mentions:\"")
	}
}

// setDomains stores the hosts. A name of an ecosystem, which the widely used front matter knows,
// becomes the hosts that it stands for.
func setDomains(d *decoder, given *node, v any, c *SafeOutputs) {
	for _, name := range v.([]string) {
		hosts, known := ecosystemHosts(name)
		switch {
		case known:
			c.AllowedDomains = append(c.AllowedDomains, hosts...)
			d.record(given, Honoured, "allowed-domains: %s stands for %s", quote(name), text.Count(len(hosts), "host"))
		case !strings.Contains(name, ".") && name != "localhost":
			d.warn(given, "allowed-domains: %s is neither a host nor an ecosystem that Airlock knows, so links there stay redacted; write the hosts, such as pypi.org", quote(name))
		default:
			c.AllowedDomains = append(c.AllowedDomains, name)
		}
	}
}

// stageForDetection stages everything, because the owner wants items to be examined before they are
// applied, which Airlock does not do. It stages nothing if the detection is switched off or the key
// has no value.
func stageForDetection(d *decoder, given *node, _ any, c *SafeOutputs) {
	off := given.kind == boolNode && given.text == "false" || given.kind == nullNode
	for _, e := range given.entries {
		off = off || canonical(e.key) == "enabled" && e.value.kind == boolNode && e.value.text == "false"
	}
	if off {
		warnForeign(d, given, "threat-detection")
		return
	}
	c.Policy.Staged = true
	d.warn(given, "threat-detection: Airlock runs no detection job, so all items are only planned (staged); remove the key, or set it to false, to have them applied")
}
