package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/builtin"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/httpapi"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
)

// storeUsage and agentsUsage explain flags that several commands have.
const (
	storeUsage  = "the store: a SQLite file, or the URL of a PostgreSQL database (default: airlock/airlock.db in the state directory)"
	agentsUsage = "a directory of agents' blueprints, one in each YAML or JSON file"
)

type serveFlags struct {
	workerFlags
	addr, tlsCert, tlsKey string
	hosts                 []string
	behindProxy           bool
	rate                  float64
	limits                runs.Limits
}

// workerFlags are those of whatever carries out runs.
type workerFlags struct {
	store, agents, config, dir, root string
	passEnv, fixers, tags            []string
	concurrency                      int
	drain                            time.Duration
	maker                            string // the command that makes a store, where this one needs one that is there; else ""
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
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8417", "the address to listen on")
	f.add(cmd)
	flags.StringSliceVar(&f.hosts, "host", nil, "a name by which clients call the server, besides its address")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "the certificate's file, for TLS")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the key's file, for TLS")
	flags.BoolVar(&f.behindProxy, "insecure-behind-proxy", false, "listen without TLS on an address that is not loopback: a proxy in front has it")
	flags.Float64Var(&f.rate, "rate", 0, "how many requests a second each caller may make (default: any number)")
	flags.DurationVar(&f.limits.Retention, "retention", 30*24*time.Hour, "how long runs and fix loops are kept after their end; 0 keeps them forever")
	flags.DurationVar(&f.limits.Outputs, "output-retention", 0, "how long results and logs are kept after a run's end (default: as long as the run)")
	flags.DurationVar(&f.limits.Unserved, "no-worker-limit", 24*time.Hour, "how long a run waits while no worker has the tags that it needs; 0 waits forever")
	return cmd
}

func (f *workerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", storeUsage)
	flags.StringVar(&f.agents, "agents", "", agentsUsage)
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.dir, "dir", ".", "the directory in which agents are started")
	flags.StringVar(&f.root, "root", "", "the directory below which the agents built in may work (default: that of --dir)")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that agents get in addition to the usual ones")
	flags.StringArrayVar(&f.fixers, "fixer", nil, "a fixer that runs of fix-loop may name, as NAME=COMMAND")
	flags.IntVar(&f.concurrency, "concurrency", 4, "how many runs are carried out at once; 0 carries out none")
	flags.StringSliceVar(&f.tags, "tag", nil, "what this worker can do, such as gpu: it takes runs that need no other tags")
	flags.DurationVar(&f.drain, "drain", 20*time.Second, "how long runs may go on when the program is to end")
}

// check returns what is wrong with the flags, and makes their paths absolute.
func (f *workerFlags) check() error {
	dir, err := filepath.Abs(f.dir)
	if err != nil || !isDirectory(dir) {
		return exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory", f.dir))
	}
	f.dir = dir
	if f.root == "" {
		f.root = dir
	}
	if f.config != "" { // agents built in read it again, in that directory
		if f.config, err = filepath.Abs(f.config); err != nil {
			return exitcode.UsageError(fmt.Errorf("--config: %w", err))
		}
	}
	if f.root, err = filepath.Abs(f.root); err != nil || !isDirectory(f.root) {
		return exitcode.UsageError(fmt.Errorf("--root: %s is not a directory", f.root))
	}
	if f.concurrency < 0 || f.concurrency > 1000 {
		return exitcode.UsageError(fmt.Errorf("--concurrency: %d is not between 0 and 1000", f.concurrency))
	}
	if f.drain < 0 {
		return exitcode.UsageError(fmt.Errorf("--drain: %s is negative", f.drain))
	}
	if err := runs.CheckTags(f.tags); err != nil {
		return exitcode.UsageError(fmt.Errorf("--tag: %w", err))
	}
	for _, fixer := range f.fixers {
		if name, line, _ := strings.Cut(fixer, "="); name == "" || strings.TrimSpace(line) == "" {
			return exitcode.UsageError(fmt.Errorf("--fixer: %q is not NAME=COMMAND", fixer))
		}
	}
	for _, name := range f.passEnv {
		if err := config.CheckVariable(name); err != nil {
			return exitcode.UsageError(fmt.Errorf("--pass-env: %q %w", name, err))
		}
	}
	return nil
}

// check returns what is wrong with the flags, and makes their paths absolute.
func (f *serveFlags) check() error {
	if !(f.rate >= 0 && f.rate <= 1e6) { // NaN is neither
		return exitcode.UsageError(fmt.Errorf("--rate: %g is not a number of requests a second: write one up to 1000000, or leave it out", f.rate))
	}
	for _, d := range []struct {
		flag  string
		given time.Duration
	}{{"retention", f.limits.Retention}, {"output-retention", f.limits.Outputs}, {"no-worker-limit", f.limits.Unserved}} {
		if d.given < 0 {
			return exitcode.UsageError(fmt.Errorf("--%s: %s is negative", d.flag, d.given))
		}
	}
	return f.workerFlags.check()
}

// listenAddress checks the address; public reports that more than this machine can reach it.
func (f serveFlags) listenAddress() (public bool, err error) {
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return false, fmt.Errorf("--addr: %q is not HOST:PORT, such as 127.0.0.1:8417", f.addr)
	}
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return false, errors.New("--tls-cert and --tls-key belong together")
	}
	ip := net.ParseIP(host)
	public = host != "localhost" && (ip == nil || !ip.IsLoopback())
	if public && f.tlsCert == "" && !f.behindProxy {
		return true, fmt.Errorf("--addr: %s can be reached from other machines: give --tls-cert and --tls-key, or --insecure-behind-proxy where a proxy has them", f.addr)
	}
	return public, nil
}

func runServe(ctx context.Context, env Environment, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	public, err := f.listenAddress()
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
		return exitcode.UsageError(fmt.Errorf("--addr: %s can be reached from other machines, and there is no token: make one with 'airlock token add NAME'", f.addr))
	}
	listener, err := f.listen(ctx)
	if err != nil {
		return exitcode.UsageError(err)
	}
	f.announce(env, listener.Addr(), n.StoreName(), hasTokens)
	return n.Serve(ctx, listener, node.ServeConfig{Hosts: f.hosts, Public: public, Rate: f.rate, Limits: f.limits, Drain: f.drain, Version: env.Version})
}

func (f serveFlags) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	listener = httpapi.Listener(listener)
	if f.tlsCert == "" {
		return listener, nil
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

func (f serveFlags) announce(env Environment, addr net.Addr, storeName string, tokens bool) {
	scheme := "http"
	if f.tlsCert != "" {
		scheme = "https"
	}
	access := "without a token it answers the user who runs it, and nobody else"
	if tokens {
		access = "every request needs a token"
	}
	fmt.Fprintf(env.Stderr, "airlock: serving on %s://%s; %s; the store is %s\n", scheme, addr, access, storeName)
}

// open opens the store and starts a node on it.
func (f workerFlags) open(ctx context.Context, env Environment, log *slog.Logger) (*node.Node, error) {
	owner, err := loadConfig(env, f.config)
	if err != nil {
		return nil, err
	}
	cfg := node.Config{Agents: f.agents, Owner: builtin.Owner{Root: f.root, Base: f.dir, Fixers: f.fixers, Checks: owner.Checks}, Policy: f.config,
		PassEnv: f.passEnv, Tags: f.tags, Concurrency: f.concurrency}
	if cfg.Location, err = store.Location(f.store, env.Getenv); err != nil {
		return nil, err
	}
	deps := node.Deps{Environ: env.Environ, Log: log}
	if f.maker != "" {
		deps.Store, err = store.OpenNamedExisting(ctx, cfg.Location, f.maker, env.Getenv, node.Tables()...)
	} else {
		deps.Store, err = store.OpenNamed(ctx, cfg.Location, env.Getenv, node.Tables()...)
	}
	if err != nil {
		return nil, err
	}
	return node.Open(ctx, cfg, deps)
}
