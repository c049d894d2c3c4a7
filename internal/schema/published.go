package schema

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/agent-airlock/airlock/schemas"
)

// publishedFile is one file of package schemas.
type publishedFile struct {
	schema      *Schema
	definitions func() map[string]*Schema
}

// published holds the files of package schemas.
var published = sync.OnceValue(func() map[string]publishedFile {
	files := map[string]publishedFile{}
	for _, file := range schemas.Names() {
		files[file] = publishedFile{
			schema: fromJSON(func() (json.RawMessage, error) {
				raw, _ := schemas.Lookup(file)
				return raw, nil
			}),
			definitions: sync.OnceValue(func() map[string]*Schema {
				definitions := map[string]*Schema{}
				names, _ := schemas.Definitions(file) // an error is that of the file, too
				for _, name := range names {
					definitions[name] = fromJSON(func() (json.RawMessage, error) { return schemas.Definition(file, name) })
				}
				return definitions
			}),
		}
	}
	return files
})

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

// Published returns a published schema: that of a file if definition is "",
// otherwise one of the file's definitions as a schema of its own. It reports
// false if there is none of that name.
func Published(file, definition string) (*Schema, bool) {
	f, ok := published()[file]
	if !ok || definition == "" {
		return f.schema, ok
	}
	s, ok := f.definitions()[definition]
	return s, ok
}

// Source returns the text of a published schema: a file, with or without its
// extension, or a kind of the union with its references inlined.
func Source(name string) (json.RawMessage, bool) { return schemas.Lookup(name) }
