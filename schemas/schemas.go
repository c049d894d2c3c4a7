// Package schemas holds the published JSON Schema files, draft-07, which are
// the project's contracts with agents, editors and other programs.
package schemas

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"sync"
)

// AgentOutput is the name of the file that describes the safe-output union and
// the document that collect writes.
const AgentOutput = "agent-output.json"

//go:embed *.json
var files embed.FS

// FS returns the schema files.
func FS() fs.FS { return files }

// Names returns the names of the schema files, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // an embedded root can always be read
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
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

// Lookup returns the schema called name: a file, with or without its ending
// (".json", ".schema.json"), or one kind of the union as a schema of its own,
// with all it refers to inlined. It reports false for any other name.
func Lookup(name string) (json.RawMessage, bool) {
	for _, ending := range []string{"", ".json", ".schema.json"} {
		if raw, err := files.ReadFile(name + ending); err == nil {
			return raw, true
		}
	}
	kinds, err := Kinds()
	if err != nil {
		return nil, false
	}
	for _, k := range kinds {
		if k == name {
			raw, err := Definition(AgentOutput, name)
			return raw, err == nil
		}
	}
	return nil, false
}

// Definitions returns the names of a file's definitions, sorted.
func Definitions(file string) ([]string, error) {
	doc, err := definitions(file)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(doc))
	for name := range doc {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, nil
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

// Definition returns one of a file's definitions as a schema of its own: what
// it refers to within the file is inlined, keys keep their order, and the
// result is indented by two spaces.
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
	return indent(out)
}

// localRef is how a file refers to one of its own definitions.
const localRef = "#/definitions/"

func refName(ref string) (string, bool) { return strings.CutPrefix(ref, localRef) }
