package agents

import (
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
	var list []Blueprint
	for _, f := range []struct {
		name               string
		limit              time.Duration // 0: DefaultTimeLimit
		parameters, output string        // the files of the schemas; "" for any JSON
		description        string
	}{
		{Acceptance, 0, "validation-request.schema.json", "validation-response.schema.json",
			"Verifies acceptance criteria in a work tree on the server, by machine where their hints allow it, and answers a verdict with evidence."},
		{FixLoop, 6 * time.Hour, "fix-loop-input.json", "",
			"Runs the six checks on the server, lets a fixer mend what they find, and runs them again, until all pass or a person has to decide. Answers the state of the loop."},
		{PhaseValidation, 0, "phase-validation-input.json", "phase-validation-output.json",
			"Runs the six checks (formatter, linter, build, tests, code review, security review) on changed files of a project on the server, and answers how each ended."},
		{CollectOutput, 0, "collect-output-input.json", "agent-output.json",
			"Repairs, validates and cleans an agent's lines of safe outputs, and answers the items that a policy lets in and the errors of the others."},
	} {
		b := Blueprint{Name: f.name, Type: Deterministic, Description: f.description, TimeLimitSeconds: int(f.limit.Seconds()), Source: BuiltIn, Version: 1}
		var ok bool
		if b.ParametersSchema, ok = schema.Source(f.parameters); !ok {
			return nil, fmt.Errorf("agents: the schema %s is not embedded", f.parameters)
		}
		if b.OutputSchema, ok = schema.Source(f.output); !ok && f.output != "" {
			return nil, fmt.Errorf("agents: the schema %s is not embedded", f.output)
		}
		list = append(list, b)
	}
	return list, nil
}
