package sarif

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/schema"
)

//go:embed oasis/sarif-2.1.0.json
var oasisSchema []byte

// typeTable describes each type of SARIF objects. It is read from the schema, so
// that no member is forgotten.
type typeTable map[string]objectType

type objectType struct {
	members  map[string]member // the members whose values are typed objects
	order    []string          // the names of members, in the order in which they are visited
	links    []string          // the members whose values are absolute URIs, or lists of them
	unique   []string          // the members whose values are lists without repetitions
	required []string
}

// member describes the values of a member: typed objects.
type member struct {
	typ      string
	shape    shape
	minItems int
}

// shape is how a member's value contains its objects.
type shape int

const (
	single shape = iota
	array
	dictionary
)

// logType is the type of the log itself.
const logType = "sarifLog"

var types = sync.OnceValue(func() typeTable {
	document, _, err := decode(oasisSchema)
	if err != nil {
		return nil // cannot happen: the file is embedded, and a test decodes it
	}
	table := typeTable{logType: newObjectType(document)}
	definitions := child(document, "definitions")
	for name := range definitions {
		table[name] = newObjectType(child(definitions, name))
	}
	return table
})

func newObjectType(definition object) objectType {
	t := objectType{members: map[string]member{}}
	for _, name := range list(definition, "required") {
		required, _ := name.(string)
		t.required = append(t.required, required)
	}
	properties := child(definition, "properties")
	for name := range properties {
		p := child(properties, name)
		items := child(p, "items")
		minItems, _ := intMember(p, "minItems")
		if p["uniqueItems"] == true {
			t.unique = append(t.unique, name)
		}
		for _, m := range []member{{refName(p), single, 0}, {refName(items), array, minItems}, {refName(child(p, "additionalProperties")), dictionary, 0}} {
			if m.typ != "" {
				t.members[name] = m
			}
		}
		if name != "$schema" && p["format"] == "uri" || items["format"] == "uri" {
			t.links = append(t.links, name)
		}
	}
	t.order = slices.Sorted(maps.Keys(t.members))
	return t
}

// refName returns the name of the definition that a schema refers to, or "".
func refName(s object) string { return strings.TrimPrefix(stringMember(s, "$ref"), "#/definitions/") }

// logSchema is the schema that logs are validated against: the published one as
// draft-07, so that formats are asserted, but without
//   - uniqueItems, because Prepare merges duplicates;
//   - the formats of URIs, on which code scanning does not insist either;
//   - an anyOf that some editions have in the region's properties.
var logSchema = schema.New(func() (any, error) {
	document, _, err := decode(oasisSchema)
	if err != nil {
		return nil, err
	}
	document["$schema"] = "http://json-schema.org/draft-07/schema#"
	loosen(document)
	delete(child(child(child(document, "definitions"), "region"), "properties"), "anyOf")
	return document, nil
})

// loosen removes uniqueItems and the formats of URIs from each schema in v.
func loosen(v any) {
	switch v := v.(type) {
	case object:
		delete(v, "uniqueItems")
		if v["format"] == "uri" || v["format"] == "uri-reference" {
			delete(v, "format")
		}
		for _, e := range v {
			loosen(e)
		}
	case []any:
		for _, e := range v {
			loosen(e)
		}
	}
}

// visitor visits every typed object of a log: enter is called before the
// object's members are visited, leave afterwards, unless the object is removed
// before that. If one of them returns false, the object is removed from the log.
type visitor interface {
	enter(typ string, o object) bool
	leave(typ string, o object) bool
}

// walk visits o, an object of type typ, and all typed objects in it, in the order of their
// members' names, so that one log always has the same notes. It reports
// whether o stays: an object that lost a required member is removed as well, and
// so is a list that lost too many of its elements.
func (t typeTable) walk(typ string, o object, v visitor) bool {
	if !v.enter(typ, o) {
		return false
	}
	info := t[typ]
	for _, name := range info.order {
		value, ok := o[name]
		if !ok {
			continue
		}
		if left, stays := t.walkMember(info.members[name], value, v); stays {
			o[name] = left
		} else {
			delete(o, name)
		}
	}
	for _, name := range info.required {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return v.leave(typ, o)
}

// walkMember visits the typed objects in a member's value. It returns what is left of the value,
// and whether the member stays.
func (t typeTable) walkMember(m member, value any, v visitor) (left any, stays bool) {
	removed := func(e any) bool {
		o, ok := e.(object)
		return ok && !t.walk(m.typ, o, v)
	}
	switch value := value.(type) {
	case object:
		switch m.shape {
		case single:
			return value, !removed(value)
		case dictionary:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if removed(value[key]) {
					delete(value, key)
				}
			}
		}
	case []any:
		if m.shape == array {
			kept := slices.DeleteFunc(value, removed)
			return kept, len(kept) == len(value) || len(kept) >= m.minItems
		}
	}
	return value, true
}
