// Package schema compiles each JSON Schema once, when it is first needed, and
// tells every violation of a raw JSON value as path, message and schema path.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/schemas"
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

// Schema is one compiled schema. It is safe for concurrent use.
type Schema struct {
	compile func() (*program, error)
}

// program is what compiling makes of a schema.
type program struct {
	root  *jsonschema.Schema
	doc   any // the schema's own JSON, to look up what a keyword says
	quick *quickObject
}

// Compile compiles a draft-07 schema, with the formats it names asserted.
// A reference that leaves the document is an error: nothing is ever loaded,
// neither from the network nor from a file.
func Compile(raw []byte) (*Schema, error) {
	s := lazy(func() ([]byte, error) { return raw, nil })
	if _, err := s.compile(); err != nil {
		return nil, err
	}
	return s, nil
}

// lazy returns a schema that is read and compiled when it is first used.
func lazy(read func() ([]byte, error)) *Schema {
	return &Schema{compile: sync.OnceValues(func() (*program, error) {
		raw, err := read()
		if err != nil {
			return nil, err
		}
		return compile(raw)
	})}
}

// resource is the name a document gets while it is compiled; no request goes there.
const resource = "https://schema.invalid/schema.json"

func compile(raw []byte) (p *program, err error) {
	// The compiler panics on some documents that its meta-schema lets pass,
	// such as a pattern that Go's regexp does not know.
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	doc, bad := decode(raw)
	if bad != nil {
		return nil, fmt.Errorf("the schema at %s: %s", bad.Path, bad.Message)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("the schema refers to %q: only references within the schema are allowed", url)
	}
	if err := c.AddResource(resource, bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	root, err := c.Compile(resource)
	if err != nil {
		return nil, compileError(err)
	}
	return &program{root: root, doc: doc, quick: quickOf(root)}, nil
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

// published holds the schemas of package schemas; none is compiled before it
// is used.
var published = sync.OnceValue(func() map[string]*Schema {
	m := map[string]*Schema{}
	for _, file := range schemas.Names() {
		m[file] = lazy(func() ([]byte, error) { return fileOf(file) })
		names, err := schemas.Definitions(file)
		if err != nil {
			continue // the file itself then gives the error
		}
		for _, d := range names {
			m[file+"#"+d] = lazy(func() ([]byte, error) { return schemas.Definition(file, d) })
		}
	}
	return m
})

func fileOf(file string) ([]byte, error) {
	raw, ok := schemas.Lookup(file)
	if !ok {
		return nil, fmt.Errorf("there is no schema %q", file)
	}
	return raw, nil
}

// Published returns a published schema: a whole file where definition is "",
// else one of the file's definitions as a schema of its own. It reports false
// where there is none of that name.
func Published(file, definition string) (*Schema, bool) {
	if definition != "" {
		file += "#" + definition
	}
	s, ok := published()[file]
	return s, ok
}

// Source returns a published schema's own text: a file, with or without its
// ending, or a kind of the union with all it refers to inlined.
func Source(name string) (json.RawMessage, bool) { return schemas.Lookup(name) }

// Properties returns the names of the properties that the schema lists at its
// top level, in no particular order.
func (s *Schema) Properties() ([]string, error) {
	p, err := s.compile()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range p.root.Properties {
		names = append(names, name)
	}
	return names, nil
}

// Required returns the names of the properties that the schema requires at its
// top level; none if it does not compile.
func (s *Schema) Required() []string {
	p, err := s.compile()
	if err != nil {
		return nil
	}
	return slices.Clone(p.root.Required)
}

// Validate returns every violation of one JSON value, sorted by path, or none
// if the value conforms. It never panics and takes time linear in the value;
// after 1,000 violations it stops counting and says so. An error is ours: the
// schema does not compile.
func (s *Schema) Validate(raw []byte) ([]Violation, error) {
	p, err := s.compile()
	if err != nil {
		return nil, err
	}
	v, bad := decode(raw)
	if bad != nil {
		return []Violation{*bad}, nil
	}
	return p.validate(v), nil
}

func (p *program) validate(v any) (out []Violation) {
	v, long := trim(p.root, v, "", "")
	defer func() {
		if r := recover(); r != nil {
			out = []Violation{{Path: "$", Message: "the value cannot be checked against the schema"}}
		}
	}()
	err := p.root.Validate(v)
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
