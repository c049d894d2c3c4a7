package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

func newCollect(env Environment) *cobra.Command {
	var c doors.Collection
	var input, policy string
	var strict bool
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Turn an agent's lines into checked agent output",
		Long: `Read the lines of JSON that an agent wrote, repair what can be repaired safely,
validate and clean each, and write {"items": [...], "errors": [...]} to standard
output or a file. Nothing of GitHub is touched and no token is needed.

The exit code is 1 if a line was rejected or over a limit, or lost labels to a limit;
the document is written all the same, and --report says everything about every line.`,
		Example: `  airlock collect --input agent.ndjson
  airlock collect --input agent.ndjson --output agent-output.json --report report.json
  cat agent.ndjson | airlock collect --config policy.yml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			gate, err := env.strictGate(policy, strict)
			if err != nil {
				return err
			}
			in, err := env.open(cmp.Or(input, action.FirstSet(env.Getenv, action.LinesVariables())))
			if err != nil {
				return exitcode.UsageError(err)
			}
			defer in.Close()
			return c.Write(cmd.Context(), gate, in, env.Stdout, env.Stderr)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&input, "input", "", "the agent's lines; - is standard input (default: GH_AW_SAFE_OUTPUTS, otherwise standard input)")
	flags.StringVar(&policy, "config", "", configUsage)
	flags.StringVar(&c.Output, "output", "", "write the agent output to this file (default: standard output)")
	flags.StringVar(&c.Report, "report", "", "write a report to this file: rejections with their place in the schema, repairs, what was cleaned and dropped")
	flags.BoolVar(&c.Schemas, "report-schemas", false, "add to the report the schema of each kind that was rejected, so that an agent can correct itself")
	flags.BoolVar(&strict, "strict", false, "reject lines with fields that the schema does not know")
	return cmd
}
