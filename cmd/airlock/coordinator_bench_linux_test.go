package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The benchmarks of the coordinator start the binary, on a SQLite file and, with the build tag
// postgres, on a server of PostgreSQL that keeps its data safe (fsync=on). On a machine with
// other work, processor time (…-cpu-us) says more than what elapsed.

// database is where a benchmark keeps its runs.
type database struct {
	store string               // its location; "" for a file in the benchmark's directory
	cpu   func() time.Duration // what its own processes have used; nil for a file
}

// startServer starts a server with the agents researcher and stamp. A run of stamp prints when it
// began. concurrency is how many runs it carries out at once.
func (d database) startServer(b *testing.B, dir, concurrency string) (cmd *exec.Cmd, url string) {
	b.Helper()
	agents := filepath.Join(dir, "agents")
	write(b, agents, map[string]string{"researcher.json": `{"name":"researcher","type":"agent","command":["cat"]}`,
		"stamp.json": `{"name":"stamp","type":"deterministic","command":["sh","-c","date +%s%N"],"parameters_schema":{"type":"object"}}`})
	cmd = exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--store", cmp.Or(d.store, filepath.Join(dir, "store.db")), "--agents", agents, "--concurrency", concurrency)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return cmd, startServer(b, cmd)
}

// BenchmarkCoordinatorPost records runs, which nobody carries out, with 64 clients at once. The
// clients write and read bytes on connections that stay open, because they should use little
// processor time. What they and the database use is reported.
func BenchmarkCoordinatorPost(b *testing.B) {
	eachDatabase(b, func(b *testing.B, d database) {
		cmd, url := d.startServer(b, b.TempDir(), "0")
		address := strings.TrimPrefix(url, "http://")
		const body = `{"agent_name":"researcher","parameters":{"prompt":"Test"}}`
		request := fmt.Appendf(nil, "POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		usage := func() (server, client, database time.Duration, mib int) {
			server, mib = processUsage(b, cmd.Process.Pid)
			client, _ = processUsage(b, os.Getpid())
			if d.cpu != nil {
				database = d.cpu()
			}
			return server, client, database, mib
		}
		server, client, database, _ := usage()
		var left atomic.Int64
		left.Store(int64(b.N))
		b.ResetTimer()
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					b.Error(err)
					return
				}
				defer conn.Close()
				answer := make([]byte, 4096)
				for left.Add(-1) >= 0 {
					if _, err := conn.Write(request); err != nil {
						b.Error(err)
						return
					}
					n := 0
					for !bytes.HasSuffix(answer[:n], []byte("}\n")) { // a line break ends the JSON, and it contains no other
						more, err := conn.Read(answer[n:])
						if err != nil {
							b.Error(err)
							return
						}
						n += more
					}
					if !bytes.HasPrefix(answer, []byte("HTTP/1.1 201 ")) {
						b.Errorf("%s", answer[:n])
						return
					}
				}
			})
		}
		clients.Wait()
		b.StopTimer()
		serverAfter, clientAfter, databaseAfter, mib := usage()
		each := func(from, to time.Duration) float64 { return float64((to - from).Microseconds()) / float64(b.N) }
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		b.ReportMetric(each(server, serverAfter), "server-cpu-us")
		b.ReportMetric(each(client, clientAfter), "client-cpu-us")
		if d.cpu != nil {
			b.ReportMetric(each(database, databaseAfter), "database-cpu-us")
		}
		b.ReportMetric(float64(mib), "MiB")
	})
}

// BenchmarkCoordinatorStart measures the start of a server with an existing store, until it
// listens.
func BenchmarkCoordinatorStart(b *testing.B) {
	eachDatabase(b, func(b *testing.B, d database) {
		dir := b.TempDir()
		cmd, _ := d.startServer(b, dir, "4")
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var cpu time.Duration
		for b.Loop() {
			cmd, _ := d.startServer(b, dir, "4")
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "server-cpu-us")
	})
}

// BenchmarkCoordinatorChild measures from the request for a run to the first moment of the run's
// process, one run after another: with a worker in the server and, in PostgreSQL, with one in another
// process.
func BenchmarkCoordinatorChild(b *testing.B) {
	eachDatabase(b, func(b *testing.B, d database) {
		b.Run("worker in the server", func(b *testing.B) {
			_, url := d.startServer(b, b.TempDir(), "4")
			measureChild(b, url)
		})
		if d.store == "" {
			return // a file is for one process
		}
		b.Run("worker in another process", func(b *testing.B) {
			dir := b.TempDir()
			_, url := d.startServer(b, dir, "0")
			worker := exec.Command(binary, "runner", "--store", d.store, "--agents", filepath.Join(dir, "agents"), "--concurrency", "4")
			worker.Dir, worker.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
			startReady(b, worker, "carrying out up to")
			measureChild(b, url)
		})
	})
}

// measureChild starts runs of the agent stamp, and reports how long after the requests
// their processes began.
func measureChild(b *testing.B, url string) {
	b.Helper()
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		res, err := http.Post(url+"/runs", "application/json", strings.NewReader(`{"agent_name":"stamp","parameters":{}}`))
		if err != nil {
			b.Fatal(err)
		}
		var run struct {
			ID string `json:"run_id"`
		}
		err = json.NewDecoder(res.Body).Decode(&run)
		res.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range []string{"/wait?timeout=60", "/result"} {
			if res, err = http.Get(url + "/runs/" + run.ID + path); err != nil {
				b.Fatal(err)
			}
			if path == "/result" {
				var at int64
				if err := json.NewDecoder(res.Body).Decode(&at); err != nil {
					b.Fatal(err)
				}
				all = append(all, time.Unix(0, at).Sub(began))
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "ms-to-child-p50")
	b.ReportMetric(float64(all[len(all)*99/100].Milliseconds()), "ms-to-child-p99")
	b.ReportMetric(float64(all[len(all)-1].Milliseconds()), "ms-to-child-most")
}

// processUsage reads a process's processor time, with that of its children which have ended,
// and its resident memory.
func processUsage(t testing.TB, pid int) (cpu time.Duration, mib int) {
	t.Helper()
	cpu, ok := timeUsed(pid)
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if !ok || err != nil {
		t.Fatal(pid, err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(raw))[1])
	return cpu, pages * os.Getpagesize() >> 20
}

// timeUsed reads a process's processor time, with that of its children which have ended.
func timeUsed(pid int) (cpu time.Duration, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, field := range strings.Fields(rest)[11:15] { // utime, stime, cutime, cstime in hundredths of a second
		n, _ := strconv.Atoi(field)
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	return cpu, true
}
