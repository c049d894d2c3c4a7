package githubtest

import (
	"bytes"
	_ "embed" // the contract
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

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
		return nil, fmt.Errorf("a request holds one operation, not %d", len(doc.Operations))
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
	c.graphql = &document{}
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
	c.graphql, c.violation = parseDocument(in.Query, in.Variables)
	if c.violation != nil {
		c.graphql = &document{}
		return
	}
	c.rec.Operation = "graphql/" + c.graphql.op.Name
	c.rec.Write = c.graphql.op.Operation == ast.Mutation
	c.rec.Content = c.rec.Write && !slices.Contains([]string{"graphql/DeleteDiscussion", "graphql/DeleteDiscussionComment",
		"graphql/MinimizeComment", "graphql/UnminimizeComment"}, c.rec.Operation)
}

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
		if _, isText := v.(string); isText && def.Type.Name() == "Int" {
			return nil, gqlerror.Errorf("the variable %s is text, but its type is %s", name, def.Type)
		}
	}
	return &document{schema: schema, op: doc.Operations[0], vars: vars}, nil
}
