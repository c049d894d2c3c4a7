//go:build unix

package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// loopSeen is the part of a loop's document that these tests look at.
type loopSeen struct {
	Loop      string `json:"loop"`
	Status    string `json:"status"`
	WaitsFor  string `json:"waits_for"`
	Iteration int    `json:"iteration"`
	Head      string `json:"head_sha"`
	Reason    string `json:"escalation_reason"`
}

// TestAClaimedCommitDecidesNothing reports a fix by a commit that does not exist. It asserts that
// an escalated loop does not go on because of that, and that a decision makes it go on once.
func TestAClaimedCommitDecidesNothing(t *testing.T) {
	t.Parallel()
	p := newLoopPlace(t)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", p.dir, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("commit", "-q", "-a", "-m", "break it")
	store := filepath.Join(p.base, "store.db")
	serving := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--store", store)
	serving.Dir, serving.Env = p.base, p.env
	api := startServer(t, serving)
	drive := func() *exec.Cmd {
		cmd := exec.Command(binary, "loop", "start", "--issue", "7", "--repo", "octo/shop", "--store", store, "--max-iterations", "2", "--config", filepath.Join(p.base, "checks.yml"))
		cmd.Dir, cmd.Env = p.dir, p.env
		return cmd
	}
	loop := api + "/loops/" + url.PathEscape("octo/shop#7.1")
	see := func() (l loopSeen) {
		t.Helper()
		if _, answer := ask(t, http.DefaultClient, "GET", loop, ""); json.Unmarshal([]byte(answer), &l) != nil {
			t.Fatal(answer)
		}
		return l
	}
	// escalated drives the loop until it waits for a decision.
	escalated := func(when string) loopSeen {
		t.Helper()
		if out, err := drive().CombinedOutput(); err == nil {
			t.Fatalf("%s: the loop does not wait for a decision: %s", when, out)
		}
		l := see()
		if l.WaitsFor != "decide" || l.Head != git("rev-parse", "HEAD") {
			t.Errorf("%s: %+v, want one at the commit that is checked out, and that waits for a decision", when, l)
		}
		return l
	}

	// The loop waits for a fix, and an agent claims that there is another commit.
	driver := drive()
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Process.Kill(); _ = driver.Wait() })
	eventually(t, func() bool { return see().WaitsFor == "fix" }, "the loop asks for no fix")
	if status, answer := ask(t, http.DefaultClient, "POST", loop+"/fixed", `{"head_sha":"main"}`); status != 400 || !strings.Contains(answer, "$.head_sha") {
		t.Errorf("a name instead of a commit: %d %s", status, answer)
	}
	if status, answer := ask(t, http.DefaultClient, "POST", loop+"/fixed", `{"head_sha":"`+strings.Repeat("f", 40)+`"}`); status != 202 || strings.Contains(answer, "ffff") {
		t.Errorf("a commit that is not there: %d %s", status, answer)
	}
	_ = driver.Wait() // it ends when the loop waits for a decision
	first := see()
	for range 2 {
		if again := escalated("after a claim"); again != first {
			t.Errorf("nobody has decided, and the loop went on from %+v to %+v", first, again)
		}
	}

	// A person commits, and decides: that commit is checked once, and does not count as a push.
	git("commit", "-q", "--allow-empty", "-m", "try")
	if r := run(t, p.dir, p.env, "", "loop", "decide", "--issue", "7", "--repo", "octo/shop", "--store", store, "fixed"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	decided := escalated("after a decision")
	if again := escalated("after the decision's check"); again != decided || decided.Iteration == first.Iteration {
		t.Errorf("one decision led from %+v to %+v and then to %+v", first, decided, again)
	}
}
