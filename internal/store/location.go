package store

import (
	"errors"
	"path/filepath"
)

// DefaultPath returns where the store lies unless the user names one: airlock/airlock.db
// in the user's state directory, which is XDG_STATE_HOME, or .local/state in the home
// directory; on Windows, LocalAppData.
func DefaultPath(getenv func(string) string) (string, error) {
	for _, place := range []struct{ variable, below string }{
		{"XDG_STATE_HOME", ""}, {"LocalAppData", ""}, {"HOME", ".local/state"}, {"USERPROFILE", "AppData/Local"},
	} {
		if dir := getenv(place.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(place.below), "airlock", "airlock.db"), nil
		}
	}
	return "", errors.New("there is no HOME to keep the store in: name a file with --store")
}
