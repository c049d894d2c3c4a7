package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
)

// reviewers are plug-in reviewers: names of those that are known, or settings.
func reviewers() shape {
	known := `"` + strings.Join(plugin.Presets(), `", "`) + `"`
	item := `{"anyOf": [{"enum": [` + known + `]}, {"allOf": [{"$ref": "#/definitions/checks-reviewers"}, {"required": ["name"]}, ` +
		`{"anyOf": [{"required": ["command"]}, {"required": ["args"]}, {"properties": {"name": {"enum": [` + known + `]}}}]}, {"not": {"required": ["command", "args"]}}]}]}`
	wants := "a list of reviewers, such as [gosec, {name: our-linter, command: \"lint {files}\"}]"
	return shape{`{"type": "array", "items": ` + item + `}`, wants, func(n *node) (any, *fault) {
		if n.kind != listNode {
			return mismatch()
		}
		for i := range n.items {
			if k := n.items[i].kind; k != textNode && k != mapNode {
				return wrong(&n.items[i], "expected %s, found %s in the list", wants, n.items[i].describe())
			}
		}
		return n, nil
	}}
}

// setReviewers decodes the list. What is wrong with one is told, and the next is
// looked at.
func setReviewers(d *decoder, _ *node, v any, c *Checks) {
	lines := map[string]int{} // where a name was given
	for i := range v.(*node).items {
		at := &v.(*node).items[i]
		before := len(d.problems)
		r := decodeReviewer(d, at)
		if len(d.problems) > before {
			continue
		}
		if err := r.Validate(); err != nil {
			for why := range strings.SplitSeq(err.Error(), "\n") {
				d.fail(at.line, at.col, "reviewers: %s", why)
			}
			continue
		}
		if line, twice := lines[r.Name]; twice {
			d.fail(at.line, at.col, "reviewers: there is another %q on line %d; give each a name of its own, or one of them several folders with \"dirs\"", shorten(r.Name), line)
			continue
		}
		lines[r.Name] = at.line
		c.Plugins = append(c.Plugins, r)
	}
}

// decodeReviewer reads a reviewer on top of the one that is known by its name.
func decodeReviewer(d *decoder, at *node) plugin.Config {
	if at.kind == textNode {
		r, ok := plugin.Preset(at.text)
		if !ok {
			d.fail(at.line, at.col, "reviewers: %s", unknownReviewer(at.text))
		}
		return r
	}
	given := map[string]*node{}
	for i := range at.entries {
		given[at.entries[i].key] = &at.entries[i].value
	}
	var r plugin.Config
	if name := given["name"]; name != nil {
		r, _ = plugin.Preset(name.text)
	}
	if given["command"] != nil && given["args"] != nil {
		d.fail(at.line, at.col, "reviewers: give either \"command\" or \"args\", not both")
	} else if given["command"] != nil {
		r.Args = nil // instead of the known reviewer's
	}
	if given["patterns"] != nil {
		r.Format = ""
	}
	before := len(d.problems)
	section(d, "checks: reviewers", at.entries, reviewerKeys(), &r)
	if r.Name == "" && len(d.problems) == before {
		d.fail(at.line, at.col, "reviewers: a reviewer needs a name; add \"name:\"")
	}
	return r
}

func unknownReviewer(name string) string {
	if near := nearest(name, plugin.Presets()); near != "" {
		return fmt.Sprintf("there is no reviewer %q; did you mean %q?", shorten(name), near)
	}
	return fmt.Sprintf("there is no reviewer %q; known by name are %s; any other needs a \"command\", such as {name: our-linter, command: \"lint {files}\"}", shorten(name), strings.Join(plugin.Presets(), ", "))
}

// reviewerKeys are the keys of one plug-in reviewer.
func reviewerKeys() []key[plugin.Config] {
	severities := []string{"low", "medium", "high", "critical"}
	return []key[plugin.Config]{
		word("name", "What it is called in results. That of a known reviewer ("+strings.Join(plugin.Presets(), ", ")+") stands for its settings, which the other keys change.", text(64, "our-linter"), func(r *plugin.Config) *string { return &r.Name }),
		word("command", "The command line, which a shell reads. The word {files} stands for the changed files, each an argument that begins with \"./\"; there is no shell then.", commandLine("lint {files}"), func(r *plugin.Config) *string { return &r.Command }),
		list("args", "The program and its arguments, one text each, instead of \"command\"; {files} stands for the changed files.", arguments(), func(r *plugin.Config) *[]string { return &r.Args }),
		setting("check", "The review that its findings belong to. Default: \"code-review\".", oneOf("code-review", "security-review"), func(r *plugin.Config, v string) { r.Check = phase.Check(strings.ReplaceAll(v, "-", "_")) }),
		setting("format", "The form of its output: \"ndjson\" are safe outputs, a tool's name its own JSON; \"auto\" finds it out. Default: \"auto\", or what \"patterns\" say.", oneOf(formats()...), func(r *plugin.Config, v string) { r.Format = plugin.Format(v) }),
		list("patterns", "Lines of its output that are findings, as Vim's errorformat describes them.", texts(`{"type": "string"}`, `["%f:%l:%c: %m"]`, func(string) string { return "" }), func(r *plugin.Config) *[]string { return &r.Patterns }),
		list("languages", "Only changed files in these languages are given to it; it does not run where there are none. Default: all files.", languages(), func(r *plugin.Config) *[]string { return &r.Languages }),
		list("dirs", "Folders in which it runs, one after the other, each with the changed files below it. Default: the repository's root.", folders(), func(r *plugin.Config) *[]string { return &r.Dirs }),
		setting("input", "What stands on its standard input: nothing, or the instructions and the diff. Default: \"none\".", oneOf("none", "diff"), func(r *plugin.Config, v string) { r.Diff = v == "diff" }),
		word("instructions", "What an agent is told above the diff.", longText(plugin.MaxInstructions), func(r *plugin.Config) *string { return &r.Instructions }),
		into("severity", "How severe the findings of a rule are, by the rule's name. Default: as it says.", severityMap(severities), func(r *plugin.Config) *map[string]finding.Severity { return &r.Severity }),
		setting("min-severity", "Less severe findings are left out and counted. Default: \"low\".", oneOf(severities...), func(r *plugin.Config, v string) { r.MinSeverity = finding.Severity(v) }),
		setting("precision", "How often it is right; of two reviewers that say the same, the more precise one is quoted. Default: what its rules say.", oneOf("very-high", "high", "medium", "low"), func(r *plugin.Config, v string) { r.Precision = finding.Precision(v) }),
		into("exit-codes", "Exit codes other than 0 with which it ends when it has findings; any other means that the review could not be done. Default: 1.", exitCodes(), func(r *plugin.Config) *[]int { return &r.FoundExits }),
		into("time-limit", "How long it may run. Default: 300s.", duration(time.Second, 6*time.Hour, "10m"), func(r *plugin.Config) *time.Duration { return &r.TimeLimit }),
	}
}

// setting is a key whose value is stored in a form of its own.
func setting[T, V any](name, doc string, takes shape, set func(*T, V)) key[T] {
	return key[T]{name: name, doc: doc, takes: takes, set: func(_ *decoder, _ *node, v any, k *T) { set(k, v.(V)) }}
}

func formats() []string {
	var names []string
	for _, f := range plugin.Formats() {
		names = append(names, string(f))
	}
	return names
}

// arguments are a program and its arguments.
func arguments() shape {
	one := texts(`{"type": "string"}`, "[lint, --all]", func(string) string { return "" })
	return shape{`{"type": "array", "minItems": 1, "items": {"type": "string"}}`, one.wants, func(n *node) (any, *fault) {
		if n.kind != listNode || len(n.items) == 0 {
			return mismatch()
		}
		return one.parse(n)
	}}
}

// languages are names of languages that files are told apart by.
func languages() shape {
	names := []string{"javascript", "typescript", "python", "go", "rust", "ruby", "java"}
	return texts(`{"enum": ["`+strings.Join(names, `", "`)+`"]}`, "[go, python]", func(s string) string {
		one := oneOf(names...)
		if _, _, why := one.read(&node{kind: textNode, text: s}); why != "" {
			return "is no language: " + why
		}
		return ""
	})
}

// longText is a text of several lines.
func longText(most int) shape {
	schema := fmt.Sprintf(`{"type": "string", "maxLength": %d, "pattern": "\\S"}`, most)
	return shape{schema, "a text, of several lines if you like", func(n *node) (any, *fault) {
		switch {
		case n.kind != textNode || strings.TrimSpace(n.text) == "":
			return mismatch()
		case len(n.text) > most:
			return wrong(n, "the text has %d bytes; at most %d are allowed", len(n.text), most)
		}
		return n.text, nil
	}}
}

// severityMap gives severities to names.
func severityMap(words []string) shape {
	one := oneOf(words...)
	return shape{`{"type": "object", "additionalProperties": ` + one.schema + `}`, "a mapping of rules to severities, such as {G104: low}", func(n *node) (any, *fault) {
		if n.kind != mapNode {
			return mismatch()
		}
		all := map[string]finding.Severity{}
		for i := range n.entries {
			e := &n.entries[i]
			v, at, why := one.read(&e.value)
			if why != "" {
				return wrong(at, "%s: %s", shorten(e.key), why)
			}
			all[e.key] = finding.Severity(v.(string))
		}
		return all, nil
	}}
}

// exitCodes are one or several exit codes.
func exitCodes() shape {
	one := between(1, 255, 1)
	schema := `{"anyOf": [{"type": "array", "items": ` + one.schema + `}, ` + one.schema + `]}`
	return shape{schema, "a list of whole numbers from 1 to 255, such as [1, 2]", func(n *node) (any, *fault) {
		items := []node{*n}
		if n.kind == listNode {
			items = n.items
		}
		codes := []int{}
		for i := range items {
			v, _, why := one.read(&items[i])
			if why != "" {
				return mismatch()
			}
			codes = append(codes, v.(int))
		}
		return codes, nil
	}}
}
