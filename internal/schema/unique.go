package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// uniqueItems is the keyword of that name where it is true. It takes time linear in the array. The
// library's own compares each item of up to 20 with each other, and of more items those with the
// same hash, as [[], []] and [[[]]] have.
type uniqueItems struct{}

// replaceUniqueItems makes the schema and its parts use uniqueItems instead of the library's own
// keyword. It leaves out the schema of schemas, which is the library's and shared.
func replaceUniqueItems(root *jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{nil: true}
	queue := []*jsonschema.Schema{root}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if seen[s] || isMetaSchema(s) {
			continue
		}
		seen[s] = true
		if s.UniqueItems {
			s.UniqueItems = false
			s.Extensions = map[string]jsonschema.ExtSchema{"uniqueItems": uniqueItems{}}
		}
		queue = append(queue, subschemas(s)...)
	}
}

// hasUniqueItems reports whether the items of an array must be unique.
func hasUniqueItems(s *jsonschema.Schema) bool {
	_, ok := s.Extensions["uniqueItems"]
	return ok
}

// Validate implements jsonschema.ExtSchema.
func (uniqueItems) Validate(ctx jsonschema.ValidationContext, v any) error {
	items, _ := v.([]any)
	seen := make(map[string]int, len(items))
	var text []byte
	for i, item := range items {
		text = appendCanonical(text[:0], item)
		if first, twice := seen[string(text)]; twice {
			return ctx.Error("uniqueItems", "items at index %d and %d are equal", first, i)
		}
		seen[string(text)] = i
	}
	return nil
}

// appendCanonical appends a text that two values have in common only if they are equal as values of
// JSON Schema: 1, 1.0 and 1e0 are, and objects with the same members in another order.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, canonicalNumber(string(v))...)
	case string:
		return appendCounted(b, v)
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(appendCanonical(b, item), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = append(appendCanonical(appendCounted(b, name), v[name]), ',')
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// appendCounted appends a text with its length before it, which tells where it ends.
func appendCounted(b []byte, s string) []byte {
	b = strconv.AppendInt(append(b, '"'), int64(len(s)), 10)
	return append(append(b, ':'), s...)
}

// canonicalNumber returns the one form of a JSON number that equal numbers have in common: digits
// that neither begin nor end with 0, and an exponent; "0" for zero.
func canonicalNumber(literal string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	e, _ := strconv.Atoi(exponent) // 0 without one
	unsigned, isNegative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	e += len(digits) - len(significant) - len(fraction)
	if isNegative {
		significant = "-" + significant
	}
	return significant + "e" + strconv.Itoa(e)
}
