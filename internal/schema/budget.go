package schema

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxSteps is how many steps validating one value may take. The library needs up to a
// microsecond for a step, so that the longest validation takes about two seconds. To
// validate a value of 1 MiB against a schema without alternatives and without enumerations
// of numbers takes fewer, even if it is an array of numbers of one digit, with about three
// steps for each.
const maxSteps = 2_000_000

// How much of each the library does in one step.
const (
	noted     = 2    // members or items of a value that each schema notes
	lookups   = 8    // names of a schema that are looked up in an object
	passed    = 256  // schemas around one, which might be the same
	failing   = 2    // failures without their locations
	written   = 512  // bytes of the location of a failure
	copied    = 4096 // bytes of the locations that such a location is built from
	quoted    = 16   // bytes of a text that a message quotes, or that has a format
	hashed    = 2048 // bytes of names that are looked up
	counted   = 512  // bytes of a text whose characters are counted
	perDigits = 64   // digits of a number that is read or compared
)

// comparison is how many steps comparing two values takes, unless one is a text, a truth value or
// null. Numbers are the slowest, because they are compared exactly.
const comparison = 8

// longLocation is the length of the names on the way to a value and of its schema's location
// together, in bytes, beyond which writing them costs extra steps.
const longLocation = 512

// budget counts the steps that validating will take. It does so in advance, because the
// library cannot be interrupted and may take very long: alternatives in recursive schemas
// double with each level of a value, each item of an array is compared with each value
// of an enumeration, and each failure gets a message and its locations.
type budget struct {
	left     int                    // how many steps may still be taken; negative if there are too many
	patterns map[*regexp.Regexp]int // the sizes of the schema's patterns
}

// place is where the library is when it validates a value against a schema.
type place struct {
	depth int // how many schemas are around this one
	names int // how many bytes the names and patterns on the way have
}

// part returns the place of a part of the schema there. name is the name or the pattern that leads
// to it, "" if none does.
func (p place) part(name string) place { return place{p.depth + 1, p.names + len(name)} }

// affordable reports whether a value can be validated within the budget.
func (b *budget) affordable(s *jsonschema.Schema, v any) bool {
	b.spend(s, v, place{})
	return b.left >= 0
}

// spend subtracts the steps of validating v against s, and reports whether v may be invalid, unless
// the steps do not suffice. The names on the way count because the library writes them anew for each
// value.
func (b *budget) spend(s *jsonschema.Schema, v any, at place) (mayFail bool) {
	if s == nil || b.left < 0 {
		return false
	}
	b.left -= 1 + at.depth/passed
	if n := at.names + len(s.Location); n > longLocation {
		b.left -= n / 16
	}
	if at.depth > 20*maxDepth { // deeper than any value with the nesting of any schema
		b.left = -1
		return false
	}
	b.note(v)
	failures := 1
	switch {
	case s.Always != nil && *s.Always:
		failures = 0
	case s.Always == nil && mayBeOf(s.Types, v):
		failures = b.keywords(s, v, at)
	}
	if failures == 0 {
		return false
	}
	b.left -= failures / failing
	if failures > 1 {
		failures++ // the one that has the others as its causes
	}
	b.left -= failures * at.failure(s)
	return true
}

// failure returns the steps of writing the locations of a failure of s. The library joins the
// location of the keyword from those of the schemas around it, one after the other.
func (p place) failure(s *jsonschema.Schema) int {
	length := 16*p.depth + p.names + len(s.Location)
	return length/written + p.depth*length/copied
}

// note subtracts the steps of noting the members or items of a value.
func (b *budget) note(v any) {
	switch v := v.(type) {
	case map[string]any:
		length := 0
		for name := range v {
			length += len(name)
		}
		b.left -= len(v)/noted + length/hashed
	case []any:
		b.left -= len(v) / noted
	}
}

// mayBeOf reports whether a value may be of one of the types, or there are none. Whether a number is
// an integer is left to number.
func mayBeOf(types []string, v any) bool {
	name := "null"
	switch v.(type) {
	case bool:
		name = "boolean"
	case json.Number:
		name = "number"
	case string:
		name = "string"
	case []any:
		name = "array"
	case map[string]any:
		name = "object"
	}
	return len(types) == 0 || slices.Contains(types, name) || name == "number" && slices.Contains(types, "integer")
}

// keywords subtracts the steps for all keywords of s but the type. It returns how many of them may
// fail, of which all about members or items count as one.
func (b *budget) keywords(s *jsonschema.Schema, v any, at place) (failures int) {
	failures = b.constants(s, v) + b.inPlace(s, v, at)
	switch v := v.(type) {
	case map[string]any:
		failures += b.object(s, v, at)
	case []any:
		failures += b.array(s, v, at)
	case string:
		failures += b.text(s, v)
	case json.Number:
		failures += b.number(s, v)
	}
	return failures
}

// truths returns how many of the conditions are true.
func truths(conditions ...bool) (n int) {
	for _, is := range conditions {
		if is {
			n++
		}
	}
	return n
}

// constants subtracts the steps for enum and const, and returns how many of them may fail. The
// messages about them quote all constants.
func (b *budget) constants(s *jsonschema.Schema, v any) (failures int) {
	n := len(s.Enum) + len(s.Constant)
	if n == 0 {
		return 0
	}
	isPlain := false
	switch v.(type) {
	case string, bool, nil:
		isPlain = true
		b.left -= n
	default:
		one := func(any) int { return 1 }
		b.left -= n * (comparison*total(v, b.left, one) + 2*total(v, perDigits*b.left, digitsOf)/perDigits)
	}
	for _, list := range [][]any{s.Enum, s.Constant} {
		if isPlain && slices.Contains(list, v) {
			continue
		}
		failures += truths(len(list) > 0)
		for _, c := range list {
			if b.left < 0 {
				return failures
			}
			b.left -= total(c, quoted*b.left, lengthOf) / quoted
		}
	}
	return failures
}

// inPlace subtracts the steps for the keywords that apply other schemas to the same value, and
// returns how many of them may fail.
func (b *budget) inPlace(s *jsonschema.Schema, v any, at place) (failures int) {
	spend := func(sub *jsonschema.Schema) bool { return b.spend(sub, v, at.part("")) }
	spend(s.If)
	spend(s.Not)
	thenFails, elseFails := spend(s.Then), spend(s.Else)
	failures = truths(spend(s.Ref), thenFails || elseFails, s.Not != nil, len(s.OneOf) > 0)
	for _, sub := range s.AllOf {
		failures += truths(spend(sub))
	}
	allFail := len(s.AnyOf) > 0
	for _, sub := range s.AnyOf {
		allFail = spend(sub) && allFail
	}
	for _, sub := range s.OneOf {
		spend(sub)
	}
	return failures + truths(allFail)
}

// object subtracts the steps for the keywords about objects, and returns how many of them may fail.
func (b *budget) object(s *jsonschema.Schema, v map[string]any, at place) (failures int) {
	b.left -= len(s.Required) + (len(s.Properties)+len(s.Dependencies))/lookups
	if b.left < 0 {
		return 0
	}
	var isMissing, isUnexpected, mayMembersFail bool
	for _, name := range s.Required {
		if _, given := v[name]; !given {
			isMissing = true
			b.left -= len(name) / quoted
		}
	}
	spend := func(sub *jsonschema.Schema, v any, at place) { mayMembersFail = b.spend(sub, v, at) || mayMembersFail }
	others, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, value := range v {
		property, isListed := s.Properties[name]
		spend(property, value, at.part(name))
		spend(s.PropertyNames, name, at.part(name))
		for re, sub := range s.PatternProperties {
			if b.left -= 2 * b.match(re, name); b.left < 0 { // here, and for a message
				return 0
			}
			if re.MatchString(name) {
				isListed = true
				spend(sub, value, at.part(name).part(re.String()))
			}
		}
		if isListed {
			continue
		}
		spend(others, value, at.part(name))
		if s.AdditionalProperties == false {
			isUnexpected = true
			b.left -= 2 + len(name)/quoted
		}
	}
	return truths(isMissing, isUnexpected, mayMembersFail, len(v) < s.MinProperties, s.MaxProperties >= 0 && len(v) > s.MaxProperties) +
		b.dependencies(s, v, at)
}

// dependencies subtracts the steps for the keyword of that name, and returns how many of its parts
// may fail.
func (b *budget) dependencies(s *jsonschema.Schema, v map[string]any, at place) (failures int) {
	for name, d := range s.Dependencies {
		if _, given := v[name]; !given {
			continue
		}
		switch d := d.(type) {
		case *jsonschema.Schema:
			failures += truths(b.spend(d, v, at.part(name)))
		case []string:
			b.left -= len(d)
			for _, needed := range d {
				if _, given := v[needed]; !given {
					failures++
					b.left -= (len(name) + len(needed)) / quoted
				}
			}
		}
	}
	return failures
}

// array subtracts the steps for the keywords about arrays, and returns how many of them may fail.
func (b *budget) array(s *jsonschema.Schema, v []any, at place) (failures int) {
	if hasUniqueItems(s) {
		b.write(v)
	}
	list, _ := s.Items.([]*jsonschema.Schema)
	each, _ := s.Items.(*jsonschema.Schema)
	rest, _ := s.AdditionalItems.(*jsonschema.Schema)
	mayItemsFail := false
	for i, item := range v {
		sub := rest
		switch {
		case b.left < 0:
			return 0
		case each != nil:
			sub = each
		case i < len(list):
			sub = list[i]
		}
		mayItemsFail = b.spend(sub, item, at.part("")) || mayItemsFail
		b.spend(s.Contains, item, at.part(""))
	}
	return truths(mayItemsFail, s.Contains != nil, hasUniqueItems(s), len(v) < s.MinItems, s.MaxItems >= 0 && len(v) > s.MaxItems,
		s.AdditionalItems == false && len(v) > len(list))
}

// text subtracts the steps for the keywords about texts, and returns how many of them may fail.
func (b *budget) text(s *jsonschema.Schema, v string) (failures int) {
	b.left -= len(v)/counted + formatSteps(s.Format, v)
	n := utf8.RuneCountInString(v)
	failures = truths(n < s.MinLength, s.MaxLength >= 0 && n > s.MaxLength, s.Format != "")
	if s.Pattern == nil {
		return failures
	}
	const small = 4
	steps := b.match(s.Pattern, v)
	if steps <= small {
		if b.left -= steps; s.Pattern.MatchString(v) {
			return failures
		}
	}
	b.left -= len(s.Pattern.String()) / quoted
	return failures + 1
}

// number subtracts the steps for the keywords about numbers, and returns how many of them may fail.
// They read the number and compute with it exactly.
func (b *budget) number(s *jsonschema.Schema, v json.Number) (failures int) {
	n := digitsOf(v)
	for _, limit := range []*big.Rat{s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf} {
		if limit == nil {
			continue
		}
		size := (limit.Num().BitLen() + limit.Denom().BitLen()) / 3 // digits, about
		if limit != s.MultipleOf {
			size /= 2 // it is only compared
		}
		failures++
		b.left -= (2*n + size) / perDigits
	}
	if slices.Contains(s.Types, "integer") {
		failures++
		b.left -= 2 * n / perDigits
	}
	return failures
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

// match subtracts the steps of matching a text, and returns them. The time that RE2 takes is at worst
// proportional to the size of the pattern and to the size of the text.
func (b *budget) match(re *regexp.Regexp, s string) (steps int) {
	steps = 1 + b.patterns[re]*len(s)/64
	b.left -= steps
	return steps
}

// total returns the sum of what count returns for v and for all values in it. It stops soon after the
// sum has passed the limit, most.
func total(v any, most int, count func(v any) int) int {
	n := count(v)
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if n > most {
				break
			}
			n += total(e, most-n, count)
		}
	case []any:
		for _, e := range v {
			if n > most {
				break
			}
			n += total(e, most-n, count)
		}
	}
	return n
}

// digitsOf returns how many digits the numerator and the denominator of a number have, at most. For
// other values it returns 0.
func digitsOf(v any) int {
	n, _ := v.(json.Number)
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent) // 0 without one
	return len(mantissa) + len(fraction) + max(e, -e)
}

// lengthOf returns how many bytes the library writes to quote a value, apart from the values in it.
func lengthOf(v any) (n int) {
	switch v := v.(type) {
	case string:
		n = len(v) + 32*strings.Count(v, "%") // in an enumeration, "%d" becomes "%!d(MISSING)"
	case json.Number:
		n = digitsOf(v)
	case map[string]any:
		for name := range v {
			n += len(name)
		}
	}
	return n
}
