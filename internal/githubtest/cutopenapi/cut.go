package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// operations returns the methods of the REST operations to keep, by path. To add an operation, add it
// here and its handler to githubtest.
func operations() map[string][]string {
	const repo = "/repos/{owner}/{repo}"
	return map[string][]string{
		repo:                                              {"get"},
		repo + "/issues":                                  {"get", "post"},
		repo + "/issues/{issue_number}":                   {"get", "patch"},
		repo + "/issues/{issue_number}/comments":          {"get", "post"},
		repo + "/issues/comments":                         {"get"},
		repo + "/issues/comments/{comment_id}":            {"patch", "delete"},
		repo + "/issues/comments/{comment_id}/reactions":  {"post"},
		repo + "/issues/{issue_number}/labels":            {"get", "post"},
		repo + "/labels":                                  {"get"},
		repo + "/pulls":                                   {"get", "post"},
		repo + "/pulls/{pull_number}":                     {"get", "patch"},
		repo + "/pulls/{pull_number}/requested_reviewers": {"post"},
		repo + "/pulls/{pull_number}/files":               {"get"},
		repo + "/pulls/{pull_number}/reviews":             {"get", "post"},
		repo + "/pulls/{pull_number}/reviews/{review_id}": {"put"},
		repo + "/pulls/{pull_number}/comments":            {"get"},
		repo + "/pulls/comments/{comment_id}":             {"patch", "delete"},
		repo + "/check-runs":                              {"post"},
		repo + "/check-runs/{check_run_id}":               {"get", "patch"},
		repo + "/commits/{ref}/check-runs":                {"get"},
		repo + "/code-scanning/sarifs":                    {"post"},
		repo + "/code-scanning/sarifs/{sarif_id}":         {"get"},
		repo + "/contents/{path}":                         {"get"},
		repo + "/commits":                                 {"get"},
		repo + "/compare/{basehead}":                      {"get"},
		repo + "/branches/{branch}":                       {"get"},
		repo + "/rules/branches/{branch}":                 {"get"},
		repo + "/git/ref/{ref}":                           {"get"},
		repo + "/git/matching-refs/{ref}":                 {"get"},
		repo + "/git/refs":                                {"post"},
		repo + "/git/commits/{commit_sha}":                {"get"},
		repo + "/git/commits":                             {"post"},
		repo + "/git/trees":                               {"post"},
		repo + "/collaborators/{username}/permission":     {"get"},
		repo + "/actions/jobs/{job_id}":                   {"get"},
		repo + "/dispatches":                              {"post"},
		repo + "/actions/permissions/workflow":            {"get"},
		repo + "/actions/secrets":                         {"get"},
		repo + "/code-scanning/alerts":                    {"get"},
		"/user/{account_id}":                              {"get"},
	}
}

// document is an OpenAPI document as far as the cut looks into it.
type document struct {
	OpenAPI    string                                `json:"openapi"`
	Info       json.RawMessage                       `json:"info"`
	Servers    []map[string]string                   `json:"servers"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components map[string]map[string]json.RawMessage `json:"components"`
}

// cutREST keeps the operations, the schemas of errors, and all that they refer to, directly or not.
func cutREST(src []byte) ([]byte, error) {
	var from document
	if err := json.Unmarshal(src, &from); err != nil {
		return nil, err
	}
	to := document{OpenAPI: from.OpenAPI, Info: from.Info, Servers: []map[string]string{{"url": "/"}},
		Paths: map[string]map[string]json.RawMessage{}, Components: map[string]map[string]json.RawMessage{}}
	var todo [][]byte // parts that are kept, whose references are not followed yet
	ops := operations()
	for _, path := range slices.Sorted(maps.Keys(ops)) {
		to.Paths[path] = map[string]json.RawMessage{}
		for _, method := range ops[path] {
			op, ok := from.Paths[path][method]
			if !ok {
				return nil, fmt.Errorf("there is no %s %s", strings.ToUpper(method), path)
			}
			to.Paths[path][method] = op
			todo = append(todo, op)
		}
	}
	// Errors that any operation can answer with.
	for _, name := range []string{"basic-error", "validation-error", "validation-error-simple"} {
		todo = append(todo, []byte(`{"$ref":"#/components/schemas/`+name+`"}`))
	}
	for len(todo) > 0 {
		part := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		refs, err := refsOf(part)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			kind, name, ok := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
			if !ok || strings.Contains(name, "/") {
				return nil, fmt.Errorf("cannot follow %s", ref)
			}
			if _, done := to.Components[kind][name]; done {
				continue
			}
			def, ok := from.Components[kind][name]
			if !ok {
				return nil, fmt.Errorf("%s leads nowhere", ref)
			}
			if to.Components[kind] == nil {
				to.Components[kind] = map[string]json.RawMessage{}
			}
			to.Components[kind][name] = def
			todo = append(todo, def)
		}
	}
	return canonical(to)
}

// canonical returns a document as compact JSON with sorted keys on every level.
func canonical(d document) ([]byte, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// refsOf lists what a part of the document refers to.
func refsOf(part []byte) ([]string, error) {
	var v any
	if err := json.Unmarshal(part, &v); err != nil {
		return nil, err
	}
	var refs []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				refs = append(refs, ref)
			}
			for _, c := range v {
				walk(c)
			}
		case []any:
			for _, c := range v {
				walk(c)
			}
		}
	}
	walk(v)
	return refs, nil
}

// cutGraphQL drops the descriptions, and the second of each field that GitHub's
// file lists twice, which a strict parser refuses.
func cutGraphQL(src []byte) ([]byte, error) {
	doc, err := parser.ParseSchema(&ast.Source{Name: "schema.graphql", Input: string(src)})
	if err != nil {
		return nil, err
	}
	for _, def := range doc.Definitions {
		seen := map[string]bool{}
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool {
			isSecond := seen[f.Name]
			seen[f.Name] = true
			return isSecond
		})
	}
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithoutDescription(), formatter.WithIndent(" ")).FormatSchemaDocument(doc)
	return b.Bytes(), nil
}
