// Package schema validates raw JSON values against JSON Schemas and reports
// every violation with its path, a message and the path in the schema.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one way in which a value does not conform to a schema.
type Violation struct {
	// Path is the place in the value: "$", "$.url", "$.tags[1].e". For a missing
	// or an unknown property it is the place of that property.
	Path string `json:"path"`
	// Message is one sentence on one line: "'url' is a required property". Values
	// in it are shortened, and characters that do not print are escaped.
	Message string `json:"message"`
	// SchemaPath is the place of the violated keyword in the schema:
	// "properties.url.format". References are not part of it.
	SchemaPath string `json:"schema_path"`
}

// Member is one member of a JSON object: its name, unescaped, and its value as
// strict JSON without surrounding space.
type Member struct {
	Name  string
	Value []byte
}

// MembersOf returns the members of a JSON object in their order, which a map would lose; none for nil.
// object must be valid JSON. Anything but an object is an error.
func MembersOf(object []byte) (list []Member, err error) {
	if object == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		s, _ := name.(string)
		list = append(list, Member{s, value})
	}
	return list, nil
}

// Schema is a draft-07 schema, whose formats are asserted. A Schema of New is
// read when it is first used, and compiled when the fast path is first unsure;
// Parse does both at once. A Schema is safe for concurrent use.
type Schema struct {
	load func() (*loaded, error)
}

// loaded is a schema that has been read.
type loaded struct {
	document any // to look up what a keyword requires
	fast     *fastSchema
	required []string
	compile  func() (*jsonschema.Schema, error)
	patterns map[*regexp.Regexp]int // the sizes of its patterns if somebody else wrote it, otherwise nil
}

// New returns a schema. source returns its document: JSON in Go's generic form, with numbers as
// json.Number. A reference that leaves the document is an error of Validate: nothing is loaded from
// the network or from a file.
func New(source func() (document any, err error)) *Schema {
	return &Schema{load: sync.OnceValues(func() (*loaded, error) {
		document, err := source()
		if err != nil {
			return nil, err
		}
		compile := sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(document, nil) })
		return newLoaded(document, newFastSchema(document), compile), nil
	})}
}

func newLoaded(document any, fast *fastSchema, compile func() (*jsonschema.Schema, error)) *loaded {
	l := &loaded{document: document, fast: fast, compile: compile}
	list, _ := child(document, "required").([]any)
	for _, n := range list {
		if name, ok := n.(string); ok {
			l.required = append(l.required, name)
		}
	}
	return l
}

// Required returns the names of the properties that the schema requires at its
// top level, or none if the schema cannot be read. The caller does not change it.
func (s *Schema) Required() []string {
	l, err := s.load()
	if err != nil {
		return nil
	}
	return l.required
}

// Validate returns every violation of one JSON value, sorted by path, or none
// if the value conforms. It never panics and takes time linear in the value;
// after 1,000 violations it only counts them. An error is about the schema.
func (s *Schema) Validate(raw []byte) ([]Violation, error) {
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	isJSON := jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if isJSON && l.fast.accepts(raw) {
		return nil, nil
	}
	return l.validate(raw)
}

// ValidateMembers is Validate of the object with these members, no two of which
// have the same name.
func (s *Schema) ValidateMembers(members []Member) ([]Violation, error) {
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	if l.fast.acceptsMembers(members) {
		return nil, nil
	}
	raw := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw, _ = jsontext.AppendQuote(raw, m.Name) // the error is about invalid UTF-8, which is replaced
		raw = append(append(raw, ':'), m.Value...)
	}
	return l.validate(append(raw, '}'))
}

// AcceptsMember reports whether the schema lists the member's property and the
// value certainly conforms to the property's schema. It may report false for an
// unusual form of a value that conforms.
func (s *Schema) AcceptsMember(m Member) bool {
	l, err := s.load()
	if err != nil {
		return false
	}
	property, isListed := l.fast.properties[m.Name]
	return isListed && property.schema.value(m.Value, 0, 1) >= 0
}

// validate is Validate without the fast path.
func (l *loaded) validate(raw []byte) (out []Violation, err error) {
	root, err := l.compile()
	if err != nil {
		return nil, err
	}
	v, bad := decode(raw)
	if bad != nil {
		return []Violation{*bad}, nil
	}
	v, tooLong := trim(root, v, "", "")
	if l.patterns != nil { // somebody else wrote the schema
		b := budget{left: maxSteps, patterns: l.patterns}
		if !b.affordable(root, v) {
			return []Violation{{Path: "$", Message: "the value is too large or too deeply nested to be checked against this schema"}}, nil
		}
	}
	defer func() {
		if r := recover(); r != nil {
			out = []Violation{{Path: "$", Message: "the value cannot be checked against the schema"}}
		}
	}()
	err = root.Validate(v)
	c := collector{document: l.document, value: v, patterns: map[string]*regexp.Regexp{}}
	for _, t := range tooLong {
		t.Path = instancePath(t.Path, v)
		c.add(t)
	}
	failure, isInvalid := errors.AsType[*jsonschema.ValidationError](err)
	switch {
	case isInvalid:
		unescape(failure)
		c.walk(failure)
	case err != nil:
		c.add(Violation{Path: "$", Message: "the value cannot be checked against the schema: " + err.Error()})
	}
	return c.sorted(), nil
}

// resource is the name a document gets while it is compiled; no request goes there.
const resource = "https://schema.invalid/schema.json"

// compile compiles a schema. The given formats replace the library's of the same names.
func compile(document any, formats map[string]func(any) bool) (root *jsonschema.Schema, err error) {
	// The compiler panics on some documents that a meta-schema lets pass: that of
	// draft-04, for example, does not check the names in patternProperties.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	maps.Copy(c.Formats, formats)
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("the schema refers to %q: only references within the schema are allowed", url)
	}
	raw, err := json.Marshal(document)
	if err == nil {
		err = c.AddResource(resource, bytes.NewReader(raw))
	}
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	root, err = c.Compile(resource)
	if err != nil {
		return nil, compileError(err, document)
	}
	replaceUniqueItems(root)
	return root, nil
}

// compileError describes a compiler's error about a schema without its internal names.
func compileError(err error, document any) error {
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		unescape(ve)
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		if keywordOf(ve) == "format" && strings.HasSuffix(ve.Message, "'regex'") {
			pattern, ok := resolve(document, ve.InstanceLocation).(string)
			if !ok { // it is the name of a member of patternProperties
				pattern = unescapePointer.Replace(lastToken(ve.InstanceLocation))
			}
			_, err := regexp.Compile(pattern)
			return fmt.Errorf("the schema at %s: the pattern %s is not one that Go's regexp (RE2) knows: %w", instancePath(ve.InstanceLocation, document), show(pattern), err)
		}
		return fmt.Errorf("the schema is not valid draft-07: at %s: %s", instancePath(ve.InstanceLocation, document), ve.Message)
	}
	if se, ok := errors.AsType[*jsonschema.SchemaError](err); ok && se.Err != nil {
		return fmt.Errorf("the schema cannot be compiled: %w", se.Err)
	}
	return fmt.Errorf("the schema cannot be compiled: %w", err)
}
