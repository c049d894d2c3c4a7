package schema

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxViolations is how many violations of one value are reported.
const maxViolations = 1000

// collector turns the library's nested errors into violations.
type collector struct {
	document any // the schema
	value    any
	patterns map[string]*regexp.Regexp // those of patternProperties, compiled; nil if they are not valid
	found    []Violation
	omitted  int
}

func (c *collector) add(v Violation) {
	if c.omits() {
		return
	}
	c.found = append(c.found, v)
}

// omits counts the next violation if there are enough, which saves describing it.
func (c *collector) omits() bool {
	isFull := len(c.found) >= maxViolations
	if isFull {
		c.omitted++
	}
	return isFull
}

// sorted returns the violations ordered by path and without repetitions, then one that counts
// the omitted ones, if any. The library ranges over maps, so its own order changes from run to run.
func (c *collector) sorted() []Violation {
	slices.SortFunc(c.found, func(a, b Violation) int {
		return cmp.Or(ComparePaths(a.Path, b.Path), cmp.Compare(a.SchemaPath, b.SchemaPath), cmp.Compare(a.Message, b.Message))
	})
	out := slices.Compact(c.found)
	if c.omitted > 0 {
		out = append(out, Violation{Path: "$", Message: text.ThereAre(c.omitted, "more violation")})
	}
	return out
}

// unescape removes the percent-encoding that the library adds to the locations of a failure and of
// its causes, and gives "contains" its name in draft-07: the library calls it "minContains".
func unescape(ve *jsonschema.ValidationError) {
	for _, location := range []*string{&ve.KeywordLocation, &ve.AbsoluteKeywordLocation, &ve.InstanceLocation} {
		if plain, err := url.PathUnescape(*location); err == nil {
			*location = plain
		}
	}
	if keywordOf(ve) == "minContains" {
		for _, location := range []*string{&ve.KeywordLocation, &ve.AbsoluteKeywordLocation} {
			*location = strings.TrimSuffix(*location, "minContains") + "contains"
		}
	}
	for _, cause := range ve.Causes {
		unescape(cause)
	}
}

// walk adds the causes of a failure or, if it has none, the failure itself.
func (c *collector) walk(ve *jsonschema.ValidationError) {
	switch keyword := keywordOf(ve); {
	case keyword == "anyOf" || keyword == "oneOf":
		c.alternatives(ve)
	case len(ve.Causes) > 0 && keyword != "contains": // those of contains are about each item
		for _, cause := range ve.Causes {
			c.walk(cause)
		}
	default:
		c.leaf(ve)
	}
}

// alternatives adds why no schema of an anyOf or oneOf is valid, as precisely as
// possible: which of several properties is missing, or what is wrong according to
// the only alternative for values of this type.
func (c *collector) alternatives(ve *jsonschema.ValidationError) {
	var ofType []*jsonschema.ValidationError // of the alternatives for values of this type
	var mistyped, lacking []*jsonschema.ValidationError
	for _, cause := range ve.Causes {
		leaf, keyword := onlyLeaf(cause), ""
		if leaf != nil && leaf.InstanceLocation == ve.InstanceLocation {
			keyword = keywordOf(leaf)
		}
		if keyword == "type" {
			mistyped = append(mistyped, leaf)
			continue
		}
		ofType = append(ofType, cause)
		if keyword == "required" {
			lacking = append(lacking, leaf)
		}
	}
	if len(ofType) == 1 {
		c.walk(ofType[0])
		return
	}
	if c.omits() {
		return
	}
	value, what := c.instance(ve)
	v := Violation{Path: instancePath(ve.InstanceLocation, c.value), SchemaPath: schemaPath(ve.KeywordLocation)}
	var types, missing []string
	for _, leaf := range mistyped {
		types = append(types, showTypes(c.node(leaf)["type"]))
	}
	for _, leaf := range lacking {
		missing = append(missing, c.missing(c.node(leaf), value)...)
	}
	switch {
	case len(ve.Causes) == 0: // several schemas of a oneOf are valid
		v.Message = what + show(value) + " is valid under more than one of the given schemas"
	case len(ofType) == 0:
		v.Message = what + show(value) + " is not of type " + strings.Join(types, ", ")
	case len(missing) == len(ve.Causes):
		v.Message = "one of " + strings.Join(showEach(missing), ", ") + " is required"
	default:
		v.Message = what + show(value) + " is not valid under any of the given schemas"
	}
	c.add(v)
}

// onlyLeaf returns the innermost cause of a failure, or nil if there are several.
func onlyLeaf(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(ve.Causes) > 0 {
		if len(ve.Causes) > 1 {
			return nil
		}
		ve = ve.Causes[0]
	}
	return ve
}

// instance returns the value that a failure is about, and the beginning of a message about the
// value: "the name " below propertyNames, otherwise "".
func (c *collector) instance(ve *jsonschema.ValidationError) (value any, what string) {
	tokens := pointerTokens(ve.KeywordLocation)
	for i := 0; i < len(tokens); i++ {
		switch tokens[i] {
		case "properties", "patternProperties", "dependencies":
			i++ // the next one is a name
		case "propertyNames":
			return unescapePointer.Replace(lastToken(ve.InstanceLocation)), "the name "
		}
	}
	return resolve(c.value, ve.InstanceLocation), ""
}

// node returns the schema object with the keyword that a failure is about.
func (c *collector) node(ve *jsonschema.ValidationError) map[string]any {
	_, ptr, _ := strings.Cut(ve.AbsoluteKeywordLocation, "#")
	m, _ := resolve(c.document, ptr[:max(0, strings.LastIndexByte(ptr, '/'))]).(map[string]any)
	return m
}

// missing returns the properties that a schema object requires and value lacks.
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

// lastToken returns the last part of a JSON pointer. If the pointer leads to a keyword, that is the
// keyword.
func lastToken(ptr string) string {
	return ptr[strings.LastIndexByte(ptr, '/')+1:]
}

// keywordOf returns the keyword that a failure is about. It returns "" if the failure is about a
// schema, which is false or has several failures: then the last token of its location need not be a
// keyword, but may be the name of a property.
func keywordOf(ve *jsonschema.ValidationError) string {
	if ve.Message == "" || ve.Message == "not allowed" {
		return ""
	}
	return lastToken(ve.KeywordLocation)
}

// leaf adds the violation of one keyword: for "required" and "additionalProperties" one for each
// property.
func (c *collector) leaf(ve *jsonschema.ValidationError) {
	keyword := keywordOf(ve)
	if keyword != "required" && keyword != "additionalProperties" && c.omits() {
		return
	}
	node := c.node(ve)
	value, what := c.instance(ve)
	path := instancePath(ve.InstanceLocation, c.value)
	v := Violation{Path: path, SchemaPath: schemaPath(ve.KeywordLocation)}
	described := false
	switch keyword {
	case "required":
		for _, name := range c.missing(node, value) {
			described = true
			if !c.omits() {
				c.add(Violation{path + pathStep(name), Quote(name) + " is a required property", v.SchemaPath})
			}
		}
	case "additionalProperties":
		for _, name := range c.unexpected(node, value) {
			described = true
			if !c.omits() {
				c.add(Violation{path + pathStep(name), "Additional properties are not allowed (" + Quote(name) + " was unexpected)", v.SchemaPath})
			}
		}
	default:
		v.Message = c.message(keyword, node, value)
	}
	if described {
		return
	}
	if name, given, ok := c.dependency(ve); ok {
		v.Path, v.Message = path+pathStep(name), Quote(name)+" is a required property where "+Quote(given)+" is given"
	}
	if v.Message == "" {
		v.Message = show(value) + " is not allowed here"
	}
	v.Message = what + v.Message
	c.add(v)
}

// messages are what violations of most keywords say, with VALUE for the value, ITEMS for the number of
// its items, and LIMIT for what the schema has.
var messages = map[string]string{
	"const":            "LIMIT was expected",
	"pattern":          "VALUE does not match LIMIT",
	"minLength":        "VALUE is too short (at least LIMIT characters)",
	"maxLength":        "VALUE is too long (at most LIMIT characters)",
	"minItems":         "VALUE is too short (ITEMS items, at least LIMIT)",
	"maxItems":         "VALUE is too long (ITEMS items, at most LIMIT)",
	"uniqueItems":      "VALUE has non-unique elements",
	"minimum":          "VALUE is less than the minimum of LIMIT",
	"maximum":          "VALUE is greater than the maximum of LIMIT",
	"exclusiveMinimum": "VALUE is less than or equal to the minimum of LIMIT",
	"exclusiveMaximum": "VALUE is greater than or equal to the maximum of LIMIT",
	"multipleOf":       "VALUE is not a multiple of LIMIT",
	"minProperties":    "VALUE does not have enough properties (at least LIMIT)",
	"maxProperties":    "VALUE has too many properties (at most LIMIT)",
	"additionalItems":  "VALUE has more items than are allowed",
	"contains":         "VALUE does not contain an item that matches the given schema",
}

// message describes the violation of a keyword of node, or returns "".
func (c *collector) message(keyword string, node map[string]any, value any) string {
	limit := node[keyword]
	list, _ := value.([]any)
	allowed, _ := limit.([]any)
	switch {
	case keyword == "type":
		return show(value) + " is not of type " + showTypes(limit)
	case keyword == "enum":
		return show(value) + " is not one of " + showList(allowed, math.MaxInt)
	case keyword == "format":
		format := fmt.Sprint(limit)
		return show(value) + " is not a valid " + cmp.Or(formatNames[format], format)
	case keyword == "pattern" && limit == `\S`:
		return show(value) + " must not be blank"
	case keyword == "minLength" && value == "", keyword == "minItems" && len(list) == 0:
		return show(value) + " must not be empty"
	}
	return strings.NewReplacer("VALUE", show(value), "ITEMS", strconv.Itoa(len(list)), "LIMIT", show(limit)).Replace(messages[keyword])
}

// unexpected returns, sorted, the properties that neither properties nor
// patternProperties name.
func (c *collector) unexpected(node map[string]any, value any) []string {
	obj, _ := value.(map[string]any)
	known, _ := node["properties"].(map[string]any)
	patterns, _ := node["patternProperties"].(map[string]any)
	var names []string
	for name := range obj {
		_, ok := known[name]
		for p := range patterns {
			re, isCompiled := c.patterns[p]
			if !isCompiled {
				re, _ = regexp.Compile(p)
				c.patterns[p] = re
			}
			ok = ok || re != nil && re.MatchString(name)
		}
		if !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dependency returns the property that a failed element of "dependencies"
// requires, and the given property that it depends on. The location of such an
// element ends in /dependencies/GIVEN/INDEX.
func (c *collector) dependency(ve *jsonschema.ValidationError) (name, given string, ok bool) {
	_, location, _ := strings.Cut(ve.AbsoluteKeywordLocation, "#")
	tokens := pointerTokens(location)
	if len(tokens) < 3 || tokens[len(tokens)-3] != "dependencies" {
		return "", "", false
	}
	if _, err := strconv.Atoi(tokens[len(tokens)-1]); err != nil {
		return "", "", false
	}
	name, ok = resolve(c.document, location).(string)
	return name, tokens[len(tokens)-2], ok
}

// formatNames are the names of formats in a sentence, where they differ from the schema's.
var formatNames = map[string]string{
	"uri": "URI", "uri-reference": "URI reference", "email": "email address", "uuid": "UUID", "ipv4": "IPv4 address", "ipv6": "IPv6 address",
	"regex": "regular expression",
}
