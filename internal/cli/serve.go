package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/httpapi"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/server"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/token"
)

type serveFlags struct {
	workerFlags
	addr, tlsCert, tlsKey string
	hosts                 []string
	behindProxy           bool
	rate                  float64
	retention             time.Duration
}

// workerFlags are those of whatever carries out runs.
type workerFlags struct {
	store, agents, config, dir, root string
	passEnv, fixers                  []string
	concurrency                      int
	drain                            time.Duration
}

func newServe(env Environment) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents and runs over HTTP",
		Long: `Serve the coordinator's API: an orchestrator discovers agents and the schemas of their
parameters, starts runs and follows them. GET /openapi.json describes it, and /mcp has
the same as tools of the Model Context Protocol.

Everything is kept in one store. A run that is recorded survives the server: one that was
interrupted starts again with the server, and its outcome is recorded once.

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
	flags.DurationVar(&f.retention, "retention", 30*24*time.Hour, "how long a run is kept after its end; 0 keeps it forever")
	return cmd
}

func (f *workerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", storeUsage)
	flags.StringVar(&f.agents, "agents", "", agentsUsage)
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.dir, "dir", ".", "the directory in which agents are started")
	flags.StringVar(&f.root, "root", "", "the directory below which phase-validation may work (default: that of --dir)")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that agents get in addition to the usual ones")
	flags.StringArrayVar(&f.fixers, "fixer", nil, "a fixer that runs of fix-loop may name, as NAME=COMMAND")
	flags.IntVar(&f.concurrency, "concurrency", 4, "how many runs are carried out at once; 0 carries out none")
	flags.DurationVar(&f.drain, "drain", 20*time.Second, "how long runs may go on when the program is to end")
}

// check completes the flags.
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
	node, err := f.open(ctx, env, log)
	if err != nil {
		return err
	}
	defer node.close()
	tokens := access.New(node.store)
	some, err := tokens.Any(ctx)
	if err != nil {
		return exitcode.FailedError(err)
	}
	if public && !some {
		return exitcode.UsageError(fmt.Errorf("--addr: %s can be reached from other machines, and there is no token: make one with 'airlock token add NAME'", f.addr))
	}
	listener, err := f.listen(ctx)
	if err != nil {
		return exitcode.UsageError(err)
	}
	api := httpapi.New(httpapi.Config{Agents: node.registry, Runs: node.service, Loops: loops.NewWritable(node.engine), Tokens: tokens, Hosts: f.hosts, Public: public, Rate: f.rate, Version: versionOf(env), Log: log})
	tools := server.NewCoordinator(versionOf(env), slog.New(quiet{log.Handler()}))
	api.Mount("/mcp", access.Read, func(g access.Grant) http.Handler {
		return tools.Handler(func(ctx context.Context, method, target string, body []byte) (int, []byte, error) {
			return api.Call(ctx, g, method, target, body)
		})
	})
	listening := api.HTTP()
	served := make(chan error, 1)
	go func() { served <- listening.Serve(listener) }()
	tending, stopTending := context.WithCancel(ctx)
	tended := make(chan struct{})
	go func() { defer close(tended); node.service.Tend(tending, f.retention, log) }()
	defer func() { stopTending(); <-tended }()
	f.announce(env, listener.Addr(), node.store.Name(), some)
	select {
	case err := <-served:
		return exitcode.FailedError(err)
	case <-node.engine.Lost():
		err = exitcode.FailedError(errors.New("the store could not be reached in time: runs are carried out elsewhere"))
	case <-ctx.Done():
	}
	log.Info("shutting down", "drain", f.drain)
	api.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = listening.Shutdown(ending)
	if err == nil {
		draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.drain)
		defer cancel()
		node.worker.Drain(draining)
	}
	return err
}

func (f serveFlags) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
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
	who := "without a token it answers the user who runs it, and nobody else"
	if tokens {
		who = "every request needs a token"
	}
	fmt.Fprintf(env.Stderr, "airlock: serving on %s://%s; %s; the store is %s\n", scheme, addr, who, storeName)
}

// node is what carries out runs: a store, an engine, a worker and the service in front.
type node struct {
	store    *store.Store
	engine   *engine.Engine
	registry *agents.Registry
	worker   *runs.Worker
	service  *runs.Service
}

// executorLease is how long others wait for a sign of life before they take over.
const executorLease = 15 * time.Second

// open opens everything. The node's close closes it, the store included.
func (f workerFlags) open(ctx context.Context, env Environment, log *slog.Logger) (*node, error) {
	owner, err := loadConfig(env, f.config)
	if err != nil {
		return nil, err
	}
	location, err := storeLocation(env, f.store)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, env, location, engine.Schema, agents.Tables, access.Tables, runs.Tables, loops.Schema)
	if err != nil {
		return nil, err
	}
	n := &node{store: st}
	if n.registry, err = newRegistry(st, f.agents); err != nil {
		st.Close()
		return nil, err
	}
	n.registry.Rules = builtInRules(f.root, f.fixers, owner)
	self, err := os.Executable()
	if err != nil {
		st.Close()
		return nil, exitcode.FailedError(err)
	}
	environ, scanner, values := f.environment(env)
	n.worker = runs.NewWorker(st, runs.WorkerConfig{
		Concurrency: f.concurrency, Environ: environ, Dir: f.dir, Log: log, Mask: scanner.Mask, MaskKnown: values.Replace,
		BuiltIn: f.builtIn(self, location),
	})
	cfg := engine.Config{Logger: slog.New(quiet{log.Handler()})}
	if f.concurrency > 0 {
		cfg.Executor, cfg.Workflows, cfg.Queues = "local", []engine.Workflow{n.worker.Workflow()}, []engine.Queue{n.worker.Queue()}
		if st.Postgres() != nil {
			cfg.Executor, cfg.Lease = "worker", executorLease
		}
	}
	// The engine outlives ctx, so that runs can be drained.
	if n.engine, err = engine.Open(context.WithoutCancel(ctx), st, cfg); err != nil {
		if errors.Is(err, engine.ErrRunning) {
			err = fmt.Errorf("another 'airlock serve' uses the store %s: stop it, or name another store with --store", st.Name())
		}
		return nil, exitcode.UsageError(err)
	}
	n.service = runs.New(n.registry, n.engine)
	return n, nil
}

// builtIn returns how agents built in are started: as this program, with what the owner
// configured. The store's location may contain a password, which arguments would show.
func (f workerFlags) builtIn(self, location string) func(string) (argv, environ []string) {
	return func(name string) (argv, environ []string) {
		argv = []string{self, "builtin", name}
		if f.config != "" {
			argv = append(argv, "--config", f.config)
		}
		if name != agents.FixLoop {
			return argv, nil
		}
		for _, fixer := range f.fixers {
			argv = append(argv, "--fixer", fixer)
		}
		for _, variable := range f.passEnv {
			argv = append(argv, "--pass-env", variable)
		}
		return argv, []string{builtInStore + "=" + location}
	}
}

func (n *node) close() {
	n.service.Close()
	n.engine.Close()
}

// environment returns what agents get of the environment, a scanner that masks secrets in
// what they write, and what replaces the values that they got by --pass-env.
func (f workerFlags) environment(env Environment) (environ []string, scanner *secrets.Scanner, values *strings.Replacer) {
	usual := []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SHELL"}
	var secret, pairs []string
	for _, entry := range env.Environ {
		name, value, _ := strings.Cut(entry, "=")
		passed := slices.Contains(f.passEnv, name)
		if passed || slices.Contains(usual, name) {
			environ = append(environ, entry)
		}
		if passed && len(value) >= 8 {
			secret = append(secret, value)
			escaped, _ := json.Marshal(value)
			pairs = append(pairs, value, "***", strings.Trim(string(escaped), `"`), "***")
		}
	}
	return environ, doors.NewScanner(token.Token{}, secret), strings.NewReplacer(pairs...)
}

// quiet passes on what is worth a person's attention.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
