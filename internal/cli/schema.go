package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/guide"
)

func newSchema(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print a published JSON Schema, or list them",
		Long: `Print a published JSON Schema (draft-07): a file by its name, or the part of one
kind, complete in itself, by the kind's name or one of its aliases. Without a
name, list what there is.`,
		Example: `  airlock schema
  airlock schema agent-output.json
  airlock schema create-issue`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return guide.ListSchemas(env.Stdout)
			}
			raw, err := guide.Schema(args[0])
			if err != nil {
				return exitcode.UsageError(err)
			}
			_, err = fmt.Fprintf(env.Stdout, "%s\n", strings.TrimRight(string(raw), "\n"))
			return err
		},
	}
}
