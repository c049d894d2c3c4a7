package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func newValidate(env Environment) *cobra.Command {
	var file string
	var strict, schemas bool
	cmd := &cobra.Command{
		Use:   "validate [--config FILE] [AGENT-OUTPUT]",
		Short: "Check a configuration and agent output, without side effects",
		Long: `Check a safe-outputs configuration, agent output, or both: the agent output is then
also held against the kinds and limits of the configuration. Nothing is written
and nothing is asked of GitHub; which issue an item may act on is only known with
an event, so that is "airlock apply --dry-run".

What is wrong goes to standard error, a report as JSON to standard output, unless
that is a terminal. The exit code is 0 if all is well, 1 if a line is not, 2 if the
configuration is not.`,
		Example: `  airlock validate --config policy.yml
  airlock validate --config policy.yml agent.ndjson
  airlock validate - < agent.ndjson`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" && len(args) == 0 {
				return exitcode.UsageError(errors.New("nothing to validate: give --config FILE, agent output, or both"))
			}
			cfg, err := loadConfig(env, file)
			if err != nil {
				return err
			}
			if file != "" {
				fmt.Fprintf(env.Stderr, "%s: the configuration is valid; %s\n\nThe job that applies all of it needs:\n\n%s", file, enabledWords(cfg), permissionsBlock(cfg.Policy))
			}
			if len(args) == 0 {
				return nil
			}
			gate, err := newGate(env, cfg, strict, ownRepository(env))
			if err != nil {
				return err
			}
			return validateOutput(cmd.Context(), env, gate, args[0], schemas)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage)
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse fields that the schema does not know")
	cmd.Flags().BoolVar(&schemas, "report-schemas", false, "add to the report the schema of each kind that was rejected")
	return cmd
}

func validateOutput(ctx context.Context, env Environment, gate *doors.Gate, path string, schemas bool) error {
	in, err := openInput(env, path)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer in.Close()
	docs := intake.Documents{Output: io.Discard, Schemas: schemas}
	if !isTerminal(env.Stdout) {
		docs.Report = env.Stdout
	}
	invalid := false
	docs.Each = func(o intake.Outcome) {
		for _, e := range o.Errors() {
			invalid = true
			fmt.Fprintln(env.Stderr, gate.OneLine(e))
		}
	}
	counts, err := gate.Write(ctx, in, docs, true)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%d accepted, %d rejected, %d over a limit\n", counts.Accepted, counts.Rejected, counts.Dropped)
	if invalid {
		return exitcode.ErrFindings
	}
	return nil
}

// permissionsBlock returns the block of a workflow with which everything that is allowed can
// be applied.
func permissionsBlock(cfg policy.Config) string {
	var need []apply.Permission
	for _, name := range cfg.Permissions() {
		need = append(need, apply.Permission{Name: name, Level: "write"})
	}
	return apply.PermissionsBlock(need)
}

// enabledWords describes which kinds a configuration enables.
func enabledWords(cfg config.SafeOutputs) string {
	enabled := cfg.Enabled()
	if enabled == nil {
		return "it is empty, so every kind is planned and none is written"
	}
	var names []string
	for _, spec := range safeoutput.Kinds() {
		if enabled[spec.Kind] {
			names = append(names, string(spec.Kind))
		}
	}
	slices.Sort(names)
	return "it enables " + strings.Join(names, ", ")
}
