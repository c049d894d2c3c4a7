package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// target is what items may act on.
func target() shape {
	const wants = `"triggering", "*" or a number, such as 42`
	const schema = `{"anyOf": [{"enum": ["triggering", "*"]}, {"type": "integer", "minimum": 1, "maximum": 2147483647}, {"type": "string", "pattern": "^0*[1-9][0-9]{0,8}$"}]}`
	return shape{schema, wants, func(n *node) (any, *fault) {
		switch {
		case n.kind == textNode && n.text == "triggering":
			return policy.TargetRule{}, nil
		case n.kind == textNode && n.text == "*":
			return policy.TargetRule{Any: true}, nil
		}
		i, ok := wholeNumber(n)
		if n.kind == textNode && strings.Trim(n.text, "0123456789") == "" {
			parsed, err := strconv.ParseInt(n.text, 10, 32)
			i, ok = int(parsed), err == nil
		}
		if !ok || i < 1 {
			return mismatch()
		}
		return policy.TargetRule{Number: i}, nil
	}}
}

// footer is a text of the owner's, or whether there is one.
func footer() shape {
	const most = 2000
	const schema = `{"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": "\\S"}]}`
	return shape{schema, `true, false, or a text, such as "Written by an agent."`, func(n *node) (any, *fault) {
		switch {
		case n.kind == boolNode:
			return policy.Footer{None: n.text == "false"}, nil
		case n.kind != textNode || strings.TrimSpace(n.text) == "":
			return mismatch()
		case utf8.RuneCountInString(n.text) > most:
			return wrong(n, "the footer has more than %d characters", most)
		}
		return policy.Footer{Text: n.text}, nil
	}}
}

// textOrNumber is a name that may look like a number.
func textOrNumber(most int, example string) shape {
	one := text(most, example)
	schema := fmt.Sprintf(`{"anyOf": [%s, {"type": "integer", "minimum": 0}]}`, one.schema)
	return shape{schema, one.wants, func(n *node) (any, *fault) {
		if n.kind == numberNode && len(n.text) <= most && strings.Trim(n.text, "0123456789") == "" {
			return n.text, nil
		}
		if i, ok := wholeNumber(n); ok && i >= 0 {
			return strconv.Itoa(i), nil
		}
		return one.parse(n)
	}}
}

// labels are names of labels as GitHub takes them.
func labels() shape {
	const item = `{"type": "string", "minLength": 1, "maxLength": 50, "pattern": "^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$"}`
	return texts(item, "[bug, automation]", func(s string) string {
		switch {
		case strings.TrimSpace(s) == "":
			return "is empty; a label needs a name"
		case strings.ContainsFunc(s, unicode.IsControl):
			return "holds a control character, which no label can"
		case utf8.RuneCountInString(s) > 50:
			return "is longer than 50 characters, the most that a label can have"
		}
		return ""
	})
}

// nameItem describes hosts and users only roughly; the sanitizer knows better.
const nameItem = `{"type": "string", "minLength": 1, "pattern": "^[^\\s]+$"}`

// domains are hosts that links may lead to. The sanitizer says which are sound.
func domains() shape {
	return texts(nameItem, "[example.com]", func(s string) string {
		if _, err := sanitize.New(sanitize.Config{AllowedDomains: []string{s}}); err != nil || strings.ContainsFunc(s, unicode.IsSpace) {
			return "is not the name of a host, such as example.com"
		}
		return ""
	})
}

// mentioned are users and teams that a text may mention.
func mentioned() shape {
	return texts(nameItem, "[octocat, org/team]", func(s string) string {
		if _, err := sanitize.New(sanitize.Config{AllowedMentions: []string{s}}); err != nil || strings.ContainsFunc(s, unicode.IsSpace) {
			return "is not a user, such as octocat, or a team, such as org/team"
		}
		return ""
	})
}

// patterns are glob patterns of paths from the repository's root.
func patterns() shape {
	return texts(patternItem, "[\"docs/**\", \"*.md\"]", checkPattern)
}

const patternItem = `{"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[^\\x00-\\x1f\\x7f]*$"}`

// branches are patterns of the names of branches.
func branches() shape { return texts(patternItem, `["feature/*"]`, checkPattern) }

// checkPattern is the second door's own check, which the schema only outlines.
func checkPattern(s string) string {
	if err := tree.CheckPattern(s); err != nil {
		return err.Error()
	}
	return ""
}

// mentions is what the key of that name takes: false, or a mapping.
func mentions() shape {
	const schema = `{"anyOf": [{"$ref": "#/definitions/mentions"}, {"type": "boolean"}]}`
	return shape{schema, "false, or a mapping, such as {allowed: [octocat]}", func(n *node) (any, *fault) {
		if n.kind != boolNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}
