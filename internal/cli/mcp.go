package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/guide"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/server"
)

type mcpFlags struct {
	node.Config
	agent          doors.Submission
	safeOutputs    bool
	output, server string
}

func newMCP(env Environment) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve tools over the Model Context Protocol",
		Long: `Serve tools over the Model Context Protocol, on standard input and output.

With --safe-outputs, an agent has one tool for each kind of safe output that the
configuration enables. Each call goes through both doors at once, without GitHub: an
error names what has to change, with the schema, and what is accepted becomes one line
of the file --output, for collect and apply. Several servers and the agent itself may
append to one file. No token is needed; one in the environment is only recognised as a
secret. With the workflow run's event (GITHUB_EVENT_PATH, or --event) a call also hears
whether it may act on the issue or pull request that it names, and create_pull_request
and push_to_pull_request_branch judge the changes in the workspace at that moment.

Otherwise an orchestrator has tools to discover agents, start runs and follow them. The
runs are those of a coordinator elsewhere (--server, with its token in AIRLOCK_TOKEN),
or are carried out here, in the store that 'airlock serve' would use.`,
		Example: `  airlock mcp --safe-outputs --config policy.yml --output lines.ndjson
  claude mcp add airlock -- airlock mcp --safe-outputs --config policy.yml --output lines.ndjson
  airlock mcp --server http://127.0.0.1:8417`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkUsed(cmd.Flags()); err != nil {
				return exitcode.UsageError(err)
			}
			if f.safeOutputs {
				if cmd.Flags().Changed("dir") {
					f.agent.Dir = f.Owner.Base
				}
				return serveSafeOutputs(cmd.Context(), env, f)
			}
			return serveCoordinator(cmd.Context(), env, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.safeOutputs, "safe-outputs", false, "serve the kinds of safe outputs as tools")
	flags.StringVar(&f.output, "output", "", "the file that accepted lines are appended to (default: the one that GH_AW_SAFE_OUTPUTS names)")
	addEventFlags(flags, &f.agent.Event)
	addRepoFlag(flags, &f.agent.Event)
	flags.BoolVar(&f.agent.Strict, "strict", false, "refuse fields that the schema does not know")
	flags.StringVar(&f.server, "server", "", "the coordinator whose agents and runs are served (default: one in this process)")
	addNodeFlags(flags, &f.Config)
	flags.Lookup("dir").Usage = "the directory in which agents are started; with --safe-outputs, the clone that contains the agent's changes, which GITHUB_WORKSPACE names unless given"
	return cmd
}

// checkUsed returns an error if a flag belongs only to the other one of the two servers. Whoever
// names the file of lines and forgets --safe-outputs would serve an agent the tools of an
// orchestrator.
func (f mcpFlags) checkUsed(flags *pflag.FlagSet) error {
	unused, format := []string{"output", "event", "event-name", "repo", "strict"}, "--%s: it belongs to --safe-outputs: add that, or leave this out"
	if f.safeOutputs {
		unused, format = []string{"server", "store", "agents", "root", "pass-env", "fixer", "concurrency", "tag", "drain"}, "--%s: --safe-outputs does not use it: leave one of them out"
	}
	for _, name := range unused {
		if flags.Changed(name) {
			return fmt.Errorf(format, name)
		}
	}
	return nil
}

// serveSafeOutputs serves an agent.
func serveSafeOutputs(ctx context.Context, env Environment, f mcpFlags) error {
	output := cmp.Or(f.output, env.Getenv("GH_AW_SAFE_OUTPUTS"))
	if output == "" {
		return exitcode.UsageError(errors.New("there is no file for accepted lines: add --output FILE, or set GH_AW_SAFE_OUTPUTS"))
	}
	cfg, err := env.loadConfig(f.Policy)
	if err != nil {
		return err
	}
	f.agent.Input = output
	gate, known, err := f.agent.Rehearse(cfg, env.submissionDeps())
	if err != nil {
		return err
	}
	tools, err := guide.Tools(cfg)
	if err != nil {
		return exitcode.FailedError(err)
	}
	s := server.NewSafeOutputs(server.SafeOutputsConfig{Tools: tools, Version: env.Version, Log: env.warnings()}, gate.Asking(action.NewLines(output), known))
	fmt.Fprintf(env.Stderr, "airlock: serving %d tools; accepted lines go to %s\n", len(tools), output)
	return s.Serve(ctx, env.Stdin, env.Stdout)
}

// serveCoordinator serves an orchestrator.
func serveCoordinator(ctx context.Context, env Environment, f mcpFlags) error {
	if f.server != "" {
		elsewhere, err := newClient(env, f.server)
		if err != nil {
			return err
		}
		defer elsewhere.Close()
		return server.NewCoordinator(env.Version, env.warnings()).Serve(ctx, elsewhere.Send, env.Stdin, env.Stdout)
	}
	if err := f.Check(); err != nil {
		return exitcode.UsageError(err)
	}
	n, err := openNode(ctx, env, f.Config, env.warnings())
	if err != nil {
		return err
	}
	defer n.Close()
	return n.ServeTools(ctx, env.Version, env.Stdin, env.Stdout)
}
