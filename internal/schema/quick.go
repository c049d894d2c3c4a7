package schema

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Member is one member of a JSON object: its name, unescaped, and its value as
// strict JSON without surrounding space.
type Member struct {
	Name  string
	Value []byte
}

// SurelyValid reports whether an object with these members, no two of the same
// name, certainly conforms to the schema. False means only that Validate has
// to be asked: the check reads the compiled schema and knows the simple
// keywords.
func (s *Schema) SurelyValid(members []Member) bool {
	p, err := s.compile()
	if err != nil || p.quick == nil {
		return false
	}
	return p.quick.valid(members)
}

// quickObject is what the quick check needs of an object's schema. Required
// properties are bits of a mask.
type quickObject struct {
	properties map[string]quickProperty
	required   uint64
	anyOf      []uint64 // alternatives that only require; nil if there are none
	closed     bool     // unknown properties are refused
}

type quickProperty struct {
	schema *jsonschema.Schema
	bit    uint64
}

// quickOf returns nil for a schema with anything that the quick check does not
// understand.
func quickOf(s *jsonschema.Schema) *quickObject {
	if !only(s, "object") || s.Ref != nil || s.Not != nil || s.If != nil || len(s.AllOf) > 0 || len(s.OneOf) > 0 ||
		len(s.Constant) > 0 || len(s.Enum) > 0 || s.MinProperties >= 0 || s.MaxProperties >= 0 || s.PropertyNames != nil ||
		len(s.PatternProperties) > 0 || len(s.Dependencies) > 0 || len(s.Properties) > 63 {
		return nil
	}
	q := &quickObject{properties: map[string]quickProperty{}}
	switch a := s.AdditionalProperties.(type) {
	case nil:
	case bool:
		q.closed = !a
	default:
		return nil
	}
	bit := uint64(1)
	for name, ps := range s.Properties {
		q.properties[name] = quickProperty{ps, bit}
		bit <<= 1
	}
	var ok bool
	if q.required, ok = q.mask(s.Required); !ok {
		return nil
	}
	for _, alt := range s.AnyOf {
		m, ok := q.mask(alt.Required)
		if !ok || !onlyRequires(alt) {
			return nil
		}
		q.anyOf = append(q.anyOf, m)
	}
	return q
}

func (q *quickObject) mask(names []string) (m uint64, ok bool) {
	for _, n := range names {
		p, ok := q.properties[n]
		if !ok {
			return 0, false
		}
		m |= p.bit
	}
	return m, true
}

func (q *quickObject) valid(members []Member) bool {
	var seen uint64
	for i := range members {
		p, ok := q.properties[members[i].Name]
		if !ok {
			if q.closed {
				return false
			}
			continue
		}
		if !surely(p.schema, members[i].Value) {
			return false
		}
		seen |= p.bit
	}
	if seen&q.required != q.required {
		return false
	}
	return q.anyOf == nil || slices.ContainsFunc(q.anyOf, func(m uint64) bool { return seen&m == m })
}

// surely is SurelyValid for one property's value.
func surely(s *jsonschema.Schema, raw []byte) bool {
	if s.Ref != nil || s.Not != nil || s.If != nil || s.Format != "" || len(s.AllOf) > 0 || len(s.AnyOf) > 0 || s.Always != nil || len(raw) == 0 {
		return false
	}
	if len(s.OneOf) > 0 {
		return len(s.Types) == 0 && len(s.Constant) == 0 && len(s.Enum) == 0 && oneSurely(s.OneOf, raw)
	}
	if len(s.Constant) > 0 {
		c, ok := s.Constant[0].(string)
		return ok && len(s.Types) == 0 && isString(raw, c)
	}
	switch {
	case only(s, "string"):
		return surelyString(s, raw)
	case only(s, "integer"):
		return surelyInteger(s, raw)
	case only(s, "boolean"):
		return len(s.Enum) == 0 && (string(raw) == "true" || string(raw) == "false")
	case only(s, "array"):
		return surelyStrings(s, raw)
	case only(s, "object"):
		return raw[0] == '{' && len(s.Enum) == 0 && s.MinProperties < 0 && s.MaxProperties < 0 && len(s.Required) == 0 && len(s.Properties) == 0 &&
			s.AdditionalProperties == nil && len(s.PatternProperties) == 0 && s.PropertyNames == nil && len(s.Dependencies) == 0
	}
	return false
}

// oneSurely: exactly one alternative is for values of this type, and fits.
func oneSurely(alts []*jsonschema.Schema, raw []byte) bool {
	var fit *jsonschema.Schema
	for _, a := range alts {
		if len(a.Types) != 1 {
			return false
		}
		if ofType(a.Types[0], raw[0]) {
			if fit != nil {
				return false
			}
			fit = a
		}
	}
	return fit != nil && surely(fit, raw)
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
	case "null":
		return first == 'n'
	}
	return first == '-' || first >= '0' && first <= '9'
}

func surelyString(s *jsonschema.Schema, raw []byte) bool {
	if raw[0] != '"' || len(raw) < 2 {
		return false
	}
	text := raw[1 : len(raw)-1]
	if s.ContentEncoding != "" || s.ContentMediaType != "" {
		return false
	}
	// An escape only makes a literal longer than its text, and a character has
	// at least one byte, so these bounds are safe, if not tight.
	if s.MaxLength >= 0 && len(text) > s.MaxLength || s.MinLength > 1 || s.MinLength == 1 && len(text) == 0 {
		return false
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { w, ok := e.(string); return ok && isString(raw, w) }) {
		return false
	}
	return s.Pattern == nil || surelyMatches(s.Pattern, text)
}

func surelyMatches(re *regexp.Regexp, text []byte) bool {
	if re.String() == `\S` && len(text) > 0 && text[0] > ' ' && text[0] < 0x7f && text[0] != '\\' {
		return true
	}
	return bytes.IndexByte(text, '\\') < 0 && re.Match(text)
}

// surelyInteger knows plain integers of up to nine digits.
func surelyInteger(s *jsonschema.Schema, raw []byte) bool {
	if len(s.Enum) > 0 || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil || len(raw) > 9 {
		return false
	}
	n := int64(0)
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	if s.Minimum != nil && (!s.Minimum.IsInt() || !s.Minimum.Num().IsInt64() || n < s.Minimum.Num().Int64()) {
		return false
	}
	return s.Maximum == nil || s.Maximum.IsInt() && s.Maximum.Num().IsInt64() && n <= s.Maximum.Num().Int64()
}

// surelyStrings knows arrays of strings without escapes.
func surelyStrings(s *jsonschema.Schema, raw []byte) bool {
	items, ok := s.Items.(*jsonschema.Schema)
	if !ok || !only(items, "string") || s.UniqueItems || s.Contains != nil || len(s.Enum) > 0 || raw[0] != '[' {
		return false
	}
	n := 0
	for rest := raw[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 {
			return false
		}
		if rest[0] == ']' {
			return n >= s.MinItems && (s.MaxItems < 0 || n <= s.MaxItems)
		}
		if rest[0] != '"' {
			return false
		}
		end := bytes.IndexByte(rest[1:], '"')
		if end < 0 || bytes.IndexByte(rest[1:1+end], '\\') >= 0 || !surely(items, rest[:end+2]) {
			return false
		}
		rest = rest[end+2:]
		n++
	}
}

func only(s *jsonschema.Schema, t string) bool { return len(s.Types) == 1 && s.Types[0] == t }

func isString(raw []byte, want string) bool {
	return len(raw) == len(want)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == want
}

// onlyRequires reports whether a schema says nothing but "required".
func onlyRequires(s *jsonschema.Schema) bool {
	return len(s.Types) == 0 && len(s.Properties) == 0 && s.Ref == nil && s.Not == nil && s.Always == nil && s.If == nil &&
		len(s.AllOf)+len(s.AnyOf)+len(s.OneOf)+len(s.Enum)+len(s.Constant)+len(s.PatternProperties)+len(s.Dependencies) == 0 &&
		s.AdditionalProperties == nil && s.PropertyNames == nil && s.MinProperties < 0 && s.MaxProperties < 0
}
