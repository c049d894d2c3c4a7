package sarif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
)

// maxInputResults is how many results are validated; code scanning takes 25,000.
const maxInputResults = 200_000

// Validate returns every way in which a log is not SARIF 2.1.0, or not a log that
// code scanning can use, as Log.Validate does. If the log cannot be read, that is the
// only violation. An error is not about the log.
func Validate(raw []byte) ([]schema.Violation, error) {
	log, err := Read(raw)
	if err != nil {
		return []schema.Violation{{Path: "$", Message: err.Error()}}, nil
	}
	return log.Validate()
}

// Validate returns every way in which the log is not SARIF 2.1.0, or code scanning cannot use it:
// it has no runs, a tool has no name, or a run has results, but none with a location. It does not
// report what Prepare can repair without loss. Members that are null count as absent. If there are
// more than maxInputResults results, that is the only violation. An error is not about the log.
func (l *Log) Validate() ([]schema.Violation, error) {
	total := 0
	for _, run := range objects(list(l.root, "runs")) {
		total += len(list(run, "results"))
	}
	if total > maxInputResults {
		return []schema.Violation{{Path: "$.runs", Message: fmt.Sprintf("there are %d results, at most %d can be read", total, maxInputResults)}}, nil
	}
	raw := l.raw
	if l.nulls > 0 {
		raw = encode(l.root)
	}
	found, err := logSchema.Validate(raw)
	if err != nil {
		return nil, err
	}
	return append(found, unusable(l.root)...), nil
}

// unusable returns the violations of a log that code scanning cannot use although
// it is SARIF.
func unusable(o object) (found []schema.Violation) {
	runs, isList := o["runs"].([]any)
	if isList && len(runs) == 0 {
		found = append(found, schema.Violation{Path: "$.runs", Message: "there is no run in the log", SchemaPath: "properties.runs"})
	}
	for i, r := range runs {
		run, _ := r.(object)
		results := objects(list(run, "results"))
		if len(results) > 0 && !slices.ContainsFunc(results, func(r object) bool { return len(list(r, "locations")) > 0 }) {
			found = append(found, schema.Violation{
				Path:       fmt.Sprintf("$.runs[%d].results", i),
				Message:    "none of the results has a location, so that code scanning cannot show any: 'locations[0].physicalLocation.artifactLocation.uri' must name a file",
				SchemaPath: "definitions.result.properties.locations",
			})
		}
	}
	for i, r := range runs {
		run, _ := r.(object)
		name, isText := child(child(run, "tool"), "driver")["name"].(string)
		if isText && strings.TrimSpace(name) == "" {
			found = append(found, schema.Violation{
				Path:       fmt.Sprintf("$.runs[%d].tool.driver.name", i),
				Message:    "the tool's name is blank",
				SchemaPath: "definitions.toolComponent.properties.name",
			})
		}
	}
	return found
}
