package runs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// tend runs Tend until done returns true.
func (c coordinator) tend(t *testing.T, limits runs.Limits, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Tend(ctx, limits, slog.New(slog.DiscardHandler)) }()
	waitUntil(t, done)
	cancel()
	<-ended
}

// longAgo moves the end of a run two hours back. A test has to do that before it tends the store,
// because Tend looks for old runs at once, and then again only after seconds.
func (c coordinator) longAgo(t *testing.T, id string) {
	t.Helper()
	c.exec(t, `UPDATE runs SET ended = ended - $2 WHERE id = $1`, id, (2 * time.Hour).Milliseconds())
}

// TestOldRunsAreDeleted asserts that a run is deleted with all that belongs to it, and that a run
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
		c.longAgo(t, r.ID)
		isGone := func(id string) bool {
			var notFound *runs.NotFoundError
			_, err := c.Get(t.Context(), id)
			return errors.As(err, &notFound)
		}
		c.tend(t, runs.Limits{Retention: time.Hour}, func() bool { return isGone(r.ID) })
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
		// Only the first of three runs is deleted: the first ended long ago, the second has just
		// ended, and the third was made long ago and still waits.
		c.ended(t, again.ID)
		young := c.ended(t, c.create(t, "talks", `{}`).ID)
		waits, _, err := c.Create(t.Context(), runs.Request{AgentName: "talks", Needs: []string{"gpu"}})
		if err != nil {
			t.Fatal(err)
		}
		c.exec(t, `UPDATE runs SET created = 1`)
		c.longAgo(t, again.ID)
		c.tend(t, runs.Limits{Retention: time.Hour, Outputs: time.Hour}, func() bool { return isGone(again.ID) })
		for _, id := range []string{young.ID, waits.ID} {
			if r, err := c.Get(t.Context(), id); err != nil {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}

// TestWithoutLimitsNothingIsDeleted asserts that a limit of 0 deletes nothing.
func TestWithoutLimitsNothingIsDeleted(t *testing.T) {
	t.Parallel()
	location := t.TempDir() + "/store.db"
	synctest.Test(t, func(t *testing.T) {
		c := start(t, location, 0)
		c.program(t, "old", `echo 1`)
		r := c.create(t, "old", `{}`)
		c.exec(t, `UPDATE runs SET status = 'completed', ended = 1, result = '7'`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Tend(ctx, runs.Limits{}, slog.New(slog.DiscardHandler))
		synctest.Wait() // until it has done all it does
		if result, err := c.Result(t.Context(), r.ID); err != nil || string(result) != "7" {
			t.Errorf("%s, %v", result, err)
		}
	})
}

// TestRunsThatLoseTheirWorkerAgainAndAgain asserts that a run which kills its worker each
// time is given up.
func TestRunsThatLoseTheirWorkerAgainAndAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "lost", `echo 1`)
		r := c.create(t, "lost", `{}`)
		c.exec(t, `UPDATE runs SET status = 'running', events = 2, attempt = 10, restarts = 10, worker = 'dead' WHERE id = $1`, r.ID)
		if r, err := c.Get(t.Context(), r.ID); err != nil || r.Worker != "dead" || r.StatusReason != nil {
			t.Errorf("%+v, %v", r, err)
		}
		last := start(t, location, 1)
		if !store.IsURL(location) { // in a file, the start finds that the worker is gone
			last.ended(t, r.ID)
		}
		c.tend(t, runs.Limits{}, func() bool { r, err := c.Get(t.Context(), r.ID); return err == nil && r.Status.Final() })
		r, err := c.Get(t.Context(), r.ID)
		if err != nil || r.Status != runs.Failed || r.Error.Code != "worker_lost" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestRunsThatWereToBeStopped asserts that a run which was being stopped ends although its worker has
// died, and there is no other worker.
func TestRunsThatWereToBeStopped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "lost", `echo 1`)
		r := c.create(t, "lost", `{}`)
		c.exec(t, `UPDATE runs SET status = 'stopping', events = 3, attempt = 1 WHERE id = $1`, r.ID)
		c.tend(t, runs.Limits{}, func() bool { r, err := c.Get(t.Context(), r.ID); return err == nil && r.Status == runs.Stopped })
	})
}

// TestOutputsAreDeletedBeforeTheirRuns asserts that a run whose outputs are too old stays, without
// its result and its log.
func TestOutputsAreDeletedBeforeTheirRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 1)
		c.program(t, "talks", `echo said >&2; echo 1`)
		r := c.create(t, "talks", `{}`)
		c.ended(t, r.ID)
		c.longAgo(t, r.ID)
		c.tend(t, runs.Limits{Retention: 24 * time.Hour, Outputs: time.Hour}, func() bool {
			result, err := c.Result(t.Context(), r.ID)
			return result == nil && err == nil
		})
		text, _, err := c.Log(t.Context(), r.ID, 0)
		if r, runErr := c.Get(t.Context(), r.ID); text != "" || err != nil || runErr != nil || r.Status != runs.Completed {
			t.Errorf("%q, %v, %+v, %v", text, err, r, runErr)
		}
	})
}
