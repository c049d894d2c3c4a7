package runs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// countingStore counts the queries that a store is asked.
type countingStore struct {
	store.Querier
	asked *atomic.Int64
}

func (c countingStore) Query(ctx context.Context, each func(store.Row) error, query string, args ...any) error {
	c.asked.Add(1)
	return c.Querier.Query(ctx, each, query, args...)
}

func (c countingStore) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	c.asked.Add(1)
	return c.Querier.QueryRow(ctx, query, args...)
}

// TestManyWait has 500 clients wait for 50 runs. While the runs do not change, the number of queries
// to the store does not depend on the number of clients. Each client learns of its run's end.
func TestManyWait(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		st, err := store.Open(ctx, location, agents.Tables, runs.Tables)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var asked atomic.Int64
		st.Querier = countingStore{st.Querier, &asked}
		registry, err := agents.New(st)
		if err != nil {
			t.Fatal(err)
		}
		service := runs.New(registry, st, runs.NewWorker(st, runs.WorkerConfig{}))
		defer service.Close()
		elsewhere := start(t, location, 0) // as in another process
		elsewhere.program(t, "waits", `echo 1`)
		var ids []string
		for range 50 {
			ids = append(ids, elsewhere.create(t, "waits", `{}`).ID)
		}
		const clients = 500
		var waiting sync.WaitGroup
		var ended atomic.Int64
		for i := range clients {
			waiting.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if r, err := service.Wait(ctx, ids[i%len(ids)]); err != nil || r.Status != runs.Stopped {
					t.Errorf("%+v, %v", r, err)
				}
				ended.Add(1)
			})
		}
		// Each client asks when it begins and when the first look finds its run. Then there is one
		// query a look, ten a second.
		waitUntil(t, func() bool { return asked.Load() >= 2*clients })
		quiet := func() bool {
			before := asked.Load()
			pause := time.NewTimer(time.Second)
			<-pause.C
			return asked.Load()-before <= 30
		}
		waitUntil(t, quiet)
		if n := ended.Load(); n != 0 {
			t.Fatalf("%d have ended before anything happened", n)
		}
		for _, id := range ids {
			if _, err := elsewhere.Stop(ctx, id); err != nil {
				t.Error(err)
			}
		}
		waiting.Wait()
		after := asked.Load()
		pause := time.NewTimer(300 * time.Millisecond)
		<-pause.C
		if n := asked.Load() - after; n > 1 {
			t.Errorf("the store is asked %d times although nobody waits", n)
		}
	})
}

// TestWaitingWakesAtOnce asserts that a call which changes a run has woken its watchers of this process
// when it returns: they do not wait for the next look at the store.
func TestWaitingWakesAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 0)
	c.program(t, "waits", `echo 1`)
	r := c.create(t, "waits", `{}`)
	changes, leave := c.Watch(r.ID)
	defer leave()
	<-changes // the first look
	if _, err := c.Stop(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changes:
	default:
		t.Error("stopping has woken nobody")
	}
}
