package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Limits of a schema that Parse takes.
const (
	// MaxForeign is how long its text may be, in bytes.
	MaxForeign = 256 << 10
	// maxForeignDepth is how deeply it may be nested.
	maxForeignDepth = 100
	// maxPatterns is how large all its patterns may be together, in instructions of a
	// matcher. A pattern such as ^[a-z]{1,100}$ has about 200.
	maxPatterns = 20_000
)

// Parse returns the draft-07 schema with this text, which somebody else wrote. The
// error says why it is refused: it is not valid draft-07, refers to something outside of
// itself, has a pattern that Go's regexp (RE2) does not know, is too large, or names a
// member twice.
//
// Validating a value against such a schema takes bounded time, however the schema's
// parts multiply: a value that would take too long is refused with one violation. The
// formats of draft-07 are asserted strictly, as their RFCs have them.
func Parse(raw []byte) (*Schema, error) {
	if len(raw) > MaxForeign {
		return nil, fmt.Errorf("the schema is larger than %s", text.Bytes(MaxForeign))
	}
	document, bad := decode(raw)
	if bad != nil {
		return nil, fmt.Errorf("the schema at %s: %s", bad.Path, bad.Message)
	}
	if path, found := Duplicate(raw); found {
		return nil, fmt.Errorf("the schema has %s twice", path)
	}
	if deeper(document, maxForeignDepth) {
		return nil, fmt.Errorf("the schema is nested more than %d deep", maxForeignDepth)
	}
	if version := child(document, "$schema"); version != nil && !isDraft7(version) {
		return nil, fmt.Errorf("the schema names %s: only draft-07, \"http://json-schema.org/draft-07/schema#\", is supported", show(version))
	}
	const most = maxSteps / 4 // because each pattern is read several times
	if total(document, most, stepsOfPatterns) > most {
		return nil, errors.New("the patterns of the schema take too long to read together: shorten them, and leave out (?i) where they have characters beyond ASCII")
	}
	root, err := compile(document, strictFormats())
	if err != nil {
		return nil, err
	}
	sizes, err := inspect(root)
	if err != nil {
		return nil, err
	}
	l := newLoaded(document, &fastSchema{unsure: true}, func() (*jsonschema.Schema, error) { return root, nil })
	l.patterns = sizes
	return &Schema{load: func() (*loaded, error) { return l, nil }}, nil
}

// stepsOfPatterns returns how many steps it takes to read the patterns that a part of a schema's
// document has itself.
func stepsOfPatterns(part any) (steps int) {
	members, _ := part.(map[string]any)
	if pattern, ok := members["pattern"].(string); ok {
		steps += formatSteps("regex", pattern)
	}
	patterns, _ := members["patternProperties"].(map[string]any)
	for pattern := range patterns {
		steps += formatSteps("regex", pattern)
	}
	return steps
}

// isDraft7 reports whether a value of "$schema" names draft-07.
func isDraft7(version any) bool {
	s, _ := version.(string)
	s = strings.TrimSuffix(s, "#")
	return s == "http://json-schema.org/draft-07/schema" || s == "https://json-schema.org/draft-07/schema"
}

// deeper reports whether v is nested more than depth deep.
func deeper(v any, depth int) bool {
	if depth < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if deeper(e, depth-1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if deeper(e, depth-1) {
				return true
			}
		}
	}
	return false
}

// inspect returns the sizes of all patterns that can be applied. The error says why a part of the
// compiled schema is refused.
func inspect(root *jsonschema.Schema) (sizes map[*regexp.Regexp]int, err error) {
	sizes = map[*regexp.Regexp]int{}
	total := 0
	seen := map[*jsonschema.Schema]bool{}
	queue := []*jsonschema.Schema{root}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		if s.Draft != jsonschema.Draft7 {
			return nil, errors.New("a part of the schema names another version than draft-07")
		}
		if isMetaSchema(s) {
			return nil, fmt.Errorf("the schema refers to %q: only references within the schema are allowed", s.Location)
		}
		for _, re := range patternsOf(s) {
			sizes[re] = patternSize(re)
			total += sizes[re]
		}
		if total > maxPatterns {
			return nil, errors.New("the patterns of the schema are too large together: lower their repetitions, such as {1,1000}")
		}
		queue = append(queue, subschemas(s)...)
	}
	return sizes, nil
}

// isMetaSchema reports whether a schema is part of a schema of schemas, which the library has.
func isMetaSchema(s *jsonschema.Schema) bool {
	return strings.HasPrefix(s.Location, "http://json-schema.org/") || strings.HasPrefix(s.Location, "https://json-schema.org/")
}

// patternsOf returns the patterns that a schema has itself, not those of its parts.
func patternsOf(s *jsonschema.Schema) (list []*regexp.Regexp) {
	if s.Pattern != nil {
		list = append(list, s.Pattern)
	}
	for re := range s.PatternProperties {
		list = append(list, re)
	}
	return list
}

// patternSize returns about how many instructions the matcher of a pattern has.
func patternSize(re *regexp.Regexp) int {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return 1 // cannot happen: the pattern has been compiled
	}
	return instructions(parsed)
}

// instructions is patternSize of a parsed pattern.
func instructions(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// subschemas returns the direct parts of a schema; some may be nil.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.Contains}
	list = append(list, s.AllOf...)
	list = append(list, s.AnyOf...)
	list = append(list, s.OneOf...)
	for _, p := range s.Properties {
		list = append(list, p)
	}
	for _, p := range s.PatternProperties {
		list = append(list, p)
	}
	for _, d := range s.Dependencies {
		if d, ok := d.(*jsonschema.Schema); ok {
			list = append(list, d)
		}
	}
	for _, other := range []any{s.Items, s.AdditionalItems, s.AdditionalProperties} {
		switch other := other.(type) {
		case *jsonschema.Schema:
			list = append(list, other)
		case []*jsonschema.Schema:
			list = append(list, other...)
		}
	}
	return list
}
