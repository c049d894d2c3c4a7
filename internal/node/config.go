package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/builtin"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
)

// Config describes a node.
type Config struct {
	Location string // the store's; "" for the usual one
	// Maker is the command that makes a store: the error names it if there is no store. If Maker
	// is "", Open makes the store instead.
	Maker  string
	Agents string        // a directory of blueprints; "" for none
	Owner  builtin.Owner // required: what agents that are built in may do; agents are started in its Base
	Policy string        // the file that Owner's configuration is from; "" for none
	// PassEnv names the variables that agents get in addition to the usual ones.
	PassEnv     []string
	Tags        []string      // what the worker can do
	Concurrency int           // how many runs are carried out at once; 0 carries out none
	Drain       time.Duration // how long runs may go on when the node is to end
}

// Check returns what is wrong with a user's settings. It makes the paths of Owner and Policy
// absolute, which Open requires, and sets an empty Owner.Root to Owner.Base.
func (cfg *Config) Check() error {
	dir, err := filepath.Abs(cfg.Owner.Base)
	if err != nil || !action.IsDirectory(dir) {
		return fmt.Errorf("--dir: %s is not a directory", cfg.Owner.Base)
	}
	cfg.Owner.Base = dir
	if cfg.Owner.Root == "" {
		cfg.Owner.Root = dir
	}
	if cfg.Policy != "" { // built-in agents read it again, in that directory
		if cfg.Policy, err = filepath.Abs(cfg.Policy); err != nil {
			return fmt.Errorf("--config: %w", err)
		}
	}
	if cfg.Owner.Root, err = filepath.Abs(cfg.Owner.Root); err != nil || !action.IsDirectory(cfg.Owner.Root) {
		return fmt.Errorf("--root: %s is not a directory", cfg.Owner.Root)
	}
	if cfg.Concurrency < 0 || cfg.Concurrency > 1000 {
		return fmt.Errorf("--concurrency: %d is not between 0 and 1000", cfg.Concurrency)
	}
	if cfg.Drain < 0 {
		return fmt.Errorf("--drain: %s is negative", cfg.Drain)
	}
	if err := runs.CheckTags(cfg.Tags); err != nil {
		return fmt.Errorf("--tag: %w", err)
	}
	fixers := map[string]bool{}
	for _, fixer := range cfg.Owner.Fixers {
		name, line, _ := strings.Cut(fixer, "=")
		if name == "" || strings.TrimSpace(line) == "" {
			return fmt.Errorf("--fixer: %q is not NAME=COMMAND", fixer)
		}
		if fixers[name] {
			return fmt.Errorf("--fixer: two fixers are called %q: give each a name of its own", name)
		}
		fixers[name] = true
	}
	for _, name := range cfg.PassEnv {
		if err := config.CheckVariable(name); err != nil {
			return fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	return nil
}

// CheckRunner is Check for a node that carries out runs of coordinators elsewhere.
func (cfg *Config) CheckRunner() error {
	if !store.IsURL(cfg.Location) {
		return errors.New("--store: a runner needs the URL of a PostgreSQL database; with a file, 'airlock serve' carries out the runs itself")
	}
	if cfg.Concurrency == 0 {
		return errors.New("--concurrency: a runner carries out at least one run at once")
	}
	return cfg.Check()
}

// builtIn returns a function for runs.WorkerConfig.BuiltIn. Agents that are built in are started as
// this program, self, with what the owner configured. Only the fix loop gets the fixers, PassEnv
// and the location of the store. The location is in the environment, because it may contain a
// password, which arguments would show.
func (cfg Config) builtIn(self string) func(string) (argv, environ []string) {
	return func(name string) (argv, environ []string) {
		argv = []string{self, "builtin", name, "--root", cfg.Owner.Root}
		if cfg.Policy != "" {
			argv = append(argv, "--config", cfg.Policy)
		}
		if name != agents.FixLoop {
			return argv, nil
		}
		for _, fixer := range cfg.Owner.Fixers {
			argv = append(argv, "--fixer", fixer)
		}
		for _, variable := range cfg.PassEnv {
			argv = append(argv, "--pass-env", variable)
		}
		return argv, []string{builtin.StoreVariable + "=" + cfg.Location}
	}
}
