// Package storetest gives tests stores: SQLite files, and with the build tag postgres
// also databases of a real PostgreSQL server, which it starts and stops.
package storetest

import (
	"path/filepath"
	"testing"
)

// Main runs a package's tests, with a PostgreSQL server next to them if the build tag
// asks for one, and returns the exit code. In a package whose tests call Each, TestMain
// calls it.
func Main(m *testing.M) int {
	stop := startServer()
	defer stop()
	return m.Run()
}

// Each runs a test with the location of an empty store: once with a SQLite file, and
// with the build tag postgres again with a PostgreSQL database.
func Each(t *testing.T, test func(t *testing.T, location string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "store.db")) })
	eachServer(t, test)
}
