package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/store"
)

type serveFlags struct {
	workerFlags
	address node.Address
	node.ServeConfig
}

// workerFlags are those of whatever carries out runs.
type workerFlags struct {
	node.Config
	maker string // the command that makes a store, where this one needs one that is there; else ""
}

func newServe(env Environment) *cobra.Command {
	var f serveFlags
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
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.address.HostPort, "addr", "127.0.0.1:8417", "the address to listen on")
	f.add(cmd)
	flags.StringSliceVar(&f.Hosts, "host", nil, "a name by which clients call the server, besides its address")
	flags.StringVar(&f.address.Cert, "tls-cert", "", "the certificate's file, for TLS")
	flags.StringVar(&f.address.Key, "tls-key", "", "the key's file, for TLS")
	flags.BoolVar(&f.address.BehindProxy, "insecure-behind-proxy", false, "listen without TLS on an address that is not loopback: a proxy in front has it")
	flags.Float64Var(&f.Rate, "rate", 0, "how many requests a second each caller may make (default: any number)")
	flags.DurationVar(&f.Limits.Retention, "retention", 30*24*time.Hour, "how long runs and fix loops are kept after their end; 0 keeps them forever")
	flags.DurationVar(&f.Limits.Outputs, "output-retention", 0, "how long results and logs are kept after a run's end (default: as long as the run)")
	flags.DurationVar(&f.Limits.Unserved, "no-worker-limit", 24*time.Hour, "how long a run waits while no worker has the tags that it needs; 0 waits forever")
	return cmd
}

func (f *workerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Location, "store", "", storeUsage)
	flags.StringVar(&f.Agents, "agents", "", agentsUsage)
	flags.StringVar(&f.Policy, "config", "", configUsage)
	flags.StringVar(&f.Owner.Base, "dir", ".", "the directory in which agents are started")
	flags.StringVar(&f.Owner.Root, "root", "", "the directory below which the agents built in may work (default: that of --dir)")
	flags.StringSliceVar(&f.PassEnv, "pass-env", nil, "names of variables that agents get in addition to the usual ones")
	flags.StringArrayVar(&f.Owner.Fixers, "fixer", nil, "a fixer that runs of fix-loop may name, as NAME=COMMAND")
	flags.IntVar(&f.Concurrency, "concurrency", 4, "how many runs are carried out at once; 0 carries out none")
	flags.StringSliceVar(&f.Tags, "tag", nil, "what this worker can do, such as gpu: it takes runs that need no other tags")
	flags.DurationVar(&f.Drain, "drain", 20*time.Second, "how long runs may go on when the program is to end")
}

// check returns what is wrong with the flags, and makes their paths absolute.
func (f *serveFlags) check() error {
	if !(f.Rate >= 0 && f.Rate <= 1e6) { // NaN is neither
		return exitcode.UsageError(fmt.Errorf("--rate: %g is not a number of requests a second: write one up to 1000000, or leave it out", f.Rate))
	}
	for _, d := range []struct {
		flag  string
		given time.Duration
	}{{"retention", f.Limits.Retention}, {"output-retention", f.Limits.Outputs}, {"no-worker-limit", f.Limits.Unserved}} {
		if d.given < 0 {
			return exitcode.UsageError(fmt.Errorf("--%s: %s is negative", d.flag, d.given))
		}
	}
	if err := f.Check(); err != nil {
		return exitcode.UsageError(err)
	}
	return nil
}

func runServe(ctx context.Context, env Environment, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	public, err := f.address.Check()
	if err != nil {
		return exitcode.UsageError(err)
	}
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	n, err := f.open(ctx, env, log)
	if err != nil {
		return err
	}
	defer n.Close()
	hasTokens, err := n.HasTokens(ctx)
	if err != nil {
		return err
	}
	if public && !hasTokens {
		return exitcode.UsageError(fmt.Errorf("--addr: %s can be reached from other machines, and there is no token: make one with 'airlock token add NAME'", f.address.HostPort))
	}
	listener, err := f.address.Listen(ctx)
	if err != nil {
		return exitcode.UsageError(err)
	}
	access := "without a token it answers the user who runs it, and nobody else"
	if hasTokens {
		access = "every request needs a token"
	}
	fmt.Fprintf(env.Stderr, "airlock: serving on %s; %s; the store is %s\n", f.address.URL(listener.Addr()), access, n.StoreName())
	f.Public, f.Version = public, env.Version
	return n.Serve(ctx, listener, f.ServeConfig)
}

// open opens the store and starts a node on it.
func (f workerFlags) open(ctx context.Context, env Environment, log *slog.Logger) (*node.Node, error) {
	owner, err := loadConfig(env, f.Policy)
	if err != nil {
		return nil, err
	}
	f.Owner.Checks = owner.Checks
	if f.Location, err = store.Location(f.Location, env.Getenv); err != nil {
		return nil, err
	}
	deps := node.Deps{Environ: env.Environ, Log: log}
	if f.maker != "" {
		deps.Store, err = store.OpenNamedExisting(ctx, f.Location, f.maker, env.Getenv, node.Tables()...)
	} else {
		deps.Store, err = store.OpenNamed(ctx, f.Location, env.Getenv, node.Tables()...)
	}
	if err != nil {
		return nil, err
	}
	return node.Open(ctx, f.Config, deps)
}
