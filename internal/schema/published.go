package schema

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/agent-airlock/airlock/schemas"
)

// publishedFile is one file of package schemas.
type publishedFile struct {
	whole       *Schema
	definitions func() map[string]*Schema
}

// published holds the schemas of package schemas; none is read before it is
// used.
var published = sync.OnceValue(func() map[string]publishedFile {
	m := map[string]publishedFile{}
	for _, file := range schemas.Names() {
		m[file] = publishedFile{
			whole:       lazy(func() ([]byte, error) { return fileOf(file) }),
			definitions: sync.OnceValue(func() map[string]*Schema { return definitionsOf(file) }),
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

func definitionsOf(file string) map[string]*Schema {
	m := map[string]*Schema{}
	names, err := schemas.Definitions(file)
	if err != nil {
		return m // the file itself gives the error
	}
	for _, d := range names {
		m[d] = lazy(func() ([]byte, error) { return schemas.Definition(file, d) })
	}
	return m
}

// Published returns a published schema: a whole file where definition is "",
// else one of the file's definitions as a schema of its own. It reports false
// where there is none of that name.
func Published(file, definition string) (*Schema, bool) {
	f, ok := published()[file]
	if !ok || definition == "" {
		return f.whole, ok
	}
	s, ok := f.definitions()[definition]
	return s, ok
}

// Source returns a published schema's own text: a file, with or without its
// ending, or a kind of the union with all it refers to inlined.
func Source(name string) (json.RawMessage, bool) { return schemas.Lookup(name) }
