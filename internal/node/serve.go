package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/httpapi"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/server"
)

// ServeConfig describes how a node is served.
type ServeConfig struct {
	Address Address  // required
	Hosts   []string // the server's names, in addition to its address
	Rate    float64  // how many requests a second each caller may make; 0 for any number
	Limits  runs.Limits
	Version string
}

// closing is how long requests have to end when the server stops.
const closing = 10 * time.Second

var hostName = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// Check returns what is wrong with a user's settings. It also calls the Check method of node.
func (cfg ServeConfig) Check(node *Config) error {
	if !(cfg.Rate >= 0 && cfg.Rate <= 1e6) { // NaN is neither
		return fmt.Errorf("--rate: %g is not a number of requests a second: write one up to 1000000, or leave it out", cfg.Rate)
	}
	for _, name := range cfg.Hosts {
		if _, err := netip.ParseAddr(name); err != nil && !hostName.MatchString(name) {
			return fmt.Errorf("--host: %q is not a name such as coordinator.example: leave out the scheme and the port", name)
		}
	}
	for _, d := range []struct {
		flag  string
		given time.Duration
	}{{"retention", cfg.Limits.Retention}, {"output-retention", cfg.Limits.Outputs}, {"no-worker-limit", cfg.Limits.Unserved}} {
		if d.given < 0 {
			return fmt.Errorf("--%s: %s is negative", d.flag, d.given)
		}
	}
	if err := node.Check(); err != nil {
		return err
	}
	_, err := cfg.Address.check()
	return err
}

// Serve listens, tells people where, and answers the coordinator's API, over HTTP and as tools,
// until ctx ends; then it drains the node. Its errors carry their exit code.
func (n *Node) Serve(ctx context.Context, cfg ServeConfig, people io.Writer) error {
	public, err := cfg.Address.check()
	if err != nil {
		return exitcode.UsageError(err)
	}
	hasTokens, err := access.New(n.store).Any(ctx)
	if err != nil {
		return exitcode.FailedError(err)
	}
	if public && !hasTokens {
		return exitcode.UsageError(fmt.Errorf("--addr: %s can be reached from other machines, and there is no token: make one with 'airlock token add NAME'", cfg.Address.HostPort))
	}
	listener, err := cfg.Address.listen(ctx)
	if err != nil {
		return exitcode.UsageError(err)
	}
	who := "without a token it answers the user who runs it, and nobody else"
	if hasTokens {
		who = "every request needs a token"
	}
	fmt.Fprintf(people, "airlock: serving on %s; %s; the store is %s\n", cfg.Address.url(listener.Addr()), who, n.store.Name())
	return n.serve(ctx, listener, cfg, public)
}

// serve is Serve on a listener; public reports whether other machines can reach it.
func (n *Node) serve(ctx context.Context, listener net.Listener, cfg ServeConfig, public bool) error {
	book := loops.NewWritable(n.engine)
	api := httpapi.New(httpapi.Config{Agents: n.registry, Runs: n.Runs, Loops: book, Tokens: access.New(n.store),
		Hosts: cfg.Hosts, Public: public, Rate: cfg.Rate, Version: cfg.Version, Log: n.log})
	tools := server.NewCoordinator(cfg.Version, n.warnings())
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
	tended.Go(func() { n.Runs.Tend(tending, cfg.Limits, n.log) })
	if cfg.Limits.Retention > 0 {
		tended.Go(func() { n.expireLoops(tending, book, cfg.Limits.Retention) })
	}
	defer func() { stopTending(); tended.Wait() }()
	select {
	case err := <-served:
		return exitcode.FailedError(err)
	case <-ctx.Done():
	}
	n.log.Info("shutting down", "drain", n.drain)
	api.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	_ = listening.Shutdown(ending)
	n.Drain(ctx)
	return nil
}

// expireLoops deletes old loops once a minute, until ctx ends.
func (n *Node) expireLoops(ctx context.Context, book *loops.Book, retention time.Duration) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		if err := book.Expire(ctx, retention); err != nil && ctx.Err() == nil {
			n.log.Warn("deleting old loops", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ServeTools answers the coordinator's API as tools, to the user of this process, who may do
// everything, until the input or ctx ends; then it drains the node. The error carries its exit code.
func (n *Node) ServeTools(ctx context.Context, version string, in io.Reader, out io.Writer) error {
	api := httpapi.New(httpapi.Config{Agents: n.registry, Runs: n.Runs, Tokens: access.New(n.store), Version: version, Log: n.log})
	user := access.Grant{Name: "the server's user", Scopes: []access.Scope{access.Admin}}
	err := server.NewCoordinator(version, n.warnings()).Serve(ctx, func(ctx context.Context, method, target string, body []byte) (int, []byte, error) {
		return api.Call(ctx, user, method, target, body)
	}, in, out)
	api.Stop()
	n.Drain(ctx)
	return err
}
