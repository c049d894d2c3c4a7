package cli

import (
	"cmp"
	"fmt"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
)

// configUsage explains the flag --config of every command.
const configUsage = "the safe-outputs configuration, YAML or JSON (default: GH_AW_SAFE_OUTPUTS_CONFIG, a path or the text)"

// loadConfig reads the safe-outputs configuration that the user named, else the
// one of the environment, and shows its warnings.
func loadConfig(w World, file string) (config.SafeOutputs, error) {
	cfg, err := config.Load(config.Sources{File: file, Getenv: w.Getenv})
	if err != nil {
		return config.SafeOutputs{}, usageError(err)
	}
	for _, p := range cfg.Warnings {
		fmt.Fprintf(w.Stderr, "warning: %s\n", p)
	}
	return cfg, nil
}

// eventEnv is the runner's environment, with the event that a user's flags name in
// the place of its own. What is "" is not named.
func eventEnv(w World, payload, name, repo string) action.Env {
	env := action.Snapshot(w.Getenv)
	env.EventPath = cmp.Or(payload, env.EventPath)
	env.Event.EventName = cmp.Or(name, env.Event.EventName)
	env.Event.Repository = cmp.Or(repo, env.Event.Repository)
	return env
}

// progress returns a log for what takes long, one line each, to a person.
func progress(w World) func(string) {
	return func(line string) { fmt.Fprintf(w.Stderr, "airlock: %s\n", line) }
}
