package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/report"
)

func newAction(w World) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "The entry point of the GitHub Action",
		Long: `Run as a step of a workflow: inputs come from INPUT_* variables as action.yml
documents them, the environment from the runner. The token is taken out of the
process's environment first of all. The step's files lie in .airlock below the
workspace; the exit code follows from the input fail-on.`,
		Example: `  - uses: agent-airlock/airlock@v1
    with:
      output-file: lines.ndjson
      config: |
        create-issue:`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := newStep(w)
			defer s.runner.Finish()
			err := s.run(cmd.Context())
			if err == nil {
				return nil
			}
			var exit *exitError
			if !errors.As(err, &exit) {
				exit = failedError(err)
			}
			if exit.err != nil {
				s.stopped(exit.err)
			}
			return &exitError{code: exit.code}
		},
	}
}

// step is one step of a workflow.
type step struct {
	w         World
	env       action.Env
	runner    *action.Runner
	settings  config.Settings
	workspace *action.Dir
	reported  bool // what became of the items is in the log and the summary
	checkRun  bool // a check run shows the findings beside their lines
}

func newStep(w World) *step {
	env := action.Snapshot(w.Getenv)
	return &step{w: w, env: env, runner: action.NewRunner(env, w.Stdout)}
}

// run does what the input mode says.
func (s *step) run(ctx context.Context) error {
	here, release, err := s.open(ctx)
	defer release()
	if err != nil {
		return err
	}
	if s.settings.Mode == config.ModeCollect {
		return s.collect(ctx, here)
	}
	doc, err := s.findings(ctx, here)
	if err != nil || s.settings.Mode == config.ModeCheck {
		return s.checked(doc, err)
	}
	err = s.apply(ctx, here, doc)
	if doc != nil && s.settings.Mode == config.ModeAll && !s.checkRun {
		s.annotateChecks(doc, here)
	}
	return s.checked(doc, err)
}

// collect is mode collect: the agent's lines become checked agent output.
func (s *step) collect(ctx context.Context, here surroundings) error {
	if s.settings.Findings != "" {
		return usageError(errors.New("input findings: mode collect tells nobody of them; use it with mode apply"))
	}
	res, err := s.collected(ctx, here, false)
	if err != nil {
		return err
	}
	return s.finish(report.New(report.Input{
		Collected: res.Accepted, Rejected: res.Rejected, Dropped: res.Dropped, Words: here.gate.words,
	}), here.out)
}

// stopped says in the log and in the summary why nothing was judged or, behind the
// report, why the outputs lack.
func (s *step) stopped(err error) {
	s.runner.Annotate(action.Annotation{Level: action.Error, Title: "Airlock stopped", Message: err.Error()})
	if s.reported {
		return
	}
	nothing := "Nothing was applied."
	if s.settings.Mode == config.ModeCheck {
		nothing = "Nothing was checked."
	}
	if _, err := s.runner.AddSummary("## Airlock stopped\n\n"+nothing+"\n\n"+report.PlainBlock(err.Error()), cutBytes); err != nil {
		s.warn(err)
	}
}
