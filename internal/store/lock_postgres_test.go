//go:build postgres

package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// startServer starts a server that a test may stop and start, and returns a database on it.
func startServer(t *testing.T) (*storetest.Postgres, string) {
	t.Helper()
	server, err := storetest.StartPostgres("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	location, err := server.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return server, location
}

// interrupt ends the connections that hold a lock. It uses a connection of its own, because those
// of other stores may not have noticed yet that the server was restarted.
func interrupt(t *testing.T, location string) {
	t.Helper()
	n, err := open(t, location).Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if err != nil || n == 0 {
		t.Fatalf("%d connections were interrupted, %v", n, err)
	}
}

func lock(t *testing.T, s *store.Store, name string) (release func()) {
	t.Helper()
	release, err := s.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestALockSurvivesItsConnectionIfNobodyElseTakesIt(t *testing.T) {
	server, location := startServer(t)
	a, b := open(t, location), open(t, location)
	lock(t, a, "one")
	for name, disturb := range map[string]func(){
		"nothing":         func() {},
		"an interruption": func() { interrupt(t, location) },
		"a restart": func() {
			server.Kill()
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		disturb()
		if err := a.Hold(t.Context()); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
		if _, err := b.Lock(t.Context(), "one"); !errors.Is(err, store.ErrLocked) {
			t.Errorf("after %s, another store takes the lock: %v", name, err)
		}
	}
	server.Kill()
	for { // its processes end a moment later
		waits, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := a.Hold(waits)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			t.Fatalf("without a server: %v", err)
		}
	}
}

// TestAWaitForTheDatabaseIsReported stops the server, waits for the report, and starts it again.
func TestAWaitForTheDatabaseIsReported(t *testing.T) {
	server, location := startServer(t)
	s := open(t, location)
	reports := make(chan error, 1000) // a machine that is slow makes more of them
	s.ReportWaits(func(err error) { reports <- err })
	lock(t, s, "one")
	if err := s.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	var reported atomic.Bool
	held := make(chan error, 1)
	go func() {
		for { // the processes of the server end a moment later
			if err := s.Hold(t.Context()); err != nil || reported.Load() {
				held <- err
				return
			}
		}
	}()
	why := <-reports
	for why == nil {
		why = <-reports
	}
	reported.Store(true)
	if store.Trouble(why) != store.Unreachable || !strings.Contains(why.Error(), "does not answer: ") || !strings.Contains(why.Error(), "see to the database") {
		t.Errorf("the report is %v", why)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Errorf("after the server is back: %v", err)
	}
	again := <-reports
	for again != nil {
		again = <-reports
	}
	// Now with a caller that stops waiting.
	server.Kill()
	waits, cancel := context.WithCancel(t.Context())
	go func() {
		<-reports
		cancel()
	}()
	for {
		if err := s.Hold(waits); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a wait that was ended: %v", err)
			}
			return
		}
	}
}

// withDatabase runs a test with an empty database on the server of all tests.
func withDatabase(t *testing.T, test func(t *testing.T, location string)) {
	storetest.Each(t, func(t *testing.T, location string) {
		if store.IsURL(location) {
			test(t, location)
		}
	})
}

func TestALockIsLostToWhoeverTookItMeanwhile(t *testing.T) {
	for _, released := range []bool{false, true} {
		withDatabase(t, func(t *testing.T, location string) {
			a, b := open(t, location), open(t, location)
			lock(t, a, "one")
			interrupt(t, location)
			release := lock(t, b, "one")
			if released {
				release()
			}
			for range 2 {
				if err := a.Hold(t.Context()); !errors.Is(err, store.ErrLost) || !a.Lasts(err) {
					t.Errorf("released %t: %v", released, err)
				}
			}
			if held, err := b.IsLocked(t.Context(), "one"); err != nil || held == released {
				t.Errorf("released %t: the lock is held: %t, %v", released, held, err)
			}
			a.Close()
			if err := b.Hold(t.Context()); err != nil {
				t.Errorf("released %t: the one that has it: %v", released, err)
			}
		})
	}
}

// TestALockIsTakenBackFromItsOwnDeadConnection cuts a connection in such a way that the server
// does not notice.
func TestALockIsTakenBackFromItsOwnDeadConnection(t *testing.T) {
	withDatabase(t, func(t *testing.T, location string) {
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		line := newLine(t, u.Host)
		u.Host = line.Addr().String()
		a, b := open(t, u.String()), open(t, location)
		lock(t, a, "one")
		line.cut()
		if err := a.Hold(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := b.Lock(t.Context(), "one"); !errors.Is(err, store.ErrLocked) {
			t.Errorf("another store takes the lock: %v", err)
		}
	})
}

// line passes connections on to a server. They can be cut on the client's side alone.
type line struct {
	net.Listener
	mu      sync.Mutex
	clients []net.Conn
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	var servers []net.Conn
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		for _, s := range servers {
			_ = s.Close()
		}
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			l.mu.Lock()
			l.clients, servers = append(l.clients, client), append(servers, there)
			l.mu.Unlock()
			go func() {
				_, _ = io.Copy(there, client)
				if l.has(client) { // it was not cut
					_ = there.Close()
				}
			}()
			go func() { _, _ = io.Copy(client, there) }()
		}
	}()
	return l
}

func (l *line) has(client net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.clients, client)
}

// cut ends all connections of clients.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clients := l.clients
	l.clients = nil
	for _, c := range clients {
		_ = c.Close()
	}
}
