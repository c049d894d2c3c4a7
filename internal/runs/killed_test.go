package runs_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// lease is how soon the tests' workers take over from each other.
const lease = 1500 * time.Millisecond

// work runs a worker until the process is killed. The process is the test binary, started once more
// by startWorker.
func work(location, dir string) {
	ctx := context.Background()
	st, err := store.Open(ctx, location, agents.Tables, runs.Tables)
	if err == nil {
		same := func(s string) string { return s }
		quiet := slog.New(slog.DiscardHandler)
		w := runs.NewWorker(st, runs.WorkerConfig{Concurrency: 4, Environ: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir, Log: quiet, Mask: same, MaskKnown: same, Lease: lease})
		err = w.Start(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func startWorker(t *testing.T, location, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNS_TEST_WORKER="+location, "RUNS_TEST_DIR="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the worker says %q, %v", line, err)
	}
	return cmd
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestKilledWorkers kills workers at random moments while runs are under way: on SQLite
// the only one, on PostgreSQL one of three. Each run ends once, with its result.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, location string) {
		c := start(t, location, 0)
		c.program(t, "slow", `sleep 0.1; cat`)
		workers := make([]*exec.Cmd, 1)
		if store.IsURL(location) {
			workers = make([]*exec.Cmd, 3)
		}
		for i := range workers {
			workers[i] = startWorker(t, location, c.dir)
		}
		want := map[string]string{}
		for k := range shorttest.Count(6, 3) {
			for i := range 6 {
				parameters := fmt.Sprintf(`{"n":%d}`, int(k)*100+i)
				want[c.create(t, "slow", parameters).ID] = parameters
			}
			moment := time.NewTimer(time.Duration(50+rand.IntN(300)) * time.Millisecond)
			<-moment.C
			victim := rand.IntN(len(workers))
			kill(workers[victim])
			workers[victim] = startWorker(t, location, c.dir)
		}
		for id, result := range want {
			r := c.ended(t, id)
			got, err := c.Result(t.Context(), id)
			if err != nil || string(got) != result || r.Status != runs.Completed || c.statuses(t, id) != "pending running completed" {
				t.Errorf("%+v has the result %s, want %s; its events are %s", r, got, result, c.statuses(t, id))
			}
		}
	})
}
