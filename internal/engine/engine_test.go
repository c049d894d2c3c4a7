package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if location := os.Getenv("ENGINE_TEST_VICTIM"); location != "" {
		victim(location)
		return
	}
	shorttest.LeaveOut( // these start several engines
		"TestClosingLogsNoError", "TestRecoverTakesWhatAReplacedEngineTook", "TestOneProcessAnExecutor",
	)
	os.Exit(storetest.Main(m))
}

var marks = store.Schema{Package: "marks", Steps: []store.Step{store.Both(`CREATE TABLE marks (workflow TEXT NOT NULL, what TEXT NOT NULL)`)}}

func openStore(t *testing.T, location string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), location, marks)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// open opens an engine that the test's end closes.
func open(t *testing.T, location string, cfg engine.Config) *engine.Engine {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	e, err := engine.Open(context.WithoutCancel(t.Context()), openStore(t, location), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func enqueue(t *testing.T, e *engine.Engine, r engine.Request) {
	t.Helper()
	if err := e.Store().Transact(t.Context(), func(tx store.Tx) error { return e.Enqueue(tx, r) }); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, e *engine.Engine, to, message, key string) {
	t.Helper()
	if err := e.Store().Transact(t.Context(), func(tx store.Tx) error { return e.Send(tx, to, message, key) }); err != nil {
		t.Fatal(err)
	}
}

// mark writes a row in a transaction of the workflow.
func mark(x *engine.Execution, name, what string) error {
	_, err := engine.Transaction(x, name, func(ctx context.Context, tx store.Tx) (bool, error) {
		_, err := tx.Exec(ctx, `INSERT INTO marks (workflow, what) VALUES ($1, $2)`, x.ID(), what)
		return true, err
	})
	return err
}

// recordedRows returns what a workflow has marked, separated by spaces.
func recordedRows(t *testing.T, st *store.Store, workflow string) string {
	t.Helper()
	all, err := store.List(t.Context(), st, store.ScanOne[string], `SELECT what FROM marks WHERE workflow = $1`, workflow)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// listen is a workflow that marks each message until one says "end".
func listen(x *engine.Execution, input string) error {
	if err := mark(x, "begin", "began-"+input); err != nil {
		return err
	}
	for {
		message, ok, err := x.Receive(time.Hour)
		if err != nil {
			return err
		}
		if !ok {
			message = "silence"
		}
		if err := mark(x, "heard", message); err != nil {
			return err
		}
		if message == "end" {
			return nil
		}
	}
}

var listening = engine.Config{Executor: "here", Queues: []engine.Queue{{Name: "q", Poll: 10 * time.Millisecond}},
	Workflows: []engine.Workflow{{Name: "listen", Run: listen}, {Name: "fail", Run: func(*engine.Execution, string) error { return errors.New("no luck") }}}}

// running returns the configuration "listening", with the function run as its only workflow.
func running(name string, run func(x *engine.Execution, input string) error) engine.Config {
	cfg := listening
	cfg.Workflows = []engine.Workflow{{Name: name, Run: run}}
	return cfg
}

// TestRecoverTakesWhatAReplacedEngineTook records in the store that a workflow runs under the
// engine's name. An engine that was replaced leaves such a record. It asserts that Recover takes up
// this workflow, and not the one that runs here.
func TestRecoverTakesWhatAReplacedEngineTook(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		began := make(chan struct{}, 2)
		e := open(t, location, running("listen", func(x *engine.Execution, input string) error {
			began <- struct{}{}
			return listen(x, input)
		}))
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: "here", Input: "1"})
		enqueue(t, e, engine.Request{Queue: "elsewhere", Workflow: "listen", ID: "taken", Input: "1"}) // nobody looks there
		<-began
		table := "dbos.workflow_status"
		if !store.IsURL(location) {
			table = "workflow_status"
		}
		if _, err := e.Store().Exec(t.Context(), `UPDATE `+table+` SET status = 'PENDING', executor_id = 'here', queue_name = 'q' WHERE workflow_uuid = 'taken'`); err != nil {
			t.Fatal(err)
		}
		if n, err := e.Recover(); n != 1 || err != nil {
			t.Fatalf("%d workflows, %v", n, err)
		}
		for _, id := range []string{"here", "taken"} {
			send(t, e, id, "end", id)
			if state := wait(t, e, id); state.Status != engine.Done {
				t.Errorf("%s: %+v", id, state)
			}
			if got := recordedRows(t, e.Store(), id); got != "began-1 end" {
				t.Errorf("%s: %s", id, got)
			}
		}
		if n, err := e.Recover(); n != 0 || err != nil {
			t.Errorf("%d workflows at the end, %v", n, err)
		}
	})
}

func wait(t *testing.T, e *engine.Engine, id string) engine.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	state, err := e.Wait(ctx, id)
	if err != nil {
		t.Fatalf("waiting for %s: %v", id, err)
	}
	return state
}

func TestAWorkflow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		e := open(t, location, listening)
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: "w1", Input: "x"})
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: "w1", Input: "again"}) // not run: w1 is enqueued already
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "fail", ID: "w2"})

		client := open(t, location, engine.Config{}) // another process, which runs nothing
		send(t, client, "w1", "a", "k1")
		send(t, client, "w1", "a", "k1") // a repetition
		send(t, client, "w1", "end", "k2")
		if state := wait(t, client, "w1"); state.Status != engine.Done {
			t.Errorf("w1 ended as %v", state)
		}
		if got := recordedRows(t, client.Store(), "w1"); got != "began-x a end" {
			t.Errorf("w1 recorded %q", got)
		}
		if state := wait(t, e, "w2"); state.Status != engine.Failed || state.Err == nil || !strings.Contains(state.Err.Error(), "no luck") {
			t.Errorf("w2 ended as %+v, want the error of its function", state)
		}

		undone := errors.New("undone")
		err := e.Store().Transact(t.Context(), func(tx store.Tx) error {
			return errors.Join(e.Enqueue(tx, engine.Request{Queue: "q", Workflow: "listen", ID: "w3"}), undone)
		})
		if states, listErr := e.States("w3"); !errors.Is(err, undone) || listErr != nil || len(states) != 0 {
			t.Errorf("a transaction that was undone enqueued %v (%v, %v)", states, err, listErr)
		}
		err = e.Store().Transact(t.Context(), func(tx store.Tx) error { return client.Send(tx, "w3", "a", "k") })
		if !errors.Is(err, engine.ErrNoWorkflow) {
			t.Errorf("a message to nobody: %v, want ErrNoWorkflow", err)
		}
		if err := e.Delete("w1"); err != nil {
			t.Fatal(err)
		}
		if states, err := e.States("w1", "w2"); err != nil || len(states) != 1 {
			t.Errorf("after w1 was deleted: %v, %v", states, err)
		}
	})
}

func TestStepsAndPanics(t *testing.T) {
	t.Parallel()
	var outside atomic.Int64
	cfg := running("steps", func(x *engine.Execution, _ string) error {
		n, err := engine.Step(x, "count", func(context.Context) (int64, error) { return outside.Add(1), nil })
		if err != nil {
			return err
		}
		if _, err := engine.Step(x, "panic", func(context.Context) (int, error) { panic("oh") }); err == nil {
			return errors.New("a panic did not become an error")
		}
		_, err = engine.Transaction(x, "undone", func(ctx context.Context, tx store.Tx) (int, error) {
			_, _ = tx.Exec(ctx, `INSERT INTO marks (workflow, what) VALUES ('steps', 'undone')`)
			panic("oh")
		})
		if err == nil {
			return errors.New("a panic in a transaction did not become an error")
		}
		if _, _, err := x.Receive(time.Hour); err != nil {
			return err
		}
		return mark(x, "counted", fmt.Sprint(n))
	})
	location := filepath.Join(t.TempDir(), "s.db")
	e := open(t, location, cfg)
	enqueue(t, e, engine.Request{Queue: "q", Workflow: "steps", ID: "steps"})
	for outside.Load() == 0 {
		if states, err := e.States("steps"); err != nil || states["steps"].Status.Final() {
			t.Fatalf("%v, %v", states, err)
		}
	}
	e.Close() // the workflow goes on later, and repeats no step
	e = open(t, location, cfg)
	send(t, e, "steps", "go", "k")
	if state := wait(t, e, "steps"); state.Status != engine.Done {
		t.Errorf("it ended as %+v", state)
	}
	if got := recordedRows(t, e.Store(), "steps"); got != "1" {
		t.Errorf("it recorded %q, want one count and nothing of what was undone", got)
	}
}

// A workflow whose process is interrupted has not ended: the next process resumes it.
func TestAnInterruptionEndsNoWorkflow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		var log strings.Builder
		ctx, interrupt := context.WithCancel(t.Context())
		cfg := listening
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		e, err := engine.Open(ctx, openStore(t, location), cfg)
		if err != nil {
			t.Fatal(err)
		}
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: "w", Input: "x"})
		waitForRecord(t, e.Store(), "w", "began-x")
		interrupt()
		<-e.Done()
		if err := e.Cause(); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended because of %v", err)
		}
		e.Close()
		if strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("the log:\n%s", log.String())
		}

		e = open(t, location, listening)
		send(t, e, "w", "end", "k")
		if state := wait(t, e, "w"); state.Status != engine.Done {
			t.Errorf("it ended as %+v", state)
		}
	})
}

// What DBOS still tries while the engine is being closed fails. These failures are not logged as
// errors.
func TestClosingLogsNoError(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		for i := range 20 {
			var log strings.Builder
			cfg := listening
			cfg.Queues = []engine.Queue{{Name: "q", Poll: time.Millisecond}}
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			e, err := engine.Open(t.Context(), openStore(t, location), cfg)
			if err != nil {
				t.Fatal(err)
			}
			enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: fmt.Sprint(i), Input: "x"})
			waitForRecord(t, e.Store(), fmt.Sprint(i), "began-x")
			e.Close()
			if strings.Contains(log.String(), "level=ERROR") {
				t.Fatalf("the log:\n%s", log.String())
			}
		}
	})
}

// A store that cannot be written ends the engine, and no workflow.
func TestAFullStoreEndsNoWorkflow(t *testing.T) {
	t.Parallel()
	location := filepath.Join(t.TempDir(), "s.db")
	cfg := running("write", func(x *engine.Execution, _ string) error {
		if _, _, err := x.Receive(time.Hour); err != nil {
			return err
		}
		_, err := engine.Transaction(x, "much", func(ctx context.Context, tx store.Tx) (int64, error) {
			return tx.Exec(ctx, `INSERT INTO marks (workflow, what) VALUES ('w', hex(zeroblob(1000000)))`)
		})
		return err
	})
	e := open(t, location, cfg)
	enqueue(t, e, engine.Request{Queue: "q", Workflow: "write", ID: "w"})
	var pages int
	if err := e.Store().QueryRow(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Store().Exec(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+100)); err != nil {
		t.Fatal(err)
	}
	send(t, e, "w", "now", "k")
	<-e.Done()
	if err := e.Cause(); store.Trouble(err) != store.Full || !strings.Contains(err.Error(), location+" cannot grow, because its disk is full: make room") {
		t.Errorf("it ended because of %v", err)
	}
	e.Close()

	e = open(t, location, cfg)
	if state := wait(t, e, "w"); state.Status != engine.Done {
		t.Errorf("it ended as %+v", state)
	}
	if got := recordedRows(t, e.Store(), "w"); len(got) != 2_000_000 {
		t.Errorf("it recorded %d characters", len(got))
	}
}

func TestOneProcessAnExecutor(t *testing.T) {
	t.Parallel()
	location := filepath.Join(t.TempDir(), "s.db")
	first := open(t, location, listening)
	_, err := engine.Open(t.Context(), openStore(t, location), engine.Config{Executor: "here", Logger: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, engine.ErrRunning) {
		t.Errorf("a second process: %v, want ErrRunning", err)
	}
	first.Close()
	open(t, location, listening)
}

// TestEnginesOfANewStoreOpenAtOnce asserts that several processes may open engines on a store that
// lacks the engine's tables.
func TestEnginesOfANewStoreOpenAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		openStore(t, location).Close()
		begin := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			st := openStore(t, location)
			all.Go(func() {
				<-begin
				e, err := engine.Open(context.WithoutCancel(t.Context()), st, engine.Config{Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Error(err)
					return
				}
				e.Close()
			})
		}
		close(begin)
		all.Wait()
	})
}

func TestEnvironmentOverridesNothing(t *testing.T) {
	t.Setenv("DBOS__APPVERSION", "9")
	t.Setenv("DBOS__VMID", "somebody")
	t.Setenv("DBOS__CLOUD", "true")
	e := open(t, filepath.Join(t.TempDir(), "s.db"), listening)
	enqueue(t, e, engine.Request{Queue: "q", Workflow: "listen", ID: "w"})
	send(t, e, "w", "end", "k")
	if state := wait(t, e, "w"); state.Executor != "here" {
		t.Errorf("it ran on %q", state.Executor)
	}
}

// The wait of a Receive goes on while nobody runs the workflow.
func TestVirtualTime(t *testing.T) {
	t.Parallel()
	location := filepath.Join(t.TempDir(), "s.db")
	synctest.Test(t, func(t *testing.T) {
		var silence atomic.Int64
		began := time.Now()
		cfg := running("wait", func(x *engine.Execution, _ string) error {
			_, ok, err := x.Receive(3 * time.Minute)
			if err == nil && !ok {
				silence.Store(int64(time.Since(began)))
			}
			return err
		})
		cfg.Queues = []engine.Queue{{Name: "q", Poll: 6 * time.Second}}
		e := open(t, location, cfg)
		enqueue(t, e, engine.Request{Queue: "q", Workflow: "wait", ID: "w"})
		<-time.After(2 * time.Minute)
		e.Close()
		<-time.After(30 * time.Second)
		e = open(t, location, cfg)
		if state, err := e.Wait(t.Context(), "w"); err != nil || state.Status != engine.Done {
			t.Errorf("it ended as %+v, %v", state, err)
		}
		if d := time.Duration(silence.Load()); d < 3*time.Minute || d > 3*time.Minute+18*time.Second {
			t.Errorf("the time was up after %s, want 3 minutes and at most three polls", d)
		}
		e.Close()
	})
}

// victim runs workflows until its process is killed. The process is the test binary, started once
// more by startVictim.
func victim(location string) {
	st, err := store.Open(context.Background(), location, marks)
	if err == nil {
		cfg := listening
		cfg.Logger = slog.New(slog.DiscardHandler)
		if _, err = engine.Open(context.Background(), st, cfg); err == nil {
			fmt.Println("ready")
			select {} // until it is killed
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func startVictim(t *testing.T, location string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ENGINE_TEST_VICTIM="+location)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	return cmd
}

// waitForRecord waits until what a workflow has recorded ends in want.
func waitForRecord(t *testing.T, st *store.Store, workflow, want string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.HasSuffix(recordedRows(t, st, workflow), want); {
		if time.Now().After(deadline) {
			t.Fatalf("%s recorded %q, want …%s", workflow, recordedRows(t, st, workflow), want)
		}
	}
}

func TestAKilledProcessIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		client := open(t, location, engine.Config{})
		other := startVictim(t, location)
		enqueue(t, client, engine.Request{Queue: "q", Workflow: "listen", ID: "w", Input: "x"})
		send(t, client, "w", "a", "k1")
		waitForRecord(t, client.Store(), "w", "a")
		_ = other.Process.Kill()
		_ = other.Wait()
		send(t, client, "w", "b", "k2")
		e := open(t, location, listening)
		send(t, client, "w", "end", "k3")
		if state := wait(t, e, "w"); state.Status != engine.Done || state.Attempts != 2 {
			t.Errorf("it ended as %+v", state)
		}
		if got := recordedRows(t, e.Store(), "w"); got != "began-x a b end" {
			t.Errorf("it recorded %q", got)
		}
	})
}
