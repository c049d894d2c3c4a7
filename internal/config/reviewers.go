package config

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/text"
)

// reviewers returns the shape of plug-in reviewers: names of known ones, or settings.
func reviewers() shape {
	known := `"` + strings.Join(plugin.Presets(), `", "`) + `"`
	item := `{"anyOf": [{"enum": [` + known + `]}, {"allOf": [{"$ref": "#/definitions/checks-reviewers"}, {"required": ["name"]}, ` +
		`{"anyOf": [{"required": ["command"]}, {"required": ["args"]}, {"properties": {"name": {"enum": [` + known + `]}}}]}, {"not": {"required": ["command", "args"]}}]}]}`
	return sections(item, "a list of reviewers, such as [gosec, {name: our-linter, command: \"lint {files}\"}]")
}

// setReviewers decodes the list. It also decodes the reviewers after one with problems.
func setReviewers(d *decoder, list *node, _ any, c *Checks) {
	lines := map[string]int{} // where a name was given
	for i := range list.items {
		at := &list.items[i]
		before := len(d.problems)
		r := decodeReviewer(d, at)
		if len(d.problems) > before {
			continue
		}
		if err := r.Validate(); err != nil {
			for why := range strings.SplitSeq(err.Error(), "\n") {
				d.fail(at, "reviewers: %s", why)
			}
			continue
		}
		if line, twice := lines[r.Name]; twice {
			d.fail(at, "reviewers: there is another %s on line %d; give each a name of its own, or one of them several directories with \"dirs\"", quote(r.Name), line)
			continue
		}
		lines[r.Name] = at.line
		c.Plugins = append(c.Plugins, r)
	}
}

// decodeReviewer reads a reviewer. If a known reviewer has the same name, the keys change that
// reviewer's settings.
func decodeReviewer(d *decoder, given *node) plugin.Config {
	if given.kind == textNode {
		r, ok := plugin.Preset(given.text)
		if !ok {
			d.fail(given, "reviewers: %s", unknownReviewer(given.text))
		}
		return r
	}
	var r plugin.Config
	if name := given.valueOf("name"); name != nil {
		r, _ = plugin.Preset(name.text)
	}
	if given.valueOf("command") != nil {
		if given.valueOf("args") != nil {
			d.fail(given, "reviewers: give either \"command\" or \"args\", not both")
		}
		r.Args = nil // a command runs instead of the known reviewer's
	}
	if given.valueOf("patterns") != nil {
		r.Format = ""
	}
	before := len(d.problems)
	section(d, "checks: reviewers", given.entries, reviewerKeys(), &r)
	if r.Name == "" && len(d.problems) == before {
		d.fail(given, "reviewers: a reviewer needs a name; add \"name:\"")
	}
	return r
}

func unknownReviewer(name string) string {
	names := plugin.Presets()
	return "there is no reviewer " + quote(name) + cmp.Or(text.DidYouMean(name, names), "; known by name are "+strings.Join(names, ", ")+`; any other needs a "command", such as {name: our-linter, command: "lint {files}"}`)
}

// reviewerKeys returns the keys of one plug-in reviewer.
func reviewerKeys() []key[plugin.Config] {
	severities := []string{"low", "medium", "high", "critical"}
	return []key[plugin.Config]{
		into("name", "Its name in results. The name of a known reviewer ("+strings.Join(plugin.Presets(), ", ")+") also gives the settings of that reviewer, which the other keys change.", line(64, "our-linter"), func(r *plugin.Config) *string { return &r.Name }),
		into("command", "The command line, which a shell reads. The word {files} stands for the changed files, each an argument that begins with \"./\"; there is no shell then.", commandLine("lint {files}"), func(r *plugin.Config) *string { return &r.Command }),
		into("args", "The program and its arguments, one text each, instead of \"command\"; {files} stands for the changed files.", arguments(), func(r *plugin.Config) *[]string { return &r.Args }),
		setting("check", "The review that its findings belong to. Default: \"code-review\".", oneOf("code-review", "security-review"), func(r *plugin.Config, v string) { r.Check = phase.Check(strings.ReplaceAll(v, "-", "_")) }),
		setting("format", "The form of its output: \"ndjson\" is safe outputs; \"ast-grep\" to \"gosec\" are those tools' JSON; \"auto\" detects the form. Default: \"auto\", or lines of text where there are \"patterns\".", oneOf(formats()...), func(r *plugin.Config, v string) { r.Format = plugin.Format(v) }),
		into("patterns", "Lines of its output that are findings, as Vim's errorformat describes them.", texts(`{"type": "string"}`, `["%f:%l:%c: %m"]`, anyText), func(r *plugin.Config) *[]string { return &r.Patterns }),
		into("languages", "Only changed files in these languages are given to it; it does not run where there are none. Default: all files.", languages(), func(r *plugin.Config) *[]string { return &r.Languages }),
		into("dirs", "Directories in which it runs, one after the other, each with the changed files below it. Default: the repository's root.", directories(), func(r *plugin.Config) *[]string { return &r.Dirs }),
		setting("input", "What it reads from standard input: nothing, or the instructions and the diff. Default: \"none\".", oneOf("none", "diff"), func(r *plugin.Config, v string) { r.Diff = v == "diff" }),
		into("instructions", "Instructions for an agent, above the diff.", longText(plugin.MaxInstructions), func(r *plugin.Config) *string { return &r.Instructions }),
		into("severity", "How severe the findings of a rule are, by the rule's name. Default: as it reports.", severityMap(severities), func(r *plugin.Config) *map[string]finding.Severity { return &r.Severity }),
		setting("min-severity", "Less severe findings are left out and counted. Default: \"low\".", oneOf(severities...), func(r *plugin.Config, v string) { r.MinSeverity = finding.Severity(v) }),
		setting("precision", "How often it is right; of two reviewers that report the same, the more precise one is quoted. Default: as its rules state.", oneOf("very-high", "high", "medium", "low"), func(r *plugin.Config, v string) { r.Precision = finding.Precision(v) }),
		into("exit-codes", "Exit codes other than 0 with which it ends when it has findings; any other means that the review could not be done. Default: 1.", exitCodes(), func(r *plugin.Config) *[]int { return &r.FoundExits }),
		into("time-limit", "How long it may run. Default: 300s.", duration(time.Second, 6*time.Hour, "10m"), func(r *plugin.Config) *time.Duration { return &r.TimeLimit }),
	}
}

func formats() []string {
	var names []string
	for _, f := range plugin.Formats() {
		names = append(names, string(f))
	}
	return names
}

// arguments returns the shape of a program and its arguments.
func arguments() shape {
	one := texts(`{"type": "string"}`, "[lint, --all]", anyText)
	return shape{`{"type": "array", "minItems": 1, "items": {"type": "string"}}`, one.wants, func(n *node) (any, *fault) {
		if n.kind != listNode || len(n.items) == 0 {
			return mismatch()
		}
		return one.parse(n)
	}}
}

// languages returns the shape of names of the languages of files.
func languages() shape {
	one := oneOf("javascript", "typescript", "python", "go", "rust", "ruby", "java")
	return texts(one.schema, "[go, python]", func(s string) error {
		if _, f := one.read(&node{kind: textNode, text: s}); f != nil {
			return errors.New("is not a language: " + f.why)
		}
		return nil
	})
}

// anyText accepts every text.
func anyText(string) error { return nil }

// severityMap returns the shape of a mapping of rules to severities.
func severityMap(words []string) shape {
	one := oneOf(words...)
	return shape{`{"type": "object", "additionalProperties": ` + one.schema + `}`, "a mapping of rules to severities, such as {G104: low}", func(n *node) (any, *fault) {
		if n.kind != mapNode {
			return mismatch()
		}
		all := map[string]finding.Severity{}
		var found faults
		for i := range n.entries {
			e := &n.entries[i]
			v, f := one.read(&e.value)
			if f != nil {
				found.add(f.at, "%s: %s", text.Truncate(e.key, 60), f.why)
				continue
			}
			all[e.key] = finding.Severity(v.(string))
		}
		return all, found.first
	}}
}

// exitCodes returns the shape of an exit code, or of a list of them, which may be empty.
func exitCodes() shape {
	one := integerBetween(1, 255, 1)
	schema := `{"anyOf": [{"type": "array", "items": ` + one.schema + `}, ` + one.schema + `]}`
	return shape{schema, "a list of whole numbers from 1 to 255, such as [1, 2]", func(n *node) (any, *fault) {
		items := []node{*n}
		if n.kind == listNode {
			items = n.items
		}
		codes := []int{}
		for i := range items {
			v, f := one.read(&items[i])
			if f != nil {
				return mismatch()
			}
			codes = append(codes, v.(int))
		}
		return codes, nil
	}}
}
