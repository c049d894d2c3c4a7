//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestCoordinatorScript runs script/coordinator: the five acceptance criteria as curl commands. It
// prints a line for each.
func TestCoordinatorScript(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(filepath.Join(root, "script", "coordinator"), binary).CombinedOutput()
	if err != nil || bytes.Count(out, []byte("\n")) != 5 {
		t.Errorf("%v\n%s", err, out)
	}
}

// coordinator is a running 'airlock serve'.
type coordinator struct {
	cmd *exec.Cmd
	url string
}

// startServer starts a coordinator and returns the address that it says it serves on.
func startServer(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	url, _, _ := strings.Cut(startReady(t, cmd, "serving on "), ";")
	return url
}

// startReady starts a process, waits until it says on standard error that it is ready, and
// returns the rest of that line.
func startReady(t testing.TB, cmd *exec.Cmd, ready string) (rest string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), ready); ok {
			go func() {
				for lines.Scan() { // otherwise its log would block the process
				}
			}()
			return rest
		}
		t.Log(lines.Text())
	}
	t.Fatal("the process does not start")
	return ""
}

// serve starts a coordinator on the store in dir.
func serve(t *testing.T, dir string) coordinator {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--store", "store.db", "--agents", "agents", "--concurrency", "8")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return coordinator{cmd, startServer(t, cmd)}
}

// post starts a run with a parameter of size bytes. It returns the status, the id or the code of
// the error, and the answer.
func (c coordinator) post(t *testing.T, agent string, size int) (status int, word, answer string) {
	t.Helper()
	status, answer = ask(t, http.DefaultClient, "POST", c.url+"/runs", fmt.Sprintf(`{"agent_name":%q,"parameters":{"p":"%s"}}`, agent, strings.Repeat("x", size)))
	body := parse[struct {
		ID    string `json:"run_id"`
		Error string `json:"error"`
	}](t, answer)
	return status, body.ID + body.Error, answer
}

// completed waits for the end of a run, and asserts that it completed.
func (c coordinator) completed(t *testing.T, id string) {
	t.Helper()
	if got := get(t, c.url+"/runs/"+id+"/wait?timeout=60"); !strings.Contains(got, `"status":"completed"`) {
		t.Errorf("%s: %s", id, got)
	}
}

// runsAgain asserts that a run is recorded and completed.
func (c coordinator) runsAgain(t *testing.T) {
	t.Helper()
	status, id, answer := c.post(t, "echo", 0)
	if status != http.StatusCreated {
		t.Fatalf("%d: %s", status, answer)
	}
	c.completed(t, id)
}

// TestCoordinatorKilled kills the server again and again while runs are under way,
// AIRLOCK_CHAOS times as often as usual. No run is lost, each ends once with its result, and no
// process of a run outlives the server.
func TestCoordinatorKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Each run writes its process ids to a file, and has a child in a session of its own.
	script := `read p; echo $$ >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 0.3' & sleep 0.2; echo "$p"`
	addProgram(t, filepath.Join(dir, "agents"), "slow", script)
	c := serve(t, dir)
	ids := map[string]int{}
	create := func(n int) {
		body := fmt.Sprintf(`{"agent_name":"slow","parameters":{"n":%d}}`, n)
		res, err := http.Post(c.url+"/runs", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var run struct {
			ID string `json:"run_id"`
		}
		if err := json.NewDecoder(res.Body).Decode(&run); err != nil || res.StatusCode != 201 {
			t.Fatal(res.Status, err)
		}
		ids[run.ID] = n
	}
	for n := range 8 {
		create(n)
	}
	kills := shorttest.Count(4, 2)
	if factor, err := strconv.Atoi(os.Getenv("AIRLOCK_CHAOS")); err == nil {
		kills *= uint64(factor)
	}
	for k := range kills {
		if k%8 == 7 { // otherwise a run could lose its worker too often
			for id := range ids {
				get(t, c.url+"/runs/"+id+"/wait?timeout=60")
			}
		}
		moment := time.NewTimer(time.Duration(rand.IntN(300)) * time.Millisecond)
		<-moment.C
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		eventually(t, func() bool { return len(alive(dir)) == 0 }, "processes of runs outlive the server")
		c = serve(t, dir)
		create(100 + int(k))
	}
	for id, n := range ids {
		res, err := http.Get(c.url + "/runs/" + id + "/wait?timeout=60")
		if err != nil {
			t.Fatal(err)
		}
		var run struct{ Status string }
		err = json.NewDecoder(res.Body).Decode(&run)
		res.Body.Close()
		if err != nil || run.Status != "completed" {
			t.Errorf("run %s: %+v, %v", id, run, err)
		}
		if got := strings.TrimSpace(get(t, c.url+"/runs/"+id+"/result")); got != fmt.Sprintf(`{"n":%d}`, n) {
			t.Errorf("run %s has the result %s, want that of %d", id, got, n)
		}
		if events := get(t, c.url+"/runs/"+id+"/events"); strings.Count(events, "event: status") != 3 || strings.Count(events, `"status":"completed"`) != 1 {
			t.Errorf("run %s has the events\n%s", id, events)
		}
	}
}

// alive reads the process ids that runs have written to the file pids in dir, and returns the ids
// of the processes that still live.
func alive(dir string) (pids []string) {
	raw, _ := os.ReadFile(filepath.Join(dir, "pids"))
	for pid := range strings.FieldsSeq(string(raw)) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		cmdline, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		// A number may have been given to another process since.
		ours := bytes.Contains(cmdline, []byte("sleep")) || bytes.Contains(cmdline, []byte("pids"))
		if err == nil && ours && !bytes.Contains(stat, []byte(") Z ")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// deterministic returns the blueprint of a deterministic agent, which is a script, under its name.
func deterministic(name, script string) map[string]any {
	return map[string]any{name: map[string]any{"name": name, "type": "deterministic", "command": []string{"sh", "-c", script}, "parameters_schema": map[string]any{"type": "object"}}}
}

// addProgram adds a deterministic agent to a directory of agents.
func addProgram(t *testing.T, agents, name, script string) {
	t.Helper()
	writeFile(t, filepath.Join(agents, name+".json"), jsonText(t, deterministic(name, script)[name]))
}

// get returns what a server answers.
func get(t *testing.T, url string) string {
	t.Helper()
	_, answer := ask(t, http.DefaultClient, "GET", url, "")
	return answer
}

// eventually waits until a condition is true. It ends the test with the message after 20 seconds.
func eventually(t *testing.T, condition func() bool, message string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatal(message)
		case <-tick.C:
		}
	}
}
