package schema

import (
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxSteps is how many steps validating one value may take. The library needs up to a
// microsecond for a step, so that the longest validation takes about two seconds. To
// validate a value of 1 MiB against a schema without alternatives takes at most 500,000
// steps, and as many for each array with uniqueItems around the same values.
const maxSteps = 2_000_000

// comparison is how many steps comparing two values takes. Numbers are the slowest, because
// they are compared exactly.
const comparison = 8

// lookups is how many names the library looks up in one step: each schema notes all members or
// items of its value, and looks for each property that it lists.
const lookups = 8

// longLocation is the length of the locations of a value and its schema together, in bytes, beyond
// which writing them costs extra steps.
const longLocation = 512

// budget counts the steps that validating will take. It does so in advance, because the
// library cannot be interrupted and may take very long: alternatives in recursive schemas
// double with each level of a value, and each item of an array is compared with each value
// of an enumeration.
type budget struct {
	left     int                    // how many steps may still be taken; negative if there are too many
	patterns map[*regexp.Regexp]int // the sizes of the schema's patterns
}

// affordable reports whether a value can be validated within the budget.
func (b *budget) affordable(s *jsonschema.Schema, v any) bool {
	b.spend(s, v, 0, 0)
	return b.left >= 0
}

// spend subtracts the steps of validating v against s. length is the number of bytes in the names
// and patterns on the way to v and s. It counts because the library writes the locations anew for each
// value, and keeps them for each failure.
func (b *budget) spend(s *jsonschema.Schema, v any, depth, length int) {
	if s == nil || b.left < 0 {
		return
	}
	b.left--
	if n := length + len(s.Location); n > longLocation {
		b.left -= n / 16
	}
	if depth > 20*maxDepth { // deeper than any value with the nesting of any schema
		b.left = -1
		return
	}
	inPlace := func(list ...*jsonschema.Schema) {
		for _, sub := range list {
			b.spend(sub, v, depth+1, length)
		}
	}
	inPlace(s.Ref, s.Not, s.If, s.Then, s.Else)
	inPlace(s.AllOf...)
	inPlace(s.AnyOf...)
	inPlace(s.OneOf...)
	if n := len(s.Enum) + len(s.Constant); n > 0 {
		b.left -= n * comparison * size(v, b.left)
	}
	switch v := v.(type) {
	case map[string]any:
		b.object(s, v, depth, length)
	case []any:
		b.array(s, v, depth, length)
	case string:
		b.match(s.Pattern, v)
		b.left -= len(v) / 1024
	}
}

// object subtracts the steps for the keywords about objects.
func (b *budget) object(s *jsonschema.Schema, v map[string]any, depth, length int) {
	b.left -= len(s.Required) + (len(v)+len(s.Properties)+len(s.Dependencies))/lookups
	if b.left < 0 {
		return
	}
	others, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, value := range v {
		property, isListed := s.Properties[name]
		length := length + len(name)
		b.spend(property, value, depth+1, length)
		b.spend(s.PropertyNames, name, depth+1, length)
		for re, sub := range s.PatternProperties {
			if b.match(re, name); b.left < 0 {
				return
			}
			if re.MatchString(name) {
				isListed = true
				b.spend(sub, value, depth+1, length+len(re.String()))
			}
		}
		if !isListed {
			b.spend(others, value, depth+1, length)
		}
	}
	for name, d := range s.Dependencies {
		if _, given := v[name]; !given {
			continue
		}
		if sub, ok := d.(*jsonschema.Schema); ok {
			b.spend(sub, v, depth+1, length+len(name))
		}
	}
}

// array subtracts the steps for the keywords about arrays.
func (b *budget) array(s *jsonschema.Schema, v []any, depth, length int) {
	b.left -= len(v) / lookups
	if hasUniqueItems(s) {
		b.write(v)
	}
	list, _ := s.Items.([]*jsonschema.Schema)
	each, _ := s.Items.(*jsonschema.Schema)
	rest, _ := s.AdditionalItems.(*jsonschema.Schema)
	for i, item := range v {
		switch {
		case b.left < 0:
			return
		case each != nil:
			b.spend(each, item, depth+1, length)
		case i < len(list):
			b.spend(list[i], item, depth+1, length)
		default:
			b.spend(rest, item, depth+1, length)
		}
		b.spend(s.Contains, item, depth+1, length)
	}
}

// write subtracts the steps of writing a value's canonical text.
func (b *budget) write(v any) {
	b.left--
	switch v := v.(type) {
	case string:
		b.left -= len(v) / 512
	case map[string]any:
		for name, e := range v {
			if b.left < 0 {
				return
			}
			b.left -= 1 + len(name)/512
			b.write(e)
		}
	case []any:
		for _, e := range v {
			if b.left < 0 {
				return
			}
			b.write(e)
		}
	}
}

// match subtracts the steps of matching a text. The time that RE2 takes is at worst
// proportional to the size of the pattern and to the size of the text.
func (b *budget) match(re *regexp.Regexp, s string) {
	if re != nil {
		b.left -= 1 + b.patterns[re]*len(s)/64
	}
}

// size returns how many values v consists of, itself included. It stops counting soon after the
// number has passed the limit, most.
func size(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if n > most {
				break
			}
			n += size(e, most-n)
		}
	case []any:
		for _, e := range v {
			if n > most {
				break
			}
			n += size(e, most-n)
		}
	}
	return n
}
