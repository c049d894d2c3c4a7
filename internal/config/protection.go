package config

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
)

// protection is what protected-files takes: patterns, or one of the words of
// the widely used front matter, or both in a mapping.
type protection struct {
	files     []string // nil: the built-in list
	include   []string
	exclude   []string
	violation policy.OnViolation
	reviewed  bool // request-review was asked for
}

func protectedFiles() shape {
	const words = `{"enum": ["blocked", "allowed", "fallback-to-issue", "request-review", "request_review"]}`
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[2]s, {"type": "object", "additionalProperties": false, "properties": {"policy": %[2]s, "include": {"type": "array", "items": %[1]s}, "exclude": {"type": "array", "items": %[1]s}}}]}`, patternItem, words)
	const wants = `a list of patterns, such as [".github/**"], a mapping, such as {exclude: [AGENTS.md]}, or one of "blocked", "allowed", "fallback-to-issue"`
	return shape{schema, wants, func(n *node) (any, *fault) {
		switch n.kind {
		case textNode:
			return protectionWord(n)
		case listNode:
			files, f := patterns().parse(n)
			if f != nil {
				return nil, f
			}
			return protection{files: files.([]string)}, nil
		case mapNode:
			return protectionMapping(n)
		}
		return mismatch()
	}}
}

func protectionWord(n *node) (any, *fault) {
	switch canonical(n.text) {
	case "blocked":
		return protection{}, nil
	case "allowed":
		return protection{files: []string{}}, nil
	case "fallback-to-issue":
		return protection{violation: policy.ViolationIssue}, nil
	case "request-review":
		return protection{reviewed: true}, nil
	}
	return mismatch()
}

func protectionMapping(n *node) (any, *fault) {
	var p protection
	for i := range n.entries {
		e := &n.entries[i]
		switch e.key {
		case "policy":
			word, f := protectionWord(&e.value)
			if f != nil || e.value.kind != textNode {
				return wrong(&e.value, "policy: expected one of \"blocked\", \"allowed\", \"fallback-to-issue\", found %s", e.value.describe())
			}
			include, exclude := p.include, p.exclude
			p = word.(protection)
			p.include, p.exclude = include, exclude
		case "include", "exclude":
			if e.value.kind != listNode {
				return wrong(&e.value, "%s: expected %s, found %s", e.key, patterns().wants, e.value.describe())
			}
			list, at, why := patterns().read(&e.value)
			if why != "" {
				return wrong(at, "%s: %s", e.key, why)
			}
			if e.key == "include" {
				p.include = list.([]string)
			} else {
				p.exclude = list.([]string)
			}
		default:
			known := []string{"policy", "include", "exclude"}
			if near := nearest(e.key, known); near != "" {
				return wrong(&node{line: e.line, col: e.col}, "unknown key %q; did you mean %q?", shorten(e.key), near)
			}
			return wrong(&node{line: e.line, col: e.col}, "unknown key %q; known are: %s", shorten(e.key), strings.Join(known, ", "))
		}
	}
	return p, nil
}
