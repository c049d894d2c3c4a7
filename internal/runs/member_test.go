package runs_test

import (
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestAWorkerGivesSignsOfLife asserts that a worker renews its lease again and again.
func TestAWorkerGivesSignsOfLife(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.startAnother(t, 1, 3*time.Second)
		seen := func() time.Time {
			workers, err := c.Workers(t.Context())
			if err != nil || len(workers) != 1 {
				t.Fatalf("%+v, %v", workers, err)
			}
			return workers[0].SeenAt
		}
		for range 2 {
			before := seen()
			waitUntil(t, func() bool { return seen().After(before) })
		}
	})
}

// TestAWorkerStepsAsideForANewerAirlock asserts that a worker ends its runs and takes no further ones
// once a newer Airlock has changed the tables.
func TestAWorkerStepsAsideForANewerAirlock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "long", `trap 'echo > ended; exit 1' TERM; echo > begun; while :; do sleep 0.05; done`)
		r := c.create(t, "long", `{}`)
		c.startAnother(t, 1, 3*time.Second)
		c.waitForFile(t, "begun")
		if _, err := c.store.Exec(t.Context(), `UPDATE airlock_versions SET version = version + 1 WHERE package = 'runs'`); err != nil {
			t.Fatal(err)
		}
		c.waitForFile(t, "ended")
		// Release the run, as another worker would. This one must not take it again.
		if _, err := c.store.Exec(t.Context(), `UPDATE runs SET worker = NULL WHERE id = $1`, r.ID); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, func() bool {
			workers, err := c.Workers(t.Context())
			return err == nil && len(workers) == 1 && !workers[0].Live
		})
		if now, err := c.Get(t.Context(), r.ID); err != nil || now.Attempt != 1 {
			t.Errorf("%+v, %v", now, err)
		}
	})
}

// TestAWorkerThatWasTakenForDead asserts that a worker which others have removed ends what it
// was running before anybody, itself included, begins it again.
func TestAWorkerThatWasTakenForDead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "first", `if test "$AIRLOCK_ATTEMPT" = 1; then echo $$ > pid.new; mv pid.new pid; exec tail -f /dev/null; fi
if kill -0 "$(cat pid)"; then echo '"it lives"'; else echo '"it is dead"'; fi`)
		r := c.create(t, "first", `{}`)
		c.startAnother(t, 1, 3*time.Second)
		c.waitForFile(t, "pid")
		c.exec(t, `DELETE FROM run_workers`)
		// A SQLite store has no other worker to release the run, so the statement does what one would.
		c.tend(t, runs.Limits{}, func() bool {
			_, err := c.store.Exec(t.Context(), `UPDATE runs SET worker = NULL WHERE id = $1 AND attempt = 1 AND NOT EXISTS (SELECT 1 FROM run_workers w WHERE w.id = runs.worker)`, r.ID)
			now, getErr := c.Get(t.Context(), r.ID)
			return err == nil && getErr == nil && now.Status.Final()
		})
		result, err := c.Result(t.Context(), r.ID)
		if err != nil || string(result) != `"it is dead"` {
			t.Errorf("the second attempt says of the first one's process: %s, %v", result, err)
		}
	})
}
