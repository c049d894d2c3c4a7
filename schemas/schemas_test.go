package schemas

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestEachKindIsASchemaOfItsOwn(t *testing.T) {
	kinds, err := Kinds()
	if err != nil || len(kinds) == 0 {
		t.Fatalf("Kinds = %v, %v", kinds, err)
	}
	for _, k := range kinds {
		raw, ok := Lookup(k)
		if !ok || !json.Valid(raw) {
			t.Errorf("%s has no schema", k)
		}
		if strings.Contains(string(raw), "$ref") {
			t.Errorf("%s: a reference is left in\n%s", k, raw)
		}
	}
}

func TestLookupOfFiles(t *testing.T) {
	a, _ := Lookup("agent-output")
	b, ok := Lookup("agent-output.json")
	if !ok || string(a) != string(b) || !slices.Contains(Names(), AgentOutput) {
		t.Error("agent-output and agent-output.json are not the same schema")
	}
	for _, name := range []string{"", "nope", "../go.mod", "safe-output", "schemas.go"} {
		if _, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) finds something", name)
		}
	}
}

// TestEveryFieldIsExplained asserts that each field has a description, because agents learn the
// fields from `airlock schema KIND`.
func TestEveryFieldIsExplained(t *testing.T) {
	names, err := Definitions(AgentOutput)
	if err != nil || len(names) == 0 {
		t.Fatalf("Definitions = %v, %v", names, err)
	}
	for _, name := range names {
		raw, err := Definition(AgentOutput, name)
		if err != nil {
			t.Fatal(err)
		}
		var def struct {
			Description string
			Properties  map[string]struct{ Description string }
		}
		if err := json.Unmarshal(raw, &def); err != nil {
			t.Fatal(err)
		}
		if def.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for p, s := range def.Properties {
			if s.Description == "" {
				t.Errorf("%s: field %s has no description", name, p)
			}
		}
	}
}

func TestNoFormatAndNoCustomKeyword(t *testing.T) {
	raw, _ := Lookup(AgentOutput)
	allowed := strings.Fields(`$schema $id $ref title description type properties required additionalProperties definitions
		items minItems maxItems minLength maxLength pattern enum const oneOf anyOf minimum maximum`)
	var walk func(v any, names bool)
	walk = func(v any, names bool) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				if !names && !slices.Contains(allowed, k) {
					t.Errorf("keyword %q: the schema has to compile in every validator's default configuration", k)
				}
				walk(e, !names && (k == "properties" || k == "definitions"))
			}
		case []any:
			for _, e := range v {
				walk(e, false)
			}
		}
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	walk(doc, false)
}

func TestDefinitionRefusesBadReferences(t *testing.T) {
	in := inliner{definitions: map[string]json.RawMessage{"a": json.RawMessage(`{"$ref":"#/definitions/a"}`)}}
	for _, raw := range []string{`{"$ref":"#/definitions/a"}`, `{"$ref":"http://example.com/x"}`, `{"items":[{"$ref":"#/definitions/none"}]}`} {
		if out, err := in.value(json.RawMessage(raw), 0); err == nil {
			t.Errorf("%s is inlined to %s, want an error", raw, out)
		}
	}
}
