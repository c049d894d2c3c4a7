//go:build postgres && linux

package main_test

import (
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// eachDatabase runs a benchmark on a SQLite file and on a new database of PostgreSQL.
func eachDatabase(b *testing.B, benchmark func(*testing.B, database)) {
	b.Run("sqlite", func(b *testing.B) { benchmark(b, database{}) })
	b.Run("postgres", func(b *testing.B) {
		server, err := storetest.StartPostgres("fsync=on")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(server.Stop)
		location, err := server.NewDatabase(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		benchmark(b, database{location, func() time.Duration { return serverTime(server) }})
	})
}

// serverTime returns the processor time that a server has used.
func serverTime(server *storetest.Postgres) (all time.Duration) {
	for _, pid := range server.Processes() {
		used, _ := timeUsed(pid) // 0 if it has ended: its time then counts as its parent's
		all += used
	}
	return all
}
