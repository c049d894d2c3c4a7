package schema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// Member is one member of a JSON object: its name, unescaped, and its value as
// strict JSON without surrounding space.
type Member struct {
	Name  string
	Value []byte
}

// SurelyValid reports whether an object with these members, no two of the same
// name, certainly conforms to the schema. False means only that Validate has
// to be asked: the check knows the simple keywords. It does not need the
// schema compiled.
func (s *Schema) SurelyValid(members []Member) bool {
	p, err := s.read()
	return err == nil && p.quick != nil && p.quick.object(members)
}

// SurelyHolds reports whether the schema lists the member's property, and the
// value certainly conforms to it.
func (s *Schema) SurelyHolds(m Member) bool {
	p, err := s.read()
	return err == nil && p.quick != nil && p.quick.properties[m.Name].quick.value(m.Value)
}

// quick is what the quick check has read of a schema, or of a part of one. A
// nil quick, one with a keyword that is not known here, is never sure.
type quick struct {
	typ      string
	enum     []string // strings that need no escapes; a constant is one of these
	isEnum   bool
	oneOf    []*quick
	items    *quick
	pattern  *regexp.Regexp
	min, max int64 // of an integer, of a string's length or of a list's

	properties map[string]quickProperty
	required   uint64
	anyOf      []uint64 // alternatives that only require; nil if there are none
	closed     bool     // unknown properties are refused
}

// quickProperty is a property and its bit in masks of properties.
type quickProperty struct {
	quick *quick
	bit   uint64
}

// object checks an object by its members.
func (q *quick) object(members []Member) bool {
	if q.typ != "object" || q.isEnum || len(q.oneOf) > 0 {
		return false
	}
	var seen uint64
	for i := range members {
		p, ok := q.properties[members[i].Name]
		if !ok {
			if q.closed {
				return false
			}
			continue
		}
		if !p.quick.value(members[i].Value) {
			return false
		}
		seen |= p.bit
	}
	if seen&q.required != q.required {
		return false
	}
	return q.anyOf == nil || slices.ContainsFunc(q.anyOf, func(m uint64) bool { return seen&m == m })
}

// value checks any value.
func (q *quick) value(raw []byte) bool {
	if q == nil || len(raw) == 0 || len(q.anyOf) > 0 {
		return false
	}
	if len(q.oneOf) > 0 {
		return q.typ == "" && !q.isEnum && q.one(raw)
	}
	if q.isEnum && !slices.ContainsFunc(q.enum, func(w string) bool { return isString(raw, w) }) {
		return false
	}
	switch q.typ {
	case "string":
		return q.text(raw)
	case "integer":
		return q.integer(raw)
	case "boolean":
		return string(raw) == "true" || string(raw) == "false"
	case "array":
		return q.list(raw)
	case "object":
		return raw[0] == '{' && len(q.properties) == 0 && q.required == 0 && !q.closed
	}
	return q.isEnum // one of these words, whatever its type
}

// one: exactly one alternative is for values of this type, and fits.
func (q *quick) one(raw []byte) bool {
	var fit *quick
	for _, a := range q.oneOf {
		if ofType(a.typ, raw[0]) {
			if fit != nil {
				return false
			}
			fit = a
		}
	}
	return fit.value(raw)
}

func ofType(t string, first byte) bool {
	switch t {
	case "string":
		return first == '"'
	case "object":
		return first == '{'
	case "array":
		return first == '['
	case "boolean":
		return first == 't' || first == 'f'
	}
	return first == '-' || first >= '0' && first <= '9'
}

func (q *quick) text(raw []byte) bool {
	if raw[0] != '"' || len(raw) < 2 {
		return false
	}
	text := raw[1 : len(raw)-1]
	// An escape only makes a literal longer than its text, and a character has
	// at least one byte, so these bounds are safe, if not tight.
	if int64(len(text)) > q.max || q.min > 1 || q.min == 1 && len(text) == 0 {
		return false
	}
	if q.pattern == nil {
		return true
	}
	if q.pattern.String() == `\S` && len(text) > 0 && text[0] > ' ' && text[0] < 0x7f && text[0] != '\\' {
		return true
	}
	return bytes.IndexByte(text, '\\') < 0 && q.pattern.Match(text)
}

// integer knows plain integers of up to nine digits.
func (q *quick) integer(raw []byte) bool {
	if len(raw) > 9 {
		return false
	}
	n := int64(0)
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	return n >= q.min && n <= q.max
}

// list knows arrays of strings without escapes.
func (q *quick) list(raw []byte) bool {
	if q.items == nil || q.items.typ != "string" || raw[0] != '[' {
		return false
	}
	n := int64(0)
	for rest := raw[1:]; ; n++ {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 {
			return false
		}
		if rest[0] == ']' {
			return n >= q.min && n <= q.max
		}
		if rest[0] != '"' {
			return false
		}
		end := bytes.IndexByte(rest[1:], '"')
		if end < 0 || bytes.IndexByte(rest[1:1+end], '\\') >= 0 || !q.items.value(rest[:end+2]) {
			return false
		}
		rest = rest[end+2:]
	}
}

func isString(raw []byte, want string) bool {
	return len(raw) == len(want)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == want
}

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
