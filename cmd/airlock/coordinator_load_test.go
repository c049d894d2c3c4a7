//go:build postgres && load && linux

package main_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestLoad has two coordinators and three workers carry out AIRLOCK_LOAD runs (1,000 unless given)
// in PostgreSQL, after AIRLOCK_LOAD_OLD runs that ended before. It writes figures as a row of a
// table for each tenth: how long POST took, how long runs waited for their start, and what the
// processes used. 32 clients keep AIRLOCK_LOAD_OPEN runs (64) waiting or running. With few runs in
// the queue, the time to a start shows the coordinator and not the queue.
func TestLoad(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	total, old, open := number("AIRLOCK_LOAD", 1000), number("AIRLOCK_LOAD_OLD", 0), number("AIRLOCK_LOAD_OPEN", 64)
	c := newCluster(t, 2, 3, number("AIRLOCK_LOAD_CONCURRENCY", 8), map[string]any{"echo": map[string]any{"name": "echo", "type": "deterministic", "command": []string{"/bin/echo", "1"}, "parameters_schema": map[string]any{"type": "object"}}})
	conn, err := pgx.Connect(t.Context(), c.location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	fill(t, conn, old)

	fmt.Println("| runs | runs a second | `POST` p50, p99 (ms) | start p50, p99 (ms) | processor a run: coordinators, workers, PostgreSQL (ms) | database (MiB) | memory: coordinator, worker (MiB) | connections |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	parts := 10
	before := c.used(t)
	for part := range parts {
		var mu sync.Mutex
		var took []time.Duration
		first := time.Now()
		room := make(chan struct{}, open)
		stop := make(chan struct{})
		var watching sync.WaitGroup
		created := 0
		watching.Go(func() { c.makeRoom(t, stop, room, open, &mu, &created) })
		work := make(chan int)
		var clients sync.WaitGroup
		for range 32 {
			clients.Go(func() {
				for n := range work {
					began := time.Now()
					if _, err := c.create(t.Context(), fmt.Sprint(n), `{"agent_name":"echo","parameters":{}}`); err != nil {
						t.Error(err)
					}
					mu.Lock()
					took = append(took, time.Since(began))
					created++
					mu.Unlock()
				}
			})
		}
		for n := range total / parts {
			<-room
			work <- part*(total/parts) + n
		}
		close(work)
		clients.Wait()
		close(stop)
		watching.Wait()
		c.ended(10 * time.Minute)
		elapsed := time.Since(first)
		now := c.used(t)
		slices.Sort(took)
		var start50, start99 float64
		if err := conn.QueryRow(t.Context(), `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w), percentile_disc(0.99) WITHIN GROUP (ORDER BY w) FROM (SELECT (started - created)::float8 AS w FROM airlock.runs WHERE agent = 'echo' ORDER BY id DESC LIMIT $1) x`, total/parts).Scan(&start50, &start99); err != nil {
			t.Fatal(err)
		}
		var size int64
		if err := conn.QueryRow(t.Context(), `SELECT pg_database_size(current_database())`).Scan(&size); err != nil {
			t.Fatal(err)
		}
		used := func(from, to time.Duration) string {
			return fmt.Sprintf("%.1f", (to-from).Seconds()*1000/float64(total/parts))
		}
		fmt.Printf("| %d | %.0f | %s, %s | %.0f, %.0f | %s, %s, %s | %d | %d, %d | %d |\n", count(t, conn, `SELECT count(*) FROM airlock.runs`), float64(total/parts)/elapsed.Seconds(),
			ms(took[len(took)/2]), ms(took[len(took)*99/100]), start50, start99,
			used(before.coordinators, now.coordinators), used(before.workers, now.workers), used(before.database, now.database),
			size>>20, now.coordinatorMiB, now.workerMiB, count(t, conn, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'airlock'`))
		before = now
	}
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE agent = 'echo' AND status = 'completed' AND attempt = 1`); n != total {
		t.Errorf("%d of %d runs completed at the first attempt", n, total)
	}
}

// makeRoom gives the clients room for another run whenever fewer than limit runs are waiting or
// running.
func (c *cluster) makeRoom(t *testing.T, stop chan struct{}, room chan struct{}, limit int, mu *sync.Mutex, created *int) {
	conn, err := pgx.Connect(t.Context(), c.location)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	given := 0
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var notEnded int
		mu.Lock()
		unused := given - *created // room for which no run has been created yet
		mu.Unlock()
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM airlock.runs WHERE ended IS NULL AND status IN ('pending', 'running')`).Scan(&notEnded); err != nil {
			t.Error(err)
			return
		}
		for n := limit - notEnded - unused; n > 0; n-- {
			select {
			case room <- struct{}{}:
				given++
			case <-stop:
				return
			}
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// fill adds n runs that have ended, with events and keys.
func fill(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	for _, statement := range []string{
		`INSERT INTO airlock.runs (id, agent, agent_version, blueprint, parameters, status, attempt, events, created, started, deadline, ended, result, needs, time_limit, worker)
SELECT 'run_0' || lpad(g::text, 23, '0'), 'old', 1, '{"name":"old","type":"deterministic","description":"","parameters_schema":{"type":"object"},"command":["/bin/echo","1"],"source":"file","version":1}', '{}', 'completed', 1, 3, g, g, g, extract(epoch FROM now()) * 1000, '1', '', 3600000, 'old-worker' FROM generate_series(1, $1) g`,
		`INSERT INTO airlock.run_events (run, n, status, at) SELECT 'run_0' || lpad(g::text, 23, '0'), e, 'running', g FROM generate_series(1, $1) g, generate_series(1, 3) e`,
		`INSERT INTO airlock.run_keys (key, body, run) SELECT 'old' || g, md5(g::text) || md5(g::text), 'run_0' || lpad(g::text, 23, '0') FROM generate_series(1, $1) g`,
	} {
		if _, err := conn.Exec(t.Context(), statement, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
}

// usage is what the processes of a cluster have used so far.
type usage struct {
	coordinators, workers, database time.Duration
	coordinatorMiB, workerMiB       int // of the process with the most memory
}

// used reads the processor times of the processes and of their children, and the memory.
func (c *cluster) used(t *testing.T) (u usage) {
	t.Helper()
	read := func(list []*process, total *time.Duration, most *int) {
		for _, p := range list {
			d, mib := processUsage(t, p.cmd.Process.Pid)
			*total += d
			*most = max(*most, mib)
		}
	}
	read(c.serves, &u.coordinators, &u.coordinatorMiB)
	read(c.runners, &u.workers, &u.workerMiB)
	u.database = serverTime(c.server)
	return u
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()*1000) }
