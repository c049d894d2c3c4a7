package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/schemas"
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
				return listSchemas(env)
			}
			raw, err := schemaText(args[0])
			if err != nil {
				return exitcode.UsageError(err)
			}
			_, err = fmt.Fprintf(env.Stdout, "%s\n", strings.TrimRight(string(raw), "\n"))
			return err
		},
	}
}

func listSchemas(env Environment) error {
	for _, name := range schemas.Names() {
		fmt.Fprintln(env.Stdout, name)
	}
	for _, spec := range safeoutput.Kinds() {
		if _, err := fmt.Fprintf(env.Stdout, "%-36s %s\n", spec.Kind, spec.Summary); err != nil {
			return err
		}
	}
	return nil
}

// schemaText finds a schema by a file's name, with or without its ending, or by
// any name of a kind.
func schemaText(name string) (json.RawMessage, error) {
	if spec, ok := safeoutput.Lookup(name); ok {
		name = string(spec.Kind)
	}
	raw, ok := schemas.Lookup(name)
	if !ok {
		known := schemas.Names()
		for _, spec := range safeoutput.Kinds() {
			known = append(append(known, string(spec.Kind)), spec.Aliases...)
		}
		return nil, fmt.Errorf("there is no schema %q%s ('airlock schema' lists them)", text.Truncate(name, 60), text.DidYouMean(name, known))
	}
	return raw, nil
}
