package runs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// tend does what Tend does, once.
func (c coordinator) tend(t *testing.T, retention time.Duration, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Tend(ctx, retention, slog.New(slog.DiscardHandler)) }()
	until(t, done)
	cancel()
	<-ended
}

// TestOldRunsAreDeleted asserts that a run goes with all that belongs to it, and that one
// which waits stays however old it is.
func TestOldRunsAreDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 1)
		c.program(t, "talks", `echo said >&2; echo 1`)
		q := runs.Request{AgentName: "talks", Key: "k"}
		r, _, err := c.Create(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		c.ended(t, r.ID)
		gone := func() bool {
			var notFound *runs.NotFoundError
			_, err := c.Get(t.Context(), r.ID)
			return errors.As(err, &notFound)
		}
		c.tend(t, time.Millisecond, gone)
		if text, _, err := c.Log(t.Context(), r.ID, 0); text != "" || err != nil {
			t.Errorf("the log is left: %q, %v", text, err)
		}
		if events, err := c.Events(t.Context(), r.ID, 0); len(events) != 0 || err != nil {
			t.Errorf("the events are left: %v, %v", events, err)
		}
		again, replayed, err := c.Create(t.Context(), q)
		if err != nil || replayed || again.ID == r.ID {
			t.Errorf("the key is left: %+v, %v", again, err)
		}
		c.ended(t, again.ID)
		kept := c.create(t, "talks", `{}`)
		c.ended(t, kept.ID)
		c.tend(t, time.Hour, func() bool { return true })
		if _, err := c.Get(t.Context(), kept.ID); err != nil {
			t.Errorf("a young run is deleted: %v", err)
		}
	})
}

// TestRunsThatWereGivenUp asserts that no run seems to run forever after the engine has
// given it up.
func TestRunsThatWereGivenUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "lost", `echo 1`)
		r := c.create(t, "lost", `{}`)
		// As if its worker had begun it, and the engine had forgotten it.
		if _, err := c.store.Exec(t.Context(), `UPDATE runs SET status = 'running' WHERE id = $1`, r.ID); err != nil {
			t.Fatal(err)
		}
		if err := c.engine.Cancel(r.ID); err != nil {
			t.Fatal(err)
		}
		c.tend(t, 0, func() bool { r, err := c.Get(t.Context(), r.ID); return err == nil && r.Status.Final() })
		r, err := c.Get(t.Context(), r.ID)
		if err != nil || r.Status != runs.Failed || r.Error.Code != "worker_lost" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
