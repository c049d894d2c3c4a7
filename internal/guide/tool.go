package guide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/schemas"
)

// Tool is one kind as a tool of the Model Context Protocol.
type Tool struct {
	// Name is the name by which agents know the kind: its first alias if it has one, with "_"
	// for "-".
	Name string
	Kind safeoutput.Kind
	// Title is the kind's summary, one sentence.
	Title string
	// Description is the summary, every rule that can refuse a call or change its text, and an
	// example that the gate accepts, if there is one.
	Description string
	// InputSchema is a JSON Schema: an object whose properties are the kind's fields
	// without "type", each with one plain type.
	InputSchema json.RawMessage
}

// Tools returns the tools of the kinds that a configuration enables, in the order of the
// kind table.
func Tools(cfg config.SafeOutputs) ([]Tool, error) {
	enabled := cfg.Enabled()
	var tools []Tool
	for _, spec := range safeoutput.Kinds() {
		if enabled != nil && !enabled[spec.Kind] {
			continue
		}
		tool, err := toolOf(cfg, spec)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// ToolName returns the name of the tool of a kind.
func ToolName(spec safeoutput.Spec) string {
	name := string(spec.Kind)
	if len(spec.Aliases) > 0 {
		name = spec.Aliases[0]
	}
	return strings.ReplaceAll(name, "-", "_")
}

func toolOf(cfg config.SafeOutputs, spec safeoutput.Spec) (Tool, error) {
	settings, _ := cfg.Policy.Kind(spec.Kind)
	input, choice, err := inputSchema(spec)
	if err != nil {
		return Tool{}, err
	}
	example, err := exampleFor(settings, spec)
	if err != nil {
		return Tool{}, err
	}
	lines := sentences{spec.Summary, limitRule(settings, spec, "call")}
	lines.addIf(choice != "", "%s", choice)
	lines = append(lines, kindRules(settings, spec)...)
	if !spec.AlwaysAllowed && hasMarkdown(spec) {
		lines = append(lines, "Bodies are GitHub Flavored Markdown.")
		lines = append(lines, textRules(cfg)...)
	}
	lines.addIf(!spec.AlwaysAllowed, secretRule)
	lines.addIf(spec.CarriesCode, "The changes in the workspace are judged at the moment of the call: make them first, committed or not.")
	if example != "" {
		members, err := schema.MembersOf([]byte(example))
		if err != nil {
			return Tool{}, fmt.Errorf("example of %s: %w", spec.Kind, err)
		}
		arguments := writeObject(slices.DeleteFunc(members, func(m schema.Member) bool { return m.Name == "type" }))
		lines = append(lines, "Example: "+string(arguments))
	}
	return Tool{Name: ToolName(spec), Kind: spec.Kind, Title: spec.Summary, Description: strings.Join(lines, "\n"), InputSchema: input}, nil
}

// hasMarkdown reports whether a kind's example has a text that is Markdown.
func hasMarkdown(spec safeoutput.Spec) bool {
	item, err := safeoutput.Decode(spec.Kind, []byte(spec.Example))
	return err == nil && slices.ContainsFunc(item.Texts(), func(t safeoutput.Text) bool { return t.Mode == safeoutput.Body })
}

// kindSchema is the part of a kind's schema that prompts and tools are made from.
type kindSchema struct {
	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required"`
	OneOf      []kindSchema    `json:"oneOf"`
	AnyOf      []struct {
		Required []string `json:"required"`
	} `json:"anyOf"`
}

// required returns the names of the fields that are required, without "type".
func (s kindSchema) required() []string {
	return slices.DeleteFunc(append([]string{}, s.Required...), func(name string) bool { return name == "type" })
}

// formsOf returns the schema of a kind, and the schemas of its forms. A kind without other forms
// has one form: its schema itself.
func formsOf(kind safeoutput.Kind) (def kindSchema, forms []kindSchema, err error) {
	raw, ok := schemas.Lookup(string(kind))
	if !ok {
		return def, nil, fmt.Errorf("there is no schema of the kind %s", kind)
	}
	if err := json.Unmarshal(raw, &def); err != nil {
		return def, nil, fmt.Errorf("schema of %s: %w", kind, err)
	}
	if len(def.OneOf) == 0 {
		return def, []kindSchema{def}, nil
	}
	return def, def.OneOf, nil
}

// inputSchema returns the schema of a kind's tool, and the sentence of choiceOf. The schema does
// not express the choice, because many clients accept only plain objects.
func inputSchema(spec safeoutput.Spec) (input json.RawMessage, choice string, err error) {
	def, forms, err := formsOf(spec.Kind)
	if err != nil {
		return nil, "", err
	}
	var properties []schema.Member
	for _, form := range forms {
		members, err := schema.MembersOf(form.Properties)
		if err != nil {
			return nil, "", fmt.Errorf("schema of %s: %w", spec.Kind, err)
		}
		for _, m := range members {
			if m.Name == "type" || slices.ContainsFunc(properties, func(p schema.Member) bool { return p.Name == m.Name }) {
				continue
			}
			if m.Value, err = plainType(m.Value); err != nil {
				return nil, "", fmt.Errorf("schema of %s: %s: %w", spec.Kind, m.Name, err)
			}
			properties = append(properties, m)
		}
	}
	required := []string{}
	if len(forms) == 1 {
		required = forms[0].required()
	}
	list, err := json.Marshal(required)
	if err != nil {
		return nil, "", err
	}
	return writeObject([]schema.Member{
		{Name: "type", Value: []byte(`"object"`)}, {Name: "properties", Value: writeObject(properties)},
		{Name: "required", Value: list}, {Name: "additionalProperties", Value: []byte("false")},
	}), choiceOf(forms, def), nil
}

// choiceOf returns a sentence about the fields among which an agent has to choose: those of one
// form, or at least one of several fields. It is "" where there is no choice.
func choiceOf(forms []kindSchema, def kindSchema) string {
	var ways []string
	if len(forms) > 1 {
		for _, form := range forms {
			ways = append(ways, quoteNames(form.required()))
		}
		return "Give either " + strings.Join(ways, ", or ") + "."
	}
	for _, alternative := range def.AnyOf {
		ways = append(ways, alternative.Required...)
	}
	if ways == nil {
		return ""
	}
	return "Give at least one of " + quoteNames(ways) + "."
}

// quoteNames lists names in a sentence: `a`, `b` and `c`.
func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " and " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// plainType returns the schema of a field with the first of its alternatives, which is the usual
// one: a number rather than a string that contains it. It removes what the description says about
// the other.
func plainType(property json.RawMessage) (json.RawMessage, error) {
	members, err := schema.MembersOf(property)
	if err != nil {
		return nil, err
	}
	var out []schema.Member
	for _, m := range members {
		if m.Name != "oneOf" {
			if m.Name == "description" {
				for _, other := range []string{"; a numeric string is accepted", ": an object, or a string that contains it as JSON"} {
					m.Value = bytes.ReplaceAll(m.Value, []byte(other), nil)
				}
			}
			out = append(out, m)
			continue
		}
		var ways []json.RawMessage
		if err := json.Unmarshal(m.Value, &ways); err != nil {
			return nil, fmt.Errorf("its alternatives are not a list: %w", err)
		}
		if len(ways) == 0 {
			return nil, errors.New("its list of alternatives is empty")
		}
		first, err := schema.MembersOf(ways[0])
		if err != nil {
			return nil, err
		}
		out = append(out, first...)
	}
	return writeObject(out), nil
}

func writeObject(members []schema.Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(m.Name) // a string can be written
		out = append(append(append(out, name...), ':'), m.Value...)
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, append(out, '}')) // the members are JSON
	return compact.Bytes()
}
