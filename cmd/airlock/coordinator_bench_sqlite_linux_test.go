//go:build !postgres

package main_test

import "testing"

// eachDatabase runs a benchmark on a SQLite file.
func eachDatabase(b *testing.B, benchmark func(*testing.B, database)) {
	b.Run("sqlite", func(b *testing.B) { benchmark(b, database{}) })
}
