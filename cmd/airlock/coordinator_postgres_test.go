//go:build postgres && linux

package main_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// cluster is a PostgreSQL database with coordinators that carry out nothing themselves,
// and workers, all of them processes of the binary.
type cluster struct {
	t        *testing.T
	dir      string
	server   *storetest.Postgres
	location string
	serves   []*process
	runners  []*process
}

// process is one 'airlock serve' or 'airlock runner'.
type process struct {
	args  []string
	dir   string
	store string // where it finds the database; "" for the cluster's location
	cmd   *exec.Cmd
	url   string // of a coordinator

	mu   sync.Mutex
	said strings.Builder // its log
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// read reads a line of the log, and keeps it for log. ok is false where the log ends.
func (p *process) read(lines *bufio.Scanner) (line string, ok bool) {
	if !lines.Scan() {
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.WriteString(lines.Text() + "\n")
	return lines.Text(), true
}

// newCluster starts a PostgreSQL server, coordinators and workers. When the server is killed, it keeps
// what it has committed. blueprints are the agents, by name.
func newCluster(t *testing.T, coordinators, workers, concurrency int, blueprints map[string]any) *cluster {
	t.Helper()
	c := newDatabase(t, blueprints, "max_connections=200")
	for range coordinators {
		c.serve("")
	}
	for range workers {
		c.runner("", concurrency)
	}
	return c
}

// newDatabase is newCluster without any process, and with settings of the server.
func newDatabase(t *testing.T, blueprints map[string]any, settings ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	var err error
	if c.server, err = storetest.StartPostgres(append(settings, "fsync=off")...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.server.Stop)
	if c.location, err = c.server.NewDatabase(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, b := range blueprints {
		writeFile(t, filepath.Join(c.dir, "agents", name+".json"), jsonText(t, b))
	}
	return c
}

// serve starts a coordinator that finds the database at store; "" for the cluster's location.
func (c *cluster) serve(store string) *process {
	c.t.Helper()
	p := &process{dir: c.dir, store: store, args: []string{"serve", "--addr", "127.0.0.1:0", "--concurrency", "0"}}
	c.serves = append(c.serves, p)
	c.start(p)
	return p
}

// runner starts a worker with a directory of its own.
func (c *cluster) runner(store string, concurrency int) *process {
	c.t.Helper()
	dir := filepath.Join(c.dir, fmt.Sprint("worker", len(c.runners)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		c.t.Fatal(err)
	}
	p := &process{dir: dir, store: store, args: []string{"runner", "--concurrency", strconv.Itoa(concurrency)}}
	c.runners = append(c.runners, p)
	c.start(p)
	return p
}

// start starts a process and waits until it is ready.
func (c *cluster) start(p *process) {
	c.t.Helper()
	p.cmd = exec.Command(binary, append(p.args, "--store", cmp.Or(p.store, c.location), "--agents", filepath.Join(c.dir, "agents"))...)
	p.cmd.Dir, p.cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	started := p.cmd
	c.t.Cleanup(func() { _ = started.Process.Kill(); _ = started.Wait() })
	for lines := bufio.NewScanner(stderr); ; {
		line, ok := p.read(lines)
		if !ok {
			break
		}
		_, rest, serving := strings.Cut(line, "serving on ")
		if serving {
			p.url, _, _ = strings.Cut(rest, ";")
		}
		if serving || strings.Contains(line, "carrying out up to") {
			go func() {
				for ok := true; ok; { // otherwise its log would block the process
					_, ok = p.read(lines)
				}
			}()
			return
		}
	}
	c.t.Fatalf("%v does not start:\n%s", p.args, p.log())
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// create starts a run under a key. It asks the coordinators in turn until one of them does that.
func (c *cluster) create(ctx context.Context, key, body string) (id string, err error) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for n := rand.IntN(len(c.serves)); ; n++ {
		id, err = post(ctx, c.serves[n%len(c.serves)].url, key, body)
		if err == nil {
			return id, nil
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-again.C:
		}
	}
}

func post(ctx context.Context, url, key, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/runs", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var run struct {
		ID      string `json:"run_id"`
		Message string `json:"message"`
	}
	err = json.NewDecoder(res.Body).Decode(&run)
	if err == nil && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %s", res.Status, run.Message)
	}
	return run.ID, err
}

// ended waits until all runs of the database have ended, and returns a connection to it.
func (c *cluster) ended(within time.Duration) *pgx.Conn {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.location)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var open int
		if err := conn.QueryRow(ctx, `SELECT count(*) FROM airlock.runs WHERE ended IS NULL`).Scan(&open); err != nil {
			c.t.Fatal(err)
		}
		if open == 0 {
			return conn
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("%d runs have not ended after %s", open, within)
		case <-tick.C:
		}
	}
}

// count returns the number that a query answers.
func count(t *testing.T, conn *pgx.Conn, query string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPostgresKilled kills workers, coordinators, one of each, and PostgreSQL itself at
// random moments with runs under way: AIRLOCK_CHAOS times as often as usual. Each request
// becomes one run, each run ends once with its result, and its processes die with their
// worker.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	script := `read p; echo $$ >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 0.4' & sleep 0.3; echo "$p"`
	c := newCluster(t, 2, 3, 4, deterministic("slow", script))
	kills := shorttest.Count(10, 2)
	if factor, err := strconv.Atoi(os.Getenv("AIRLOCK_CHAOS")); err == nil {
		kills *= uint64(factor)
	}
	ids := map[string]string{} // parameters by run
	var mu sync.Mutex
	for k := range kills {
		var creating sync.WaitGroup
		for i := range 3 {
			parameters := fmt.Sprintf(`{"n":%d}`, int(k)*10+i)
			creating.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				id, err := c.create(ctx, parameters, `{"agent_name":"slow","parameters":`+parameters+`}`)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("no run of %s: %v", parameters, err)
					return
				}
				if other, twice := ids[id]; twice {
					t.Errorf("the run of %s is %s, which is that of %s", parameters, id, other)
				}
				ids[id] = parameters
			})
		}
		moment := time.NewTimer(time.Duration(rand.IntN(300)) * time.Millisecond)
		<-moment.C
		var victims []*process
		what := []string{"a worker", "a coordinator", "one of each", "PostgreSQL"}[rand.IntN(4)]
		if what == "a worker" || what == "one of each" {
			victims = append(victims, c.runners[rand.IntN(len(c.runners))])
		}
		if what == "a coordinator" || what == "one of each" {
			creating.Wait() // it will have another address, and create reads addresses
			victims = append(victims, c.serves[rand.IntN(len(c.serves))])
		}
		if what == "PostgreSQL" {
			c.server.Kill()
			if err := c.server.Start(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range victims {
			p.kill()
			if p.dir != c.dir {
				eventually(t, func() bool { return len(alive(p.dir)) == 0 }, "processes of runs outlive their worker")
			}
			c.start(p)
		}
		creating.Wait()
	}
	conn := c.ended(2 * time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs`); n != len(ids) {
		t.Errorf("there are %d runs, and %d were asked for", n, len(ids))
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		var status, result, events string
		err := conn.QueryRow(t.Context(), `SELECT status, COALESCE(result, error), (SELECT string_agg(status, ' ' ORDER BY n) FROM airlock.run_events WHERE run = id) FROM airlock.runs WHERE id = $1`, id).Scan(&status, &result, &events)
		if err != nil || status != "completed" || result != ids[id] || events != "pending running completed" {
			t.Errorf("%s of %s is %s with %s; its events are %s; %v", id, ids[id], status, result, events, err)
		}
	}
	for _, p := range c.runners {
		eventually(t, func() bool { return len(alive(p.dir)) == 0 }, "processes outlive their runs")
	}
	t.Logf("%d kills, %d runs, of which %d lost a worker", kills, len(ids), count(t, conn, `SELECT count(*) FROM airlock.runs WHERE restarts > 0`))
}

// TestPostgresShared has two coordinators and three workers share 1,000 runs: each is
// carried out exactly once.
func TestPostgresShared(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, 8, deterministic("once", `echo "$AIRLOCK_RUN_ID" >> begun; cat`))
	total := int(shorttest.Count(1000, 5))
	var creating sync.WaitGroup
	next := make(chan int)
	for range 16 {
		creating.Go(func() {
			for n := range next {
				if _, err := c.create(t.Context(), fmt.Sprint(n), fmt.Sprintf(`{"agent_name":"once","parameters":{"n":%d}}`, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range total {
		next <- n
	}
	close(next)
	creating.Wait()
	conn := c.ended(2 * time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND attempt = 1 AND restarts = 0 AND result = parameters AND events = 3`); n != total {
		t.Errorf("%d of %d runs completed at their first attempt", n, total)
	}
	begun := map[string]int{}
	for _, p := range c.runners {
		raw, err := os.ReadFile(filepath.Join(p.dir, "begun"))
		if err != nil {
			t.Errorf("a worker had nothing to do: %v", err)
		}
		for id := range strings.FieldsSeq(string(raw)) {
			begun[id]++
		}
	}
	if len(begun) != total {
		t.Errorf("%d runs began, want %d", len(begun), total)
	}
	for id, n := range begun {
		if n != 1 {
			t.Errorf("%s began %d times", id, n)
		}
	}
}

// TestPostgresGone has PostgreSQL stay away for longer than a worker's lease. Requests are refused
// with the reason. The worker ends its run before others may take it, and takes it again when the
// database is back.
func TestPostgresGone(t *testing.T) {
	t.Parallel()
	script := `echo $$ >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 60' & while ! test -e gate; do sleep 0.05; done; echo 1`
	c := newCluster(t, 1, 1, 2, deterministic("gated", script))
	body := `{"agent_name":"gated","parameters":{}}`
	id, err := c.create(t.Context(), "first", body)
	if err != nil {
		t.Fatal(err)
	}
	worker := c.runners[0]
	eventually(t, func() bool { return len(alive(worker.dir)) == 2 }, "the run does not begin")
	c.server.Kill()
	for _, path := range []string{"/runs/" + id, "/readyz"} {
		eventually(t, func() bool {
			res, err := http.Get(c.serves[0].url + path)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var answer struct{ Error string }
			return json.NewDecoder(res.Body).Decode(&answer) == nil && res.StatusCode == http.StatusServiceUnavailable && answer.Error == "store_unreachable"
		}, path+" does not say that the store cannot be reached")
	}
	if _, err := post(t.Context(), c.serves[0].url, "second", body); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a second run without the database: %v, want the status 503", err)
	}
	eventually(t, func() bool { return len(alive(worker.dir)) == 0 }, "the run outlives its worker's lease")
	writeFile(t, filepath.Join(worker.dir, "gate"), "")
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.create(t.Context(), "second", body); err != nil {
		t.Fatal(err)
	}
	conn := c.ended(time.Minute)
	if n := count(t, conn, `SELECT count(*) FROM airlock.runs WHERE status = 'completed' AND result = '1'`); n != 2 {
		t.Errorf("%d of 2 runs completed", n)
	}
}

// TestPostgresBearsHostileRequests sends the same requests as TestCoordinatorBearsHostileRequests,
// and expects the same answers.
func TestPostgresBearsHostileRequests(t *testing.T) {
	t.Parallel()
	c := newDatabase(t, nil)
	bearHostileRequests(t, c.location)
}
