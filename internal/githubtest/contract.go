package githubtest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the contracts
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

//go:embed testdata/openapi.json.gz
var openapiGz []byte

// contract is GitHub's description of its REST API. It never changes once it is
// loaded.
type contract struct {
	doc      *openapi3.T
	router   routers.Router
	examples map[string]object // GitHub's own example answers
}

// restContract loads the description once for all servers: it takes 0.1 s.
var restContract = sync.OnceValues(loadContract)

func loadContract() (*contract, error) {
	raw, err := gunzip(openapiGz)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	// At the end of an address, the values of these variables contain slashes, which the router
	// matches only with a pattern.
	withSlashes := []string{"{path}", "{ref}", "{basehead}"}
	for name, item := range doc.Paths.Map() {
		if slices.Contains(withSlashes, path.Base(name)) {
			doc.Paths.Delete(name)
			doc.Paths.Set(strings.TrimSuffix(name, "}")+":.+}", item)
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	c := &contract{doc: doc, router: router, examples: map[string]object{}}
	for name, ex := range doc.Components.Examples {
		if example, ok := ex.Value.Value.(object); ok {
			c.examples[name] = example
		}
	}
	return c, nil
}

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// exchange is a request together with the operation of the description that it asks for.
type exchange struct {
	route *routers.Route
	input *openapi3filter.RequestValidationInput
}

func (x *exchange) operation() string { return x.route.Operation.OperationID }

// checkRequest finds the operation of a request and checks the request against it.
func (c *contract) checkRequest(req *http.Request, body []byte) (*exchange, error) {
	req = req.Clone(context.Background())
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.URL.Scheme, req.URL.Host, req.Host = "", "", ""
	route, params, err := c.router.FindRoute(req)
	if err != nil {
		return nil, fmt.Errorf("no operation of the description that is used here: %w", err)
	}
	x := &exchange{route: route, input: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true, SkipSettingDefaults: true,
			RejectWhenRequestBodyNotSpecified: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}}
	errs := []error{openapi3filter.ValidateRequest(req.Context(), x.input)}
	errs = append(errs, x.unknownQuery(req)...)
	if rb := route.Operation.RequestBody; rb != nil && len(body) > 0 {
		if media := rb.Value.Content.Get("application/json"); media != nil {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				errs = append(errs, err)
			}
			for _, member := range unknownMembers(media.Schema, v, "") {
				errs = append(errs, fmt.Errorf("the body has a member that the description does not know: %s", member))
			}
		}
	}
	return x, errors.Join(errs...)
}

// checkResponse checks an answer. If GitHub's description lacks the status of an error for the
// operation (401 is always missing), the answer must have the form of GitHub's basic error or
// validation error.
func (c *contract) checkResponse(x *exchange, status int, header http.Header, body []byte) error {
	if x.route.Operation.Responses.Status(status) == nil && status >= 400 {
		return c.checkError(status, body)
	}
	in := &openapi3filter.ResponseValidationInput{RequestValidationInput: x.input, Status: status, Header: header, Options: x.input.Options}
	if len(body) > 0 {
		in.SetBodyBytes(forgive(x.operation(), body))
	} else {
		in.Body = io.NopCloser(bytes.NewReader(nil))
	}
	return openapi3filter.ValidateResponse(context.Background(), in)
}

// forgive returns the answer as it is to be checked. GitHub really answers pulls/get with null for
// head.repo and head.user when the fork was deleted, although its description forbids that. In their
// place those of base are checked.
func forgive(operation string, body []byte) []byte {
	if operation != "pulls/get" {
		return body
	}
	var pull map[string]any
	if json.Unmarshal(body, &pull) != nil {
		return body
	}
	head, _ := pull["head"].(map[string]any)
	base, _ := pull["base"].(map[string]any)
	if head == nil || base == nil || head["repo"] != nil {
		return body
	}
	head["repo"], head["user"] = base["repo"], base["user"]
	out, err := json.Marshal(pull)
	if err != nil {
		return body
	}
	return out
}

// checkError checks an error against the form that GitHub's errors with this status have.
func (c *contract) checkError(status int, body []byte) error {
	name := "basic-error"
	if status == http.StatusUnprocessableEntity {
		name = "validation-error"
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return c.doc.Components.Schemas[name].Value.VisitJSON(v)
}

// example returns a copy of one of GitHub's own example answers.
func (c *contract) example(name string) object {
	if c.examples[name] == nil {
		panic("githubtest: GitHub's description has no example " + name)
	}
	return copyJSON(c.examples[name]).(object)
}

// copyJSON returns a copy of a decoded JSON value.
func copyJSON(v any) any {
	switch v := v.(type) {
	case object:
		c := make(object, len(v))
		for name, member := range v {
			c[name] = copyJSON(member)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, element := range v {
			c[i] = copyJSON(element)
		}
		return c
	}
	return v
}

// unknownQuery finds query parameters that the operation does not have.
func (x *exchange) unknownQuery(req *http.Request) []error {
	known := map[string]bool{}
	for _, p := range slices.Concat(x.route.Operation.Parameters, x.route.PathItem.Parameters) {
		if p.Value.In == "query" {
			known[p.Value.Name] = true
		}
	}
	var errs []error
	for name := range req.URL.Query() {
		if !known[name] {
			errs = append(errs, fmt.Errorf("the query has a parameter that the description does not know: %s", name))
		}
	}
	return errs
}

// unknownMembers lists the members of v that its schema does not name, unless the schema expressly
// allows further members or names none. at is the place of v in the body. JSON Schema permits such
// members and GitHub ignores them; in a test they are probably misspelt.
func unknownMembers(ref *openapi3.SchemaRef, v any, at string) []string {
	if ref == nil || ref.Value == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		props := map[string]*openapi3.SchemaRef{}
		if open := gather(ref.Value, props); open || len(props) == 0 {
			return nil
		}
		var out []string
		for name, member := range v {
			p, ok := props[name]
			if !ok {
				out = append(out, at+"/"+name)
				continue
			}
			out = append(out, unknownMembers(p, member, at+"/"+name)...)
		}
		return out
	case []any:
		items := itemsOf(ref.Value)
		if items == nil {
			return nil
		}
		var out []string
		for i, e := range v {
			out = append(out, unknownMembers(items, e, fmt.Sprintf("%s/%d", at, i))...)
		}
		return out
	}
	return nil
}

// gather collects the properties of a schema and of its alternatives; open
// reports whether one of them expressly allows further members.
func gather(s *openapi3.Schema, props map[string]*openapi3.SchemaRef) (open bool) {
	maps.Copy(props, s.Properties)
	open = s.AdditionalProperties.Has != nil && *s.AdditionalProperties.Has || s.AdditionalProperties.Schema != nil
	for _, alt := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		open = gather(alt.Value, props) || open
	}
	return open
}

// itemsOf returns the schema of the entries of a list; nil if neither the schema nor one of its
// alternatives has one.
func itemsOf(s *openapi3.Schema) *openapi3.SchemaRef {
	if s.Items != nil {
		return s.Items
	}
	for _, alt := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		if it := itemsOf(alt.Value); it != nil {
			return it
		}
	}
	return nil
}
