package store

import (
	"errors"
	"path/filepath"
)

// DefaultPath returns the path of the store for a user who names none: airlock/airlock.db in
// XDG_STATE_HOME or, without it, in .local/state in the home directory; on Windows, in
// LocalAppData.
func DefaultPath(getenv func(string) string) (string, error) {
	for _, place := range []struct{ variable, below string }{
		{"XDG_STATE_HOME", ""}, {"LocalAppData", ""}, {"HOME", ".local/state"}, {"USERPROFILE", "AppData/Local"},
	} {
		if dir := getenv(place.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(place.below), "airlock", "airlock.db"), nil
		}
	}
	return "", errors.New("cannot find a directory for the store, because HOME is not set: name a file with --store")
}
