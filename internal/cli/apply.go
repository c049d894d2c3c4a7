package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/terminal"
)

func newApply(env Environment) *cobra.Command {
	var s doors.Submission
	var policy string
	var json bool
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Perform what an agent asked for and the configuration allows",
		Long: `Send agent output through both doors and perform what is left through the GitHub
API. The input is the document that collect wrote, or the agent's own lines: it is
checked again either way.

Without a configuration nothing is written: the plan is shown, and how to enable
it. The token is read from GITHUB_TOKEN or GH_TOKEN and goes to the API's host and,
for pushes by git, to the same server. The event is that of the workflow run
(GITHUB_EVENT_PATH), or --event.

The code of create-pull-request and push-to-branch is what the clone in --dir has
beyond the event's commit, committed or not, or a patch or bundle (--changes).
Values in AIRLOCK_SECRETS, one a line, stop every item that contains one of them.

What a person reads goes to standard error; the results go to standard output as
JSON, unless that is a terminal.`,
		Example: `  airlock apply --dry-run --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml
  airlock apply --input agent-output.json --config policy.yml --plan plan.json
  airlock apply --dry-run --input agent.ndjson --event event.json --config policy.yml --plan-html plan.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			owner, err := env.loadConfig(policy)
			if err != nil {
				return err
			}
			deps := env.submissionDeps()
			if env.wantsJSON(json) {
				deps.Out = env.Stdout
			}
			return s.Apply(cmd.Context(), owner, deps)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.Input, "input", "", "agent output or agent lines; - is standard input (default: GH_AW_AGENT_OUTPUT, otherwise standard input; none with --findings or --verdict)")
	flags.StringVar(&policy, "config", "", configUsage)
	addEventFlags(flags, &s.Event)
	addRepoFlag(flags, &s.Event)
	flags.StringVar(&s.Event.JobName, "name", "", "a name for the job, where two jobs of a workflow run cannot be distinguished otherwise")
	flags.BoolVar(&s.DryRun, "dry-run", false, "write nothing; print the plan")
	flags.StringVar(&s.Plan.JSON, "plan", "", "write the plan, with the exact requests, to this file as JSON")
	flags.StringVar(&s.Plan.Page, "plan-html", "", "write the plan, and what became of it, to this file as a page to look at (docs/plan-page.md)")
	flags.StringVar((*string)(&s.OutputDir), "output-dir", ".airlock", "where files go that could not be delivered, such as SARIF")
	flags.BoolVar(&s.Strict, "strict", false, "reject lines with fields that the schema does not know")
	flags.BoolVar(&json, "json", false, "print the results as JSON also to a terminal")
	flags.StringVar(&s.Dir, "dir", "", "the clone that contains the agent's changes (default: GITHUB_WORKSPACE, otherwise the current directory)")
	flags.StringVar(&s.Changes, "changes", "", "a patch (git format-patch, git diff) or bundle file with the agent's changes, instead of those in the clone")
	flags.StringVar(&s.ChangesBase, "changes-base", "", "the commit or branch that the changes were made from (default: detected)")
	flags.StringVar(&s.Findings, "findings", "", "the findings document of 'airlock check', to be reported on the pull request")
	flags.StringVar(&s.Verdict, "verdict", "", "the verdict document of an action's mode verify, to be reported on the pull request")
	addRouteFlags(flags, &s.Route)
	flags.DurationVar(&s.Route.Pace, "pace", time.Second, "the time between two writes; 0 paces nothing, for a server without rate limits")
	return cmd
}

// submissionDeps returns what a submission needs of the process.
func (env Environment) submissionDeps() doors.SubmissionDeps {
	return doors.SubmissionDeps{Getenv: env.Getenv, Version: env.Version, Open: env.open, Log: env.progress(),
		People: env.Stderr, Colour: terminal.ShowsColour(env.Stderr, env.Getenv)}
}
