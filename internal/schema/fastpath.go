package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// fastSchema is a schema, or a part of one, as the fast path checks it. The
// fast path reads a value's bytes once, without decoding them. Its answer is
// either "certainly valid" or "ask the library": it never finds a violation.
// It supports the keywords that our schemas and SARIF's use most.
type fastSchema struct {
	unsure bool // a keyword is not supported, so no value is certainly valid

	types typeSet
	enum  []string      // the JSON text of the allowed values; nil if all are
	oneOf []*fastSchema // each restricts its types

	minLength, maxLength int
	nonBlank             bool           // the pattern is \S
	pattern              *regexp.Regexp // any other pattern
	format               func(any) bool

	minimum, maximum float64

	items              *fastSchema
	minItems, maxItems int

	properties map[string]fastProperty
	others     *fastSchema // the schema of properties that are not listed
	required   uint64      // a mask of properties
	anyOf      []uint64    // at least one of these masks is required; nil without an anyOf
}

// fastProperty is a listed property and its bit in masks of properties.
type fastProperty struct {
	schema *fastSchema
	bit    uint64
}

// typeSet is a set of JSON types.
type typeSet uint8

const (
	typeObject typeSet = 1 << iota
	typeArray
	typeString
	typeInteger
	typeNumber
	typeBoolean
	typeNull
	anyType typeSet = 1<<iota - 1
)

var typeNames = map[string]typeSet{
	"object": typeObject, "array": typeArray, "string": typeString, "integer": typeInteger, "number": typeNumber, "boolean": typeBoolean, "null": typeNull,
}

// typesOf returns the types that a value with this first byte can have.
func typesOf(first byte) typeSet {
	switch first {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeInteger | typeNumber
}

// fastReader reads a schema document. References to the same place become one
// fastSchema, so that a schema may refer to itself.
type fastReader struct {
	document any
	read     map[string]*fastSchema // by reference
}

// newFastSchema returns the fast path's form of a schema document.
func newFastSchema(document any) *fastSchema {
	return (&fastReader{document, map[string]*fastSchema{}}).reference("#")
}

// reference returns the schema that a reference names.
func (r *fastReader) reference(ref string) *fastSchema {
	if f, ok := r.read[ref]; ok {
		return f
	}
	f := &fastSchema{}
	r.read[ref] = f
	pointer, isLocal := strings.CutPrefix(ref, "#")
	r.schema(f, resolve(r.document, pointer), ref == "#")
	f.unsure = f.unsure || !isLocal
	return f
}

// subschema returns the schema that doc, a part of the document, describes.
func (r *fastReader) subschema(doc any) *fastSchema {
	m, _ := doc.(map[string]any)
	if ref, ok := m["$ref"].(string); ok { // draft-07 ignores the other keywords
		return r.reference(ref)
	}
	f := &fastSchema{}
	r.schema(f, doc, false)
	return f
}

// schema reads doc into f.
func (r *fastReader) schema(f *fastSchema, doc any, isRoot bool) {
	*f = *anything
	keywords, isObject := doc.(map[string]any)
	listed, _ := keywords["properties"].(map[string]any)
	f.unsure = !isObject && doc != true || len(listed) > 64 // more properties than a mask has bits
	if value, ok := keywords["type"]; ok {                  // first, as a schema may refer to itself
		var known bool
		f.types, known = typesNamed(value)
		f.unsure = f.unsure || !known
	}
	f.properties = make(map[string]fastProperty, len(listed))
	for name, property := range listed {
		f.properties[name] = fastProperty{r.subschema(property), 1 << len(f.properties)}
	}
	for keyword, value := range keywords {
		if !r.keyword(f, keyword, value) && !(isRoot && keyword == "$id") {
			f.unsure = true
		}
	}
}

// keyword reads one keyword into f and reports whether it is supported.
func (r *fastReader) keyword(f *fastSchema, keyword string, value any) (ok bool) {
	switch keyword {
	case "$schema", "$comment", "title", "description", "default", "examples", "definitions":
		return true
	case "type", "properties": // schema has read them
		return true
	case "const":
		ok = f.allow([]any{value})
	case "enum":
		list, _ := value.([]any)
		ok = f.allow(list)
	case "oneOf":
		list, _ := value.([]any)
		for _, alternative := range list {
			f.oneOf = append(f.oneOf, r.subschema(alternative))
		}
		ok = len(list) > 0 && !slices.ContainsFunc(f.oneOf, func(a *fastSchema) bool { return a.types == anyType })
	case "anyOf":
		list, _ := value.([]any)
		ok = len(list) > 0
		for _, alternative := range list {
			a, _ := alternative.(map[string]any)
			mask, supported := f.mask(a["required"])
			f.anyOf = append(f.anyOf, mask)
			ok = ok && supported && len(a) == 1
		}
	case "minLength":
		f.minLength, ok = intKeyword(value)
		ok = ok && f.minLength <= 1
	case "maxLength":
		f.maxLength, ok = intKeyword(value)
	case "pattern":
		var err error
		if f.nonBlank = value == `\S`; !f.nonBlank {
			text, _ := value.(string)
			f.pattern, err = regexp.Compile(text)
		}
		ok = err == nil
	case "format":
		name, _ := value.(string)
		f.format = jsonschema.Formats[name]
		ok = true // a format that the library does not know is not asserted
	case "minimum":
		f.minimum, ok = floatKeyword(value)
	case "maximum":
		f.maximum, ok = floatKeyword(value)
	case "items":
		f.items = r.subschema(value)
		ok = true
	case "uniqueItems":
		ok = value == false
	case "minItems":
		f.minItems, ok = intKeyword(value)
	case "maxItems":
		f.maxItems, ok = intKeyword(value)
	case "additionalProperties":
		f.others = r.subschema(value)
		ok = true
	case "required":
		f.required, ok = f.mask(value)
	}
	return ok
}

// typesNamed reads the keyword "type": a name or a list of names.
func typesNamed(value any) (set typeSet, ok bool) {
	names, isList := value.([]any)
	if !isList {
		names = []any{value}
	}
	for _, n := range names {
		name, _ := n.(string)
		if typeNames[name] == 0 {
			return 0, false
		}
		set |= typeNames[name]
	}
	return set, true
}

// allow makes the values the only ones that are allowed. It supports scalars
// that can be compared as JSON text.
func (f *fastSchema) allow(values []any) bool {
	if f.enum != nil { // both const and enum
		return false
	}
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil || bytes.IndexByte(text, '\\') >= 0 || text[0] == '[' || text[0] == '{' {
			return false
		}
		f.enum = append(f.enum, string(text))
	}
	return len(values) > 0
}

// mask returns the mask of a list of properties, which must all be listed.
func (f *fastSchema) mask(names any) (mask uint64, ok bool) {
	list, ok := names.([]any)
	for _, n := range list {
		name, _ := n.(string)
		property, isListed := f.properties[name]
		mask, ok = mask|property.bit, ok && isListed
	}
	return mask, ok
}

func intKeyword(value any) (int, bool) {
	n, _ := value.(json.Number)
	i, err := strconv.Atoi(n.String())
	return i, err == nil
}

func floatKeyword(value any) (float64, bool) {
	n, _ := value.(json.Number)
	return exactFloat([]byte(n))
}

// exactFloat reads a number of at most 15 characters without an exponent.
// Comparing two such numbers as floats gives what comparing them exactly does.
func exactFloat(literal []byte) (float64, bool) {
	if len(literal) > 15 {
		return 0, false
	}
	n := 0
	for _, c := range literal {
		if c < '0' || c > '9' {
			f, err := strconv.ParseFloat(string(literal), 64)
			return f, err == nil && !bytes.ContainsAny(literal, "eE")
		}
		n = n*10 + int(c-'0')
	}
	return float64(n), len(literal) > 0
}

// accepts reports whether valid JSON is certainly valid by the schema.
func (f *fastSchema) accepts(raw []byte) bool {
	raw = bytes.Trim(raw, " \n\t\r")
	return f.value(raw, 0, 0) == len(raw)
}

// acceptsMembers reports whether an object with these members is certainly valid.
func (f *fastSchema) acceptsMembers(members []Member) bool {
	if f.unsure || f.types&typeObject == 0 || f.enum != nil || f.oneOf != nil {
		return false
	}
	var seen uint64
	for i := range members {
		s, bit := f.others, uint64(0)
		if p, ok := f.properties[members[i].Name]; ok {
			s, bit = p.schema, p.bit
		}
		if s.value(members[i].Value, 0, 1) < 0 {
			return false
		}
		seen |= bit
	}
	return f.hasRequired(seen)
}

// hasRequired reports whether the mask seen contains all properties that are required.
func (f *fastSchema) hasRequired(seen uint64) bool {
	return seen&f.required == f.required &&
		(f.anyOf == nil || slices.ContainsFunc(f.anyOf, func(mask uint64) bool { return seen&mask == mask }))
}

// value returns the offset after the value at raw[at:], or -1 unless the value
// is certainly valid. A nil f allows every value that decode does.
func (f *fastSchema) value(raw []byte, at, depth int) (end int) {
	if depth > maxDepth {
		return -1
	}
	f = cmp.Or(f, anything)
	types := typesOf(raw[at])
	if f.unsure || f.types&types == 0 || f.oneOf != nil && !f.fitsOne(raw, at, depth) {
		return -1
	}
	switch types {
	case typeObject:
		end = f.object(raw, at, depth)
	case typeArray:
		end = f.array(raw, at, depth)
	case typeString:
		if end = stringEnd(raw, at); !f.text(raw[at+1 : end-1]) {
			return -1
		}
	case typeBoolean:
		end = at + len("true")
		if raw[at] == 'f' {
			end++
		}
	case typeNull:
		end = at + len("null")
	default: // a number
		for end = at; end < len(raw) && raw[end] > ' ' && raw[end] != ',' && raw[end] != ']' && raw[end] != '}'; {
			end++
		}
		if !f.number(raw[at:end]) {
			return -1
		}
	}
	if f.enum == nil || end < 0 {
		return end
	}
	for _, text := range f.enum {
		if text == string(raw[at:end]) {
			return end
		}
	}
	return -1
}

// anything is the schema that allows every value.
var anything = &fastSchema{types: anyType, maxLength: math.MaxInt, maxItems: math.MaxInt, minimum: math.Inf(-1), maximum: math.Inf(1)}

// fitsOne reports whether certainly exactly one alternative of oneOf is valid:
// only one is for values of this type, and it accepts the value.
func (f *fastSchema) fitsOne(raw []byte, at, depth int) bool {
	var candidate *fastSchema
	for _, a := range f.oneOf {
		if a.types&typesOf(raw[at]) == 0 {
			continue
		}
		if candidate != nil {
			return false
		}
		candidate = a
	}
	return candidate != nil && candidate.value(raw, at, depth) >= 0
}

// object is value for an object; it does not check its type or enum.
func (f *fastSchema) object(raw []byte, at, depth int) int {
	var seen uint64
	for at = skipSpace(raw, at+1); raw[at] != '}'; at = skipSpace(raw, at) {
		if raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
		end := stringEnd(raw, at)
		name := raw[at+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			return -1
		}
		s, bit := f.others, uint64(0)
		if p, ok := f.properties[string(name)]; ok {
			s, bit = p.schema, p.bit
		}
		at = skipSpace(raw, end)
		at = s.value(raw, skipSpace(raw, at+1), depth+1)
		if at < 0 {
			return -1
		}
		seen |= bit
	}
	if !f.hasRequired(seen) {
		return -1
	}
	return at + 1
}

// array is value for an array; it does not check its type or enum.
func (f *fastSchema) array(raw []byte, at, depth int) int {
	n := 0
	for at = skipSpace(raw, at+1); raw[at] != ']'; at = skipSpace(raw, at) {
		if raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
		if at = f.items.value(raw, at, depth+1); at < 0 {
			return -1
		}
		n++
	}
	if n < f.minItems || n > f.maxItems {
		return -1
	}
	return at + 1
}

// text checks a string by its JSON text without the quotes. An escape is
// longer than the character that it stands for.
func (f *fastSchema) text(text []byte) bool {
	if len(text) < f.minLength || len(text) > f.maxLength && utf8.RuneCount(text) > f.maxLength {
		return false
	}
	if f.nonBlank {
		trimmed := bytes.TrimLeft(text, " ")
		if len(trimmed) == 0 || trimmed[0] == '\\' { // an escape may stand for a space
			return false
		}
	}
	if f.pattern == nil && f.format == nil {
		return true
	}
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return false
	}
	return (f.pattern == nil || f.pattern.Match(text)) && (f.format == nil || f.format(string(text)))
}

// number checks a number.
func (f *fastSchema) number(literal []byte) bool {
	mayHaveFraction := f.types&typeNumber != 0
	if mayHaveFraction && math.IsInf(f.minimum, -1) && math.IsInf(f.maximum, 1) {
		return BoundedNumber(string(literal))
	}
	if !mayHaveFraction && bytes.IndexByte(literal, '.') >= 0 {
		return false // 1.0 is an integer, but not certainly one here
	}
	n, ok := exactFloat(literal)
	return ok && n >= f.minimum && n <= f.maximum
}

func skipSpace(raw []byte, at int) int {
	for raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r' {
		at++
	}
	return at
}

// stringEnd returns the offset after the string at raw[at:].
func stringEnd(raw []byte, at int) int {
	for end := at + 1; ; {
		end += bytes.IndexByte(raw[end:], '"')
		escapes := 0
		for raw[end-escapes-1] == '\\' {
			escapes++
		}
		end++
		if escapes%2 == 0 {
			return end
		}
	}
}
