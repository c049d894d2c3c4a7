package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/schemas"
)

// published contains the schemas that Published has returned, by file and
// definition.
var published sync.Map

// Published returns a published schema: that of a file if definition is "",
// otherwise one of the file's definitions as a schema of its own. It reports
// false if there is none of that name.
func Published(file, definition string) (*Schema, bool) {
	name := [2]string{file, definition}
	if s, ok := published.Load(name); ok {
		return s.(*Schema), true
	}
	if !slices.Contains(schemas.Names(), file) {
		return nil, false
	}
	source := func() (json.RawMessage, error) {
		raw, _ := schemas.Lookup(file)
		return raw, nil
	}
	if definition != "" {
		definitions, err := schemas.Definitions(file)
		if err != nil || !slices.Contains(definitions, definition) {
			return nil, false
		}
		source = func() (json.RawMessage, error) { return schemas.Definition(file, definition) }
	}
	s, _ := published.LoadOrStore(name, fromJSON(source))
	return s.(*Schema), true
}

// fromJSON returns the schema whose text source returns.
func fromJSON(source func() (json.RawMessage, error)) *Schema {
	return New(func() (any, error) {
		raw, err := source()
		if err != nil {
			return nil, err
		}
		document, bad := decode(raw)
		if bad != nil {
			return nil, fmt.Errorf("the schema at %s: %s", bad.Path, bad.Message)
		}
		return document, nil
	})
}

// Source returns the text of a published schema: a file, with or without its
// extension, or one kind of the agent's items with its references inlined.
func Source(name string) (json.RawMessage, bool) { return schemas.Lookup(name) }
