package cli

import (
	"bytes"
	"path"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/report"
)

// outputDir is where a step leaves its files, below the workspace. It ignores
// itself, so that no later step commits it by accident.
const outputDir = ".airlock"

// outputs is the folder for the step's files.
type outputs struct{ workspace *action.Dir }

func openOutputs(workspace *action.Dir) (*outputs, error) {
	if err := workspace.Mkdir(outputDir); err != nil {
		return nil, err
	}
	o := &outputs{workspace}
	_, err := o.WriteFile(".gitignore", []byte("*\n"))
	return o, err
}

// WriteFile implements apply.Files. The path is relative to the workspace, since
// a container's paths mean nothing to other steps.
func (o *outputs) WriteFile(name string, data []byte) (string, error) {
	p := path.Join(outputDir, name)
	return p, o.workspace.Write(p, data)
}

func (o *outputs) create(name string) (*action.Pending, error) {
	return o.workspace.Create(path.Join(outputDir, name))
}

// The names of the step's files.
const (
	agentOutputFile = "agent-output.json"
	reportFile      = "report.json"
	resultsFile     = "results.json"
	planFile        = "plan.json"
	findingsFile    = "findings.json"
)

// maxInlineResults is how large the results may be to be an output as well as a
// file: GitHub takes 1 MB for all outputs of a job together.
const maxInlineResults = 900_000

// setOutputs writes the results' files and sets the step's outputs.
func (s *step) setOutputs(rep *report.Report, out *outputs) error {
	var results bytes.Buffer
	if err := rep.JSON(&results, ""); err != nil {
		return err
	}
	resultsPath, err := out.WriteFile(resultsFile, results.Bytes())
	if err != nil {
		return err
	}
	inline := results.String()
	if len(inline) > maxInlineResults {
		inline = ""
	}
	list := append(rep.Outputs(), report.Output{Name: "results", Value: inline}, report.Output{Name: "results-file", Value: resultsPath})
	return s.set(list)
}

// writePlan stores the plan before anything of it is carried out, so that whoever
// looks into a step that was killed knows what it was about to do.
func (s *step) writePlan(plan *apply.Plan, out *outputs) error {
	var raw bytes.Buffer
	if err := writeJSON(&raw, plan); err != nil {
		return err
	}
	path, err := out.WriteFile(planFile, raw.Bytes())
	if err != nil {
		return err
	}
	return s.set([]report.Output{{Name: "plan-file", Value: path}})
}
