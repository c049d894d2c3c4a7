package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
)

// collect is mode collect: the agent's lines become checked agent output.
func (s *step) collect(ctx context.Context) error {
	res, err := s.collected(ctx, false)
	if err != nil {
		return err
	}
	return s.finish(report.New(report.Input{
		Collected: res.Accepted, Rejected: res.Rejected, Dropped: res.Dropped, Safe: s.gate.OneLine,
	}))
}

// collected lets the step's input through intake. Outside of mode apply, it also writes
// the documents that later jobs read. If optional is set and no input is named, the result is empty.
func (s *step) collected(ctx context.Context, optional bool) (intake.Result, error) {
	named := cmp.Or(s.settings.OutputFile, s.settings.AgentOutput, action.FirstSet(s.deps.Getenv, action.LinesVariables()), action.FirstSet(s.deps.Getenv, action.AgentOutputVariables()))
	if optional && named == "" {
		return intake.Result{}, nil
	}
	open := s.openLines
	if s.settings.Mode == config.ModeApply {
		open = s.openAgentOutput
	}
	in, err := open()
	if err != nil {
		return intake.Result{}, exitcode.UsageError(err)
	}
	defer in.Close()
	if s.settings.Mode == config.ModeApply {
		return s.gate.Collect(ctx, in)
	}
	return s.collectLines(ctx, in)
}

// collectLines lets lines through intake and writes what came through.
func (s *step) collectLines(ctx context.Context, in io.Reader) (res intake.Result, err error) {
	var files doors.PendingFiles
	defer files.Abort()
	var writers []io.Writer
	for _, name := range []string{agentOutputFile, reportFile} {
		f, err := s.out.create(name)
		if err != nil {
			return res, exitcode.FailedError(err)
		}
		writers = append(writers, files.Add(f))
	}
	res, err = s.gate.CollectAndWrite(ctx, in, intake.Documents{Output: writers[0], Report: writers[1]}, s.settings.Mode == config.ModeCollect)
	if err != nil {
		return res, err
	}
	if err := files.Commit(); err != nil {
		return res, exitcode.FailedError(err)
	}
	return res, s.setOutputs(report.Output{Name: "agent-output", Value: path.Join(outputDirName, agentOutputFile)}, report.Output{Name: "report", Value: path.Join(outputDirName, reportFile)})
}

// openLines opens what the agent wrote: the input output-file, or the path in the
// variables that workflows use.
func (s *step) openLines() (io.ReadCloser, error) {
	name := cmp.Or(s.settings.OutputFile, action.FirstSet(s.deps.Getenv, action.LinesVariables()))
	if s.settings.AgentOutput != "" {
		return nil, fmt.Errorf("input agent-output: mode %s reads the lines that the agent wrote (output-file); use agent-output with mode apply", s.settings.Mode)
	}
	if name == "" {
		return nil, errors.New("no agent output is named: set the input output-file to the file of JSON lines that the agent wrote")
	}
	return s.openInput("output-file", name)
}

// openAgentOutput opens the agent output of an earlier job, which a setting or a variable names by
// its path or contains as text. Without that, it opens the lines that the agent wrote.
func (s *step) openAgentOutput() (io.ReadCloser, error) {
	value := cmp.Or(s.settings.AgentOutput, action.FirstSet(s.deps.Getenv, action.AgentOutputVariables()))
	switch {
	case action.IsText(value):
		return io.NopCloser(strings.NewReader(value)), nil
	case value != "":
		return s.openInput("agent-output", value)
	case s.settings.OutputFile != "", action.FirstSet(s.deps.Getenv, action.LinesVariables()) != "":
		return s.openLines()
	}
	return nil, errors.New("no agent output is named: set the input agent-output to the file of the collecting job, or to its text")
}

// openInput opens the untrusted file that an input names, below the workspace or the
// runner's temporary directory.
func (s *step) openInput(input, name string) (io.ReadCloser, error) {
	dir := s.workspace
	temp := s.env.Temp
	inTemp := filepath.IsAbs(name) && strings.HasPrefix(filepath.Clean(name), filepath.Clean(temp)+string(filepath.Separator))
	if temp != "" && inTemp {
		opened, err := action.OpenDir(temp)
		if err != nil {
			return nil, fmt.Errorf("the runner's temporary directory: %w", err)
		}
		defer opened.Close()
		dir = opened
	}
	f, err := dir.Open(name, action.Unlimited)
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", input, err)
	}
	return f, nil
}
