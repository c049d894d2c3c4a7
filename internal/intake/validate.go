package intake

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// validate checks the members against the form's schema, and gives the item
// the values of those that conform.
func (j *judging) validate(members []schema.Member) {
	it, shape := j.verdict.spec.New(), j.verdict.shape
	j.verdict.accepted.item = it
	sure := shape.schema.SurelyValid(members)
	if !sure {
		found, err := shape.schema.Validate(object(members))
		if err != nil {
			j.refuse("$", err.Error())
		}
		for _, f := range found {
			if f.SchemaPath != "" {
				f.SchemaPath = shape.prefix + f.SchemaPath
			}
			j.violation(j.reword(f, members))
		}
	}
	for _, m := range members {
		if m.Name == "type" || !sure && j.refused(m.Name) {
			continue
		}
		if _, known := shape.fields[m.Name]; !known {
			continue
		}
		if m.Name == "sarif" {
			m.Value = j.parseSARIF(m.Value)
		}
		if err := safeoutput.Assign(it, m.Name, m.Value); err != nil && !j.refused(m.Name) {
			why := quote(m.Name) + " cannot be read: " + err.Error()
			if shape.fields[m.Name] {
				why = notWhole(m)
			}
			j.refuse("$."+m.Name, why)
		}
	}
}

// reword says of a number what is expected instead of quoting the schema's
// alternatives, and of a missing field what was given in its place.
func (j *judging) reword(v schema.Violation, members []schema.Member) schema.Violation {
	name := strings.TrimPrefix(v.Path, "$.")
	if strings.HasSuffix(v.SchemaPath, "required") {
		v.Message += alike(name, j.notes.UnknownFields)
		if slices.Equal(j.verdict.shape.others, []string{"sarif"}) && !slices.ContainsFunc(members, j.required) {
			v.Message += " where there is no 'sarif'"
		}
		return v
	}
	if !j.verdict.shape.fields[name] {
		return v
	}
	for _, m := range members {
		if m.Name == name {
			v.Message = notWhole(m)
		}
	}
	return v
}

// required reports whether a member is a field of this form that may not be
// left out.
func (j *judging) required(m schema.Member) bool { return m.Name != "type" && !j.optional(m.Name) }

func notWhole(m schema.Member) string {
	want := "must be a whole number of at least 1"
	switch digits := strings.Trim(string(m.Value), `"`); {
	case digits == "" || strings.Trim(digits, "0123456789") != "" || strings.Trim(digits, "0") == "":
	case digits[0] == '0':
		want = "must be written without leading zeros"
	default:
		want = fmt.Sprintf("must be at most %d", math.MaxInt32)
	}
	return quote(m.Name) + " " + want + ", not " + value(m.Value)
}

func namesOf(members []schema.Member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return names
}

// object writes members as a JSON object.
func object(members []schema.Member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.Name)
		out = append(append(out, ':'), m.Value...)
	}
	return append(out, '}')
}

// sortViolations orders violations by their paths. Those of one path stay in the
// order in which they were found.
func sortViolations(list []Violation) []Violation {
	slices.SortStableFunc(list, func(a, b Violation) int { return schema.ComparePaths(a.Path, b.Path) })
	return list
}
