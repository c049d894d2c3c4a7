package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/phase"
)

// folders are paths of folders from the repository's root.
func folders() shape {
	all := texts(`{"type": "string", "minLength": 1, "maxLength": 1000}`, "[api, web/app]", func(s string) string {
		clean := path.Clean(s)
		switch {
		case s == "" || len(s) > 1000 || strings.ContainsAny(s, "\x00\r\n"):
			return "is not the path of a folder"
		case strings.Contains(s, `\`):
			return "holds a backslash; folders are parted by /"
		case path.IsAbs(s) || clean == ".." || strings.HasPrefix(clean, "../"):
			return "leads out of the repository; write it relative to the repository's root"
		}
		return ""
	})
	return shape{all.schema, all.wants, func(n *node) (any, *fault) {
		v, f := all.parse(n)
		if f != nil {
			return nil, f
		}
		list := v.([]string)
		for i := range list {
			list[i] = path.Clean(list[i])
		}
		return list, nil
	}}
}

// roots are folders to validate, each with its language if it names one.
func roots() shape {
	one, named := folders(), language()
	item := `{"anyOf": [{"type": "string", "minLength": 1, "maxLength": 1000}, {"type": "object", "additionalProperties": false, "required": ["dir"], "properties": {"dir": {"type": "string", "minLength": 1, "maxLength": 1000}, "language": ` + named.schema + `}}]}`
	const wants = "a list of folders, such as [api, {dir: web, language: typescript}]"
	return shape{`{"type": "array", "items": ` + item + `}`, wants, func(n *node) (any, *fault) {
		if n.kind != listNode {
			return mismatch()
		}
		var list []phase.Root
		for i := range n.items {
			r, f := rootAt(&n.items[i], one, named)
			if f != nil {
				return nil, f
			}
			list = append(list, r)
		}
		return list, nil
	}}
}

// rootAt reads a folder, or a mapping of "dir" and "language".
func rootAt(n *node, one, named shape) (r phase.Root, f *fault) {
	dir := n
	if n.kind == mapNode {
		dir = nil
		for i := range n.entries {
			e := &n.entries[i]
			switch e.key {
			case "dir":
				dir = &e.value
			case "language":
				v, at, why := named.read(&e.value)
				if why != "" {
					return r, &fault{at, "language: " + why}
				}
				r.Language = v.(phase.Language)
			default:
				return r, &fault{&node{line: e.line, col: e.col}, fmt.Sprintf("unknown key %q; known are: dir, language", shorten(e.key))}
			}
		}
	}
	if dir == nil || dir.kind != textNode {
		return r, &fault{n, fmt.Sprintf("expected a folder, such as api, or {dir: api, language: go}, found %s", n.describe())}
	}
	v, at, why := one.read(dir)
	if why != "" {
		return r, &fault{at, why}
	}
	r.Dir = v.([]string)[0]
	return r, nil
}
