package schema

import (
	"encoding/json"
	"regexp"
	"slices"
)

// newQuick reads a part of a schema. It returns nil if it does not understand
// all of it.
func newQuick(doc any) *quick {
	m, ok := doc.(map[string]any)
	if !ok {
		return nil
	}
	q := &quick{max: 1<<63 - 1, min: -1 << 63}
	q.typ, _ = m["type"].(string)
	if props, ok := m["properties"].(map[string]any); ok {
		if len(props) > 64 {
			return nil
		}
		q.properties, ok = make(map[string]quickProperty, len(props)), true
		bit := uint64(1)
		for name, p := range props {
			q.properties[name] = quickProperty{newQuick(p), bit}
			bit <<= 1
		}
	}
	for keyword, v := range m {
		if !q.keyword(keyword, v) {
			return nil
		}
	}
	return q
}

// keyword takes in one keyword and reports whether it is understood.
func (q *quick) keyword(name string, v any) (ok bool) {
	switch name {
	case "$schema", "$id", "title", "description", "default", "examples", "definitions", "$comment":
		return true
	case "type":
		return slices.Contains([]string{"object", "array", "string", "integer", "boolean"}, q.typ)
	case "properties":
		return q.properties != nil
	case "additionalProperties":
		allowed, ok := v.(bool)
		q.closed = !allowed
		return ok
	case "required":
		q.required, ok = q.mask(v)
		return ok
	case "anyOf":
		return q.alternatives(v)
	case "oneOf":
		list, ok := v.([]any)
		for _, alt := range list {
			a := newQuick(alt)
			if a == nil || a.typ == "" {
				return false
			}
			q.oneOf = append(q.oneOf, a)
		}
		return ok
	case "const":
		return !q.isEnum && q.word(v) // both would have to hold
	case "enum":
		list, ok := v.([]any)
		return ok && len(list) > 0 && !q.isEnum && !slices.ContainsFunc(list, func(e any) bool { return !q.word(e) })
	case "items":
		q.items = newQuick(v)
		return q.items != nil && q.typ == "array"
	case "pattern":
		text, _ := v.(string)
		re, err := regexp.Compile(text)
		q.pattern = re
		return err == nil && q.typ == "string"
	case "minLength", "maxLength":
		return q.bound(v, name == "minLength", "string")
	case "minItems", "maxItems":
		return q.bound(v, name == "minItems", "array")
	case "minimum", "maximum":
		return q.bound(v, name == "minimum", "integer")
	}
	return false
}

func (q *quick) bound(v any, lower bool, typ string) bool {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if lower {
		q.min = i
	} else {
		q.max = i
	}
	return err == nil && q.typ == typ
}

func (q *quick) word(v any) bool {
	s, ok := v.(string)
	raw, err := json.Marshal(s)
	q.enum, q.isEnum = append(q.enum, s), true
	return ok && err == nil && len(raw) == len(s)+2 && (q.typ == "" || q.typ == "string")
}

func (q *quick) mask(v any) (m uint64, ok bool) {
	names, ok := v.([]any)
	for _, n := range names {
		name, _ := n.(string)
		p, found := q.properties[name]
		ok = ok && found
		m |= p.bit
	}
	return m, ok
}

// alternatives knows an anyOf whose schemas say nothing but "required".
func (q *quick) alternatives(v any) bool {
	list, ok := v.([]any)
	for _, alt := range list {
		a, _ := alt.(map[string]any)
		m, known := q.mask(a["required"])
		if !known || len(a) != 1 {
			return false
		}
		q.anyOf = append(q.anyOf, m)
	}
	return ok
}
