// Package agents keeps the blueprints of agents. Each run is started from a blueprint, which says
// which parameters it takes.
package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
)

// Type is the kind of an agent.
type Type string

const (
	// Agent is an AI agent. Unless it has a schema of its own, it takes a prompt.
	Agent Type = "agent"
	// Deterministic is a program with parameters, which answers JSON.
	Deterministic Type = "deterministic"
)

// typeNames are the types by the names under which they are known.
var typeNames = map[string]Type{"agent": Agent, "autonomous": Agent, "deterministic": Deterministic, "procedural": Deterministic}

// Source is where a blueprint comes from.
type Source string

const (
	// BuiltIn blueprints are Airlock's own functions.
	BuiltIn Source = "built-in"
	// File blueprints are in the owner's directory of files.
	File Source = "file"
	// Stored blueprints were added through the API or the command line. Only they can be
	// changed and removed there.
	Stored Source = "stored"
)

// DefaultTimeLimit is how long a run may take if its blueprint has no limit of its own.
const DefaultTimeLimit = time.Hour

// Blueprint describes an agent. Its JSON is what the API answers.
type Blueprint struct {
	Name        string `json:"name"`
	Type        Type   `json:"type"`
	Description string `json:"description"`
	// ParametersSchema is nil for an AI agent without one of its own.
	ParametersSchema json.RawMessage `json:"parameters_schema,omitempty"`
	OutputSchema     json.RawMessage `json:"output_schema,omitempty"` // nil if any output will do
	// Command is the program and its arguments; nil for those built in.
	Command          []string `json:"command,omitempty"`
	Tags             []string `json:"tags,omitempty"`
	Needs            []string `json:"needs,omitempty"`              // tags that a worker must have
	TimeLimitSeconds int      `json:"time_limit_seconds,omitempty"` // 0: DefaultTimeLimit
	MaxAttempts      int      `json:"max_attempts,omitempty"`       // 0: one
	Source           Source   `json:"source"`
	// Version grows with each change of a stored blueprint.
	Version int64 `json:"version"`
}

// promptSchema validates the parameters of an AI agent without a schema of its own.
const promptSchema = `{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1}},"additionalProperties":false}`

// Schema returns the schema of parameters: its own, or that of a prompt.
func (b Blueprint) Schema() json.RawMessage {
	if b.ParametersSchema == nil {
		return json.RawMessage(promptSchema)
	}
	return b.ParametersSchema
}

// TakesPrompt reports whether the parameters are a prompt and nothing else.
func (b Blueprint) TakesPrompt() bool { return b.Type == Agent && b.ParametersSchema == nil }

// TimeLimit returns how long a run may take.
func (b Blueprint) TimeLimit() time.Duration {
	return cmp.Or(time.Duration(b.TimeLimitSeconds)*time.Second, DefaultTimeLimit)
}

// Attempts returns how often a run is started at most until it succeeds.
func (b Blueprint) Attempts() int { return max(b.MaxAttempts, 1) }

// InvalidError reports why a blueprint is refused.
type InvalidError struct {
	// What names the refused text, such as "the blueprint" or a file's name.
	What       string
	Violations []schema.Violation
}

// Error implements error. It lists each violation on a line of its own.
func (e *InvalidError) Error() string {
	return e.What + " is not valid:" + ViolationLines(e.Violations)
}

// ViolationLines returns each violation on a line of its own, after a line break, for people.
func ViolationLines(violations []schema.Violation) string {
	var b strings.Builder
	for _, v := range violations {
		fmt.Fprintf(&b, "\n  %s: %s", v.Path, v.Message)
	}
	return b.String()
}

// Parse reads a blueprint from JSON. The error is an *InvalidError with every violation of
// schemas/agent-blueprint.json. If there is none, it is about the first member that is there twice. If
// there is none of these either, it has every violation of the rules that the schema cannot express:
// the command names a program, a deterministic agent has a parameters_schema, any parameters_schema
// is that of an object, and schemas are of draft-07 without extensions.
func Parse(raw []byte) (Blueprint, error) {
	b, violations, err := parse(raw)
	if err != nil {
		return b, err
	}
	if len(violations) > 0 {
		return b, &InvalidError{"the blueprint", violations}
	}
	return b, nil
}

func parse(raw []byte) (b Blueprint, violations []schema.Violation, err error) {
	published, ok := schema.Published("agent-blueprint.json", "")
	if !ok {
		return b, nil, fmt.Errorf("agents: the schema of blueprints is not embedded")
	}
	if violations, err = published.Validate(raw); err != nil || len(violations) > 0 {
		return b, violations, err
	}
	if violations = duplicates(raw); len(violations) > 0 {
		return b, violations, nil
	}
	// The members that a document may have.
	var given struct {
		Name, Type, Description string
		ParametersSchema        json.RawMessage `json:"parameters_schema"`
		OutputSchema            json.RawMessage `json:"output_schema"`
		Command, Tags, Needs    []string
		TimeLimitSeconds        schema.Int `json:"time_limit_seconds"`
		MaxAttempts             schema.Int `json:"max_attempts"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return b, nil, fmt.Errorf("agents: %w", err)
	}
	b = Blueprint{Name: given.Name, Type: typeNames[given.Type], Description: given.Description, Command: given.Command, Tags: given.Tags, Needs: given.Needs,
		ParametersSchema: present(given.ParametersSchema), OutputSchema: present(given.OutputSchema),
		TimeLimitSeconds: int(given.TimeLimitSeconds), MaxAttempts: int(given.MaxAttempts), Source: Stored, Version: 1}
	if given.Command[0] == "" {
		violations = append(violations, schema.Violation{Path: "$.command[0]", Message: "'' must not be empty", SchemaPath: "properties.command.items"})
	}
	switch {
	case b.ParametersSchema == nil && b.Type == Deterministic:
		violations = append(violations, schema.Violation{Path: "$.parameters_schema", Message: "'parameters_schema' is a required property of a deterministic agent", SchemaPath: "properties.parameters_schema"})
	case b.ParametersSchema != nil:
		violations = append(violations, checkSchema("parameters_schema", b.ParametersSchema, true)...)
	}
	if b.OutputSchema != nil {
		violations = append(violations, checkSchema("output_schema", b.OutputSchema, false)...)
	}
	slices.SortStableFunc(violations, func(x, y schema.Violation) int { return schema.ComparePaths(x.Path, y.Path) })
	return b, violations, nil
}

// duplicates returns a violation if an object in raw JSON has a member twice. It is about the first
// such member.
func duplicates(raw []byte) []schema.Violation {
	if path, twice := schema.Duplicate(raw); twice {
		return []schema.Violation{{Path: path, Message: "the member is there twice"}}
	}
	return nil
}

// present returns raw, or nil for null and for a member that is not there.
func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// checkSchema returns what is wrong with the schema in a member of a blueprint. ofObject reports
// whether it must be the schema of an object.
func checkSchema(member string, raw json.RawMessage, ofObject bool) []schema.Violation {
	v := schema.Violation{Path: "$." + member, SchemaPath: "properties." + member}
	if ofObject {
		var top struct{ Type any }
		if err := json.Unmarshal(raw, &top); err != nil || top.Type != "object" {
			v.Message = `the schema must be of type object: set "type": "object"`
			return []schema.Violation{v}
		}
	}
	if _, err := schema.Parse(raw); err != nil {
		v.Message = err.Error()
		return []schema.Violation{v}
	}
	return nil
}
