package step

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopturn"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// loop takes a turn of the pull request's fix loop. On a schedule, it takes a turn of each open
// loop. That is mode loop. The verdict may be nil.
func (s *step) loop(ctx context.Context, verdict *verdictreport.Document) error {
	if s.client == nil {
		return exitcode.UsageError(errors.New("mode loop needs a token: leave the input token at its default, with contents: write and pull-requests: write in the job's permissions"))
	}
	if s.settings.Staged || s.gate.SafeOutputs().Policy.Staged {
		return exitcode.UsageError(errors.New("mode loop cannot be staged: a turn that is not recorded would be taken again"))
	}
	limits, err := loopturn.ParseLimits(s.settings.LoopLimits)
	if err != nil {
		return exitcode.UsageError(fmt.Errorf("input loop-limits: %w", err))
	}
	if err := loopturn.CheckSecret(s.deps.Secrets.Loop(), s.settings.LoopDispatch != ""); err != nil {
		return exitcode.UsageError(err)
	}
	if n := len([]rune(s.settings.LoopDispatch)); n > githubapi.MaxDispatchType {
		return exitcode.UsageError(fmt.Errorf("input loop-dispatch: the type of an event has at most %d characters, and this one %d", githubapi.MaxDispatchType, n))
	}
	var doc *checkreport.Document
	if s.settings.Findings != "" {
		if doc, err = s.readFindings(); err != nil {
			return err
		}
	}
	if verdict != nil && doc == nil {
		return exitcode.UsageError(errors.New("input verdict: the loop uses it together with what the checks found; give the step the input findings, too"))
	}
	began := time.Now()
	turn := s.turn(doc)
	turn.Verdict, turn.RequireCriteria = verdict, s.gate.SafeOutputs().Acceptance.RequireCriteria
	turn.Limits = limits
	turn.Judge = loopturn.Pushes{Remote: s.conn.Remote, PathList: action.PathList(s.deps.Getenv), Owner: s.gate.SafeOutputs(), Scanner: s.gate.Scanner()}.Judge
	if s.settings.LoopDispatch != "" {
		turn.Dispatch = func(ctx context.Context, payload map[string]any) error {
			return s.client.Dispatch(ctx, s.repo(), s.settings.LoopDispatch, payload)
		}
	}
	results, err := turn.Run(ctx)
	for _, r := range results {
		s.reportLoop(r)
	}
	if outputErr := s.setLoopOutputs(results, began); err == nil {
		err = outputErr
	}
	if errors.Is(err, loopturn.ErrNoPull) {
		return exitcode.UsageError(err)
	}
	if err != nil {
		return exitcode.FailedError(err)
	}
	return nil
}

// loopStore returns the store of the logs of the repository's fix loops.
func (s *step) loopStore() *loopturn.LogStore {
	if s.loops == nil {
		s.loops = loopturn.Store(s.client, s.repo(), s.deps.Secrets.Loop())
	}
	return s.loops
}

func (s *step) turn(doc *checkreport.Document) *loopturn.Turn {
	return &loopturn.Turn{
		Store: s.loopStore(),
		Permission: func(ctx context.Context, login string) (githubapi.Permission, error) {
			return s.client.GetPermission(ctx, s.repo(), login)
		},
		React: func(ctx context.Context, comment int64, content string) error {
			return s.client.ReactToIssueComment(ctx, s.repo(), comment, content)
		},
		Event: s.event, Document: doc, Mask: s.gate.Scanner().Mask, Now: time.Now, Say: s.info,
		Deliver: func(ctx context.Context, ev event.Event, items []intake.OwnItem) ([]bool, error) {
			r := s.request(intake.Result{})
			r.Event, r.Own, r.Planned = ev, items, nil
			shown, rep, err := s.gate.ApplyLoop(ctx, r)
			if err != nil {
				return nil, err
			}
			for _, res := range rep.Own {
				if res.State == apply.Failed || res.State == apply.Denied {
					s.warn(s.gate.OneLine(string(res.Kind) + ": " + res.Message))
				}
			}
			return shown, nil
		},
	}
}

// reportLoop shows a loop in the log and, with a diagram, in the summary.
func (s *step) reportLoop(r loopturn.Result) {
	for _, note := range r.Notes {
		s.warn(s.gate.OneLine(note))
	}
	if r.Log == nil {
		return
	}
	now := time.Now()
	s.info("fix loop " + s.gate.OneLine(r.Headline(now)))
	s.addSummary(r.Summary(now))
	s.reported = true
}

// setLoopOutputs sets the outputs about the loop of the turn. They are empty if the turn was about
// none, or about several.
func (s *step) setLoopOutputs(results []loopturn.Result, began time.Time) error {
	var r loopturn.Result
	if len(results) == 1 {
		r = results[0]
	}
	return s.setOutputs(report.Output{Name: "loop-status", Value: r.Status()}, report.Output{Name: "loop-outcome", Value: r.Outcome()},
		report.Output{Name: "fix-request", Value: inline([]byte(r.Request(began)), maxInlineChecks)})
}
