package guide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
)

// field is one field of a kind, as its schema describes it.
type field struct {
	name, description string
	required          bool
	enum              []string
}

// choice returns a sentence that lists the values of a field, or "" if its schema has no list of
// them.
func (f field) choice() string {
	if f.enum == nil {
		return ""
	}
	return " One of `" + strings.Join(f.enum, "`, `") + "`."
}

// fieldsOf returns the fields of a kind in the schema's order, once for each of
// its forms.
func fieldsOf(kind safeoutput.Kind) ([][]field, error) {
	_, forms, err := formsOf(kind)
	if err != nil {
		return nil, err
	}
	var out [][]field
	for _, form := range forms {
		fields, err := formFields(form)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", kind, err)
		}
		out = append(out, fields)
	}
	return out, nil
}

// formFields returns the fields of one form in the schema's order, without "type".
func formFields(form kindSchema) ([]field, error) {
	members, err := schema.MembersOf(form.Properties)
	if err != nil {
		return nil, err
	}
	var out []field
	for _, m := range members {
		var p struct {
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		}
		if err := json.Unmarshal(m.Value, &p); err != nil {
			return nil, err
		}
		if m.Name != "type" {
			out = append(out, field{m.Name, p.Description, slices.Contains(form.Required, m.Name), p.Enum})
		}
	}
	return out, nil
}
