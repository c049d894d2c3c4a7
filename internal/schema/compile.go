package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

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
