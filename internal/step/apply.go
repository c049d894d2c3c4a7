package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// apply sends the agent's items through the gate, with those that Airlock itself makes of the
// findings document doc and of the verdict; doc and verdict may be nil. It performs the items that
// are left.
func (s *step) apply(ctx context.Context, doc *checkreport.Document, verdict *verdictreport.Document) error {
	cfg := s.gate.SafeOutputs()
	if s.conn.Token.IsZero() && cfg.Policy.Configured() && !cfg.Policy.Staged && !apply.MayLackToken(s.event) {
		return exitcode.UsageError(errors.New("there is no token to write with: leave the input token at its default, or set staged: true to see the plan"))
	}
	if err := doors.Identify(ctx, s.client, s.event, &s.eventRun, s.info); err != nil {
		return err
	}
	agentIsOptional := doc != nil || verdict != nil || s.gate.Ticks(s.event) || s.settings.Mode == config.ModeAll && cfg.Checks.Given
	collected, err := s.collected(ctx, agentIsOptional)
	if err != nil {
		return err
	}
	r := s.request(collected)
	if doors.CarriesCode(collected) {
		code, release, err := s.agentCode().Load(s.git, s.event, s.conn)
		defer release()
		if err != nil {
			return err
		}
		r.Deps.Code = code
	}
	if verdict != nil {
		s.addSummary(verdict.Summary(s.gate.CheckText(), cfg.Acceptance.RequireCriteria, action.MaxSummary))
	}
	notes, err := s.gate.AddOwn(ctx, s.job(), &r, doc, verdict)
	if err != nil {
		return err
	}
	for _, note := range notes {
		s.info(s.gate.OneLine(note))
		s.addSummary(s.gate.OneLine(note) + "\n\n")
	}
	page := func(rep *report.Report) error { // nothing waits for the page, so a failure is a warning
		if err := crash.Try(func() error { return s.writePage(rep, doc) }); err != nil {
			s.warn(fmt.Errorf("the page of the plan cannot be written: %w", err))
		}
		return nil
	}
	r.Page = page
	rep, err := s.gate.Apply(ctx, collected, r)
	if err != nil {
		return err
	}
	_ = page(rep)
	if r.Checks != nil && cfg.Checks.Report.Annotations != config.AnnotateNever {
		s.annotateFindings(r.Checks.Left())
	}
	if err := s.finish(rep); err != nil {
		return err
	}
	if verdict != nil && verdict.Failed(cfg.Acceptance.RequireCriteria) {
		return s.failedVerdict(verdict)
	}
	return nil
}

// job returns what a request takes from this step's job.
func (s *step) job() doors.Job {
	return doors.Job{Event: s.event, Run: s.eventRun, Runner: s.env, Getenv: s.deps.Getenv, Version: s.deps.Version, Client: s.client, Files: s.out, Log: s.info}
}

// request returns the request for the collected items. Code and Airlock's own items are not yet in
// it.
func (s *step) request(collected intake.Result) doors.Request {
	r := s.job().Request()
	r.Planned = s.writePlan
	if s.git != nil {
		r.Deps.Source = s.git
		if slices.ContainsFunc(collected.Accepted, func(a intake.Accepted) bool { return a.Item().Kind() == safeoutput.KindCreateReviewComment }) {
			r.Deps.Diff = s.git.PullFiles()
		}
	}
	return r
}

// agentCode returns where the agent's changes are. Files that Airlock and the agent write
// for each other are not changes.
func (s *step) agentCode() doors.AgentCode {
	name, workspace := s.settings.Changes, s.env.Workspace
	return doors.AgentCode{File: name, Base: s.settings.ChangesBase, Workspace: workspace, PathList: action.PathList(s.deps.Getenv),
		Exclude: doors.PathsBelow(workspace, workspace, outputDirName, s.settings.OutputFile, s.settings.AgentOutput, name,
			s.deps.Getenv(action.LinesVariables()[0]), s.deps.Getenv(action.LinesVariables()[1])),
		Open: func() (io.ReadCloser, error) { return s.openInput("changes", name) }}
}
