package main_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// serveIn starts a coordinator in dir, with its store at a path in dir. If wrapper is not empty, it
// is a script that starts the coordinator by "$@", in namespaces of its own. There are two agents:
// "echo", and "gated", which runs until there is a file called gate.
func serveIn(t *testing.T, dir, store, wrapper string) coordinator {
	t.Helper()
	for name, script := range map[string]string{"gated": `echo > begun; while ! test -e gate; do sleep 0.02; done; echo 1`, "echo": `cat >/dev/null; echo 1`} {
		addProgram(t, filepath.Join(dir, "agents"), name, script)
	}
	args := []string{binary, "serve", "--addr", "127.0.0.1:0", "--store", store, "--agents", "agents"}
	cmd := exec.Command(args[0], args[1:]...)
	if wrapper != "" {
		cmd = exec.Command("unshare", append([]string{"-rm", "sh", "-c", wrapper, "sh"}, args...)...)
	}
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return coordinator{cmd, startServer(t, cmd)}
}

// TestCoordinatorFullStore fills the disk of the store. A run that cannot be recorded is refused,
// recorded runs stay, and a run that ends meanwhile is recorded when there is room.
func TestCoordinatorFullStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := serveIn(t, dir, "disk/store.db", `mount -t tmpfs -o size=12m none disk && head -c 2000000 /dev/zero >disk/ballast && exec "$@"`)
	_, gated, _ := c.post(t, "gated", 0)
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil }, "the run does not begin")
	kept := []string{}
	fill := func(size int) {
		for {
			status, word, answer := c.post(t, "echo", size)
			if status == http.StatusCreated {
				kept = append(kept, word)
				continue
			}
			if status != http.StatusServiceUnavailable || word != "store_full" {
				t.Fatalf("%d: %s", status, answer)
			}
			return
		}
	}
	fill(500_000)
	fill(0)
	writeFile(t, filepath.Join(dir, "gate"), "")
	if got := get(t, c.url+"/runs/"+gated); !strings.Contains(got, `"run_id":"`+gated+`"`) {
		t.Errorf("a full store cannot be read: %s", got)
	}
	// Only the server's process sees its disk.
	if err := os.Remove(fmt.Sprintf("/proc/%d/root%s/disk/ballast", c.cmd.Process.Pid, dir)); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(kept, gated) {
		c.completed(t, id)
	}
	c.runsAgain(t)
}

// TestCoordinatorLockedStore locks the store for longer than the server waits. A new run is
// refused, and a run that ends meanwhile is recorded afterwards.
func TestCoordinatorLockedStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := serveIn(t, dir, "store.db", "")
	_, gated, _ := c.post(t, "gated", 0)
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil }, "the run does not begin")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "store.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "gate"), "")
	if status, word, answer := c.post(t, "echo", 0); status != http.StatusServiceUnavailable || word != "store_locked" {
		t.Errorf("%d: %s", status, answer)
	}
	if got := get(t, c.url+"/healthz"); !strings.Contains(got, "ok") {
		t.Errorf("healthz: %s", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	c.completed(t, gated)
	c.runsAgain(t)
}

// TestCoordinatorStoreGone removes the store's file under a running server: nothing is
// recorded where nobody would find it, and all is well when the file is back.
func TestCoordinatorStoreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := serveIn(t, dir, "store.db", "")
	_, first, _ := c.post(t, "echo", 0)
	c.completed(t, first)
	store, away := filepath.Join(dir, "store.db"), filepath.Join(dir, "away.db")
	if err := os.Rename(store, away); err != nil {
		t.Fatal(err)
	}
	if status, word, answer := c.post(t, "echo", 0); status != http.StatusServiceUnavailable || word != "store_unreachable" {
		t.Errorf("%d: %s", status, answer)
	}
	res, err := http.Get(c.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readyz: %s", res.Status)
	}
	if err := os.Rename(away, store); err != nil {
		t.Fatal(err)
	}
	c.completed(t, first)
	c.runsAgain(t)
}

// TestCoordinatorNewerStore asserts that a server does not touch a store to which a newer Airlock
// has written.
func TestCoordinatorNewerStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := serveIn(t, dir, "store.db", "")
	_, first, _ := c.post(t, "echo", 0)
	c.completed(t, first)
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	set := func(statement string) {
		db, err := sql.Open("sqlite", filepath.Join(dir, "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	set(`UPDATE airlock_versions SET version = version + 100 WHERE package = 'runs'`)
	refused := run(t, dir, nil, "", "serve", "--addr", "127.0.0.1:0", "--store", "store.db")
	if refused.code != 2 || !strings.Contains(refused.stderr, "update Airlock, or name another store") {
		t.Errorf("serve ended with %d:\n%s", refused.code, refused.stderr)
	}
	set(`UPDATE airlock_versions SET version = version - 100 WHERE package = 'runs'`)
	serveIn(t, dir, "store.db", "").completed(t, first)
}
