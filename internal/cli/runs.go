package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/client"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/runs"
)

type runsFlags struct {
	node.Config
	server string
}

func newRuns(env Environment) *cobra.Command {
	var f runsFlags
	f.Owner.Base = "."
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Create, list, show and stop runs of agents",
		Long: `Runs of agents, asked of a server (--server, with the token in AIRLOCK_TOKEN), or
recorded in its store, from where a running 'airlock serve' takes them.`,
		Example: `  airlock runs create researcher --prompt "What changed since v1?" --wait
  airlock runs list --status running`,
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.server, "server", "", "the URL of a server, such as http://127.0.0.1:8417 (default: the store)")
	flags.StringVar(&f.Location, "store", "", storeUsage)
	flags.StringVar(&f.Agents, "agents", "", agentsUsage)
	flags.StringVar(&f.Policy, "config", "", configUsage)
	flags.StringVar(&f.Owner.Root, "root", ".", "the directory below which built-in agents may work")
	cmd.AddCommand(f.newCreate(env), f.newList(env), f.newShow(env), f.newStop(env), f.newWorkers(env))
	return cmd
}

// withExisting is withCoordinator for a command to which a missing store is an error.
func (f runsFlags) withExisting(ctx context.Context, env Environment, do func(runs.Coordinator) error) error {
	f.Maker = "airlock serve"
	return f.withCoordinator(ctx, env, do)
}

// withCoordinator opens the coordinator, and calls do with it.
func (f runsFlags) withCoordinator(ctx context.Context, env Environment, do func(runs.Coordinator) error) error {
	c, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	defer c.Close()
	return exitcode.FailedUnless(func(err error) bool { return agents.IsRefusal(err) || runs.IsRefusal(err) }, do(c))
}

// newClient returns a client of the server that a flag names.
func newClient(env Environment, server string) (*client.Client, error) {
	return client.New(server, env.Getenv("AIRLOCK_TOKEN"))
}

func (f runsFlags) open(ctx context.Context, env Environment) (runs.Coordinator, error) {
	if f.server != "" {
		return newClient(env, f.server)
	}
	if err := f.Check(); err != nil {
		return nil, exitcode.UsageError(err)
	}
	n, err := openNode(ctx, env, f.Config, env.warnings())
	if err != nil {
		return nil, err
	}
	return n.Local(), nil
}

func (f *runsFlags) newCreate(env Environment) *cobra.Command {
	var start runs.NewRun
	cmd := &cobra.Command{
		Use: "create AGENT", Short: "Start a run of an agent", Args: cobra.ExactArgs(1),
		Long: `Start a run of an agent. Parameters that do not match its schema are refused: the answer
on standard output lists every violation and has the schema, as the API's does.

With --wait the command ends with the run: exit code 0 if it completed, and its result
on standard output; 1 if it failed or was stopped.`,
		Example: `  airlock runs create researcher --prompt "What changed since v1?" --wait
  airlock runs create web-crawler --parameters '{"url":"https://example.com/"}'
  airlock runs create web-crawler --parameters - < parameters.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			start.Agent = args[0]
			return f.withCoordinator(cmd.Context(), env, func(to runs.Coordinator) error {
				answer, failed, err := start.Start(cmd.Context(), to, env.stoppable(env.Stdin))
				if answer != nil {
					err = errors.Join(env.printJSON(answer), err)
				}
				if err == nil && failed {
					return exitcode.ErrFindings
				}
				return err
			})
		},
	}
	flags := cmd.Flags()
	optional(flags, flags.StringVar, &start.Parameters, "parameters", "", "the parameters as a JSON object; - reads standard input")
	optional(flags, flags.StringVar, &start.Prompt, "prompt", "", "the prompt, for an agent that takes one")
	flags.StringVar(&start.Key, "idempotency-key", "", "the same key with the same agent and parameters is the same run")
	flags.StringSliceVar(&start.Needs, "need", nil, "a tag that the worker must have, in addition to those that the agent needs")
	flags.BoolVar(&start.Wait, "wait", false, "wait for the run's end, and print its result")
	flags.DurationVar(&start.Timeout, "timeout", time.Hour, "how long --wait waits")
	return cmd
}

func (f *runsFlags) newList(env Environment) *cobra.Command {
	var filter runs.Filter
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, the newest first", Args: cobra.NoArgs,
		Example: `  airlock runs list --status running`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := filter.Check(); err != nil {
				return exitcode.UsageError(err)
			}
			return f.withExisting(cmd.Context(), env, func(to runs.Coordinator) error {
				list, err := runs.ListAll(cmd.Context(), to.List, filter)
				if err != nil {
					return err
				}
				return printList(env, asJSON, "runs", list, []any{"RUN", "AGENT", "STATUS", "CREATED"}, func(r runs.Run) []any {
					return []any{r.ID, r.AgentName, r.Status, r.CreatedAt.Local().Format(time.DateTime)}
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&filter.AgentName, "agent", "", "only runs of this agent")
	flags.StringVar((*string)(&filter.Status), "status", "", "only runs with this status")
	flags.IntVar(&filter.Limit, "limit", 50, "at most so many, 1 to 200")
	flags.StringVar(&filter.Before, "before", "", "only runs that are older than this one")
	flags.BoolVar(&asJSON, "json", false, "print JSON also to a terminal")
	return cmd
}

func (f *runsFlags) newShow(env Environment) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show one run", Args: cobra.ExactArgs(1),
		Example: "  airlock runs show run_06dqpe0mc3l8v8q3lmp51b5t",
		RunE:    f.printRun(env, runs.Coordinator.Get),
	}
}

func (f *runsFlags) newStop(env Environment) *cobra.Command {
	return &cobra.Command{
		Use: "stop RUN", Short: "Stop a run: its process is asked to end, and killed after 5 seconds", Args: cobra.ExactArgs(1),
		Example: `  airlock runs stop "$(airlock runs list --status running | jq -r '.runs[0].run_id')"`,
		RunE:    f.printRun(env, runs.Coordinator.Stop),
	}
}

// printRun returns the action of a command: it calls ask for the run that the argument names, and
// prints the run that ask returns.
func (f *runsFlags) printRun(env Environment, ask func(runs.Coordinator, context.Context, string) (runs.Run, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return f.withExisting(cmd.Context(), env, func(to runs.Coordinator) error {
			if !runs.IsID(args[0]) {
				return exitcode.UsageError(&runs.NotFoundError{ID: args[0]})
			}
			r, err := ask(to, cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return env.printJSON(r)
		})
	}
}

func (f *runsFlags) newWorkers(env Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "workers", Short: "List the workers that carry out runs, with their tags", Args: cobra.NoArgs,
		Example: "  airlock runs workers",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withExisting(cmd.Context(), env, func(to runs.Coordinator) error {
				list, err := to.Workers(cmd.Context())
				if err != nil {
					return err
				}
				return printList(env, asJSON, "workers", list, []any{"WORKER", "TAGS", "RUNNING", "LAST SIGN OF LIFE"}, func(m runs.WorkerState) []any {
					return []any{m.ID, strings.Join(m.Tags, ","), fmt.Sprintf("%d of %d", m.Running, m.Concurrency), m.SeenAt.Local().Format(time.DateTime)}
				})
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON also to a terminal")
	return cmd
}
