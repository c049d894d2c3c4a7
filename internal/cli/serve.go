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
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/builtin"
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
	node, err := f.open(ctx, env, log)
	if err != nil {
		return err
	}
	defer node.close()
	tokens := access.New(node.store)
	hasTokens, err := tokens.Any(ctx)
	if err != nil {
		return exitcode.FailedError(err)
	}
	if public && !hasTokens {
		return exitcode.UsageError(fmt.Errorf("--addr: %s can be reached from other machines, and there is no token: make one with 'airlock token add NAME'", f.addr))
	}
	listener, err := f.listen(ctx)
	if err != nil {
		return exitcode.UsageError(err)
	}
	book := loops.NewWritable(node.engine)
	api := httpapi.New(httpapi.Config{Agents: node.registry, Runs: node.service, Loops: book, Tokens: tokens, Hosts: f.hosts, Public: public, Rate: f.rate, Version: versionOf(env), Log: log})
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
	var tended sync.WaitGroup
	tended.Go(func() { node.service.Tend(tending, f.limits, log) })
	if f.limits.Retention > 0 {
		tended.Go(func() { expireLoops(tending, book, f.limits.Retention, log) })
	}
	defer func() { stopTending(); tended.Wait() }()
	f.announce(env, listener.Addr(), node.store.Name(), hasTokens)
	select {
	case err := <-served:
		return exitcode.FailedError(err)
	case <-ctx.Done():
	}
	log.Info("shutting down", "drain", f.drain)
	api.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = listening.Shutdown(ending)
	draining, stop := context.WithTimeout(context.WithoutCancel(ctx), f.drain)
	defer stop()
	node.worker.Drain(draining)
	return nil
}

// expireLoops deletes old loops once a minute, until ctx ends.
func expireLoops(ctx context.Context, book *loops.Book, retention time.Duration, log *slog.Logger) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if err := book.Expire(ctx, retention); err != nil && ctx.Err() == nil {
			log.Warn("deleting old loops", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
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

// node is what carries out runs: a store, an engine, a worker and the service in front.
type node struct {
	store    *store.Store
	engine   *engine.Engine
	registry *agents.Registry
	worker   *runs.Worker
	service  *runs.Service
}

// open opens the store, and starts what works on it. The node's close closes them all.
func (f workerFlags) open(ctx context.Context, env Environment, log *slog.Logger) (*node, error) {
	owner, err := loadConfig(env, f.config)
	if err != nil {
		return nil, err
	}
	location, err := storeLocation(env, f.store)
	if err != nil {
		return nil, err
	}
	tables := []store.Schema{agents.Tables, access.Tables, runs.Tables, loops.Schema}
	var st *store.Store
	if f.maker != "" {
		st, err = openExisting(ctx, env, location, f.maker, tables...)
	} else {
		st, err = openStore(ctx, env, location, tables...)
	}
	if err != nil {
		return nil, err
	}
	n := &node{store: st}
	if n.registry, err = newRegistry(st, f.agents); err != nil {
		st.Close()
		return nil, err
	}
	n.registry.Rules = builtin.Owner{Root: f.root, Base: f.dir, Fixers: f.fixers, Checks: owner.Checks}.Rules()
	self, err := os.Executable()
	if err != nil {
		st.Close()
		return nil, exitcode.FailedError(err)
	}
	environ, scanner, values := f.environment(env)
	n.worker = runs.NewWorker(st, runs.WorkerConfig{
		Concurrency: f.concurrency, Tags: f.tags, Environ: environ, Dir: f.dir, Log: log, Mask: scanner.Mask, MaskKnown: values.Replace,
		BuiltIn: f.builtIn(self, location),
	})
	// It wakes the drivers of loops, which run in processes of their own.
	if n.engine, err = engine.Open(context.WithoutCancel(ctx), st, engine.Config{Logger: slog.New(quiet{log.Handler()})}); err != nil {
		return nil, exitcode.UsageError(err)
	}
	n.service = runs.New(n.registry, st, n.worker)
	if f.concurrency == 0 {
		return n, nil
	}
	if err := n.worker.Start(ctx); err != nil {
		n.close()
		if errors.Is(err, runs.ErrRunning) {
			err = fmt.Errorf("another 'airlock serve' uses the store %s: stop it, or name another store with --store", st.Name())
		}
		return nil, exitcode.UsageError(err)
	}
	return n, nil
}

// builtIn returns how agents built in are started: as this program, with what the owner
// configured. The store's location may contain a password, which arguments would show.
func (f workerFlags) builtIn(self, location string) func(string) (argv, environ []string) {
	return func(name string) (argv, environ []string) {
		argv = []string{self, "builtin", name, "--root", f.root}
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
	n.worker.Close()
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
