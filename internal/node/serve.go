package node

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/httpapi"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/server"
)

// ServeConfig describes how a node is served.
type ServeConfig struct {
	Hosts   []string // names by which clients call the server, besides its address
	Public  bool     // more than this machine can reach it
	Rate    float64  // how many requests a second each caller may make; 0 for any number
	Limits  runs.Limits
	Version string
}

// closing is how long requests have to end when the server stops.
const closing = 10 * time.Second

// Serve answers the coordinator's API, over HTTP and as tools, until ctx ends; then it drains the
// node. Its errors carry their exit code.
func (n *Node) Serve(ctx context.Context, listener net.Listener, cfg ServeConfig) error {
	book := loops.NewWritable(n.engine)
	api := httpapi.New(httpapi.Config{Agents: n.registry, Runs: n.Runs, Loops: book, Tokens: access.New(n.store), Hosts: cfg.Hosts, Public: cfg.Public, Rate: cfg.Rate, Version: cfg.Version, Log: n.log})
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

// UserAPI returns the coordinator's API for the user of this process, who may do everything. stop
// ends the calls that wait for something.
func (n *Node) UserAPI(version string) (call server.API, stop func()) {
	api := httpapi.New(httpapi.Config{Agents: n.registry, Runs: n.Runs, Tokens: access.New(n.store), Version: version, Log: n.log})
	user := access.Grant{Name: "the server's user", Scopes: []access.Scope{access.Admin}}
	return func(ctx context.Context, method, target string, body []byte) (int, []byte, error) {
		return api.Call(ctx, user, method, target, body)
	}, api.Stop
}
