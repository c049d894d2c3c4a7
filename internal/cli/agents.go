package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
)

type agentsFlags struct {
	store, agents string
	json          bool
}

func newAgents(env Environment) *cobra.Command {
	var f agentsFlags
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List, show, add and remove the agents that runs can be started of",
		Long: `The agents that an orchestrator can discover, with the schema of their parameters:
those built in, those of a directory of files, and those that were added to the store.

'airlock serve' answers the same over HTTP.`,
		Example: `  airlock agents list
  airlock agents show phase-validation`,
	}
	cmd.PersistentFlags().StringVar(&f.store, "store", "", storeUsage)
	cmd.PersistentFlags().StringVar(&f.agents, "agents", "", agentsUsage)
	list := &cobra.Command{
		Use: "list", Short: "List the agents", Args: cobra.NoArgs,
		Example: `  airlock agents list
  airlock agents list --json | jq -r '.agents[].name'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withRegistry(cmd.Context(), env, f.read, func(r *agents.Registry) error { return listAgents(cmd.Context(), env, r, f.json) })
		},
	}
	list.Flags().BoolVar(&f.json, "json", false, "print JSON also to a terminal")
	show := &cobra.Command{
		Use: "show NAME", Short: "Show one agent with its schemas", Args: cobra.ExactArgs(1),
		Example: "  airlock agents show phase-validation",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withRegistry(cmd.Context(), env, f.read, func(r *agents.Registry) error {
				b, err := r.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return printJSON(env, b)
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
			return f.withRegistry(cmd.Context(), env, f.write, func(r *agents.Registry) error {
				raw, err := readBlueprint(env, args[0])
				if err != nil {
					return err
				}
				b, err := r.Add(cmd.Context(), raw)
				if err != nil {
					return err
				}
				return printJSON(env, b)
			})
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "Remove an agent that was added", Args: cobra.ExactArgs(1),
		Example: "  airlock agents remove researcher",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withRegistry(cmd.Context(), env, f.change, func(r *agents.Registry) error { return r.Remove(cmd.Context(), args[0]) })
		},
	}
	cmd.AddCommand(list, show, add, remove)
	return cmd
}

// write opens the store, or makes it.
func (f agentsFlags) write(ctx context.Context, env Environment) (*store.Store, error) {
	return store.OpenNamed(ctx, f.store, env.Getenv, agents.Tables)
}

// change opens the store that there is.
func (f agentsFlags) change(ctx context.Context, env Environment) (*store.Store, error) {
	return store.OpenNamedExisting(ctx, f.store, "airlock agents add", env.Getenv, agents.Tables)
}

// read opens the store that there is. Without one, nil, the agents built in can be read, unless
// the user names it.
func (f agentsFlags) read(ctx context.Context, env Environment) (*store.Store, error) {
	s, err := f.change(ctx, env)
	if f.store == "" && errors.Is(err, store.ErrAbsent) {
		return nil, nil
	}
	return s, err
}

// withRegistry opens the registry for do. What the user can mend, such as a name that is taken,
// is a usage error.
func (f agentsFlags) withRegistry(ctx context.Context, env Environment, open func(context.Context, Environment) (*store.Store, error), do func(*agents.Registry) error) error {
	s, err := open(ctx, env)
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	r, err := node.Registry(s, f.agents)
	if err != nil {
		return err
	}
	err = do(r)
	return failedUnless(agents.IsRefusal, err)
}

func listAgents(ctx context.Context, env Environment, r *agents.Registry, asJSON bool) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	if wantsJSON(env, asJSON) {
		return printJSON(env, map[string]any{"agents": list})
	}
	rows := [][]any{{"NAME", "TYPE", "SOURCE", "DESCRIPTION"}}
	for _, b := range list {
		rows = append(rows, []any{b.Name, b.Type, b.Source, text.Truncate(text.OneLine(b.Description), 80)})
	}
	return printTable(env, rows)
}

// readBlueprint reads what a file describes as JSON.
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
