package agents

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
)

// The names of the agents that are Airlock's own functions.
const (
	Acceptance      = "acceptance"
	FixLoop         = "fix-loop"
	PhaseValidation = "phase-validation"
	CollectOutput   = "collect-output"
)

// BuiltIns returns the blueprints of Airlock's own functions. What carries them out is
// the program itself.
func BuiltIns() ([]Blueprint, error) {
	list := []Blueprint{
		{Name: Acceptance, Description: "Verifies acceptance criteria in a work tree on the server, by machine where their hints allow it, and answers a verdict with evidence."},
		{Name: FixLoop, Description: "Has what the six checks find on the server mended by a fixer and checked again, until all pass or a person has to decide, and answers where the loop is then.",
			TimeLimitSeconds: int((6 * time.Hour).Seconds())},
		{Name: PhaseValidation, Description: "Runs the six checks (formatter, linter, build, tests, code review, security review) on changed files of a project on the server, and answers how each ended."},
		{Name: CollectOutput, Description: "Repairs, validates and cleans an agent's lines of safe outputs, and answers the items that a policy lets in and the errors of the others."},
	}
	for i, files := range [][2]string{{"validation-request.schema.json", "validation-response.schema.json"}, {"fix-loop-input.json", ""}, {"phase-validation-input.json", "phase-validation-output.json"}, {"collect-output-input.json", "agent-output.json"}} {
		b := &list[i]
		b.Type, b.Source, b.Version = Deterministic, BuiltIn, 1
		for j, to := range []*json.RawMessage{&b.ParametersSchema, &b.OutputSchema} {
			if files[j] == "" {
				continue // any JSON
			}
			var ok bool
			if *to, ok = schema.Source(files[j]); !ok {
				return nil, fmt.Errorf("agents: the schema %s is not embedded", files[j])
			}
		}
	}
	return list, nil
}
