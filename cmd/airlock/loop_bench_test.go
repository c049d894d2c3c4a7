package main_test

import (
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// processTime runs a command and returns the processor time of it and of what it started.
func processTime(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkLoopTurn measures the turn of a workflow job that judges an App's push by the rules of a
// configuration file. It measures the whole program, with all requests to a server on this machine:
// ns/op is the time that elapsed, cpu-ms/op the processor time. requests/op counts the requests
// that read and record, including those of git; deliveries/op counts the requests that inform
// people and agents.
func BenchmarkLoopTurn(b *testing.B) {
	inputs := map[string]string{"loop-secret": loopSecret, "config-file": ".github/airlock.yml"}
	var cpu time.Duration
	var requests, told int
	for range b.N {
		b.StopTimer()
		j := newLoopJobs(b)
		j.git.Commit("master", map[string]string{".github/airlock.yml": "push-to-branch:\n"}, "Configure")
		event, payload := j.pushedBy("Codertocat")
		if res, out := j.turn(1, event, payload, j.findings("README.md is not code", "main.go is missing"), inputs); out["loop-status"] != "AWAITING_FIX" {
			b.Fatalf("%q\n%s", out, res.stdout)
		}
		j.push(map[string]string{"main.go": "package main\n"})
		event, payload = j.pushedBy("fixer[bot]")
		job := j.job(2, event, payload, j.findings("README.md is not code"), inputs)
		cmd := exec.Command(binary, "action")
		cmd.Dir, cmd.Env = job.dir, job.environ
		before := len(j.server.Requests())
		b.StartTimer()
		cpu += processTime(b, cmd)
		b.StopTimer()
		if out := job.outputs(b); out["loop-status"] != "AWAITING_FIX" {
			b.Fatalf("%q", out)
		}
		all := j.server.Requests()[before:]
		own := len(readingAndRecording(all))
		requests, told = requests+own, told+len(all)-own
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
	b.ReportMetric(float64(told)/float64(b.N), "deliveries/op")
}

// BenchmarkLoopStatus measures "loop status" on a store with a hundred open loops, and for
// comparison "version": from the start of the program to its end.
func BenchmarkLoopStatus(b *testing.B) {
	dir := b.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	location := dir + "/store.db"
	status := []string{"loop", "status", "--store", location, "--repo", "o/r", "--issue", "100"}
	fillStore(b, location, 100)
	for name, args := range map[string][]string{"status": status, "version": {"version"}} {
		b.Run(name, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(binary, args...)
				cmd.Dir, cmd.Env = dir, env
				cpu += processTime(b, cmd)
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// fillStore opens loopCount loops in a store. Nobody drives them.
func fillStore(b *testing.B, location string, loopCount int) {
	b.Helper()
	st, err := store.Open(b.Context(), location, loops.Schema)
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.Open(b.Context(), st, engine.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for n := range loopCount {
		if _, _, err := loops.NewWritable(e).Start(b.Context(), fixloop.Loop{Repository: "o/r", Issue: n + 1}, []byte(`{}`), loops.OfOne); err != nil {
			b.Fatal(err)
		}
	}
}
