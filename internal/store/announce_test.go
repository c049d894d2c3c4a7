package store_test

import (
	"context"
	"testing"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestAnnouncements asserts that an announcement reaches another store of the database, on
// its channel alone, and that a broken connection is reported. With SQLite nobody hears it.
func TestAnnouncements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		here, there := open(t, location, things), open(t, location, things)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		heard, ended := make(chan struct{}, 10), make(chan error, 1)
		go func() { ended <- there.Listen(ctx, "things", func() { heard <- struct{}{} }) }()
		announce := func(channel string) {
			t.Helper()
			if err := here.Announce(t.Context(), channel); err != nil {
				t.Fatal(err)
			}
		}
		if !store.IsURL(location) { // SQLite: Announce does nothing, and Listen waits for ctx
			announce("things")
			cancel()
			if err := <-ended; err == nil || len(heard) != 0 {
				t.Errorf("Listen = %v, and heard %d announcements", err, len(heard))
			}
			return
		}
		<-heard // Listen calls its function once when it has begun
		announce("others")
		announce("things")
		<-heard
		if _, err := here.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()`); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || len(heard) != 0 {
			t.Errorf("Listen = %v, and heard %d announcements more", err, len(heard))
		}
	})
}
