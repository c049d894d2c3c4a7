package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type validateFlags struct {
	doors.Submission
	config        string
	schemas, json bool
}

func newValidate(env Environment) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate [--config FILE] [AGENT-OUTPUT]",
		Short: "Check a configuration and agent output, without side effects",
		Long: `Check a safe-outputs configuration, agent output, or both: the agent output is then
also checked against the owner's rules that need no GitHub: kinds, limits, labels,
fields, branches. With the workflow run's event (GITHUB_EVENT_PATH, or --event) what an
item may act on and the changes in the workspace (--dir) are judged as well. Nothing is
written and nothing is asked of GitHub.

Of a Markdown file with a front matter, as agentic workflows have, each key is listed
with what becomes of it: honoured, changed, ignored or missing. Files of the repository
that it imports are read.

Each problem is a line on standard error, from which an agent can correct itself. A
report goes to standard output as JSON, unless that is a terminal; with --json, the
problems go there as JSON instead. The exit code is 0 if all is well, 1 if a line is
not, 2 if the configuration is not.`,
		Example: `  airlock validate --config policy.yml
  airlock validate --config .github/workflows/triage.md
  airlock validate --config policy.yml --json agent.ndjson
  airlock validate - < agent.ndjson`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runValidate(cmd.Context(), env, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.BoolVar(&f.Strict, "strict", false, "refuse fields that the schema does not know")
	flags.BoolVar(&f.schemas, "report-schemas", false, "add to the report the schema of each kind that was rejected")
	flags.BoolVar(&f.json, "json", false, "write the problems as JSON to standard output, instead of the report")
	addEventFlags(flags, &f.Event)
	addRepoFlag(flags, &f.Event)
	flags.StringVar(&f.Dir, "dir", "", "the clone that contains the agent's changes (default: GITHUB_WORKSPACE)")
	return cmd
}

func runValidate(ctx context.Context, env Environment, f validateFlags, args []string) error {
	if f.config == "" && len(args) == 0 {
		return exitcode.UsageError(errors.New("nothing to validate: give --config FILE, agent output, or both"))
	}
	cfg, err := config.Load(config.Sources{File: f.config, Getenv: env.Getenv})
	if err != nil {
		return exitcode.UsageError(err)
	}
	cfg.WriteNotes(env.Stderr)
	if f.config != "" {
		fmt.Fprintf(env.Stderr, "%s: the configuration is valid; %s\n", f.config, cfg.DescribeEnabled())
		if cfg.Policy.Configured() {
			fmt.Fprintf(env.Stderr, "\nThe job that applies all of it needs:\n\n%s", apply.WriteBlock(cfg.Permissions()))
		}
	}
	if len(args) == 0 {
		return nil
	}
	f.Input = args[0]
	docs, deps := intake.Documents{Output: io.Discard, Schemas: f.schemas}, env.submissionDeps()
	if f.json {
		deps.Out = env.Stdout
	} else if !terminal.Is(env.Stdout) {
		docs.Report = env.Stdout
	}
	return f.Validate(ctx, cfg, docs, deps)
}
