package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if location := os.Getenv("RUNS_TEST_WORKER"); location != "" {
		work(location, os.Getenv("RUNS_TEST_DIR"))
	}
	shorttest.LeaveOut( // these start many runs, or programs
		"TestManyWait", "TestHowRunsEnd", "TestListIsBounded", "TestSlowStoreDelaysNoAgent", "TestKilledWorkers",
		"TestTimeLimitHoldsForAllAttempts",
	)
	shorttest.InParallel(8)
	os.Exit(storetest.Main(m))
}

// coordinator is a service and, unless the test wants none, a worker in this process.
type coordinator struct {
	*runs.Service
	registry *agents.Registry
	worker   *runs.Worker
	dir      string // that agents run in
	store    *store.Store
}

// block stands for a private key.
const block = "-----BEGIN PRIVATE KEY-----\nAAAA\nBBBB\n-----END PRIVATE KEY-----"

// start opens a coordinator, which is closed when the test ends. concurrency is the number of runs
// that its worker carries out at once; if it is 0, the worker is not started, and runs wait.
func start(t *testing.T, location string, concurrency int, tags ...string) coordinator {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	st, err := store.Open(ctx, location, agents.Tables, runs.Tables)
	if err != nil {
		t.Fatal(err)
	}
	c := coordinator{dir: t.TempDir(), store: st}
	if c.registry, err = agents.New(st); err != nil {
		t.Fatal(err)
	}
	c.worker = runs.NewWorker(st, runs.WorkerConfig{
		Concurrency: concurrency, Tags: tags, Environ: []string{"PATH=" + os.Getenv("PATH"), "KEY=k3y"}, Dir: c.dir, Log: slog.New(slog.DiscardHandler), Lease: time.Minute,
		Mask: strings.NewReplacer("k3y", "***", "s3cret", "***", block, "***").Replace, MaskKnown: strings.NewReplacer("k3y", "***").Replace,
	})
	c.Service = runs.New(c.registry, st, c.worker)
	if concurrency > 0 {
		if err := c.worker.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		c.worker.Close()
		c.Service.Close()
		st.Close()
	})
	return c
}

// startAnother starts another worker, which is closed when the test ends. concurrency is the number
// of runs that it carries out at once.
func (c coordinator) startAnother(t *testing.T, concurrency int, lease time.Duration) *runs.Worker {
	t.Helper()
	cfg := c.worker.WorkerConfig
	cfg.Concurrency, cfg.Lease = concurrency, lease
	worker := runs.NewWorker(c.store, cfg)
	if err := worker.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Close)
	return worker
}

// program adds a deterministic agent that is a script. settings are further members of its
// blueprint.
func (c coordinator) program(t *testing.T, name, script string, settings ...string) {
	t.Helper()
	c.add(t, `{"name":%q,"type":"deterministic","parameters_schema":{"type":"object"},"command":["sh","-c",%s]%s}`, name, script, settings)
}

// add adds an agent. format is that of its blueprint, and is filled with the name, the script as JSON,
// and the settings.
func (c coordinator) add(t *testing.T, format, name, script string, settings []string) {
	t.Helper()
	quoted, _ := json.Marshal(script)
	more := ""
	for _, s := range settings {
		more += "," + s
	}
	if _, err := c.registry.Add(t.Context(), fmt.Appendf(nil, format, name, quoted, more)); err != nil {
		t.Fatal(err)
	}
}

// exec changes the store directly, as neither a service nor a worker would.
func (c coordinator) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := c.store.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func (c coordinator) create(t *testing.T, agent, parameters string) runs.Run {
	t.Helper()
	r, _, err := c.Create(t.Context(), runs.Request{AgentName: agent, Parameters: json.RawMessage(parameters)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ended waits for a run's end.
func (c coordinator) ended(t *testing.T, id string) runs.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := c.Wait(ctx, id)
	if err != nil || !r.Status.Final() {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// statuses returns the statuses of a run's events, and asserts that the events are numbered.
func (c coordinator) statuses(t *testing.T, id string) string {
	t.Helper()
	events, err := c.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i, e := range events {
		if e.N != int64(i+1) {
			t.Errorf("event %d has number %d", i+1, e.N)
		}
		list = append(list, string(e.Status))
	}
	return strings.Join(list, " ")
}

func TestHowRunsEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 8)
		c.program(t, "echo", `cat`)
		c.program(t, "typed", `cat`, `"output_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
		c.program(t, "fails", `echo "bad s3cret" >&2; exit 3`)
		c.program(t, "killed", `kill -KILL $$`)
		c.program(t, "prose", `echo hello`)
		c.program(t, "two", `echo 1 2`)
		c.program(t, "files", `printf '{"n": 1.50, "name": "x\\udcff"}'`) // as Python writes a name that is not UTF-8
		c.program(t, "floods", `head -c 6000000 /dev/zero`)
		c.program(t, "leaks", `echo "\"$KEY\""`)
		c.program(t, "escapes", `printf '["k\\u0033y \\"<", "a\\tb", "a\\\\"]'`)
		c.program(t, "second", `test "$AIRLOCK_ATTEMPT" = 2 && echo "$AIRLOCK_ATTEMPT"`, `"max_attempts":3`)
		c.program(t, "never", `exit 1`, `"max_attempts":2`)
		c.add(t, `{"name":%q,"type":"agent","command":["sh","-c",%s]%s}`, "prompted", `echo "you said: $(cat)"; echo thinking >&2`, nil)
		if _, err := c.registry.Add(t.Context(), []byte(`{"name":"missing","type":"agent","command":["/nonexistent/s3cret"]}`)); err != nil {
			t.Fatal(err)
		}
		type want struct {
			status  runs.Status
			result  string
			code    string
			message string
			attempt int
		}
		for _, k := range []struct {
			agent, parameters string
			want
		}{
			{"echo", `{"a":[1,2]}`, want{runs.Completed, `{"a":[1,2]}`, "", "", 1}},
			{"typed", `{"n":7}`, want{runs.Completed, `{"n":7}`, "", "", 1}},
			{"typed", `{"n":"x"}`, want{runs.Failed, "", "invalid_output", "$.n: 'x' is not of type 'integer'", 1}},
			{"fails", `{}`, want{runs.Failed, "", "exit_code", "exit code 3: bad ***", 1}},
			{"killed", `{}`, want{runs.Failed, "", "killed", "killed", 1}},
			{"prose", `{}`, want{runs.Failed, "", "invalid_output", "not valid JSON", 1}},
			{"two", `{}`, want{runs.Failed, "", "invalid_output", "not valid JSON", 1}},
			{"files", `{}`, want{runs.Completed, `{"n":1.50,"name":"x` + "\uFFFD" + `"}`, "", "", 1}},
			{"floods", `{}`, want{runs.Failed, "", "output_too_large", "4 MiB", 1}},
			{"leaks", `{}`, want{runs.Completed, `"***"`, "", "", 1}},
			{"escapes", `{}`, want{runs.Completed, `["*** \"\u003c", "a\tb", "a\\"]`, "", "", 1}},
			{"second", `{}`, want{runs.Completed, `2`, "", "", 2}},
			{"never", `{}`, want{runs.Failed, "", "exit_code", "exit code 1", 2}},
			{"prompted", `{"prompt":"-h; $(id)"}`, want{runs.Completed, `{"text":"you said: -h; $(id)\n"}`, "", "", 1}},
			{"missing", `{"prompt":"x"}`, want{runs.Failed, "", "not_started", "/nonexistent/***", 1}},
		} {
			t.Run(k.agent, func(t *testing.T) {
				t.Parallel()
				r := c.ended(t, c.create(t, k.agent, k.parameters).ID)
				result, err := c.Result(t.Context(), r.ID)
				if err != nil || r.Status != k.status || string(result) != k.result || r.Attempt != k.attempt || r.StartedAt == nil || r.EndedAt == nil {
					t.Errorf("%+v, result %s, %v", r, result, err)
				}
				if (r.Error != nil) != (k.code != "") || r.Error != nil && (r.Error.Code != k.code || !strings.Contains(r.Error.Message, k.message)) {
					t.Errorf("error %+v, want %s %q", r.Error, k.code, k.message)
				}
				if got, want := c.statuses(t, r.ID), "pending running "+string(k.status); got != want {
					t.Errorf("events %q, want %q", got, want)
				}
			})
		}
	})
}

func TestTimeLimitAndStop(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 8)
	c.program(t, "slow", `echo $$ > slow; exec sleep 60`, `"time_limit_seconds":1`, `"max_attempts":5`)
	c.program(t, "patient", `echo $$ > patient; exec sleep 60`)
	slow, patient := c.create(t, "slow", `{}`), c.create(t, "patient", `{}`)
	c.waitForFile(t, "patient")
	if r, err := c.Stop(t.Context(), patient.ID); err != nil || r.Status != runs.Stopping {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := c.Stop(t.Context(), patient.ID); err != nil || r.Status != runs.Stopping && r.Status != runs.Stopped {
		t.Errorf("stopping again: %+v, %v", r, err)
	}
	if r := c.ended(t, patient.ID); r.Status != runs.Stopped || c.statuses(t, r.ID) != "pending running stopping stopped" {
		t.Errorf("%+v, %s", r, c.statuses(t, r.ID))
	}
	r := c.ended(t, slow.ID)
	if r.Status != runs.Failed || r.Error.Code != "timeout" || r.Attempt != 1 || c.statuses(t, r.ID) != "pending running failed" {
		t.Errorf("%+v, %s", r, c.statuses(t, r.ID))
	}
	var ended *runs.EndedError
	if _, err := c.Stop(t.Context(), slow.ID); !errors.As(err, &ended) {
		t.Errorf("stopping what failed: %v", err)
	}
	var notFound *runs.NotFoundError
	if _, err := c.Stop(t.Context(), "run_x"); !errors.As(err, &notFound) {
		t.Errorf("stopping nothing: %v", err)
	}
}

// gate makes a FIFO called gate. A program that reads a line of it waits until open is called.
func (c coordinator) gate(t *testing.T) (open func()) {
	t.Helper()
	name := c.dir + "/gate"
	if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v\n%s", err, out)
	}
	return func() {
		t.Helper()
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() }) // the lines are there until then
		if _, err := f.WriteString(strings.Repeat("\n", 100)); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForFile waits until an agent has made a file in its directory.
func (c coordinator) waitForFile(t *testing.T, name string) {
	t.Helper()
	waitUntil(t, func() bool { _, err := os.Stat(c.dir + "/" + name); return err == nil })
}

// waitUntil waits until a condition is met.
func waitUntil(t *testing.T, isMet func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !isMet() {
		select {
		case <-ctx.Done():
			t.Fatal("the condition was not met in 20 s")
		case <-tick.C:
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 2)
	c.program(t, "talks", `echo "the key is $KEY" >&2; printf 'a\000b\377 end' >&2; echo 1`)
	c.program(t, "floods", `yes 'a line of twenty-two' | head -c 3000000 >&2; echo 1`)
	r := c.ended(t, c.create(t, "talks", `{}`).ID)
	text, next, err := c.Log(t.Context(), r.ID, 0)
	if err != nil || text != "the key is ***\na\uFFFDb\uFFFD end\n" || next < 2 {
		t.Errorf("%q, %d, %v", text, next, err)
	}
	if text, _, err := c.Log(t.Context(), r.ID, next); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	// The limits of pipes and buffers cut characters of three bytes.
	c.program(t, "speaks", `yes 语 | tr -d '\n' | head -c 300000 >&2; echo 1`)
	r = c.ended(t, c.create(t, "speaks", `{}`).ID)
	if text, _, err := c.Log(t.Context(), r.ID, 0); err != nil || text != strings.Repeat("语", 100_000)+"\n" {
		t.Errorf("%d bytes with %d replaced, %v", len(text), strings.Count(text, "\uFFFD"), err)
	}
	r = c.ended(t, c.create(t, "floods", `{}`).ID)
	text, _, err = c.Log(t.Context(), r.ID, 0)
	if err != nil || len(text) > 1<<20+200 || !strings.HasSuffix(text, "…\n[what follows is left out: the log keeps 1 MiB]\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		c := start(t, location, 0)
		c.add(t, `{"name":%q,"type":"agent","command":["sh","-c",%s]%s}`, "researcher", "cat", nil)
		var refused *agents.ParameterError
		var unknown *agents.NotFoundError
		for _, q := range []runs.Request{{AgentName: "researcher"}, {AgentName: "researcher", Parameters: json.RawMessage(`{"wrong":1}`)}} {
			if _, _, err := c.Create(ctx, q); !errors.As(err, &refused) || len(refused.Violations) == 0 {
				t.Errorf("%s: %v", q.Parameters, err)
			}
		}
		if _, _, err := c.Create(ctx, runs.Request{AgentName: "nobody"}); !errors.As(err, &unknown) {
			t.Errorf("an unknown agent: %v", err)
		}
		if list, _, err := c.List(ctx, runs.Filter{Limit: 10}); len(list) != 0 || err != nil {
			t.Errorf("what was refused is recorded: %v, %v", list, err)
		}

		with := func(key, parameters string) (runs.Run, bool, error) {
			return c.Create(ctx, runs.Request{AgentName: "researcher", Parameters: json.RawMessage(parameters), Key: key})
		}
		first, replayed, err := with("k", `{"prompt":"Test"}`)
		if err != nil || replayed || first.Status != runs.Pending || !runs.IsID(first.ID) {
			t.Fatalf("%+v, %v, %v", first, replayed, err)
		}
		for _, same := range []string{`{"prompt":"Test"}`, ` { "prompt" : "\u0054est" } `} {
			if r, replayed, err := with("k", same); err != nil || !replayed || r.ID != first.ID {
				t.Errorf("%+v, %v, %v", r, replayed, err)
			}
		}
		var conflict *runs.ConflictError
		if _, _, err := with("k", `{"prompt":"Other"}`); !errors.As(err, &conflict) {
			t.Errorf("another body under one key: %v", err)
		}
		c.add(t, `{"name":%q,"type":"agent","command":["sh","-c",%s]%s}`, "other", "cat", nil)
		if _, _, err := c.Create(ctx, runs.Request{AgentName: "other", Parameters: json.RawMessage(`{"prompt":"Test"}`), Key: "k"}); !errors.As(err, &conflict) {
			t.Errorf("another agent under one key: %v", err)
		}
		// Of many requests with one key at the same moment, one is recorded.
		ids := make(chan string)
		for range 20 {
			go func() {
				r, _, err := with("together", `{"prompt":"x"}`)
				if err != nil {
					t.Error(err)
				}
				ids <- r.ID
			}()
		}
		id := <-ids
		for range 19 {
			if other := <-ids; other != id {
				t.Errorf("runs %s and %s of one key", id, other)
			}
		}

		stopped, err := c.Stop(ctx, first.ID)
		if err != nil || stopped.Status != runs.Stopped || c.statuses(t, first.ID) != "pending stopped" {
			t.Errorf("%+v, %v", stopped, err)
		}
		c.create(t, "researcher", `{"prompt":"3"}`)
		all, _, err := c.List(ctx, runs.Filter{Limit: 10})
		if err != nil || len(all) != 3 || all[2].ID != first.ID || all[0].ID < all[1].ID {
			t.Fatalf("%+v, %v", all, err)
		}
		if page, more, err := c.List(ctx, runs.Filter{Limit: 2, Before: all[0].ID}); err != nil || more || len(page) != 2 || page[1].ID != first.ID {
			t.Errorf("%+v, %v", page, err)
		}
		if list, _, err := c.List(ctx, runs.Filter{Limit: 9, Status: runs.Stopped, AgentName: "researcher"}); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		if counts, err := c.Count(ctx); err != nil || counts[runs.Pending] != 2 || counts[runs.Running] != 0 {
			t.Errorf("%v, %v", counts, err)
		}
		c.program(t, "counts", `cat`)
		number := func(n string) error {
			_, _, err := c.Create(ctx, runs.Request{AgentName: "counts", Parameters: json.RawMessage(`{"n":` + n + `}`), Key: "n"})
			return err
		}
		if err := number("9007199254740992"); err != nil {
			t.Error(err)
		}
		for _, other := range []string{"9007199254740993", "9007199254740992.1"} {
			if err := number(other); !errors.As(err, &conflict) {
				t.Errorf("another number under one key: %v", err)
			}
		}
	})
}

// TestListIsBounded asserts that a list of runs with large parameters comes in parts, and that each
// run is in exactly one of them.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "large", `echo 1`)
		const total = 12
		for range total {
			c.create(t, "large", `{"a":"`+strings.Repeat("x", 1<<20-100)+`"}`)
		}
		seen := map[string]bool{}
		before, parts := "", 0
		for more := true; more; parts++ {
			list, older, err := c.List(t.Context(), runs.Filter{Limit: 200, Before: before})
			if err != nil || len(list) == 0 || len(list) > 5 {
				t.Fatalf("%d runs in one part, %v", len(list), err)
			}
			for _, r := range list {
				if seen[r.ID] {
					t.Errorf("%s is in two parts", r.ID)
				}
				seen[r.ID] = true
			}
			before, more = list[len(list)-1].ID, older
		}
		if len(seen) != total || parts != 3 {
			t.Errorf("%d parts have %d runs of %d", parts, len(seen), total)
		}
	})
}

// TestOneThatCannotBeRecorded asserts that a run which the store refuses does not make the runs
// fail that are recorded together with it.
func TestOneThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 0)
	c.program(t, "good", `echo 1`)
	c.program(t, "bad", `echo 1`)
	c.exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON runs WHEN NEW.agent = 'bad' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	const total = 60
	var creating sync.WaitGroup
	for n := range total {
		creating.Go(func() {
			agent := "good"
			if n%10 == 5 {
				agent = "bad"
			}
			if _, _, err := c.Create(t.Context(), runs.Request{AgentName: agent}); (err == nil) != (agent == "good") {
				t.Errorf("a run of %s: %v", agent, err)
			}
		})
	}
	creating.Wait()
	if list, _, err := c.List(t.Context(), runs.Filter{Limit: 100}); err != nil || len(list) != total*9/10 {
		t.Errorf("%d runs are recorded, %v", len(list), err)
	}
}

// TestRunKeepsItsBlueprint asserts that a run uses the blueprint that its agent had when the run was
// created.
func TestRunKeepsItsBlueprint(t *testing.T) {
	t.Parallel()
	location := t.TempDir() + "/store.db"
	c := start(t, location, 0)
	c.program(t, "versioned", `echo 1`)
	r := c.create(t, "versioned", `{}`)
	if _, err := c.registry.Patch(t.Context(), "versioned", []byte(`{"command":["sh","-c","echo 2"]}`)); err != nil {
		t.Fatal(err)
	}
	if later := c.create(t, "versioned", `{}`); later.AgentVersion != 2 {
		t.Errorf("after a change a run has version %d", later.AgentVersion)
	}
	if err := c.registry.Remove(t.Context(), "versioned"); err != nil {
		t.Fatal(err)
	}
	worker := start(t, location, 1)
	ended := worker.ended(t, r.ID)
	if result, err := worker.Result(t.Context(), r.ID); err != nil || string(result) != "1" || ended.AgentVersion != 1 {
		t.Errorf("%+v, %s, %v", ended, result, err)
	}
}

// TestTimeLimitHoldsForAllAttempts asserts that neither another attempt nor another worker
// begins the time of a run again.
func TestTimeLimitHoldsForAllAttempts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "again", `if mkdir failed; then exit 1; fi; exec tail -f /dev/null`, `"time_limit_seconds":3600`, `"max_attempts":10`)
		c.program(t, "quick", `echo 1`)
		again, late := c.create(t, "again", `{}`), c.create(t, "quick", `{}`)
		// As killed workers leave them: the time of the first is over in a second, that of the
		// other was over long ago.
		const killed = `UPDATE runs SET status = 'running', events = 2, attempt = 1, restarts = 1, started = 1, deadline = `
		for id, deadline := range map[string]string{again.ID: c.store.Now() + ` + 1000`, late.ID: `3600001`} {
			c.exec(t, killed+deadline+` WHERE id = $1`, id)
		}
		worker := start(t, location, 2)
		for _, id := range []string{again.ID, late.ID} {
			if r := worker.ended(t, id); r.Status != runs.Failed || r.Error.Code != "timeout" {
				t.Errorf("%+v, %+v", r, r.Error)
			}
		}
	})
}

// TestWhatAnAgentIsTold asserts which variables an agent's environment has, and that no others of
// this process are among them.
func TestWhatAnAgentIsTold(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 1)
	c.program(t, "asks", `env >&2; echo 1`)
	r := c.ended(t, c.create(t, "asks", `{}`).ID)
	text, _, err := c.Log(t.Context(), r.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "PWD" && name != "OLDPWD" && name != "SHLVL" && name != "_" { // the shell's own
			got[name] = value
		}
	}
	want := map[string]string{"PATH": os.Getenv("PATH"), "KEY": "***", "AIRLOCK_RUN_ID": r.ID, "AIRLOCK_AGENT": "asks", "AIRLOCK_ATTEMPT": "1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOldestFirstAndNotTooMany asserts that a worker takes no more runs than it may carry out at
// once, and the oldest first.
func TestOldestFirstAndNotTooMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		openGate := c.gate(t)
		c.program(t, "gated", `echo > "$AIRLOCK_RUN_ID"; read x < gate; echo 1`)
		var ids []string
		for range 6 {
			ids = append(ids, c.create(t, "gated", `{}`).ID)
		}
		slices.Sort(ids) // two of one moment have no order of their own
		c.startAnother(t, 2, time.Minute)
		c.waitForFile(t, ids[1])
		for i, id := range ids {
			if r, err := c.Get(t.Context(), id); err != nil || (r.Status == runs.Running) != (i < 2) {
				t.Errorf("of six runs, number %d is %s, %v", i+1, r.Status, err)
			}
		}
		openGate()
		for _, id := range ids {
			c.ended(t, id)
		}
	})
}

// TestClosingFreesRuns asserts that the runs that a worker has not ended when it is closed belong
// to no worker, and continue at the next one.
func TestClosingFreesRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 1)
		openGate := c.gate(t)
		c.program(t, "gated", `echo > begun; read x < gate; echo 1`)
		r := c.create(t, "gated", `{}`)
		c.waitForFile(t, "begun")
		c.worker.Close()
		if r, err := c.Get(t.Context(), r.ID); err != nil || r.Status != runs.Running || r.Worker != "" {
			t.Errorf("%+v, %v", r, err)
		}
		if !store.IsURL(location) {
			return // the file's next worker is another process
		}
		openGate()
		c.startAnother(t, 1, time.Minute)
		if r := c.ended(t, r.ID); r.Status != runs.Completed || r.Attempt != 2 || c.statuses(t, r.ID) != "pending running completed" {
			t.Errorf("%+v, %s", r, c.statuses(t, r.ID))
		}
	})
}

// TestCreateWhileClosing asserts that a request which outlasts the service is refused.
func TestCreateWhileClosing(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 0)
	c.program(t, "quick", `echo 1`)
	service := runs.New(c.registry, c.store, runs.NewWorker(c.store, c.worker.WorkerConfig))
	create := func() error {
		_, _, err := service.Create(t.Context(), runs.Request{AgentName: "quick", Parameters: json.RawMessage(`{}`)})
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	var creating sync.WaitGroup
	for range 20 {
		creating.Go(func() {
			err := create()
			for err == nil {
				err = create()
			}
			if !strings.Contains(err.Error(), "the server stops") {
				t.Error(err)
			}
		})
	}
	service.Close()
	creating.Wait()
}

// TestDrain asserts that Drain lets running runs end, and that waiting runs stay for the next worker.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir()+"/store.db", 1)
	openGate := c.gate(t)
	c.program(t, "gated", `echo > begun; read x < gate; echo 1`)
	r, waits := c.create(t, "gated", `{}`), c.create(t, "gated", `{}`)
	c.waitForFile(t, "begun")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	c.worker.Drain(over) // from here on no run is taken
	openGate()
	c.worker.Drain(t.Context())
	if r, err := c.Get(t.Context(), r.ID); err != nil || r.Status != runs.Completed {
		t.Errorf("%+v, %v", r, err)
	}
	c.worker.Close()
	if r, err := c.Get(t.Context(), waits.ID); err != nil || r.Status != runs.Pending || r.Attempt != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOnlyItsWorkerEndsARun asserts that a worker which has lost a run to another records
// nothing of it any more.
func TestOnlyItsWorkerEndsARun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 1)
		openGate := c.gate(t)
		c.program(t, "gated", `echo > begun; read x < gate; echo 1`)
		r := c.create(t, "gated", `{}`)
		c.waitForFile(t, "begun")
		c.exec(t, `UPDATE runs SET worker = 'another' WHERE id = $1`, r.ID)
		openGate()
		c.worker.Drain(t.Context())
		if r, err := c.Get(t.Context(), r.ID); err != nil || r.Status != runs.Running || r.Worker != "another" || c.statuses(t, r.ID) != "pending running" {
			t.Errorf("%+v, %v, %s", r, err, c.statuses(t, r.ID))
		}
	})
}

// forgetfulStore loses the answer to the first statement that ends a run.
type forgetfulStore struct {
	store.Querier
	lost *atomic.Bool
}

func (f forgetfulStore) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	n, err := f.Querier.Exec(ctx, statement, args...)
	if strings.Contains(statement, "result = $3") && f.lost.CompareAndSwap(false, true) {
		return 0, &pgconn.PgError{Code: "08006"}
	}
	return n, err
}

// TestEndIsRecordedOnce asserts that a run ends once although the answer to the statement
// that ended it was lost, so that the worker ends it again. In a SQLite store no answer gets
// lost.
func TestEndIsRecordedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		if !store.IsURL(location) {
			return
		}
		c := start(t, location, 0)
		lost := new(atomic.Bool)
		c.store.Querier = forgetfulStore{c.store.Querier, lost}
		c.program(t, "echo", `cat`)
		r := c.create(t, "echo", `{"n":1}`)
		worker := c.startAnother(t, 1, time.Minute)
		c.ended(t, r.ID)
		worker.Drain(t.Context())
		worker.Close()
		if got := c.statuses(t, r.ID); got != "pending running completed" || !lost.Load() {
			t.Errorf("%s", got)
		}
	})
}

// TestCoordinatorsShareRuns has two coordinators with workers on one database: each run is
// carried out once, whoever recorded it.
func TestCoordinatorsShareRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		if !store.IsURL(location) {
			return // only one process may use a file
		}
		first, second := start(t, location, 4), start(t, location, 4)
		first.program(t, "once", `echo "$AIRLOCK_RUN_ID $AIRLOCK_ATTEMPT" >&2; echo 1`)
		var ids []string
		for i := range 40 {
			c := first
			if i%2 == 1 {
				c = second
			}
			ids = append(ids, c.create(t, "once", `{}`).ID)
		}
		for _, id := range ids {
			if r := second.ended(t, id); r.Status != runs.Completed || r.Attempt != 1 || first.statuses(t, id) != "pending running completed" {
				t.Errorf("%+v, %s", r, first.statuses(t, id))
			}
			if text, _, err := first.Log(t.Context(), id, 0); err != nil || text != id+" 1\n" {
				t.Errorf("the log is %q, %v", text, err)
			}
		}
	})
}
