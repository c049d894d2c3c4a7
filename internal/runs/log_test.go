package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// slowLog is a store that does not add to a log before the gate is open. After that it loses as many
// answers as the number in lost.
type slowLog struct {
	store.Querier
	gate chan struct{}
	came chan struct{} // has a value when somebody waits
	lost *atomic.Int64
}

func (s slowLog) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	if !strings.Contains(query, "INSERT INTO run_log") {
		return s.Querier.QueryRow(ctx, query, args...)
	}
	select {
	case s.came <- struct{}{}:
	default:
	}
	<-s.gate
	row := s.Querier.QueryRow(ctx, query, args...)
	if s.lost.Add(-1) >= 0 {
		return lostRow{row}
	}
	return row
}

// lostRow is a row whose statement was carried out, and whose answer was lost.
type lostRow struct{ store.Row }

func (r lostRow) Scan(into ...any) error {
	return errors.Join(r.Row.Scan(into...), &pgconn.PgError{Code: "08006"})
}

// TestSlowStoreDelaysNoAgent asserts that an agent writes on while the store does not take
// its log, and that the log is complete in the end, with each line once.
func TestSlowStoreDelaysNoAgent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		slow := slowLog{c.store.Querier, make(chan struct{}), make(chan struct{}, 1), new(atomic.Int64)}
		c.store.Querier = slow
		// More than any pipe takes, while the store waits for the gate.
		c.program(t, "talks", `echo first >&2; while ! test -e slow; do sleep 0.01; done; seq 60000 >&2; echo > written; while ! test -e end; do sleep 0.01; done; echo last >&2; echo 1`)
		r := c.create(t, "talks", `{}`)
		c.startAnother(t, 1, time.Minute)
		touch := func(name string) {
			if err := os.WriteFile(c.dir+"/"+name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		<-slow.came
		touch("slow")
		c.waitForFile(t, "written")
		slow.lost.Store(1)
		close(slow.gate)
		waitUntil(t, func() bool { return slow.lost.Load() < 0 })
		touch("end")
		if r := c.ended(t, r.ID); r.Status != runs.Completed {
			t.Errorf("%+v", r)
		}
		text, _, err := c.Log(t.Context(), r.ID, 0)
		lines := strings.Split(text, "\n")
		if err != nil || len(lines) != 60003 || lines[1] != "1" || lines[60000] != "60000" || lines[60001] != "last" {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	})
}

// TestLogDividesNoSecret asserts that no secret is divided between parts of a log that are masked
// separately: neither one in a very long line, nor a block that is printed slowly.
func TestLogDividesNoSecret(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 1)
	for name, n := range map[string]int{"long": 64<<10 - 3, "longer": 128<<10 - 3} {
		c.program(t, name, fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x >&2; printf 's3cret and more\n' >&2; echo 1`, n))
		r := c.ended(t, c.create(t, name, `{}`).ID)
		text, _, err := c.Log(t.Context(), r.ID, 0)
		if text != strings.Repeat("x", n)+"*** and more\n" || err != nil {
			t.Errorf("%d: %d bytes, %v", n, len(text), err)
		}
	}
	c.program(t, "slow", `printf 'first\n%s\nAAAA\n' "-----BEGIN PRIVATE KEY-----" >&2; while ! test -e more; do sleep 0.01; done; printf 'BBBB\n%s\nlast\n' "-----END PRIVATE KEY-----" >&2; echo 1`)
	r := c.create(t, "slow", `{}`)
	waitUntil(t, func() bool {
		text, _, err := c.Log(t.Context(), r.ID, 0)
		return err == nil && text != ""
	})
	if err := os.WriteFile(c.dir+"/more", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.ended(t, r.ID)
	if text, _, err := c.Log(t.Context(), r.ID, 0); text != "first\n***\nlast\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLogOfManyAttempts asserts that the bound of a log holds for all attempts of a run, also those
// of a worker that was lost, and that the log says once that more was left out.
func TestLogOfManyAttempts(t *testing.T) {
	t.Parallel()
	const left = "…\n[what follows is left out: the log keeps 1 MiB]\n"
	c := start(t, t.TempDir()+"/store.db", 0)
	c.program(t, "talks", `echo "attempt $AIRLOCK_ATTEMPT" >&2; exit 1`, `"max_attempts":2`)
	c.program(t, "floods", `yes "attempt $AIRLOCK_ATTEMPT" | head -c 700000 >&2; exit 1`, `"max_attempts":3`)
	// What is kept of it is much shorter than what it printed.
	c.program(t, "leaks", `yes "s3cret and k3y, s3cret and k3y $AIRLOCK_ATTEMPT" | head -c 2000000 >&2; exit 1`, `"max_attempts":3`)
	c.program(t, "lost", `yes "attempt $AIRLOCK_ATTEMPT" | head -c 700000 >&2; echo 1`)
	talks, floods, leaks, lost := c.create(t, "talks", `{}`), c.create(t, "floods", `{}`), c.create(t, "leaks", `{}`), c.create(t, "lost", `{}`)
	c.exec(t, `UPDATE runs SET status = 'running', events = 2, attempt = 1, restarts = 1 WHERE id = $1`, lost.ID)
	c.exec(t, `INSERT INTO run_events (run, n, status, at) VALUES ($1, 2, 'running', 0)`, lost.ID)
	c.exec(t, `INSERT INTO run_log (run, n, text) VALUES ($1, 1, $2)`, lost.ID, strings.Repeat("attempt 1\n", 70_000))
	c.startAnother(t, 4, time.Minute)
	if text, _, err := c.Log(t.Context(), c.ended(t, talks.ID).ID, 0); text != "attempt 1\nattempt 2\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for id, last := range map[string]string{floods.ID: "attempt 2\n", leaks.ID: "*** and *** 1\n", lost.ID: "attempt 2\n"} {
		run := c.ended(t, id)
		text, _, err := c.Log(t.Context(), id, 0)
		kept, isFull := strings.CutSuffix(text, left)
		if err != nil || !isFull || len(text) > 1<<20+200 || strings.Contains(kept, "left out") || !strings.Contains(kept[max(0, len(kept)-100):], last) {
			t.Errorf("%s: %d bytes, %v; the end is %q", run.AgentName, len(text), err, text[max(0, len(text)-200):])
		}
	}
}

// failingLog is a store that cannot read a log as many times as the number in failures.
type failingLog struct {
	store.Querier
	failures *atomic.Int64
}

func (s failingLog) Query(ctx context.Context, each func(store.Row) error, query string, args ...any) error {
	if strings.HasPrefix(query, "SELECT text FROM run_log") && s.failures.Add(-1) >= 0 {
		return &pgconn.PgError{Code: "08006"}
	}
	return s.Querier.Query(ctx, each, query, args...)
}

// TestTroubleBeforeAnAttempt asserts that a run does not fail because the store cannot say for a
// moment what earlier attempts printed.
func TestTroubleBeforeAnAttempt(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 0)
	failing := failingLog{c.store.Querier, new(atomic.Int64)}
	failing.failures.Store(2)
	c.store.Querier = failing
	c.program(t, "again", `test "$AIRLOCK_ATTEMPT" = 2 && echo 1`, `"max_attempts":2`)
	r := c.create(t, "again", `{}`)
	c.startAnother(t, 1, time.Minute)
	if r := c.ended(t, r.ID); r.Status != runs.Completed || failing.failures.Load() > 0 {
		t.Errorf("%+v, %d failures are left", r, failing.failures.Load())
	}
}
