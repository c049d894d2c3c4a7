package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/store"
)

// storeUsage and agentsUsage explain flags that several commands have.
const (
	storeUsage  = "the store: a SQLite file, or the URL of a PostgreSQL database (default: airlock/airlock.db in the state directory)"
	agentsUsage = "a directory of agents' blueprints, one in each YAML or JSON file"
)

// openStore opens the store that the user names, or the usual one.
func openStore(ctx context.Context, env Environment, location string, tables ...store.Schema) (*store.Store, error) {
	location, err := storeLocation(env, location)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, location, tables...)
	if err != nil {
		return nil, storeError(err)
	}
	return s, nil
}

// storeError adds the exit code to the error of a store that cannot be opened: that of wrong
// usage, because the user can name another store, unless this one cannot be used just now.
func storeError(err error) error {
	if kind := store.Trouble(err); kind == store.Full || kind == store.Busy {
		return exitcode.FailedError(err)
	}
	return exitcode.UsageError(err)
}

// openExisting is openStore for commands that have nothing to do without a store: it makes
// none. maker is the command that does.
func openExisting(ctx context.Context, env Environment, location, maker string, tables ...store.Schema) (*store.Store, error) {
	location, err := storeLocation(env, location)
	if err != nil {
		return nil, err
	}
	s, err := store.OpenExisting(ctx, location, tables...)
	if errors.Is(err, store.ErrAbsent) {
		err = fmt.Errorf("%w: '%s' makes one, and --store names another", err, maker)
	}
	if err != nil {
		return nil, storeError(err)
	}
	return s, nil
}

// storeLocation returns what the user named, or the usual place.
func storeLocation(env Environment, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	location, err := store.DefaultPath(env.Getenv)
	if err != nil {
		return "", exitcode.UsageError(err)
	}
	return location, nil
}
