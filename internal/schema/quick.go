package schema

import (
	"bytes"
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
