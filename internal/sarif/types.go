package sarif

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/schema"
)

//go:embed oasis/sarif-2.1.0.json
var oasisSchema []byte

// typeTable says, for each type of SARIF objects, which of its members hold
// objects of which type. It is read from the schema, so no member is forgotten.
type typeTable map[string]*objectType

type objectType struct {
	members  map[string]member // those that hold typed objects
	links    map[string]bool   // those that hold absolute URIs, or lists of them
	unique   []string          // those that hold a list without repetitions
	required []string
}

type member struct {
	typ      string
	shape    shape
	minItems int
}

// shape is how a member holds its objects.
type shape int

const (
	single shape = iota
	array
	dictionary
)

// logType is the type of the log itself.
const logType = "sarifLog"

type schemaNode struct {
	Ref        string                 `json:"$ref"`
	Format     string                 `json:"format"`
	Items      *schemaNode            `json:"items"`
	MinItems   int                    `json:"minItems"`
	Unique     bool                   `json:"uniqueItems"`
	Additional json.RawMessage        `json:"additionalProperties"`
	Properties map[string]*schemaNode `json:"properties"`
	Required   []string               `json:"required"`
}

var types = sync.OnceValue(func() typeTable {
	var doc struct {
		schemaNode
		Definitions map[string]*schemaNode `json:"definitions"`
	}
	table := typeTable{}
	if err := json.Unmarshal(oasisSchema, &doc); err != nil {
		return table // the file is part of the program; a test reads it
	}
	table[logType] = doc.objectType()
	for name, node := range doc.Definitions {
		table[name] = node.objectType()
	}
	return table
})

func (n *schemaNode) objectType() *objectType {
	t := &objectType{members: map[string]member{}, links: map[string]bool{}, required: n.Required}
	for name, p := range n.Properties {
		if p.Unique {
			t.unique = append(t.unique, name)
		}
		var additional schemaNode
		if len(p.Additional) > 0 && p.Additional[0] == '{' {
			_ = json.Unmarshal(p.Additional, &additional)
		}
		switch {
		case p.Ref != "":
			t.members[name] = member{refName(p.Ref), single, 0}
		case p.Items != nil && p.Items.Ref != "":
			t.members[name] = member{refName(p.Items.Ref), array, p.MinItems}
		case additional.Ref != "":
			t.members[name] = member{refName(additional.Ref), dictionary, 0}
		case name != "$schema" && p.Format == "uri" || p.Items != nil && p.Items.Format == "uri":
			t.links[name] = true
		}
	}
	return t
}

func refName(ref string) string { return strings.TrimPrefix(ref, "#/definitions/") }

// logSchema is the schema that logs are checked against: the published one as
// draft-07, so that formats are asserted, without
//   - uniqueItems, whose check is quadratic; duplicates are merged instead;
//   - the formats of URIs, which code scanning does not insist on either;
//   - an anyOf that some editions have among the region's properties.
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

func loosen(v any) {
	switch v := v.(type) {
	case object:
		if unique, ok := v["uniqueItems"].(bool); ok && unique {
			delete(v, "uniqueItems")
		}
		if f := stringMember(v, "format"); f == "uri" || f == "uri-reference" {
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

// visitor sees every typed object of a log. Enter is called before an object's
// members are visited, leave after; what returns false is removed from the log.
type visitor interface {
	enter(typ string, o object) bool
	leave(typ string, o object) bool
}

// walk visits o, an object of type typ, and all typed objects in it. It reports
// whether o stays: an object that lost a required member goes as well, and so
// does one that lost the last element of a list that may not be empty.
func (t typeTable) walk(typ string, o object, v visitor) bool {
	if !v.enter(typ, o) {
		return false
	}
	info := t[typ]
	if info == nil {
		return v.leave(typ, o)
	}
	for name, m := range info.members {
		value, ok := o[name]
		if !ok {
			continue
		}
		stays := true
		switch value := value.(type) {
		case object:
			switch m.shape {
			case single:
				stays = t.walk(m.typ, value, v)
			case dictionary:
				for key, e := range value {
					if e, ok := e.(object); ok && !t.walk(m.typ, e, v) {
						delete(value, key)
					}
				}
			}
		case []any:
			if m.shape != array {
				break
			}
			kept := value[:0]
			for _, e := range value {
				if e, ok := e.(object); ok && !t.walk(m.typ, e, v) {
					continue
				}
				kept = append(kept, e)
			}
			if len(kept) < len(value) {
				clear(value[len(kept):])
				o[name] = kept
				stays = len(kept) >= m.minItems
			}
		}
		if !stays {
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
