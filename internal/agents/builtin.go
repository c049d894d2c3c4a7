package agents

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/schema"
)

// The names of the agents that are Airlock's own functions.
const (
	Acceptance      = "acceptance"
	PhaseValidation = "phase-validation"
	CollectOutput   = "collect-output"
)

// BuiltIns returns the blueprints of Airlock's own functions. What carries them out is
// the program itself.
func BuiltIns() ([]Blueprint, error) {
	list := []Blueprint{
		{Name: Acceptance, Description: "Verifies acceptance criteria in a work tree on the server, by machine where their hints allow it, and answers a verdict with evidence."},
		{Name: PhaseValidation, Description: "Runs the six checks (formatter, linter, build, tests, code review, security review) on changed files of a project on the server, and answers how each ended."},
		{Name: CollectOutput, Description: "Repairs, validates and cleans an agent's lines of safe outputs, and answers the items that a policy lets in and the errors of the others."},
	}
	for i, files := range [][2]string{{"validation-request.schema.json", "validation-response.schema.json"}, {"phase-validation-input.json", "phase-validation-output.json"}, {"collect-output-input.json", "agent-output.json"}} {
		b := &list[i]
		b.Type, b.Source, b.Version = Deterministic, BuiltIn, 1
		var ok [2]bool
		b.ParametersSchema, ok[0] = schema.Source(files[0])
		b.OutputSchema, ok[1] = schema.Source(files[1])
		if !ok[0] || !ok[1] {
			return nil, fmt.Errorf("agents: the schemas of %s are not embedded", b.Name)
		}
	}
	return list, nil
}
