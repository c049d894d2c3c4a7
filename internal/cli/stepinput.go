package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
)

// collected lets the step's input through the first door. The agent's own lines
// also become the documents that later jobs read. Where there is something else to
// say, there need not be an input.
func (s *step) collected(ctx context.Context, here surroundings, optional bool) (intake.Result, error) {
	if optional && !s.namesInput() {
		return intake.Result{}, nil
	}
	if s.settings.Mode == config.ModeApply {
		in, err := s.openAgentOutput()
		if err != nil {
			return intake.Result{}, usageError(err)
		}
		defer in.Close()
		return here.gate.collect(ctx, in)
	}
	in, err := s.openLines()
	if err != nil {
		return intake.Result{}, usageError(err)
	}
	defer in.Close()
	return s.write(ctx, here, in)
}

// write lets lines through the first door and writes what came through.
func (s *step) write(ctx context.Context, here surroundings, in io.Reader) (res intake.Result, err error) {
	var files pendingFiles
	defer files.abort()
	for _, name := range []string{agentOutputFile, reportFile} {
		f, err := here.out.create(name)
		if err != nil {
			return res, failedError(err)
		}
		files = append(files, f)
	}
	if res, err = here.gate.collectTo(ctx, in, intake.Documents{Output: sink{w: files[0]}, Report: sink{w: files[1]}}, s.settings.Mode == config.ModeCollect); err != nil {
		return res, err
	}
	if err := files.commit(); err != nil {
		return res, failedError(err)
	}
	return res, s.set([]report.Output{{Name: "agent-output", Value: path.Join(outputDir, agentOutputFile)}, {Name: "report", Value: path.Join(outputDir, reportFile)}})
}

// namesInput reports whether somebody names what an agent wrote.
func (s *step) namesInput() bool {
	names := []string{s.settings.OutputFile, s.settings.AgentOutput}
	for _, variable := range []string{"GH_AW_SAFE_OUTPUTS", "GITHUB_AW_SAFE_OUTPUTS", "GH_AW_AGENT_OUTPUT", "GITHUB_AW_AGENT_OUTPUT"} {
		names = append(names, s.w.Getenv(variable))
	}
	return strings.Join(names, "") != ""
}

// openLines opens what the agent wrote: the input output-file, or the path in
// the variables that workflows use.
func (s *step) openLines() (io.ReadCloser, error) {
	name := s.settings.OutputFile
	for _, variable := range []string{"GH_AW_SAFE_OUTPUTS", "GITHUB_AW_SAFE_OUTPUTS"} {
		if name == "" {
			name = s.w.Getenv(variable)
		}
	}
	if name == "" {
		return nil, errors.New("no agent output is named: set the input output-file to the file of JSON lines that the agent wrote")
	}
	return s.openBelow("output-file", name)
}

// openAgentOutput opens what an earlier job collected: a path, or the text itself.
func (s *step) openAgentOutput() (io.ReadCloser, error) {
	value := s.settings.AgentOutput
	for _, variable := range []string{"GH_AW_AGENT_OUTPUT", "GITHUB_AW_AGENT_OUTPUT"} {
		if value == "" {
			value = s.w.Getenv(variable)
		}
	}
	switch {
	case strings.HasPrefix(value, "{"):
		return io.NopCloser(strings.NewReader(value)), nil
	case value != "":
		return s.openBelow("agent-output", value)
	case s.settings.OutputFile != "":
		return s.openLines()
	}
	return nil, errors.New("no agent output is named: set the input agent-output to the file of the collecting job, or to its text")
}

// openBelow opens an untrusted file below the workspace or the runner's
// temporary folder.
func (s *step) openBelow(input, name string) (io.ReadCloser, error) {
	if temp := s.env.Temp; temp != "" && filepath.IsAbs(name) && strings.HasPrefix(filepath.Clean(name), filepath.Clean(temp)+string(filepath.Separator)) {
		dir, err := action.OpenDir(temp)
		if err != nil {
			return nil, fmt.Errorf("the runner's temporary folder: %w", err)
		}
		defer dir.Close()
		f, err := dir.Open(name, unlimited)
		return orInputError(input, f, err)
	}
	f, err := s.workspace.Open(name, unlimited)
	return orInputError(input, f, err)
}

func orInputError(input string, f *action.File, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", input, err)
	}
	return f, nil
}
