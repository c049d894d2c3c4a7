package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/report"
)

type applyFlags struct {
	input, config, event, eventName, repo string
	plan, outputDir, proxy, caFile        string
	dir, changes, changesBase, findings   string
	dryRun, strict, trustEnv, json        bool
	pace                                  time.Duration
}

func newApply(w World) *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Perform what an agent asked for and the configuration allows",
		Long: `Send agent output through both doors and perform what is left through the GitHub
API. The input is the document that collect wrote, or the agent's own lines: it is
checked again either way.

Without a configuration nothing is written: the plan is shown, and how to enable
it. The token is read from GITHUB_TOKEN or GH_TOKEN and goes to the API's host and,
for pushes by git, to the same server. The event is that of the workflow run (GITHUB_EVENT_PATH), or --event.

The code of create-pull-request and push-to-branch is what the clone in --dir holds
beyond the event's commit, committed or not, or a patch or bundle (--changes).
Values in AIRLOCK_SECRETS, one a line, stop every item that holds one of them.

What a person reads goes to standard error; the results go to standard output as
JSON, unless that is a terminal.`,
		Example: `  airlock apply --dry-run --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml
  airlock apply --input agent-output.json --config policy.yml --plan plan.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd.Context(), w, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "agent output or agent lines; - is standard input (default: GH_AW_AGENT_OUTPUT, else standard input)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.event, "event", "", "the webhook payload of the event (default: GITHUB_EVENT_PATH)")
	flags.StringVar(&f.eventName, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, else inferred from the payload)")
	flags.StringVar(&f.repo, "repo", "", "the repository as owner/name (default: GITHUB_REPOSITORY, else the payload's)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing; print the plan")
	flags.StringVar(&f.plan, "plan", "", "write the plan, with the exact requests, to this file as JSON")
	flags.StringVar(&f.outputDir, "output-dir", ".airlock", "where files go that could not be delivered, such as SARIF")
	flags.BoolVar(&f.strict, "strict", false, "reject lines with fields that the schema does not know")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON also to a terminal")
	flags.StringVar(&f.dir, "dir", "", "the clone that holds the agent's changes (default: GITHUB_WORKSPACE, else the present folder)")
	flags.StringVar(&f.changes, "changes", "", "a patch (git format-patch, git diff) or bundle file with the agent's changes, instead of those in the clone")
	flags.StringVar(&f.changesBase, "changes-base", "", "the commit or branch that the changes were made from (default: found out)")
	flags.StringVar(&f.findings, "findings", "", "the findings document of 'airlock check', to be told on the pull request")
	flags.StringVar(&f.proxy, "proxy", "", "the proxy for requests to the API")
	flags.StringVar(&f.caFile, "ca-file", "", "PEM certificates to trust besides the system's")
	flags.DurationVar(&f.pace, "pace", time.Second, "the time between two writes; 0 paces nothing, for a server without rate limits")
	flags.BoolVar(&f.trustEnv, "trust-env", false, "take proxy and certificates from the environment")
	return cmd
}

func runApply(ctx context.Context, w World, f applyFlags) error {
	cfg, err := loadConfig(w, f.config)
	if err != nil {
		return err
	}
	g, err := newGate(cfg, serverHost(w.Getenv), f.strict, scannerFromEnv(w))
	if err != nil {
		return err
	}
	conn, err := f.connection(w)
	if err != nil {
		return err
	}
	p, err := f.passage(w, conn)
	if err != nil {
		return err
	}
	if p.world.GitHub == nil && cfg.Policy.Configured() && !cfg.Policy.Staged && !f.dryRun {
		return usageError(errors.New("there is no token to write with: set GITHUB_TOKEN, or add --dry-run to see the plan"))
	}
	if f.findings != "" {
		if err := p.withFindings(f.findings, w, g); err != nil {
			return err
		}
	}
	in, err := f.openInput(w)
	if err != nil {
		return usageError(err)
	}
	defer in.Close()
	var files pendingFiles
	defer files.abort()
	if f.plan != "" {
		out, err := files.create(f.plan, nil)
		if err != nil {
			return usageError(fmt.Errorf("--plan: %w", err))
		}
		p.planned = func(plan *apply.Plan) error {
			if err := writeJSON(out, plan); err != nil {
				return err
			}
			return files.commit()
		}
	}
	collected, err := g.collect(ctx, in)
	if err != nil {
		return err
	}
	if carriesCode(collected) {
		release, err := p.withChanges(ctx, w, f, conn)
		if err != nil {
			return err
		}
		defer release()
	}
	rep, err := g.pass(ctx, collected, p)
	if err != nil {
		return err
	}
	if err := printReport(w, rep, f.json); err != nil {
		return failedError(fmt.Errorf("the results cannot be written, standard error has them: %w", err))
	}
	if !rep.Clean() {
		return findings()
	}
	return nil
}

// openInput opens the agent's output; there need not be one where there are
// findings.
func (f applyFlags) openInput(w World) (io.ReadCloser, error) {
	if f.findings != "" && f.input == "" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return openAgentOutput(w, f.input)
}

// printReport tells a person on standard error and a machine on standard output.
// What a person cannot be told is no reason not to tell the machine.
func printReport(w World, rep *report.Report, asJSON bool) error {
	_ = writeText(w.Stderr, rep, isTerminal(w.Stderr) && w.Getenv("NO_COLOR") == "")
	if asJSON || !isTerminal(w.Stdout) {
		return rep.JSON(w.Stdout, "  ")
	}
	return nil
}

// writeText writes what a person reads: the plan of a dry run, then the report.
func writeText(w io.Writer, rep *report.Report, colour bool) error {
	if rep.DryRun {
		if err := rep.PlanText(w, colour); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return rep.Text(w, colour)
}
