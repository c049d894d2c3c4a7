package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// apply sends the agent's items, and what Airlock itself has to say of the checks
// (doc, nil without), through both doors and performs what is left.
func (s *step) apply(ctx context.Context, here surroundings, doc *checkreport.Document) error {
	cfg := here.gate.cfg
	if here.conn.tok.IsZero() && cfg.Policy.Configured() && !cfg.Policy.Staged {
		return usageError(errors.New("there is no token to write with: leave the input token at its default, or set staged: true to see the plan"))
	}
	collected, err := s.collected(ctx, here, doc != nil || s.settings.Mode == config.ModeAll && cfg.Checks.Given)
	if err != nil {
		return err
	}
	p := s.passage(here, asksForReview(collected))
	if carriesCode(collected) {
		code, release, err := s.codeSource().code(here.git, here.event, here.conn)
		defer release()
		if err != nil {
			return err
		}
		p.world.Code = code
	}
	if p.own, err = s.ownItems(doc, here); err != nil {
		return err
	}
	rep, err := here.gate.pass(ctx, collected, p)
	if err != nil {
		return err
	}
	return s.finish(rep, here.out)
}

// passage is what stands behind the first door, without code and items of our own.
func (s *step) passage(here surroundings, needsDiff bool) passage {
	p := passage{
		event:   here.event,
		config:  apply.Config{Run: here.run, Workflow: s.w.Getenv("GITHUB_WORKFLOW"), Version: versionOf(s.w), Server: s.env.ServerURL},
		world:   apply.World{Clock: githubapi.SystemClock{}, Files: here.out, Log: s.info},
		planned: func(plan *apply.Plan) error { return s.writePlan(plan, here.out) },
	}
	if here.client != nil {
		p.world.GitHub = here.client
	}
	if here.git != nil {
		p.world.Source = here.git
		if needsDiff {
			p.world.Diff = here.git.diff()
		}
	}
	return p
}

// codeSource says where the agent's changes are. What Airlock and the agent write for
// each other is none of them.
func (s *step) codeSource() codeSource {
	name := s.settings.Changes
	return codeSource{file: name, base: s.settings.ChangesBase, workspace: s.env.Workspace, pathList: s.pathList(),
		exclude: belowDir(s.env.Workspace, s.env.Workspace, outputDir, s.settings.OutputFile, s.settings.AgentOutput, name, s.w.Getenv("GH_AW_SAFE_OUTPUTS"), s.w.Getenv("GITHUB_AW_SAFE_OUTPUTS")),
		open:    func() (io.ReadCloser, error) { return s.openBelow("changes", name) }}
}

// asksForReview reports whether the diff is needed.
func asksForReview(res intake.Result) bool {
	for _, a := range res.Accepted {
		if a.Item().Kind() == safeoutput.KindCreateReviewComment {
			return true
		}
	}
	return false
}

// finish tells everybody how it ended, and returns what the step's exit code
// follows from.
func (s *step) finish(rep *report.Report, out *outputs) error {
	var text bytes.Buffer
	_ = writeText(&text, rep, false) // a buffer takes everything
	s.runner.Group("Airlock: "+rep.Headline(), func() { s.runner.Log(text.String()) })
	s.annotate(rep.Annotations(), "the file of the results")
	if _, err := s.runner.AddSummary(rep.Summary(action.MaxSummary), cutBytes); err != nil {
		s.warn(err)
	}
	s.reported, s.checkRun = true, rep.ShowsCheckRun()
	if err := s.setOutputs(rep, out); err != nil {
		return failedError(fmt.Errorf("the outputs cannot be set, this log says what was done: %w", err))
	}
	failed := rep.Counts.Failed > 0 || rep.FailedOwn()
	switch {
	case s.settings.FailOn == config.FailOnNever:
		return nil
	case failed, s.settings.FailOn == config.FailOnRejected && !rep.Clean():
		return findings()
	}
	return nil
}
