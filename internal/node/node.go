// Package node is one node of a coordinator: it carries out the runs of a store, and serves the
// store's API.
package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/token"
)

// Deps are what a node needs of the process.
type Deps struct {
	Getenv  func(string) string // required
	Environ []string            // required: the entire environment
	Log     *slog.Logger        // required
}

// tables returns the tables of a node's store.
func tables() []store.Schema {
	return []store.Schema{agents.Tables, access.Tables, runs.Tables, loops.Schema}
}

// Node carries out runs until it is closed.
type Node struct {
	Runs *runs.Service

	store    *store.Store
	engine   *engine.Engine // it wakes the drivers of loops, which run in processes of their own
	registry *agents.Registry
	worker   *runs.Worker
	drain    time.Duration
	log      *slog.Logger
}

// Open opens the store and starts a node on it, which carries out no runs if cfg.Concurrency is 0. Its
// errors carry their exit code.
func Open(ctx context.Context, cfg Config, deps Deps) (_ *Node, err error) {
	n := &Node{drain: cfg.Drain, log: deps.Log}
	if cfg.Location, err = store.Location(cfg.Location, deps.Getenv); err != nil {
		return nil, err
	}
	if cfg.Maker != "" {
		n.store, err = store.OpenNamedExisting(ctx, cfg.Location, cfg.Maker, deps.Getenv, tables()...)
	} else {
		n.store, err = store.OpenNamed(ctx, cfg.Location, deps.Getenv, tables()...)
	}
	if err != nil {
		return nil, err
	}
	if n.registry, err = Registry(n.store, cfg.Agents); err != nil {
		n.store.Close()
		return nil, err
	}
	n.registry.Rules = cfg.Owner.Rules()
	self, err := os.Executable()
	if err != nil {
		n.store.Close()
		return nil, exitcode.FailedError(err)
	}
	environ, scanner, passed := agentEnvironment(deps.Environ, cfg.PassEnv)
	n.worker = runs.NewWorker(n.store, runs.WorkerConfig{
		Concurrency: cfg.Concurrency, Tags: cfg.Tags, Environ: environ, Dir: cfg.Owner.Base, Log: n.log, Mask: scanner.Mask, MaskKnown: passed.Replace,
		BuiltIn: cfg.builtIn(self),
	})
	if n.engine, err = engine.Open(context.WithoutCancel(ctx), n.store, engine.Config{Logger: n.warnings()}); err != nil {
		return nil, exitcode.UsageError(err)
	}
	n.Runs = runs.New(n.registry, n.store, n.worker)
	if cfg.Concurrency == 0 {
		return n, nil
	}
	if err := n.worker.Start(ctx); err != nil {
		n.Close()
		if errors.Is(err, runs.ErrRunning) {
			err = fmt.Errorf("another 'airlock serve' uses the store %s: stop it, or name another store with --store", n.store.Name())
		}
		return nil, exitcode.UsageError(err)
	}
	return n, nil
}

// StoreName returns the name of the node's store, as people may read it.
func (n *Node) StoreName() string { return n.store.Name() }

// Work waits until ctx ends, while the node carries out runs; then it drains the node.
func (n *Node) Work(ctx context.Context) {
	<-ctx.Done()
	n.log.Info("shutting down", "drain", n.drain)
	n.Drain(ctx)
}

// Drain begins no further run, and gives the current ones as long as Config.Drain to end, even if
// ctx has ended.
func (n *Node) Drain(ctx context.Context) {
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.drain)
	defer cancel()
	n.worker.Drain(draining)
}

// Close stops everything that works on the store, and closes it.
func (n *Node) Close() {
	n.worker.Close()
	n.Runs.Close()
	n.engine.Close()
}

// warnings returns the node's log for warnings and errors only.
func (n *Node) warnings() *slog.Logger { return slog.New(warningHandler{n.log.Handler()}) }

// warningHandler drops what is less than a warning.
type warningHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h warningHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// WithAttrs implements slog.Handler.
func (h warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warningHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h warningHandler) WithGroup(name string) slog.Handler {
	return warningHandler{h.Handler.WithGroup(name)}
}

// Registry returns the agents that are built in, those of a directory ("" for none) and those of a
// store, which may be nil. Its errors carry their exit code.
func Registry(s *store.Store, dir string) (*agents.Registry, error) {
	fixed, err := agents.BuiltIns()
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	if dir != "" {
		if !action.IsDirectory(dir) {
			return nil, exitcode.UsageError(fmt.Errorf("--agents: %s is not a directory", dir))
		}
		files, err := agents.ReadDirectory(os.DirFS(dir))
		if err != nil {
			return nil, exitcode.UsageError(fmt.Errorf("--agents %s:\n%w", dir, err))
		}
		fixed = append(fixed, files...)
	}
	r, err := agents.New(s, fixed...)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	return r, nil
}

// usualVariables are the variables of the environment that every agent gets.
var usualVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SHELL"}

// minSecret is the least length of a passed value that is masked, in bytes. A shorter one occurs in
// other texts, too.
const minSecret = 8

// agentEnvironment returns the environment of agents, a scanner that masks secrets in their output,
// and a replacer that masks only the values of the variables in pass.
func agentEnvironment(all, pass []string) (environ []string, scanner *secrets.Scanner, passed *strings.Replacer) {
	var values, forms []string
	for _, entry := range all {
		name, value, _ := strings.Cut(entry, "=")
		isPassed := slices.Contains(pass, name)
		if isPassed || slices.Contains(usualVariables, name) {
			environ = append(environ, entry)
		}
		if isPassed && len(value) >= minSecret {
			values = append(values, value)
			forms = append(forms, value, inJSON(value, true), inJSON(value, false))
		}
	}
	// The longest is replaced first: one may begin with another, and its rest would stay.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, "***")
	}
	return environ, doors.NewScanner(token.Token{}, "--pass-env", values), strings.NewReplacer(pairs...)
}

// inJSON returns a text as results in JSON may contain it: encoders differ in whether they escape <, >
// and &, as HTML needs it.
func inJSON(text string, escapeHTML bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	_ = enc.Encode(text) // a text can always be encoded
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), `"`), "\"\n")
}
