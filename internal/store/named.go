package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/exitcode"
)

// Location returns the location that a user names or, where that is "", the usual one:
// airlock/airlock.db in XDG_STATE_HOME or, without it, in .local/state in the home directory; on
// Windows, in LocalAppData or, without it, in AppData/Local in the user's profile. The error
// carries its exit code.
func Location(named string, getenv func(string) string) (string, error) {
	if named != "" {
		return named, nil
	}
	for _, place := range []struct{ variable, below string }{
		{"XDG_STATE_HOME", ""}, {"LocalAppData", ""}, {"HOME", ".local/state"}, {"USERPROFILE", "AppData/Local"},
	} {
		if dir := getenv(place.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(place.below), "airlock", "airlock.db"), nil
		}
	}
	return "", exitcode.UsageError(errors.New("cannot find a directory for the store, because HOME is not set: name a file with --store"))
}

// OpenNamed is Open for the store that a user names, or the usual one where location is "". Its
// errors carry their exit code.
func OpenNamed(ctx context.Context, location string, getenv func(string) string, schemas ...Schema) (*Store, error) {
	location, err := Location(location, getenv)
	if err != nil {
		return nil, err
	}
	s, err := Open(ctx, location, schemas...)
	return s, openError(err)
}

// OpenNamedExisting is OpenNamed for a command that has nothing to do without a store: it makes
// none. The error names maker, the command that makes one.
func OpenNamedExisting(ctx context.Context, location, maker string, getenv func(string) string, schemas ...Schema) (*Store, error) {
	location, err := Location(location, getenv)
	if err != nil {
		return nil, err
	}
	s, err := OpenExisting(ctx, location, schemas...)
	if errors.Is(err, ErrAbsent) {
		err = fmt.Errorf("%w: '%s' makes one, and --store names another", err, maker)
	}
	return s, openError(err)
}

// openError adds the exit code to the error of a store that cannot be opened. It is that of wrong
// usage, because the user can name another store. Only for a store that is full or locked it is
// that of a failure.
func openError(err error) error {
	if err == nil {
		return nil
	}
	if kind := Trouble(err); kind == Full || kind == Busy {
		return exitcode.FailedError(err)
	}
	return exitcode.UsageError(err)
}
