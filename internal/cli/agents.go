package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/text"
)

func newAgents(env Environment) *cobra.Command {
	var catalogue node.Catalogue
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List, show, add and remove the agents from which runs can be started",
		Long: `The agents that an orchestrator can discover, with the schema of their parameters:
those built in, those of a directory of files, and those that were added to the store.

'airlock serve' answers the same over HTTP.`,
		Example: `  airlock agents list
  airlock agents show phase-validation`,
	}
	cmd.PersistentFlags().StringVar(&catalogue.Store, "store", "", storeUsage)
	cmd.PersistentFlags().StringVar(&catalogue.Agents, "agents", "", agentsUsage)
	list := &cobra.Command{
		Use: "list", Short: "List the agents", Args: cobra.NoArgs,
		Example: `  airlock agents list
  airlock agents list --json | jq -r '.agents[].name'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return catalogue.Read(cmd.Context(), env.Getenv, func(r *agents.Registry) error {
				list, err := r.List(cmd.Context())
				if err != nil {
					return err
				}
				return printList(env, asJSON, "agents", list, []any{"NAME", "TYPE", "SOURCE", "DESCRIPTION"}, func(b agents.Blueprint) []any {
					return []any{b.Name, b.Type, b.Source, text.Truncate(text.OneLine(b.Description), 80)}
				})
			})
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON also to a terminal")
	show := &cobra.Command{
		Use: "show NAME", Short: "Show one agent with its schemas", Args: cobra.ExactArgs(1),
		Example: "  airlock agents show phase-validation",
		RunE: func(cmd *cobra.Command, args []string) error {
			return catalogue.Read(cmd.Context(), env.Getenv, func(r *agents.Registry) error {
				b, err := r.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return env.printJSON(b)
			})
		},
	}
	add := &cobra.Command{
		Use: "add FILE", Short: "Add an agent from a YAML or JSON file",
		Long: `Add an agent that a YAML or JSON file describes; - is standard input.
'airlock schema agent-blueprint.json' says what can be in it.`,
		Example: `  echo '{"name":"researcher","type":"agent","command":["claude","-p"]}' | airlock agents add -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return catalogue.Add(cmd.Context(), env.Getenv, func(r *agents.Registry) error {
				raw, err := readBlueprint(env, args[0])
				if err != nil {
					return err
				}
				b, err := r.Add(cmd.Context(), raw)
				if err != nil {
					return err
				}
				return env.printJSON(b)
			})
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "Remove an agent that was added", Args: cobra.ExactArgs(1),
		Example: "  airlock agents remove researcher",
		RunE: func(cmd *cobra.Command, args []string) error {
			return catalogue.Remove(cmd.Context(), env.Getenv, func(r *agents.Registry) error { return r.Remove(cmd.Context(), args[0]) })
		},
	}
	cmd.AddCommand(list, show, add, remove)
	return cmd
}

// readBlueprint reads the agent that a YAML or JSON file describes, and returns it as JSON.
func readBlueprint(env Environment, name string) (json.RawMessage, error) {
	data, err := env.read(name, agents.MaxFile)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	raw, err := agents.ToJSON(data)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", name, err))
	}
	return raw, nil
}
