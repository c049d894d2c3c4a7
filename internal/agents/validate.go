package agents

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/agent-airlock/airlock/internal/schema"
)

// ParameterError reports that parameters do not conform to an agent's schema. Its JSON is
// the answer that lets an AI correct itself: the same over HTTP, over MCP and on the
// command line.
type ParameterError struct {
	AgentName  string
	Violations []schema.Violation
	Schema     json.RawMessage
}

// parametersMessage is the sentence of spec 004.
const parametersMessage = "Parameters do not match agent's parameters_schema"

// Error implements error. It lists each violation on a line of its own.
func (e *ParameterError) Error() string {
	return parametersMessage + " (" + e.AgentName + "):" + ViolationLines(e.Violations)
}

// ParameterErrorBody is the JSON of a ParameterError.
type ParameterErrorBody struct {
	Error            string             `json:"error"`
	Message          string             `json:"message"`
	AgentName        string             `json:"agent_name"`
	ValidationErrors []schema.Violation `json:"validation_errors"`
	ParametersSchema json.RawMessage    `json:"parameters_schema"`
}

// Body returns the error as its JSON has it.
func (e *ParameterError) Body() ParameterErrorBody {
	return ParameterErrorBody{"parameter_validation_failed", parametersMessage, e.AgentName, e.Violations, e.Schema}
}

// MarshalJSON implements json.Marshaler.
func (e *ParameterError) MarshalJSON() ([]byte, error) { return json.Marshal(e.Body()) }

// maxCompiled is how many compiled schemas a Validator keeps. Before one more, it forgets them all.
const maxCompiled = 256

// Validator validates values against the schemas of agents, and keeps what it has compiled. It is
// safe for concurrent use.
type Validator struct {
	mu       sync.Mutex
	compiled map[[sha256.Size]byte]*schema.Schema
}

// Parameters returns a *ParameterError with every violation if parameters, raw JSON, do not
// conform to the agent's schema. If a member is there twice, the error is only about the first
// such member. Half of a surrogate pair is reported only if nothing else is wrong. Any other
// error is about the schema itself.
func (v *Validator) Parameters(b Blueprint, parameters []byte) error {
	violations, err := v.validate(b.Schema(), parameters)
	if err != nil {
		return fmt.Errorf("parameters_schema of agent %s: %w", b.Name, err)
	}
	if path, found := schema.LoneSurrogate(parameters); found && len(violations) == 0 {
		violations = []schema.Violation{{Path: path, Message: `half of a surrogate pair, such as \ud800, is not a character: write both halves, or the character itself`}}
	}
	if len(violations) > 0 {
		return &ParameterError{b.Name, violations, b.Schema()}
	}
	return nil
}

// Output returns every violation of the agent's output_schema, none if it has no such
// schema.
func (v *Validator) Output(b Blueprint, output []byte) ([]schema.Violation, error) {
	if b.OutputSchema == nil {
		return nil, nil
	}
	violations, err := v.validate(b.OutputSchema, output)
	if err != nil {
		return nil, fmt.Errorf("output_schema of agent %s: %w", b.Name, err)
	}
	return violations, nil
}

func (v *Validator) validate(text json.RawMessage, value []byte) ([]schema.Violation, error) {
	s, err := v.schema(text)
	if err != nil {
		return nil, err
	}
	if violations := duplicates(value); len(violations) > 0 {
		return violations, nil
	}
	return s.Validate(value)
}

func (v *Validator) schema(text json.RawMessage) (*schema.Schema, error) {
	key := sha256.Sum256(text)
	v.mu.Lock()
	s, ok := v.compiled[key]
	v.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.compiled == nil || len(v.compiled) >= maxCompiled {
		v.compiled = map[[sha256.Size]byte]*schema.Schema{}
	}
	v.compiled[key] = s
	return s, nil
}
