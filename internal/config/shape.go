package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// shape is what a key takes as its value.
type shape struct {
	// schema is the same as JSON Schema (draft-07), for editors. A test holds
	// the two together.
	schema string
	// wants says what is expected, with an example.
	wants string
	// parse decodes a node, or says what is wrong with it.
	parse func(n *node) (any, *fault)
}

// fault is what is wrong with a value. at is the node to point at and why the
// reason; nil and "" mean the whole value and "expected ..., found ...".
type fault struct {
	at  *node
	why string
}

// mismatch is the fault of a value that is not of its shape at all.
func mismatch() (any, *fault) { return nil, &fault{} }

func wrong(at *node, format string, args ...any) (any, *fault) {
	return nil, &fault{at, fmt.Sprintf(format, args...)}
}

// read decodes a node; at and why say what is wrong if why is not empty.
func (s shape) read(n *node) (value any, at *node, why string) {
	value, f := s.parse(n)
	if f == nil {
		return value, n, ""
	}
	if f.at == nil {
		f.at = n
	}
	switch {
	case f.why != "":
	case n.kind == nullNode:
		f.why = fmt.Sprintf("a value is missing; expected %s, or remove the key", s.wants)
	case n.kind == textNode && strings.Contains(n.text, "${{"):
		f.why = fmt.Sprintf("%s is an expression, which only a workflow file evaluates; expected %s", quote(n.text), s.wants)
	default:
		f.why = fmt.Sprintf("expected %s, found %s", s.wants, n.describe())
	}
	return nil, f.at, f.why
}

func quote(s string) string { return strconv.Quote(shorten(s)) }

func boolean() shape {
	return shape{`{"type": "boolean"}`, "true or false", func(n *node) (any, *fault) {
		if n.kind != boolNode {
			return mismatch()
		}
		return n.text == "true", nil
	}}
}

// field is true, false or no value at all, which means true: the widely used
// form "title:" allows the title.
func field() shape {
	return shape{`{"anyOf": [{"type": "boolean"}, {"type": "null"}]}`, "true, false or no value", func(n *node) (any, *fault) {
		if n.kind != boolNode && n.kind != nullNode {
			return mismatch()
		}
		return n.kind == nullNode || n.text == "true", nil
	}}
}

// wholeNumber returns the number that a node holds.
func wholeNumber(n *node) (int, bool) {
	if n.kind != numberNode {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 32); err == nil {
		return int(i), true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// limit is a number of things: at least 1, or -1 for no limit.
func limit(example int) shape {
	wants := fmt.Sprintf("a whole number of at least 1, such as %d, or -1 for no limit", example)
	return shape{`{"anyOf": [{"const": -1}, {"type": "integer", "minimum": 1, "maximum": 2147483647}]}`, wants, func(n *node) (any, *fault) {
		i, ok := wholeNumber(n)
		switch {
		case ok && i == 0:
			return wrong(n, "0 would let nothing through; expected %s (\"enabled: false\" switches a kind off)", wants)
		case !ok || i < -1:
			return mismatch()
		}
		return i, nil
	}}
}

// text is one line of text, at most so many characters.
func text(most int, example string) shape {
	schema := fmt.Sprintf(`{"type": "string", "minLength": 1, "maxLength": %d, "pattern": "^[^\\r\\n]*$"}`, most)
	return shape{schema, "one line of text, such as " + example, func(n *node) (any, *fault) {
		if n.kind != textNode || n.text == "" || strings.ContainsAny(n.text, "\r\n") {
			return mismatch()
		}
		if count := utf8.RuneCountInString(n.text); count > most {
			return wrong(n, "the text has %d characters; at most %d are allowed", count, most)
		}
		return n.text, nil
	}}
}

// oneOf is one of a few words.
func oneOf(words ...string) shape {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	all := strings.Join(quoted, ", ")
	return shape{`{"enum": [` + all + `]}`, "one of " + all, func(n *node) (any, *fault) {
		switch {
		case n.kind != textNode:
			return mismatch()
		case slices.Contains(words, n.text):
			return n.text, nil
		}
		near := nearest(n.text, words)
		for _, w := range words {
			if strings.EqualFold(w, n.text) {
				near = w
			}
		}
		if near != "" {
			return wrong(n, "expected one of %s, found %s; did you mean %q?", all, n.describe(), near)
		}
		return mismatch()
	}}
}

// texts is a list of texts, or a single one. item is the schema of one, and
// check says what is wrong with one.
func texts(item, example string, check func(string) string) shape {
	wants := "a list of texts, such as " + example
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[1]s]}`, item)
	return shape{schema, wants, func(n *node) (any, *fault) {
		items := []node{*n}
		if n.kind == listNode {
			items = n.items
		} else if n.kind != textNode {
			return mismatch()
		}
		list := make([]string, 0, len(items))
		for i := range items {
			if items[i].kind != textNode {
				return wrong(&items[i], "expected %s, found %s in the list", wants, items[i].describe())
			}
			if why := check(items[i].text); why != "" {
				return wrong(&items[i], "%s %s", quote(items[i].text), why)
			}
			list = append(list, items[i].text)
		}
		return list, nil
	}}
}

// anything accepts every value, the missing one included: for keys that are
// understood and not used.
func anything() shape {
	return shape{`{}`, "anything", func(n *node) (any, *fault) { return n, nil }}
}

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
