package guide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/schemas"
)

// field is one field of a kind, as its schema describes it.
type field struct {
	name, description string
	required          bool
	enum              []string
}

// choice lists the words that a field takes, where there are only some.
func (f field) choice() string {
	if f.enum == nil {
		return ""
	}
	return " One of `" + strings.Join(f.enum, "`, `") + "`."
}

// fieldsOf returns the fields of a kind in the schema's order, once for each of
// its forms.
func fieldsOf(kind safeoutput.Kind) ([][]field, error) {
	raw, ok := schemas.Lookup(string(kind))
	if !ok {
		return nil, fmt.Errorf("there is no schema of the kind %s", kind)
	}
	var def struct {
		OneOf []json.RawMessage `json:"oneOf"`
	}
	if err := json.Unmarshal(raw, &def); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", kind, err)
	}
	forms := def.OneOf
	if len(forms) == 0 {
		forms = []json.RawMessage{json.RawMessage(raw)}
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
func formFields(form json.RawMessage) ([]field, error) {
	var def struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(form, &def); err != nil {
		return nil, err
	}
	members, err := orderedMembers(def.Properties)
	if err != nil {
		return nil, err
	}
	var out []field
	for _, m := range members {
		var p struct {
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		}
		if err := json.Unmarshal(m.value, &p); err != nil {
			return nil, err
		}
		if m.name != "type" {
			out = append(out, field{m.name, p.Description, slices.Contains(def.Required, m.name), p.Enum})
		}
	}
	return out, nil
}
