package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
)

// maxShown is how many problems collect shows to a person; the report contains all.
const maxShown = 50

type collectFlags struct {
	input, config, output, report string
	strict, schemas               bool
}

func newCollect(env Environment) *cobra.Command {
	var f collectFlags
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Turn an agent's lines into checked agent output",
		Long: `Read the lines of JSON that an agent wrote, repair what can be repaired safely,
validate and clean each, and write {"items": [...], "errors": [...]} to standard
output or a file. Nothing of GitHub is touched and no token is needed.

The exit code is 1 if a line was rejected or over a limit, or lost labels that are
over one; the document is written all the same, and --report says everything about
every line.`,
		Example: `  airlock collect --input agent.ndjson
  airlock collect --input agent.ndjson --output agent-output.json --report report.json
  cat agent.ndjson | airlock collect --config policy.yml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCollect(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "the agent's lines; - is standard input (default: GH_AW_SAFE_OUTPUTS, else standard input)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.output, "output", "", "write the agent output to this file (default: standard output)")
	flags.StringVar(&f.report, "report", "", "write a report to this file: rejections with their place in the schema, repairs, what was cleaned and dropped")
	flags.BoolVar(&f.schemas, "report-schemas", false, "add to the report the schema of each kind that was rejected, so that an agent can correct itself")
	flags.BoolVar(&f.strict, "strict", false, "reject lines with fields that the schema does not know")
	return cmd
}

func runCollect(ctx context.Context, env Environment, f collectFlags) error {
	gate, err := loadGate(env, f.config, f.strict)
	if err != nil {
		return err
	}
	in, err := openInput(env, cmp.Or(f.input, action.FirstSet(env.Getenv, action.LinesVariables())))
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()

	docs := intake.Documents{Output: env.Stdout, Schemas: f.schemas}
	var files doors.PendingFiles
	defer files.Abort()
	if docs.Output, err = files.Create(f.output, env.Stdout); err != nil {
		return exitcode.UsageError(fmt.Errorf("--output: %w", err))
	}
	if docs.Report, err = files.Create(f.report, nil); err != nil {
		return exitcode.UsageError(fmt.Errorf("--report: %w", err))
	}
	problems, crashed := 0, false
	docs.Each = func(o intake.Outcome) {
		crashed = crashed || o.Rejected != nil && o.Rejected.Crashed()
		if problems >= maxShown { // nobody sees their sentences
			problems += o.Problems()
			return
		}
		for _, e := range o.Errors() {
			if problems++; problems <= maxShown {
				fmt.Fprintln(env.Stderr, gate.OneLine(e))
			}
		}
	}
	counts, err := gate.Write(ctx, in, docs, true)
	if err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return exitcode.FailedError(err)
	}
	if problems > maxShown {
		fmt.Fprintf(env.Stderr, "… and %d more; --report lists them all\n", problems-maxShown)
	}
	fmt.Fprintf(env.Stderr, "%d accepted, %d rejected, %d over a limit\n", counts.Accepted, counts.Rejected, counts.Dropped)
	switch {
	case crashed:
		return &exitcode.Error{Code: exitcode.Failed}
	case problems > 0:
		return exitcode.ErrFindings
	}
	return nil
}
