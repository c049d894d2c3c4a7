package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
)

func newServe(env Environment) *cobra.Command {
	var cfg node.Config
	var serve node.ServeConfig
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents and runs over HTTP",
		Long: `Serve the coordinator's API: an orchestrator discovers agents and the schemas of their
parameters, starts runs and follows them. GET /openapi.json describes it, and /mcp has
the same as tools of the Model Context Protocol.

Everything is kept in one store. A run that is recorded survives the server: one that
was interrupted starts again with the server, and its outcome is recorded once.

On loopback, and as long as there is no token, the server answers its own user and
nobody else. 'airlock token add' makes the first token; from then on everybody needs
one. Any other address needs a token, and TLS or --insecure-behind-proxy.

SIGTERM drains: no new run begins, and those that run have --drain to end.`,
		Example: `  airlock serve
  airlock serve --agents ./agents --pass-env ANTHROPIC_API_KEY
  airlock serve --addr 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --store postgres://airlock@db/airlock`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := serve.Check(&cfg); err != nil {
				return exitcode.UsageError(err)
			}
			n, err := openNode(cmd.Context(), env, cfg, slog.New(slog.NewTextHandler(env.Stderr, nil)))
			if err != nil {
				return err
			}
			defer n.Close()
			serve.Version = env.Version
			return n.Serve(cmd.Context(), serve, env.Stderr)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&serve.Address.HostPort, "addr", "127.0.0.1:8417", "the address to listen on")
	addNodeFlags(flags, &cfg)
	flags.StringSliceVar(&serve.Hosts, "host", nil, "a name by which clients call the server, in addition to its address")
	flags.StringVar(&serve.Address.Cert, "tls-cert", "", "the certificate's file, for TLS")
	flags.StringVar(&serve.Address.Key, "tls-key", "", "the key's file, for TLS")
	flags.BoolVar(&serve.Address.BehindProxy, "insecure-behind-proxy", false, "listen without TLS on an address that is not loopback: a proxy in front has it")
	flags.Float64Var(&serve.Rate, "rate", 0, "how many requests a second each caller may make (default: any number)")
	flags.DurationVar(&serve.Limits.Retention, "retention", 30*24*time.Hour, "how long runs and fix loops are kept after their end; 0 keeps them forever")
	flags.DurationVar(&serve.Limits.Outputs, "output-retention", 0, "how long results and logs are kept after a run's end (default: as long as the run)")
	flags.DurationVar(&serve.Limits.Unserved, "no-worker-limit", 24*time.Hour, "how long a run waits while no worker has the tags that it needs; 0 waits forever")
	return cmd
}

// addNodeFlags registers the flags of whatever carries out runs.
func addNodeFlags(flags *pflag.FlagSet, f *node.Config) {
	flags.StringVar(&f.Location, "store", "", storeUsage)
	flags.StringVar(&f.Agents, "agents", "", agentsUsage)
	flags.StringVar(&f.Policy, "config", "", configUsage)
	flags.StringVar(&f.Owner.Base, "dir", ".", "the directory in which agents are started")
	flags.StringVar(&f.Owner.Root, "root", "", "the directory below which built-in agents may work (default: the value of --dir)")
	flags.StringSliceVar(&f.PassEnv, "pass-env", nil, "names of variables that agents get in addition to the usual ones")
	flags.StringArrayVar(&f.Owner.Fixers, "fixer", nil, "a fixer that runs of fix-loop may name, as NAME=COMMAND")
	flags.IntVar(&f.Concurrency, "concurrency", 4, "how many runs are carried out at once; 0 carries out none")
	flags.StringSliceVar(&f.Tags, "tag", nil, "what this worker can do, such as gpu: it takes runs that need no other tags")
	flags.DurationVar(&f.Drain, "drain", 20*time.Second, "how long runs may go on when the program is to end")
}

// openNode opens the store and starts a node on it.
func openNode(ctx context.Context, env Environment, cfg node.Config, log *slog.Logger) (*node.Node, error) {
	owner, err := env.loadConfig(cfg.Policy)
	if err != nil {
		return nil, err
	}
	cfg.Owner.Checks = owner.Checks
	return node.Open(ctx, cfg, node.Deps{Getenv: env.Getenv, Environ: env.Environ, Log: log})
}
