package githubtest

import (
	"bytes"
	_ "embed" // the contract
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// node is an object of the graph: its type's name and its fields. A field that
// takes arguments is a func(map[string]any) (any, error).
type node struct {
	typ    string
	fields map[string]any
}

// gqlFailure is an error that GitHub would answer within a 200.
type gqlFailure struct {
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
	Path    []any  `json:"path,omitempty"`
}

func (f *gqlFailure) Error() string { return f.Message }

// execution runs a document and checks each value against the schema as it goes.
type execution struct {
	doc      *document
	failures []*gqlFailure
	broken   error // an answer that would break GitHub's schema
}

// breakf records what breaks the schema, unless something did before, and returns null as the value.
func (x *execution) breakf(format string, args ...any) any {
	if x.broken == nil {
		x.broken = fmt.Errorf(format, args...)
	}
	return nil
}

// object evaluates a selection on a node.
func (x *execution) object(n *node, set ast.SelectionSet, path []any) map[string]any {
	out := map[string]any{}
	x.into(out, n, set, path)
	return out
}

// into adds the fields of a selection on a node to out.
func (x *execution) into(out map[string]any, n *node, set ast.SelectionSet, path []any) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if sel.Name == "__typename" {
				out[sel.Alias] = n.typ
				continue
			}
			out[sel.Alias] = x.field(n, sel, append(slices.Clone(path), sel.Alias))
		case *ast.InlineFragment:
			if x.applies(n, sel.TypeCondition) {
				x.into(out, n, sel.SelectionSet, path)
			}
		case *ast.FragmentSpread:
			if x.applies(n, sel.Definition.TypeCondition) {
				x.into(out, n, sel.Definition.SelectionSet, path)
			}
		}
	}
}

// applies reports whether a node is of a type, or of one of the types of an interface or union.
// Every node is of the type "".
func (x *execution) applies(n *node, typ string) bool {
	if typ == "" || typ == n.typ {
		return true
	}
	return slices.ContainsFunc(x.doc.schema.PossibleTypes[typ], func(d *ast.Definition) bool { return d.Name == n.typ })
}

// field evaluates a field of a node. A failure is recorded and makes it null.
func (x *execution) field(n *node, f *ast.Field, path []any) any {
	v, ok := n.fields[f.Name]
	if !ok {
		return x.breakf("githubtest does not serve %s.%s", n.typ, f.Name)
	}
	if fn, ok := v.(func(map[string]any) (any, error)); ok {
		var err error
		if v, err = fn(f.ArgumentMap(x.doc.vars)); err != nil {
			failure := &gqlFailure{Message: err.Error(), Path: path}
			if g := (*gqlFailure)(nil); errors.As(err, &g) {
				failure.Type = g.Type
			}
			x.failures = append(x.failures, failure)
			return nil
		}
	}
	def := x.doc.schema.Types[n.typ].Fields.ForName(f.Name)
	return x.value(v, def.Type, f.SelectionSet, path)
}

// value completes a value to its type, and notes where it does not fit.
func (x *execution) value(v any, t *ast.Type, set ast.SelectionSet, path []any) any {
	if v == nil || v == (*node)(nil) {
		if t.NonNull && x.failures == nil { // after a failure, a required value may be missing
			return x.breakf("%v is null, but its type is %s", path, t)
		}
		return nil
	}
	if t.Elem != nil {
		list, ok := v.([]*node)
		if !ok {
			return x.breakf("%v is not a list", path)
		}
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = x.value(e, t.Elem, set, append(slices.Clone(path), i))
		}
		return out
	}
	def := x.doc.schema.Types[t.NamedType]
	switch def.Kind {
	case ast.Object, ast.Interface, ast.Union:
		n, ok := v.(*node)
		if !ok || !x.applies(n, t.NamedType) {
			return x.breakf("%v is not of the type %s", path, t.NamedType)
		}
		return x.object(n, set, path)
	case ast.Enum:
		if s, ok := v.(string); !ok || def.EnumValues.ForName(s) == nil {
			return x.breakf("%v: %v is not of the type %s", path, v, t.NamedType)
		}
		return v
	}
	if !fits(v, t.NamedType) {
		return x.breakf("%v: %v is not of the type %s", path, v, t.NamedType)
	}
	return v
}

// fits reports whether a value is of a scalar type. The scalars that are not listed are texts.
func fits(v any, scalar string) bool {
	s, isText := v.(string)
	switch scalar {
	case "Int":
		switch n := v.(type) {
		case int:
			return n >= math.MinInt32 && n <= math.MaxInt32
		case int64:
			return n >= math.MinInt32 && n <= math.MaxInt32
		}
		return false
	case "Boolean":
		_, ok := v.(bool)
		return ok
	case "DateTime":
		_, err := time.Parse(time.RFC3339, s)
		return isText && err == nil
	case "URI":
		u, err := url.Parse(s)
		return isText && err == nil && u.IsAbs()
	}
	return isText
}

// handleGraphQL answers a request that was found valid.
func (s *Server) handleGraphQL(c *conversation) reply {
	x := &execution{doc: c.graphql}
	root := &node{typ: "Query", fields: s.queryFields(c)}
	if c.graphql.op.Operation == ast.Mutation {
		root = &node{typ: "Mutation", fields: s.mutationFields(c)}
	}
	data := x.object(root, c.graphql.op.SelectionSet, nil)
	if x.broken != nil {
		return s.violation(c.rec, "the answer breaks GitHub's GraphQL schema", x.broken)
	}
	out := object{"data": data}
	if x.failures != nil {
		c.refused = true
		out["errors"] = x.failures
	}
	return okay(out)
}

// connection returns the page of a list that the arguments ask for: the first entries after a cursor,
// or the last ones before it. The cursor of an entry is its id.
func connection(typ string, list []*node, args map[string]any) *node {
	position := func(cursor string) int { // -1 without the cursor, or if no entry has it
		wanted, _ := args[cursor].(string)
		return slices.IndexFunc(list, func(n *node) bool { return wanted != "" && keyOf(n) == wanted })
	}
	total, size := len(list), 100
	if first := number(args["first"]); first > 0 {
		size = first
	}
	if before, _ := args["before"].(string); before != "" {
		list = list[:max(0, position("before"))]
	}
	previous := false
	if last := number(args["last"]); last > 0 {
		size, previous = last, len(list) > last
		list = list[max(0, len(list)-last):]
	}
	from := position("after") + 1
	to := min(from+size, len(list))
	info := &node{typ: "PageInfo", fields: object{"hasNextPage": to < len(list), "endCursor": nil, "hasPreviousPage": previous || from > 0, "startCursor": nil}}
	if to > from {
		info.fields["startCursor"], info.fields["endCursor"] = keyOf(list[from]), keyOf(list[to-1])
	}
	return &node{typ: typ, fields: object{"nodes": list[from:to], "pageInfo": info, "totalCount": total}}
}

// connected returns a field for a connection of entries, which are rendered when it is asked for.
func connected[T any](typ string, entries []T, render func(T) *node) func(map[string]any) (any, error) {
	return func(args map[string]any) (any, error) {
		var list []*node
		for _, entry := range entries {
			list = append(list, render(entry))
		}
		return connection(typ, list, args), nil
	}
}

//go:embed testdata/schema.graphql.gz
var sdlGz []byte

// graphQL is GitHub's schema, with the documents that were found valid: a test
// sends the same few again and again.
type graphQL struct {
	schema *ast.Schema
	mu     sync.Mutex
	valid  map[string]*ast.QueryDocument
}

// graphQLContract loads GitHub's schema once for all servers.
var graphQLContract = sync.OnceValues(func() (*graphQL, error) {
	raw, err := gunzip(sdlGz)
	if err != nil {
		return nil, err
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(raw)})
	if err != nil {
		return nil, err
	}
	return &graphQL{schema: schema, valid: map[string]*ast.QueryDocument{}}, nil
})

// load parses and validates a document.
func (g *graphQL) load(query string) (*ast.QueryDocument, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if doc, ok := g.valid[query]; ok {
		return doc, nil
	}
	doc, errs := gqlparser.LoadQueryWithRules(g.schema, query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, errs
	}
	if len(doc.Operations) != 1 {
		return nil, fmt.Errorf("a request has one operation, not %d", len(doc.Operations))
	}
	g.valid[query] = doc
	return doc, nil
}

// document is a GraphQL request that was found valid.
type document struct {
	schema *ast.Schema
	op     *ast.OperationDefinition
	vars   map[string]any
}

// receiveGraphQL parses a request and checks the document and its variables
// against GitHub's schema.
func (s *Server) receiveGraphQL(c *conversation) {
	c.graphql = &document{}                        // remains empty if the request is not valid
	c.rec.Operation, c.rec.Write = "graphql", true // until it is known to be a query
	var in struct {
		Query         string         `json:"query"`
		Variables     map[string]any `json:"variables"`
		OperationName string         `json:"operationName"`
	}
	dec := json.NewDecoder(bytes.NewReader(c.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		c.violation = fmt.Errorf("the body is not a GraphQL request: %w", err)
		return
	}
	doc, err := parseDocument(in.Query, in.Variables)
	if err != nil {
		c.violation = err
		return
	}
	c.graphql = doc
	c.rec.Operation = "graphql/" + c.graphql.op.Name
	c.rec.Write = c.graphql.op.Operation == ast.Mutation
	createsNoContent := slices.Contains([]string{"graphql/DeleteDiscussion", "graphql/DeleteDiscussionComment", "graphql/DeleteReview",
		"graphql/MinimizeComment", "graphql/UnminimizeComment", "graphql/UpdateRefs"}, c.rec.Operation)
	c.rec.Content = c.rec.Write && !createsNoContent
}

// parseDocument returns a request's document with its variables, or an error if GitHub's schema
// does not permit them.
func parseDocument(query string, variables map[string]any) (*document, error) {
	contract, err := graphQLContract()
	if err != nil {
		return nil, err
	}
	schema := contract.schema
	doc, err := contract.load(query)
	if err != nil {
		return nil, err
	}
	vars, err := validator.VariableValues(schema, doc.Operations[0], variables)
	if err != nil {
		return nil, err
	}
	for name, v := range variables {
		def := doc.Operations[0].VariableDefinitions.ForName(name)
		if def == nil {
			return nil, gqlerror.Errorf("the variable %s is not declared", name)
		}
		// The validator takes a text for an Int, GitHub does not.
		if _, isText := v.(string); isText && def.Type.Name() == "Int" {
			return nil, gqlerror.Errorf("the variable %s is text, but its type is %s", name, def.Type)
		}
	}
	return &document{schema: schema, op: doc.Operations[0], vars: vars}, nil
}
