package config

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/policy"
)

// protection is what protected-files takes: patterns, or one of the words of
// the widely used front matter, or both in a mapping.
type protection struct {
	files     []string // nil: the built-in list
	exclude   []string
	violation policy.OnViolation
	reviewed  bool // request-review was asked for
}

func protectedFiles() shape {
	const words = `{"enum": ["blocked", "allowed", "fallback-to-issue", "request-review", "request_review"]}`
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[2]s, {"type": "object", "additionalProperties": false, "properties": {"policy": %[2]s, "exclude": {"type": "array", "items": %[1]s}}}]}`, patternItem, words)
	const wants = `a list of patterns, such as [".github/**"], or one of "blocked", "allowed", "fallback-to-issue"`
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
			exclude := p.exclude
			p = word.(protection)
			p.exclude = exclude
		case "exclude":
			list, f := patterns().parse(&e.value)
			if f != nil || e.value.kind != listNode {
				return wrong(&e.value, "exclude: expected %s", patterns().wants)
			}
			p.exclude = list.([]string)
		default:
			return wrong(&node{line: e.line, col: e.col}, "unknown key %q; known are: policy, exclude", shorten(e.key))
		}
	}
	return p, nil
}
