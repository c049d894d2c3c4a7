// Package schemas contains the published JSON Schema files, draft-07, which are
// the project's contracts with agents, editors and other programs.
package schemas

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// AgentOutput is the name of the file that describes the safe-output union and
// the document that collect writes.
const AgentOutput = "agent-output.json"

//go:embed *.json
var files embed.FS

// Names returns the names of the schema files, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".") // sorted
	if err != nil {
		return nil // an embedded root can always be read
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Kinds returns the names of the kinds that the union in AgentOutput lists, in
// the order of that list.
func Kinds() ([]string, error) {
	raw, err := files.ReadFile(AgentOutput)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Definitions struct {
			Union struct {
				OneOf []struct {
					Ref string `json:"$ref"`
				} `json:"oneOf"`
			} `json:"safe-output"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", AgentOutput, err)
	}
	var kinds []string
	for _, o := range doc.Definitions.Union.OneOf {
		kinds = append(kinds, path.Base(o.Ref))
	}
	return kinds, nil
}

// Lookup returns the schema called name: a file, with or without its extension
// (".json", ".schema.json"), or one kind of the union as a schema of its own,
// with its references inlined. It reports false for any other name.
func Lookup(name string) (json.RawMessage, bool) {
	for _, ending := range []string{"", ".json", ".schema.json"} {
		if raw, err := files.ReadFile(name + ending); err == nil {
			return raw, true
		}
	}
	if kinds, err := Kinds(); err != nil || !slices.Contains(kinds, name) {
		return nil, false
	}
	raw, err := Definition(AgentOutput, name)
	return raw, err == nil
}

// Definitions returns the names of a file's definitions, sorted.
func Definitions(file string) ([]string, error) {
	doc, err := definitions(file)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(doc)), nil
}

// union is AgentOutput's definitions, read once: each kind's schema needs them.
var union = sync.OnceValues(func() (map[string]json.RawMessage, error) { return readDefinitions(AgentOutput) })

func definitions(file string) (map[string]json.RawMessage, error) {
	if file == AgentOutput {
		return union()
	}
	return readDefinitions(file)
}

func readDefinitions(file string) (map[string]json.RawMessage, error) {
	raw, err := files.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("schemas: there is no file %q", file)
	}
	var doc struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", file, err)
	}
	return doc.Definitions, nil
}

// Definition returns one of a file's definitions as a schema of its own. Its
// references within the file are inlined, keys keep their order, and the result is
// indented by two spaces.
func Definition(file, name string) (json.RawMessage, error) {
	doc, err := definitions(file)
	if err != nil {
		return nil, err
	}
	def, ok := doc[name]
	if !ok {
		return nil, fmt.Errorf("schemas: %s has no definition %q", file, name)
	}
	out, err := inliner{definitions: doc}.value(def, 0)
	if err != nil {
		return nil, fmt.Errorf("schemas: %s: definition %q: %w", file, name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, out, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// localRef is how a file refers to one of its own definitions.
const localRef = "#/definitions/"

// maxDepth bounds inlining, because a definition may refer to itself.
const maxDepth = 64

// inliner replaces references to a file's own definitions with the definitions.
type inliner struct {
	definitions map[string]json.RawMessage
}

func (in inliner) value(raw json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, errors.New("references are nested too deeply, or in a circle")
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '{':
		return in.object(raw, depth)
	case len(raw) > 0 && raw[0] == '[':
		return in.elements(raw, depth, false)
	}
	return raw, nil
}

// object inlines the references in an object. In draft-07 the other members next to
// a $ref are ignored, so that the definition replaces the object.
func (in inliner) object(raw json.RawMessage, depth int) (json.RawMessage, error) {
	var ref struct {
		Ref *string `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &ref); err == nil && ref.Ref != nil {
		name, ok := strings.CutPrefix(*ref.Ref, localRef)
		def, found := in.definitions[name]
		if !ok || !found {
			return nil, fmt.Errorf("cannot resolve %q", *ref.Ref)
		}
		return in.value(def, depth+1)
	}
	return in.elements(raw, depth, true)
}

// elements inlines the references in the elements of an array, or in the values of
// an object in the order of its keys.
func (in inliner) elements(raw json.RawMessage, depth int, isObject bool) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{raw[0]}
	for dec.More() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if isObject {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			quoted, err := json.Marshal(key)
			if err != nil {
				return nil, err
			}
			out = append(append(out, quoted...), ':')
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		value, err := in.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, raw[0]+2), nil // '{' and '}', '[' and ']'
}
