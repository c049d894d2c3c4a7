package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// leaf words one failed keyword, in the form that spec 004 gives.
func (c *collector) leaf(ve *jsonschema.ValidationError) {
	node := c.node(ve)
	value := resolve(c.value, ve.InstanceLocation)
	path := instancePath(ve.InstanceLocation, c.value)
	v := Violation{Path: path, SchemaPath: dotted(ve.KeywordLocation)}
	switch keyword := lastToken(ve.KeywordLocation); keyword {
	case "required":
		for _, name := range c.missing(node, value) {
			c.add(Violation{path + member(name), Quote(name) + " is a required property", v.SchemaPath})
		}
		return
	case "additionalProperties":
		for _, name := range unexpected(node, value) {
			c.add(Violation{path + member(name), "Additional properties are not allowed (" + Quote(name) + " was unexpected)", v.SchemaPath})
		}
		return
	default:
		v.Message = c.message(keyword, node, value)
	}
	if name, ok := dependency(ve.KeywordLocation, node, c.program.doc); ok {
		v.Path, v.Message = path+member(name), Quote(name)+" is a required property where "+Quote(dependent(ve.KeywordLocation))+" is given"
	}
	if v.Message == "" {
		v.Message = show(value) + " is not allowed here"
	}
	c.add(v)
}

func (c *collector) message(keyword string, node map[string]any, value any) string {
	val, lim := show(value), node[keyword]
	n, _ := value.([]any)
	switch keyword {
	case "type":
		return val + " is not of type " + strings.Join(words(lim), ", ")
	case "enum":
		return val + " is not one of " + showAll(lim)
	case "const":
		return show(lim) + " was expected"
	case "format":
		return val + " is not a valid " + formatName(fmt.Sprint(lim))
	case "pattern":
		if lim == `\S` {
			return val + " must not be blank"
		}
		return val + " does not match " + show(lim)
	case "minLength":
		if value == "" {
			return "'' must not be empty"
		}
		return val + " is too short (at least " + show(lim) + " characters)"
	case "maxLength":
		return val + " is too long (at most " + show(lim) + " characters)"
	case "minItems":
		if len(n) == 0 {
			return "[] must not be empty"
		}
		return val + " is too short (" + strconv.Itoa(len(n)) + " items, at least " + show(lim) + ")"
	case "maxItems":
		return val + " is too long (" + strconv.Itoa(len(n)) + " items, at most " + show(lim) + ")"
	case "uniqueItems":
		return val + " has non-unique elements"
	case "minimum":
		return val + " is less than the minimum of " + show(lim)
	case "maximum":
		return val + " is greater than the maximum of " + show(lim)
	case "exclusiveMinimum":
		return val + " is less than or equal to the minimum of " + show(lim)
	case "exclusiveMaximum":
		return val + " is greater than or equal to the maximum of " + show(lim)
	case "multipleOf":
		return val + " is not a multiple of " + show(lim)
	case "minProperties":
		return val + " does not have enough properties (at least " + show(lim) + ")"
	case "maxProperties":
		return val + " has too many properties (at most " + show(lim) + ")"
	case "additionalItems":
		return val + " has more items than are allowed"
	case "contains", "minContains":
		return val + " does not contain an item that matches the given schema"
	}
	return ""
}

// unexpected returns, sorted, the properties that neither properties nor
// patternProperties name.
func unexpected(node map[string]any, value any) []string {
	obj, _ := value.(map[string]any)
	known, _ := node["properties"].(map[string]any)
	patterns, _ := node["patternProperties"].(map[string]any)
	var names []string
	for name := range obj {
		_, ok := known[name]
		for p := range patterns {
			if re, err := regexp.Compile(p); err == nil && re.MatchString(name) {
				ok = true
			}
		}
		if !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dependency tells which property a failed element of "dependencies" asks for;
// location ends in /dependencies/NAME/INDEX.
func dependency(location string, list map[string]any, doc any) (string, bool) {
	t := pointerTokens(location)
	if len(t) < 3 || t[len(t)-3] != "dependencies" || list != nil {
		return "", false
	}
	names, _ := resolve(doc, strings.TrimSuffix(location, "/"+lastToken(location))).([]any)
	i, err := strconv.Atoi(t[len(t)-1])
	if err != nil || i >= len(names) {
		return "", false
	}
	name, ok := names[i].(string)
	return name, ok
}

func dependent(location string) string {
	t := pointerTokens(location)
	return t[len(t)-2]
}

// formatName is how a format is called in a sentence.
func formatName(format string) string {
	switch format {
	case "uri":
		return "URI"
	case "uri-reference":
		return "URI reference"
	case "email":
		return "email address"
	case "uuid":
		return "UUID"
	case "ipv4":
		return "IPv4 address"
	case "ipv6":
		return "IPv6 address"
	case "regex":
		return "regular expression"
	}
	return format
}
