package githubtest

import (
	_ "embed" // the contracts
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
)

// unknownQuery finds query parameters that the operation does not have.
func (x *exchange) unknownQuery(req *http.Request) []error {
	known := map[string]bool{}
	for _, list := range []openapi3.Parameters{x.route.Operation.Parameters, x.route.PathItem.Parameters} {
		for _, p := range list {
			if p.Value.In == "query" {
				known[p.Value.Name] = true
			}
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

// unknownMembers lists the members of v that its schema does not name. JSON
// Schema lets them pass, GitHub ignores them; here they are typing errors.
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

// gather collects the properties of a schema and of its alternatives; open says
// that further members are allowed.
func gather(s *openapi3.Schema, props map[string]*openapi3.SchemaRef) (open bool) {
	for name, p := range s.Properties {
		props[name] = p
	}
	open = s.AdditionalProperties.Has != nil && *s.AdditionalProperties.Has || s.AdditionalProperties.Schema != nil
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, alt := range list {
			open = gather(alt.Value, props) || open
		}
	}
	return open
}

func itemsOf(s *openapi3.Schema) *openapi3.SchemaRef {
	if s.Items != nil {
		return s.Items
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, alt := range list {
			if it := itemsOf(alt.Value); it != nil {
				return it
			}
		}
	}
	return nil
}
