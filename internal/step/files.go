package step

import (
	"bytes"
	"io"
	"path"

	"github.com/agent-airlock/airlock/internal/action"
)

// outputDirName is the directory below the workspace where a step leaves its files. It
// ignores itself, so that no later step commits it by accident.
const outputDirName = ".airlock"

// The names of the step's files.
const (
	agentOutputFile = "agent-output.json"
	reportFile      = "report.json"
	resultsFile     = "results.json"
	planFile        = "plan.json"
	planPageFile    = "plan.html"
	findingsFile    = "findings.json"
	verdictFile     = "verdict.json"
)

// outputDir is the directory for the step's files.
type outputDir struct{ workspace *action.Dir }

func openOutputDir(workspace *action.Dir) (*outputDir, error) {
	if err := workspace.Mkdir(outputDirName); err != nil {
		return nil, err
	}
	o := &outputDir{workspace}
	_, err := o.WriteFile(".gitignore", []byte("*\n"))
	return o, err
}

// WriteFile implements apply.Files. The path that it returns is relative to the
// workspace, because a container's paths mean nothing to other steps.
func (o *outputDir) WriteFile(name string, data []byte) (string, error) {
	p := path.Join(outputDirName, name)
	return p, o.workspace.Write(p, data)
}

// keep stores the output of the function write as a file, and returns the file's path and content.
func (o *outputDir) keep(name string, write func(io.Writer) error) (p string, content []byte, err error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", nil, err
	}
	p, err = o.WriteFile(name, b.Bytes())
	return p, b.Bytes(), err
}

func (o *outputDir) create(name string) (*action.Pending, error) {
	return o.workspace.Create(path.Join(outputDirName, name))
}
