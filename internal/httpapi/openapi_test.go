package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/runs"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

// TestOpenAPI asserts that openapi.json is what follows from the routes and the types of their
// bodies, and that it is a valid description.
func TestOpenAPI(t *testing.T) {
	want, err := json.MarshalIndent(describeAPI(routes()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		openAPI = want
	}
	if !bytes.Equal(openAPI, want) {
		t.Error("openapi.json is not what the routes say: go test ./internal/httpapi -run OpenAPI -update")
	}
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

type object = map[string]any

// TestDescriptionIsStable asserts that one list of routes has one description.
func TestDescriptionIsStable(t *testing.T) {
	list := []route{{method: "GET", path: "/{id}", query: []parameter{{name: "b"}, {name: "a"}}, header: []parameter{{name: "B"}, {name: "A"}}, answers: map[int]any{200: nil, 404: nil}}}
	first := describeAPI(list)
	for range 50 {
		if again := describeAPI(list); !reflect.DeepEqual(first, again) {
			t.Fatalf("%v\n%v", first, again)
		}
	}
}

func describeAPI(list []route) object {
	paths := object{}
	for _, rt := range list {
		item, ok := paths[rt.path].(object)
		if !ok {
			item = object{}
			paths[rt.path] = item
		}
		op := object{"summary": rt.summary, "operationId": operationID(rt), "responses": responses(rt)}
		var parameters []object
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(rt.path, -1) {
			parameters = append(parameters, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
		for _, part := range []struct {
			in         string
			parameters []parameter
		}{{"query", rt.query}, {"header", rt.header}} {
			for _, p := range part.parameters {
				s := object{"type": p.kind}
				if p.oneOf != nil {
					s["enum"] = p.oneOf
				}
				parameters = append(parameters, object{"name": p.name, "in": part.in, "description": p.about, "schema": s})
			}
		}
		if parameters != nil {
			op["parameters"] = parameters
		}
		if rt.body != nil {
			op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schemaOf(reflect.TypeOf(rt.body))}}}
		}
		if rt.scope != "" {
			op["security"] = []object{{"token": []string{}}}
			op["description"] = "Needs the scope " + string(rt.scope) + "."
		}
		item[strings.ToLower(rt.method)] = op
	}
	return object{
		"openapi": "3.0.3",
		"info":    object{"title": "Airlock coordinator", "version": "1", "description": "Discover agents, start runs and follow them."},
		"paths":   paths,
		"components": object{"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer",
			"description": "A token of 'airlock token add'. Without any token the server answers its own user on loopback."}}},
	}
}

func operationID(rt route) string {
	words := strings.FieldsFunc(rt.path, func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	return strings.ToLower(rt.method) + "_" + strings.Join(words, "_")
}

var descriptions = map[int]string{200: "It is answered.", 201: "It was made.", 202: "It was accepted.", 204: "There is nothing to answer.", 400: "The request is not valid.", 404: "There is none.",
	409: "It does not go with what there is.", 413: "The body is too large.", 503: "It cannot be answered now."}

func responses(rt route) object {
	out := object{"default": object{"description": "Another error, such as 401, 403, 405, 408, 429 or 503.", "content": object{"application/json": object{"schema": schemaOf(reflect.TypeFor[ErrorBody]())}}}}
	for status, body := range rt.answers {
		r := object{"description": descriptions[status]}
		switch body.(type) {
		case nil:
		case plainText:
			r["content"] = object{"text/plain": object{"schema": object{"type": "string"}}}
		case eventStream:
			r["content"] = object{"text/event-stream": object{"schema": object{"type": "string"}}}
		default:
			r["content"] = object{"application/json": object{"schema": schemaOf(reflect.TypeOf(body))}}
		}
		out[strconv.Itoa(status)] = r
	}
	return out
}

// schemaOf describes a type as encoding/json writes it. It leaves out fields that no json tag
// names.
func schemaOf(t reflect.Type) object {
	enum := func(list ...string) object { return object{"type": "string", "enum": list} }
	switch t {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anyJSON](), reflect.TypeFor[any]():
		return object{"nullable": true}
	case reflect.TypeFor[bool]():
		return object{"type": "boolean"}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[agents.Type]():
		return enum("agent", "deterministic", "autonomous", "procedural")
	case reflect.TypeFor[agents.Source]():
		return enum("built-in", "file", "stored")
	case reflect.TypeFor[runs.Status]():
		var list []string
		for _, s := range runs.Statuses() {
			list = append(list, string(s))
		}
		return enum(list...)
	case reflect.TypeFor[fixloop.Decision]():
		var list []string
		for _, d := range fixloop.Decisions() {
			list = append(list, string(d))
		}
		return enum(list...)
	case reflect.TypeFor[parameterErrorOrOther]():
		return object{"anyOf": []object{schemaOf(reflect.TypeFor[agents.ParameterErrorBody]()), schemaOf(reflect.TypeFor[ErrorBody]())}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Bool:
		return object{"type": "boolean"}
	}
	properties, required := object{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		properties[name] = schemaOf(f.Type)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// TestDocumentNamesEachRoute asserts that the table of requests in docs/coordinator.md is complete.
func TestDocumentNamesEachRoute(t *testing.T) {
	doc, err := os.ReadFile("../../docs/coordinator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rt := range routes() {
		if want := "`" + rt.method + " " + rt.path + "`"; !bytes.Contains(doc, []byte(want)) {
			t.Errorf("docs/coordinator.md does not have %s", want)
		}
	}
}
