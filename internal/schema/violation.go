package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxViolations bounds what one value can cost to report.
const maxViolations = 1000

// collector turns the validator's nested errors into violations.
type collector struct {
	program *program
	value   any
	found   []Violation
	omitted int
}

func (c *collector) add(v Violation) {
	if len(c.found) >= maxViolations {
		c.omitted++
		return
	}
	c.found = append(c.found, v)
}

// sorted returns what was found, ordered by place and without repetitions: the
// validator ranges over maps, so its own order changes from run to run.
func (c *collector) sorted() []Violation {
	slices.SortFunc(c.found, func(a, b Violation) int {
		return cmp.Or(ComparePaths(a.Path, b.Path), cmp.Compare(a.SchemaPath, b.SchemaPath), cmp.Compare(a.Message, b.Message))
	})
	out := slices.Compact(c.found)
	if c.omitted > 0 {
		out = append(out, Violation{Path: "$", Message: fmt.Sprintf("there are %d more violations", c.omitted)})
	}
	return out
}

// walk reports the causes of a failure that has some, and a failure itself
// that has none.
func (c *collector) walk(ve *jsonschema.ValidationError) {
	switch keyword := lastToken(ve.KeywordLocation); {
	case keyword == "anyOf" || keyword == "oneOf":
		c.alternatives(ve, keyword)
	case len(ve.Causes) > 0 && keyword != "minContains" && keyword != "contains":
		for _, cause := range ve.Causes {
			c.walk(cause)
		}
	default:
		c.leaf(ve)
	}
}

// alternatives reports why none of the schemas of an anyOf or oneOf fits, as
// closely as can be said: which of some properties is missing, or what is
// wrong in the one alternative that is for values of this type.
func (c *collector) alternatives(ve *jsonschema.ValidationError, keyword string) {
	at := ve.InstanceLocation
	value := resolve(c.value, at)
	v := Violation{Path: instancePath(at, c.value), SchemaPath: dotted(ve.KeywordLocation)}
	if len(ve.Causes) == 0 { // only oneOf, and only if several fit
		v.Message = show(value) + " is valid under more than one of the given schemas"
		c.add(v)
		return
	}
	var missing, types []string
	var ofType []*jsonschema.ValidationError
	for _, cause := range ve.Causes {
		leaf := onlyLeaf(cause)
		if leaf == nil || leaf.InstanceLocation != at {
			ofType = append(ofType, cause)
			continue
		}
		switch node := c.node(leaf); lastToken(leaf.KeywordLocation) {
		case "type":
			types = append(types, strings.Join(words(node["type"]), ", "))
		case "required":
			missing = append(missing, c.missing(node, value)...)
			ofType = append(ofType, cause)
		default:
			ofType = append(ofType, cause)
		}
	}
	switch {
	case len(ofType) == 0:
		v.Message = show(value) + " is not of type " + strings.Join(types, ", ")
		c.add(v)
	case len(ofType) == 1:
		c.walk(ofType[0])
	case len(missing) == len(ve.Causes):
		v.Message = "one of " + strings.Join(quoteAll(missing), ", ") + " is required"
		c.add(v)
	default:
		v.Message = show(value) + " is not valid under any of the given schemas"
		c.add(v)
	}
}

// onlyLeaf follows a failure with one cause down to the last, or returns nil
// where there are several.
func onlyLeaf(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(ve.Causes) > 0 {
		if len(ve.Causes) > 1 {
			return nil
		}
		ve = ve.Causes[0]
	}
	return ve
}

// node returns the schema object that holds the keyword a failure is about.
func (c *collector) node(ve *jsonschema.ValidationError) map[string]any {
	_, ptr, _ := strings.Cut(ve.AbsoluteKeywordLocation, "#")
	tokens := pointerTokens(ptr)
	v := c.program.doc
	for _, tok := range tokens[:max(0, len(tokens)-1)] {
		v = child(v, tok)
	}
	m, _ := v.(map[string]any)
	return m
}

func (c *collector) missing(node map[string]any, value any) []string {
	obj, _ := value.(map[string]any)
	var names []string
	list, _ := node["required"].([]any)
	for _, r := range list {
		name, _ := r.(string)
		if _, ok := obj[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

func lastToken(ptr string) string {
	return ptr[strings.LastIndexByte(ptr, '/')+1:]
}
