//go:build postgres && linux

package main_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// databaseProxy is a TCP proxy in front of a database, which can hang: then it accepts connections
// and passes nothing on, in either direction, until it is released.
type databaseProxy struct {
	to    string // the database's address
	store string // the database's URL through the proxy
	delay time.Duration

	mu     sync.Mutex
	passes *sync.Cond
	hung   bool
	conns  map[net.Conn]bool
}

// newDatabaseProxy starts a proxy in front of the database at location, which passes each piece on
// after a delay.
func newDatabaseProxy(t *testing.T, location string, delay time.Duration) *databaseProxy {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &databaseProxy{to: u.Host, delay: delay, conns: map[net.Conn]bool{}}
	n.passes = sync.NewCond(&n.mu)
	u.Host = listener.Addr().String()
	n.store = u.String()
	t.Cleanup(func() {
		listener.Close()
		n.hang(false)
		n.cut()
	})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go n.connect(near)
		}
	}()
	return n
}

func (n *databaseProxy) connect(near net.Conn) {
	far, err := net.Dial("tcp", n.to)
	if err != nil {
		near.Close()
		return
	}
	n.mu.Lock()
	n.conns[near], n.conns[far] = true, true
	n.mu.Unlock()
	go n.pass(near, far)
	go n.pass(far, near)
}

func (n *databaseProxy) pass(from, to net.Conn) {
	defer to.Close()
	piece := make([]byte, 32<<10)
	for {
		count, err := from.Read(piece)
		n.mu.Lock()
		for n.hung {
			n.passes.Wait()
		}
		n.mu.Unlock()
		if n.delay > 0 {
			later := time.NewTimer(n.delay)
			<-later.C
		}
		if _, failed := to.Write(piece[:count]); err != nil || failed != nil {
			return
		}
	}
}

// hang makes the proxy hang, or ends that: then the proxy passes on the bytes that it kept.
func (n *databaseProxy) hang(hung bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hung = hung
	n.passes.Broadcast()
}

// cut closes all connections.
func (n *databaseProxy) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.conns {
		conn.Close()
	}
	clear(n.conns)
}

const gated = `echo $$ >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 60' & while ! test -e gate; do sleep 0.05; done; echo 1`

// answerOf sends a request with the idempotency key "one", and returns the status and the body of
// the answer, which must come within 45 seconds.
func answerOf(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", "one")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s has no answer: %v", method, url, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// TestPostgresNetworkHangs has the network of a worker hang and then that of a coordinator, while
// their connections stay open. The worker ends its run before another takes it, requests are
// answered, and a record that reaches the database late is there once.
func TestPostgresNetworkHangs(t *testing.T) {
	t.Parallel()
	c := newDatabase(t, deterministic("gated", gated), "max_connections=50")
	front, back := newDatabaseProxy(t, c.location, 0), newDatabaseProxy(t, c.location, 0)
	coordinator, far := c.serve(front.store), c.runner(back.store, 2)
	body := `{"agent_name":"gated","parameters":{}}`
	if _, err := c.create(t.Context(), "first", body); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(alive(far.dir)) == 2 }, "the run does not begin")
	near := c.runner("", 2)
	back.hang(true)
	eventually(t, func() bool { return len(alive(far.dir)) == 0 }, "the run outlives its worker's lease")
	if log := far.log(); !strings.Contains(log, "gave no sign of life in time: it ends its runs") || !strings.Contains(log, "see to the database and the way to it") {
		t.Errorf("the worker says\n%s", log)
	}
	eventually(t, func() bool { return len(alive(near.dir)) == 2 }, "the other worker does not take the run")
	back.hang(false)

	front.hang(true)
	for _, request := range [][3]string{{"GET", "/runs", ""}, {"POST", "/runs", body}} {
		if status, answer := answerOf(t, request[0], coordinator.url+request[1], request[2]); status != 503 || !strings.Contains(answer, `"error":"store_unreachable"`) ||
			!strings.Contains(answer, "try again") || strings.Contains(answer, "Idempotency-Key") != (request[0] == "POST") { // only a POST records a run
			t.Errorf("%s %s: %d %s", request[0], request[1], status, answer)
		}
	}
	if status, answer := answerOf(t, "GET", coordinator.url+"/healthz", ""); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	front.hang(false)
	eventually(t, func() bool {
		status, _ := answerOf(t, "POST", coordinator.url+"/runs", body)
		return status == 201
	}, "the coordinator does not come back")
	for _, p := range c.runners {
		writeFile(t, filepath.Join(p.dir, "gate"), "")
	}
	conn := c.ended(time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND result = '1'`); n != 2 {
		t.Errorf("%d of 2 runs completed", n)
	}
	if n := count(t, conn, `SELECT count(*) FROM airlock.run_events WHERE status = 'completed'`); n != 2 {
		t.Errorf("2 runs ended %d times", n)
	}
	near.kill()
	if _, err := c.create(t.Context(), "last", body); err != nil {
		t.Fatal(err)
	}
	c.ended(time.Minute) // by the worker whose network had hung
	if !strings.Contains(far.log(), "takes runs again") {
		t.Errorf("the worker says\n%s", far.log())
	}
}

// TestPostgresNetworkBreaks breaks connections over a slow network again and again while runs are
// created and carried out: each is recorded once and ends once.
func TestPostgresNetworkBreaks(t *testing.T) {
	t.Parallel()
	c := newDatabase(t, deterministic("echo", `sleep 0.1; cat`), "max_connections=50")
	slow := newDatabaseProxy(t, c.location, 10*time.Millisecond)
	c.serve(slow.store)
	c.runner(slow.store, 4)
	c.runner(slow.store, 4)
	const total = 40
	stop := make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		tick := time.NewTicker(700 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				slow.cut()
			case <-stop:
				return
			}
		}
	})
	ids := map[string]string{}
	for n := range total {
		parameters := fmt.Sprintf(`{"n":%d}`, n)
		id, err := c.create(t.Context(), parameters, `{"agent_name":"echo","parameters":`+parameters+`}`)
		if err != nil || ids[id] != "" {
			t.Fatalf("%s is %s, as is %s: %v", parameters, id, ids[id], err)
		}
		ids[id] = parameters
	}
	close(stop)
	cutting.Wait()
	conn := c.ended(2 * time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND result = parameters`); n != total {
		t.Errorf("%d of %d runs completed", n, total)
	}
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs`); n != total {
		t.Errorf("there are %d runs, and %d were asked for", n, total)
	}
	if n := count(t, conn, `SELECT count(*) FROM airlock.run_events WHERE status = 'completed'`); n != total {
		t.Errorf("%d runs ended %d times", total, n)
	}
}

// TestPostgresIsFull asserts what happens while PostgreSQL accepts no further connection. A new
// process ends with an error that says what to do. A running coordinator refuses requests and logs
// that error. Runs complete once there are connections again.
func TestPostgresIsFull(t *testing.T) {
	t.Parallel()
	c := newDatabase(t, deterministic("gated", gated), "max_connections=20")
	coordinator, worker := c.serve(""), c.runner("", 2)
	body := `{"agent_name":"gated","parameters":{}}`
	if _, err := c.create(t.Context(), "first", body); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(alive(worker.dir)) == 2 }, "the run does not begin")
	// The processes lose their connections, and others take them.
	c.server.Kill()
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	var taken []*pgx.Conn
	release := func() {
		for _, conn := range taken {
			_ = conn.Close(context.WithoutCancel(t.Context()))
		}
		taken = nil
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	// fill takes every free connection, and reports whether the server then refuses one.
	fill := func() bool {
		for {
			conn, err := pgx.Connect(ctx, c.location)
			if err != nil {
				return strings.Contains(err.Error(), "53300")
			}
			taken = append(taken, conn)
			// End the connections of the processes, so that they have none.
			if _, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'airlock'`); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, fill, "the server is not full")
	refused := run(t, c.dir, nil, "", "runs", "list", "--store", c.location)
	if refused.code == 0 || !strings.Contains(refused.stderr, "raise max_connections") {
		t.Errorf("%d: %s", refused.code, refused.stderr)
	}
	eventually(t, func() bool {
		fill()
		status, answer := answerOf(t, "GET", coordinator.url+"/runs", "")
		return status == 503 && strings.Contains(answer, `"error":"store_unreachable"`) && strings.Contains(coordinator.log(), "raise max_connections")
	}, "the coordinator does not say that it has no connection")
	release()
	if _, err := c.create(t.Context(), "second", body); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(worker.dir, "gate"), "")
	conn := c.ended(time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND result = '1'`); n != 2 {
		t.Errorf("%d of 2 runs completed", n)
	}
}

// TestPostgresIsSlow has the table of runs locked for longer than anybody waits: requests are
// answered, the worker keeps its run, and its end is recorded when the table is free.
func TestPostgresIsSlow(t *testing.T) {
	t.Parallel()
	c := newDatabase(t, deterministic("gated", gated), "max_connections=50")
	coordinator, worker := c.serve(""), c.runner("", 2)
	body := `{"agent_name":"gated","parameters":{}}`
	if _, err := c.create(t.Context(), "first", body); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(alive(worker.dir)) == 2 }, "the run does not begin")
	conn, err := pgx.Connect(t.Context(), c.location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE airlock.runs IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(worker.dir, "gate"), "")
	eventually(t, func() bool { return len(alive(worker.dir)) == 0 }, "the run does not end")
	for _, request := range [][3]string{{"GET", "/runs", ""}, {"POST", "/runs", body}} {
		if status, answer := answerOf(t, request[0], coordinator.url+request[1], request[2]); status != 503 || !strings.Contains(answer, `"error":"store_unreachable"`) {
			t.Errorf("%s %s: %d %s", request[0], request[1], status, answer)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.create(t.Context(), "one", body); err != nil {
		t.Fatal(err)
	}
	ended := c.ended(time.Minute)
	if n := count(t, ended, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND result = '1' AND attempt = 1 AND restarts = 0`); n != 2 {
		t.Errorf("%d of 2 runs completed at the first attempt", n)
	}
}
