package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestNeedsAndTags asserts that a run is taken by a worker with all the tags that it needs, and by
// no other, and that a pending run has no_worker as the reason of its status until there is such a
// worker.
func TestNeedsAndTags(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "plain", `echo 1`)
		c.program(t, "model", `echo 1`, `"needs":["gpu"]`)
		with := func(agent string, needs ...string) runs.Run {
			r, _, err := c.Create(t.Context(), runs.Request{AgentName: agent, Parameters: json.RawMessage(`{}`), Needs: needs})
			if err != nil {
				t.Fatal(err)
			}
			r, err = c.Get(t.Context(), r.ID)
			if err != nil || r.Status != runs.Pending || r.StatusReason == nil || r.StatusReason.Code != "no_worker" {
				t.Fatalf("%+v, %v", r, err)
			}
			return r
		}
		plain, gpu, both := with("plain"), with("model"), with("model", "linux", "gpu")
		if got := strings.Join(gpu.Needs, " "); got != "gpu" {
			t.Errorf("a run of an agent that needs gpu needs %q", got)
		}
		if got := strings.Join(both.Needs, " "); got != "gpu linux" || !strings.Contains(both.StatusReason.Message, "--tag gpu,linux") {
			t.Errorf("needs %s, %+v", got, both.StatusReason)
		}
		list, _, err := c.List(t.Context(), runs.Filter{Limit: 9})
		if err != nil || len(list) != 3 || list[1].StatusReason == nil {
			t.Fatalf("%+v, %v", list, err)
		}
		worker := start(t, location, 2, "gpu", "cuda")
		for _, r := range []runs.Run{plain, gpu} {
			if r := worker.ended(t, r.ID); r.Status != runs.Completed || r.Worker == "" {
				t.Errorf("%+v", r)
			}
		}
		if r, err := c.Get(t.Context(), both.ID); err != nil || r.Status != runs.Pending || r.StatusReason == nil {
			t.Errorf("%+v, %v", r, err)
		}
		workers, err := c.Workers(t.Context())
		if err != nil || len(workers) != 1 || strings.Join(workers[0].Tags, " ") != "cuda gpu" || !workers[0].Live || workers[0].Concurrency != 2 {
			t.Errorf("%+v, %v", workers, err)
		}
		if !store.IsURL(location) {
			return // a file has only one worker
		}
		able := start(t, location, 1, "gpu", "linux")
		if r := able.ended(t, both.ID); r.Status != runs.Completed || r.StatusReason != nil {
			t.Errorf("%+v", r)
		}
	})
}

// TestDeadWorkersServeNobody asserts that a worker whose lease has run out does not count.
func TestDeadWorkersServeNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "plain", `echo 1`)
		r := c.create(t, "plain", `{}`)
		for _, w := range []struct {
			seen   string
			served bool
		}{{"1", false}, {c.store.Now(), true}} {
			c.exec(t, `INSERT INTO run_workers (id, tags, concurrency, lease, started, seen) VALUES ('w', '', 1, 60000, 1, `+w.seen+`) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`)
			if r, err := c.Get(t.Context(), r.ID); err != nil || (r.StatusReason == nil) != w.served {
				t.Errorf("with a worker that was seen at %s: %+v, %v", w.seen, r.StatusReason, err)
			}
		}
	})
}

func TestInvalidNeeds(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 0)
	c.program(t, "model", `echo 1`, `"needs":["gpu"]`)
	many := make([]string, 16)
	for i := range many {
		many[i] = string(rune('a' + i))
	}
	for _, k := range []struct {
		needs []string
		path  string
	}{{[]string{"ok", "GPU"}, "$.needs[1]"}, {[]string{"a+b"}, "$.needs[0]"}, {[]string{""}, "$.needs[0]"}, {[]string{"\x1b[2J" + strings.Repeat("x", 1000)}, "$.needs[0]"}, {many, "$.needs"}} {
		_, _, err := c.Create(t.Context(), runs.Request{AgentName: "model", Needs: k.needs})
		if refused, ok := errors.AsType[*runs.InvalidNeedsError](err); !ok || refused.Violations[0].Path != k.path || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
			t.Errorf("%q: %v", k.needs, err)
		}
	}
	key := func(needs ...string) error {
		_, _, err := c.Create(t.Context(), runs.Request{AgentName: "model", Needs: needs, Key: "k"})
		return err
	}
	if err := errors.Join(key("a", "b"), key("b", "a", "a")); err != nil {
		t.Errorf("the same needs in another order: %v", err)
	}
	err := key("a")
	if _, conflicts := errors.AsType[*runs.ConflictError](err); !conflicts {
		t.Errorf("other needs under the same key: %v", err)
	}
}

// TestUnservedRunsEnd asserts that a run fails when no worker could take it for too long,
// and not merely because it is old.
func TestUnservedRunsEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "model", `echo 1`, `"needs":["gpu"]`)
		r := c.create(t, "model", `{}`)
		// age sets how long no worker could take the run. It also sets the time of the last look for a
		// worker to a second ago.
		age := func(unserved time.Duration) {
			t.Helper()
			c.exec(t, `UPDATE run_queues SET looked = `+c.store.Now()+` - 1000, unserved = $1 WHERE needs = 'gpu'`, unserved.Milliseconds())
		}
		c.exec(t, `UPDATE runs SET created = created - 7200000`)
		unserved := func() (ms int64) {
			if err := c.store.QueryRow(t.Context(), `SELECT unserved FROM run_queues WHERE needs = 'gpu'`).Scan(&ms); err != nil {
				t.Fatal(err)
			}
			return ms
		}
		age(time.Minute)
		c.tend(t, runs.Limits{Unserved: time.Hour}, func() bool { return unserved() > time.Minute.Milliseconds() })
		if r, err := c.Get(t.Context(), r.ID); err != nil || r.Status != runs.Pending {
			t.Errorf("%+v, %v", r, err)
		}
		age(time.Hour)
		c.tend(t, runs.Limits{Unserved: time.Hour}, func() bool { r, err := c.Get(t.Context(), r.ID); return err == nil && r.Status.Final() })
		r, err := c.Get(t.Context(), r.ID)
		if err != nil || r.Status != runs.Failed || r.Error.Code != "no_worker" || !strings.Contains(r.Error.Message, "--tag gpu") {
			t.Errorf("%+v, %v", r, err)
		}
		// With a worker that could take the run, the time counts from zero again.
		start(t, location, 1, "gpu")
		age(2 * time.Hour)
		c.tend(t, runs.Limits{Unserved: time.Hour}, func() bool { return unserved() == 0 })
	})
}
