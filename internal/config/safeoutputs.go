// Package config decodes and merges configuration from inputs, files, environment
// and flags into the packages' own Config types, and reports what is wrong with it
// by line and column.
package config

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// SafeOutputs is a decoded safe-outputs configuration. The zero value is no
// configuration.
type SafeOutputs struct {
	// Policy has the kinds and what the owner allows each.
	Policy policy.Config
	// AllowedDomains are hosts that links may lead to, in addition to the default ones.
	AllowedDomains []string
	// AllowedMentions are users and teams that texts may mention.
	AllowedMentions []string
	// MaxMentions is how many of them one text may mention, 0 for any number.
	MaxMentions int
	// ClosingWords allows texts to close issues, MaxClosingWords of them in one text; 0
	// means any number.
	ClosingWords    bool
	MaxClosingWords int
	// References are the repositories that texts may refer to; nil means all.
	References []string
	// AllowedSecrets may be written and pushed although they look like secrets.
	AllowedSecrets secrets.Allowed
	// Checks is how a pull request's changed files are validated.
	Checks Checks
	// Acceptance is how acceptance criteria are verified.
	Acceptance Acceptance
	// Warnings are keys that are understood and have no effect, and settings
	// that allow less than they seem to.
	Warnings Problems
	// Keys are what becomes of the keys of a front matter, by place; none for other documents.
	Keys []Key

	// maxFiles and maxSizeKB apply to both kinds that carry code.
	maxFiles, maxSizeKB int
	// noMentions is set where mentions are switched off.
	noMentions bool
	// notStaged is set where the owner says "staged: false" for all kinds.
	notStaged bool
}

// Parse decodes a configuration: YAML or JSON, with the kinds at the top or below "safe-outputs", or
// Markdown with a YAML front matter, which has the kinds below "safe-outputs". source names it in
// messages. The error is of type Problems and lists everything that is wrong.
//
// Parse does not read what a front matter imports; Load does.
func Parse(source string, data []byte) (SafeOutputs, error) {
	return parse(source, data, origin{})
}

// origin is where a configuration's text is from.
type origin struct {
	// file is the file's name in the repository, and read reads other files there. They are "" and
	// nil if the text is not from a file.
	file string
	read importReader
	// evaluated is set where a runner has evaluated the text's expressions already.
	evaluated bool
}

func parse(source string, data []byte, from origin) (SafeOutputs, error) {
	doc, err := parseDocument(source, data)
	if err != nil {
		return SafeOutputs{}, err
	}
	d := &decoder{source: source, placeOf: placeOf, evaluated: from.evaluated}
	if doc.root.kind == nullNode && !doc.frontMatter {
		return SafeOutputs{}, nil
	}
	cfg := SafeOutputs{Policy: policy.Config{Kinds: map[policy.Kind]policy.KindConfig{}}}
	if entries, ok := d.safeOutputs(doc); ok {
		section(d, "", d.follow(doc, from.file, from.read, entries), globalTable(), &cfg)
	}
	if err := d.problems.err(); err != nil {
		return SafeOutputs{}, err
	}
	cfg.shareLimits()
	if cfg.noMentions {
		cfg.AllowedMentions = nil
	}
	if d.unreadImports && !cfg.notStaged { // "staged: false" declares that they can be left out
		cfg.Policy.Staged = true
	}
	if !cfg.enablesKind() && !cfg.Checks.Given && !cfg.Acceptance.Given {
		d.warn(&doc.root, "no kind is enabled, so everything that would change something is denied; add for example \"create-issue:\"")
	}
	d.warnings.sort()
	cfg.Warnings = d.warnings
	if doc.frontMatter {
		d.recordOthers(doc.root.entries)
		cfg.Keys = d.keys
		sortKeys(source, cfg.Keys)
	}
	return cfg, nil
}

// safeOutputs returns the entries of the configuration within the document.
func (d *decoder) safeOutputs(doc document) ([]entry, bool) {
	root := &doc.root
	if root.kind == textNode {
		hint := "a key needs a colon after it"
		if strings.ContainsAny(root.text, "/.") {
			hint = "a file's name belongs in the input config-file, or after --config"
		}
		d.fail(root, "%s; %s", expectedMapping(root), hint)
		return nil, false
	}
	if root.kind != mapNode && root.kind != nullNode {
		d.fail(root, "%s", expectedMapping(root))
		return nil, false
	}
	i := indexOf(root.entries, "safe-outputs")
	switch {
	case i < 0 && doc.frontMatter && len(importsOf(doc)) > 0:
		return nil, true
	case i < 0 && doc.frontMatter:
		d.fail(&node{line: 1, col: 1}, "the front matter has no key \"safe-outputs\"")
		return nil, false
	case i < 0:
		return root.entries, true
	}
	found := &root.entries[i].value
	if found.kind != mapNode && found.kind != nullNode {
		d.fail(found, "safe-outputs: %s", expectedMapping(found))
		return nil, false
	}
	for other, e := range root.entries {
		switch {
		case other == i:
		case !doc.frontMatter: // whose other keys are for other programs
			d.fail(e.keyNode(), "%s is next to safe-outputs, where nothing is read; move it below safe-outputs or remove it", quote(e.key))
		case canonical(e.key) == "safe-outputs":
			d.fail(e.keyNode(), "%s", sameKey(e, root.entries[i]))
		}
	}
	return found.entries, true
}

func expectedMapping(n *node) string {
	return "expected a mapping, such as \"create-issue: {max: 1}\", found " + n.describe()
}

// enablesKind reports whether a kind is listed and not disabled.
func (c *SafeOutputs) enablesKind() bool {
	for _, kc := range c.Policy.Kinds {
		if !kc.Disabled {
			return true
		}
	}
	return false
}

// shareLimits gives the limits at the top to the kinds that set none.
func (c *SafeOutputs) shareLimits() {
	for kind, kc := range c.Policy.Kinds {
		if safeoutput.SpecOf(kind).CarriesCode {
			files := &kc.Changes.Files
			files.MaxFiles, files.MaxSizeKB = cmp.Or(files.MaxFiles, c.maxFiles), cmp.Or(files.MaxSizeKB, c.maxSizeKB)
			c.Policy.Kinds[kind] = kc
		}
	}
}

// Sanitize returns what texts may do. serverHost is the GitHub server's own host,
// "" for github.com; repository is where they are published, "" if it is not known.
func (c SafeOutputs) Sanitize(serverHost, repository string) sanitize.Config {
	return sanitize.Config{
		MaxMentions:     c.MaxMentions,
		MaxClosingWords: c.MaxClosingWords,
		References:      c.References,
		Repository:      repository,
		AllowedDomains:  c.AllowedDomains,
		AllowedMentions: c.AllowedMentions,
		ClosingWords:    c.ClosingWords,
		ServerHost:      serverHost,
	}
}

// Intake returns the settings of intake: the limits of all kinds, and how
// texts are cleaned. Its Enabled is nil, as apply needs it; see Enabled.
func (c SafeOutputs) Intake(clean sanitize.Config, strict bool) intake.Config {
	most, least := map[policy.Kind]int{}, map[policy.Kind]int{}
	for kind, kc := range c.Policy.Kinds {
		if kc.Max != nil {
			most[kind] = *kc.Max
		}
		if kc.Min > 0 && !kc.Disabled {
			least[kind] = kc.Min
		}
	}
	label := c.Policy.Kinds["add-issue-label"]
	if label.AllowedLabels != nil || label.BlockedLabels != nil {
		// Intake would count labels that policy removes, and drop some that are
		// allowed; policy counts the rest.
		label.MaxLabels = -1
	}
	return intake.Config{Strict: strict, Max: most, Min: least, MaxLabels: label.MaxLabels, Sanitize: clean}
}

// Permissions returns the names of GitHub's permissions to write that a run may need, sorted. A run
// may write the items of the allowed kinds, and Airlock's own items about checks and acceptance if
// those are configured.
func (c SafeOutputs) Permissions() []string {
	p := c.Policy
	if c.Checks.Given {
		p.Own = c.Checks.Report.Own(true)
	}
	if c.Acceptance.Given {
		p.Own.CheckRun, p.Own.Comment = true, true
	}
	return p.Permissions()
}

// Enabled returns the kinds that the configuration allows. Without a configuration it returns nil,
// which means all kinds. Collect sets intake.Config.Enabled to the result, so that other kinds are
// refused at once.
func (c SafeOutputs) Enabled() map[policy.Kind]bool {
	if !c.Policy.Configured() {
		return nil
	}
	enabled := map[policy.Kind]bool{}
	for _, row := range kindTable() {
		if _, ok := c.Policy.Kind(row.kind); ok {
			enabled[row.kind] = true
		}
	}
	return enabled
}

// WriteNotes writes for a person what becomes of each key of a front matter. For a configuration
// without a front matter it writes the warnings.
func (c SafeOutputs) WriteNotes(w io.Writer) {
	for _, k := range c.Keys {
		fmt.Fprintln(w, k)
	}
	if len(c.Keys) > 0 {
		fmt.Fprintln(w, CountEffects(c.Keys))
		return
	}
	c.WriteWarnings(w)
}

// WriteWarnings writes the warnings for a person.
func (c SafeOutputs) WriteWarnings(w io.Writer) {
	for _, p := range c.Warnings {
		fmt.Fprintf(w, "warning: %s\n", p)
	}
}

// DescribeEnabled describes to a person which kinds the configuration allows.
func (c SafeOutputs) DescribeEnabled() string {
	enabled := c.Enabled()
	if enabled == nil {
		return "it is empty, so every kind is planned and none is written"
	}
	var names []string
	for kind := range enabled {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return "it enables " + strings.Join(names, ", ")
}
