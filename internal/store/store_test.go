package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

var things = store.Schema{Package: "things", Steps: []store.Step{
	store.Both(`CREATE TABLE things (id TEXT PRIMARY KEY, n BIGINT NOT NULL); CREATE INDEX things_n ON things (n)`),
	{SQLite: `ALTER TABLE things ADD COLUMN note TEXT NOT NULL DEFAULT 'lite'`, Postgres: `ALTER TABLE things ADD COLUMN note TEXT NOT NULL DEFAULT 'pg'`},
}}

func open(t *testing.T, location string, schemas ...store.Schema) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), location, schemas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestTransactions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx, s := t.Context(), open(t, location, things)
		failure := errors.New("no")
		for _, c := range []struct {
			id  string
			err error
		}{{"kept", nil}, {"undone", failure}} {
			err := s.Transact(ctx, func(tx store.Tx) error {
				// The number of a parameter counts, not where it is in the statement.
				n, err := tx.Exec(ctx, `INSERT INTO things (id, n) VALUES ($2, $1)`, 7, c.id)
				if err != nil || n != 1 {
					t.Errorf("Exec = %d, %v, want 1 row", n, err)
				}
				return c.err
			})
			if !errors.Is(err, c.err) {
				t.Errorf("Transact = %v, want %v", err, c.err)
			}
		}
		ids, err := store.List(ctx, s, store.ScanOne[string], `SELECT id FROM things ORDER BY id`)
		if err != nil || strings.Join(ids, " ") != "kept" {
			t.Errorf("rows %q, %v, want only the committed one", ids, err)
		}
		var note string
		if err := s.QueryRow(ctx, `SELECT note FROM things WHERE id = $1`, "undone").Scan(&note); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a missing row: %v, want ErrNotFound", err)
		}
		var ms int64
		if err := s.QueryRow(ctx, `SELECT `+s.Now()).Scan(&ms); err != nil || ms < 1_700_000_000_000 {
			t.Errorf("the database's clock: %d, %v, want milliseconds", ms, err)
		}
	})
}

func TestOpenExistingMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "airlock.db")
	_, err := store.OpenExisting(t.Context(), path, things)
	if !errors.Is(err, store.ErrAbsent) || err.Error() != "there is no store at "+path {
		t.Errorf("OpenExisting without a store: %v", err)
	}
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenExisting has made something: %v", err)
	}
	open(t, path, things).Close()
	s, err := store.OpenExisting(t.Context(), path, things)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestMigrationsKeepWhatIsThere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		first := things
		first.Steps = things.Steps[:1]
		s := open(t, location, first)
		if _, err := s.Exec(ctx, `INSERT INTO things (id, n) VALUES ('old', 1)`); err != nil {
			t.Fatal(err)
		}
		s.Close()

		other := store.Schema{Package: "others", Steps: []store.Step{store.Both(`CREATE TABLE others (id TEXT PRIMARY KEY)`)}}
		var wg sync.WaitGroup
		for range 4 { // processes that are updated at once
			wg.Go(func() {
				s, err := store.Open(ctx, location, things, other)
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				s.Close()
			})
		}
		wg.Wait()
		var note string
		want := "lite"
		if strings.HasPrefix(location, "postgres:") {
			want = "pg"
		}
		if err := open(t, location, things).QueryRow(ctx, `SELECT note FROM things WHERE id = 'old'`).Scan(&note); err != nil || note != want {
			t.Errorf("the row after the second step: %q, %v, want %q", note, err, want)
		}

		_, err := store.Open(ctx, location, first)
		if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "things have version 2, and this Airlock knows up to 1: update Airlock") {
			t.Errorf("Open of a newer store: %v", err)
		}
	})
}

func TestAFailedMigrationChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		broken := store.Schema{Package: "things", Steps: []store.Step{things.Steps[0], store.Both(`CREATE TABLE more (id TEXT); INSERT INTO nowhere VALUES (1)`)}}
		if _, err := store.Open(t.Context(), location, broken); err == nil || !strings.Contains(err.Error(), "step 2 of the tables of things") {
			t.Fatalf("Open = %v, want the step that failed", err)
		}
		// The first step has not been taken either: another one can take its place.
		s := open(t, location, store.Schema{Package: "things", Steps: []store.Step{store.Both(`CREATE TABLE things (other TEXT)`)}})
		if _, err := s.Exec(t.Context(), `INSERT INTO things (other) VALUES ('x')`); err != nil {
			t.Error(err)
		}
	})
}

func TestLocks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		a, b := open(t, location), open(t, location)
		release, err := a.Lock(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Lock(ctx, "one"); !errors.Is(err, store.ErrLocked) {
			t.Errorf("a lock that is held: %v, want ErrLocked", err)
		}
		if _, err := b.Lock(ctx, "two"); err != nil {
			t.Errorf("another lock: %v", err)
		}
		if held, err := b.IsLocked(ctx, "one"); err != nil || !held {
			t.Errorf("a lock that is held is free: %v, %v", held, err)
		}
		release()
		release()
		if held, err := b.IsLocked(ctx, "one"); err != nil || held {
			t.Errorf("a lock that was released is held: %v, %v", held, err)
		}
		if _, err := b.Lock(ctx, "one"); err != nil {
			t.Errorf("a lock that was released: %v", err)
		}
		b.Close()
		if _, err := a.Lock(ctx, "two"); err != nil {
			t.Errorf("a lock of a store that was closed: %v", err)
		}
	})
}

func TestSQLiteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a store #1?.db")
	s := open(t, path, things)
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: mode %v, %v, want 0700", info.Mode(), err)
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "10000"} {
		var got string
		if err := s.QueryRow(t.Context(), `PRAGMA `+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v, want %s", pragma, got, err, want)
		}
	}
	if n := s.SQLite().Stats().MaxOpenConnections; n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	s.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path, things)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("a file that others could read: mode %v, want 0600", info.Mode())
	}
}

func TestWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("a letter to the editor\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	s := open(t, foreign)
	for _, statement := range []string{`PRAGMA application_id = 0`, `CREATE TABLE songs (id TEXT)`} {
		if _, err := s.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	for location, want := range map[string]string{
		text:                            "it is not a store: name another file with --store",
		dir:                             "it is not a regular file: name another with --store",
		foreign:                         "it is a database of another program: name another file with --store",
		filepath.Join(text, "x.db"):     "not a directory",
		"postgres://u:secret@[::1":      "write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE",
		"postgres://u:secret@[::1]:1/x": "the store postgres://[::1]:1/x cannot be reached",
	} {
		_, err := store.Open(t.Context(), location, things)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%s) = %v, want %q", location, err, want)
		}
	}
}

func TestUsualLocation(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/home/u"}, "/home/u/.local/state/airlock/airlock.db"},
		{map[string]string{"HOME": "/home/u", "XDG_STATE_HOME": "/s"}, "/s/airlock/airlock.db"},
		{map[string]string{"HOME": "/home/u", "XDG_STATE_HOME": "relative"}, "/home/u/.local/state/airlock/airlock.db"},
		{nil, ""},
	} {
		got, err := store.Location("", func(name string) string { return c.env[name] })
		if filepath.ToSlash(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("Location of %v = %q, %v, want %q", c.env, got, err, c.want)
		}
	}
}

func TestTheOneConnectionIsGivenBack(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), things)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Transact(ctx, func(store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Transact with an ended context: %v", err)
	}
	stop := errors.New("enough")
	for range 3 {
		err := s.Query(t.Context(), func(store.Row) error { return stop }, `SELECT 1 UNION SELECT 2`)
		if !errors.Is(err, stop) {
			t.Errorf("Query = %v, want the error of its function", err)
		}
	}
}

// TestTroubleNamesTheStore asserts that the error about trouble names the store, however the
// statement is run.
func TestTroubleNamesTheStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, things)
	if _, err := s.Exec(t.Context(), `PRAGMA query_only = 1`); err != nil {
		t.Fatal(err)
	}
	const write = `INSERT INTO things (id, n) VALUES ('a', 1) RETURNING n`
	for way, run := range map[string]func() error{
		"Exec": func() error {
			_, err := s.Exec(t.Context(), write)
			return err
		},
		"QueryRow": func() error {
			var n int
			return s.QueryRow(t.Context(), write).Scan(&n)
		},
		"Query": func() error { return s.Query(t.Context(), func(store.Row) error { return nil }, write) },
		"Transact": func() error {
			return s.Transact(t.Context(), func(tx store.Tx) error {
				var n int
				return tx.QueryRow(t.Context(), write).Scan(&n)
			})
		},
	} {
		if err := run(); store.Trouble(err) != store.Unreachable || !strings.HasPrefix(err.Error(), "the store "+path+": ") {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// TestWaitingTooLongForSQLiteIsALock asserts that the error of a transaction that has waited too long
// for its turn is about a lock, and not about a store that cannot be reached.
func TestWaitingTooLongForSQLiteIsALock(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	err = st.Transact(t.Context(), func(store.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err := st.Transact(ctx, func(store.Tx) error { return nil })
		if store.Trouble(err) != store.Busy || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "see which one uses it") {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTroubleOfPostgres asserts which kind of trouble each error of Postgres is. Only a full disk
// counts as a full store: a server that is out of memory has room for what is to be written.
func TestTroubleOfPostgres(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]store.Kind{
		"53100": store.Full, "53200": store.Unreachable, "53300": store.Unreachable, "57P01": store.Unreachable, "40001": store.Busy, "55P03": store.Busy, "XX001": store.Damaged, "23505": "",
	} {
		if got := store.Trouble(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
