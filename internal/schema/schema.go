// Package schema compiles each JSON Schema once, when it is first needed, and
// tells every violation of a raw JSON value as path, message and schema path.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one way in which a value does not conform to a schema.
type Violation struct {
	// Path is where in the value: "$", "$.url", "$.tags[1].e". A missing or an
	// unknown property is named itself.
	Path string `json:"path"`
	// Message says in one sentence what is wrong, on one line: "'url' is a
	// required property". Values in it are shortened; characters that do not
	// print are escaped.
	Message string `json:"message"`
	// SchemaPath is the violated keyword's place in the schema, dotted:
	// "properties.url.format". References do not show.
	SchemaPath string `json:"schema_path"`
}

// Schema is one schema. It is safe for concurrent use.
type Schema struct {
	read func() (*program, error)
}

// program is what is read of a schema; compiling, which costs most, waits until
// a value has to be validated.
type program struct {
	doc     any // the schema's own JSON, to look up what a keyword says
	quick   *quick
	compile func() (*jsonschema.Schema, error)
}

// Compile compiles a draft-07 schema, with the formats it names asserted.
// A reference that leaves the document is an error: nothing is ever loaded,
// neither from the network nor from a file.
func Compile(raw []byte) (*Schema, error) {
	s := lazy(func() ([]byte, error) { return raw, nil })
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	if _, err := p.compile(); err != nil {
		return nil, err
	}
	return s, nil
}

// lazy returns a schema that is read when it is first used.
func lazy(source func() ([]byte, error)) *Schema {
	return &Schema{read: sync.OnceValues(func() (*program, error) {
		raw, err := source()
		if err != nil {
			return nil, err
		}
		doc, bad := decode(raw)
		if bad != nil {
			return nil, fmt.Errorf("the schema at %s: %s", bad.Path, bad.Message)
		}
		return &program{
			doc: doc, quick: newQuick(doc),
			compile: sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(raw) }),
		}, nil
	})}
}

// Properties returns the names of the properties that the schema lists at its
// top level, sorted; none if it cannot be read.
func (s *Schema) Properties() []string {
	p, err := s.read()
	if err != nil {
		return nil
	}
	props, _ := child(p.doc, "properties").(map[string]any)
	return slices.Sorted(maps.Keys(props))
}

// Required returns the names of the properties that the schema requires at its
// top level; none if it cannot be read.
func (s *Schema) Required() []string {
	p, err := s.read()
	if err != nil {
		return nil
	}
	var names []string
	list, _ := child(p.doc, "required").([]any)
	for _, n := range list {
		if name, ok := n.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Validate returns every violation of one JSON value, sorted by path, or none
// if the value conforms. It never panics and takes time linear in the value;
// after 1,000 violations it stops counting and says so. An error is ours: the
// schema does not compile.
func (s *Schema) Validate(raw []byte) ([]Violation, error) {
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	root, err := p.compile()
	if err != nil {
		return nil, err
	}
	v, bad := decode(raw)
	if bad != nil {
		return []Violation{*bad}, nil
	}
	return p.validate(root, v), nil
}

func (p *program) validate(root *jsonschema.Schema, v any) (out []Violation) {
	v, long := trim(root, v, "", "")
	defer func() {
		if r := recover(); r != nil {
			out = []Violation{{Path: "$", Message: "the value cannot be checked against the schema"}}
		}
	}()
	err := root.Validate(v)
	if err == nil && len(long) == 0 {
		return nil
	}
	c := collector{program: p, value: v, found: long}
	var ve *jsonschema.ValidationError
	switch {
	case errors.As(err, &ve):
		c.walk(ve)
	case err != nil:
		c.add(Violation{Path: "$", Message: "the value cannot be checked against the schema: " + err.Error()})
	}
	return c.sorted()
}

// resource is the name a document gets while it is compiled; no request goes there.
const resource = "https://schema.invalid/schema.json"

func compile(raw []byte) (root *jsonschema.Schema, err error) {
	// The compiler panics on some documents that its meta-schema lets pass,
	// such as a pattern that Go's regexp does not know.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("the schema refers to %q: only references within the schema are allowed", url)
	}
	if err := c.AddResource(resource, bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	root, err = c.Compile(resource)
	if err != nil {
		return nil, compileError(err)
	}
	return root, nil
}

// compileError words a compiler's error without its internal names.
func compileError(err error) error {
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		return fmt.Errorf("the schema is not valid draft-07: at %s: %s", instancePath(ve.InstanceLocation, nil), ve.Message)
	}
	var se *jsonschema.SchemaError
	if errors.As(err, &se) && se.Err != nil {
		return fmt.Errorf("the schema cannot be compiled: %w", se.Err)
	}
	return fmt.Errorf("the schema cannot be compiled: %w", err)
}
