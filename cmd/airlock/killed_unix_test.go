//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

const killedPolicy = `
create-issue:
  max: 3
add-issue-comment:
  max: 3
  target: "*"
add-issue-label:
  target: "*"
update-issue:
  target: "1"
  title:
create-pull-request-review-comment:
create-discussion:
`

const killedLines = `{"type":"create-issue","title":"One","body":"The first."}
{"type":"add-issue-comment","body":"Twice.","issue_number":2}
{"type":"add-issue-comment","body":"Twice.","issue_number":2}
{"type":"create-discussion","title":"What next","body":"Ideas."}
{"type":"add-issue-label","labels":["automation","new"],"issue_number":1}
{"type":"create-pull-request-review-comment","path":"README.md","line":2,"body":"Inline."}
{"type":"create-pull-request-review-comment","path":"README.md","line":99,"body":"Outside."}
{"type":"update-issue","title":"Better","issue_number":1}
{"type":"create-issue","title":"Two","body":"The second."}
`

// TestKilled kills the program at random moments and runs it again: the repository
// must look as if the program had not been killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": killedLines, "policy.yml": killedPolicy})
	args := []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s"}
	calm := server(t, pullRequestFixture(), githubtest.Options{})
	if res := run(t, dir, workflowEnv(calm, "pull_request", "pull_request.opened.json"), "", args...); res.code != 0 {
		t.Fatalf("without a kill it ended with %d:\n%s", res.code, res.stderr)
	}
	wanted, requests := texts(calm.State()), len(calm.Requests())
	for seed := range shorttest.Count(24, 12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 9))
			s := server(t, pullRequestFixture(), githubtest.Options{})
			env := workflowEnv(s, "pull_request", "pull_request.opened.json")
			for range 1 + r.IntN(2) {
				runKilled(t, s, dir, env, 1+r.IntN(requests), r.IntN(3), args)
			}
			s.SetFault(nil)
			if res := run(t, dir, env, "", args...); res.code != 0 {
				t.Errorf("the last run ended with %d:\n%s", res.code, res.stderr)
			}
			if diff := cmp.Diff(wanted, texts(s.State())); diff != "" {
				t.Errorf("the repository (-not killed +killed):\n%s", diff)
			}
		})
	}
}

// The moments of a kill.
const (
	beforeEffect = iota
	afterEffect
	soon // whatever the program is doing then
)

// runKilled runs the program and kills it at its nth request, unless it ends
// before.
func runKilled(t *testing.T, s *githubtest.Server, dir string, env []string, n, when int, args []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	started, gone := make(chan struct{}), make(chan struct{})
	var seen atomic.Int64
	s.SetFault(func(githubtest.Request) githubtest.Fault {
		if seen.Add(1) != int64(n) {
			return githubtest.Fault{}
		}
		<-started
		_ = cmd.Process.Kill()
		if when == soon {
			return githubtest.Fault{}
		}
		<-gone
		return githubtest.Fault{Cut: when == beforeEffect}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	_ = cmd.Wait()
	close(gone)
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		t.Errorf("killed at request %d, it ended by itself with %d:\n%s", n, code, stderr.String())
	}
}

// texts is everything on the server that people read, and the markers.
func texts(st githubtest.Fixture) []string {
	var out []string
	for _, i := range st.Issues {
		out = append(out, fmt.Sprint("issue ", i.Title, i.State, i.Labels, "\n", i.Body))
		for _, c := range i.Comments {
			out = append(out, fmt.Sprint("comment on ", i.Title, "\n", c.Body))
		}
		if i.Pull == nil {
			continue
		}
		for _, v := range i.Pull.Reviews {
			out = append(out, "review\n"+v.Body)
		}
		for _, c := range i.Pull.Comments {
			out = append(out, fmt.Sprint("review comment ", c.Path, c.Line, "\n", c.Body))
		}
	}
	for _, d := range st.Discussions {
		out = append(out, "discussion "+d.Title+"\n"+d.Body)
	}
	slices.Sort(out)
	return out
}

// TestTriedAgainInOneAttempt kills the program right after it wrote a comment that GitHub lists
// only seconds later. Then the program is started again in the same job, as by a script, so the
// attempt is the same, too.
func TestTriedAgainInOneAttempt(t *testing.T) {
	t.Parallel()
	sideBySide(t, map[string]string{"on a runner": "RUNNER_TEMP", "in a terminal": "HOME"}, func(t *testing.T, _, place string) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"lines.ndjson": `{"type":"add-issue-comment","body":"Once."}`, "policy.yml": "add-issue-comment:\n"})
		args := []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s"}
		s := server(t, pullRequestFixture(), githubtest.Options{Lag: 10 * time.Second})
		env := append(workflowEnv(s, "pull_request", "pull_request.opened.json"), place+"="+t.TempDir())
		if place == "HOME" {
			env = append(env, "GITHUB_ACTIONS=")
		}
		const create = 3 // the third request, after those for the token's user and for the list of comments
		runKilled(t, s, dir, env, create, afterEffect, args)
		s.SetFault(nil)
		if n := len(s.Writes()); n != 1 {
			t.Fatalf("%d writes before it was killed", n)
		}
		res := run(t, dir, env, "", args...)
		if n := len(s.Writes()); res.code != 0 || n != 1 || !strings.Contains(res.stderr, "already there") {
			t.Errorf("exit code %d after %d writes:\n%s", res.code, n, res.stderr)
		}
	})
}

// TestTwoProcessesOfOneAttempt starts the program while another process is at work with the same
// items: the second process is refused before it writes. A process with another --name works at the
// same time, and a process that begins later finds what the first one wrote.
func TestTwoProcessesOfOneAttempt(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{"on a runner": "RUNNER_TEMP", "in a terminal": "HOME"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"lines.ndjson": `{"type":"add-issue-comment","body":"Once."}`, "policy.yml": "add-issue-comment:\n"})
			args := []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s"}
			s := server(t, pullRequestFixture(), githubtest.Options{})
			env := append(workflowEnv(s, "pull_request", "pull_request.opened.json"), place+"="+t.TempDir())
			if place == "HOME" {
				env = append(env, "GITHUB_ACTIONS=")
			}
			writing, goOn := make(chan struct{}), make(chan struct{})
			var begun atomic.Bool
			s.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Operation == "issues/create-comment" && begun.CompareAndSwap(false, true) {
					close(writing)
					<-goOn
				}
				return githubtest.Fault{}
			})
			ended := make(chan result, 1)
			go func() { ended <- run(t, dir, env, "", args...) }()
			<-writing
			if res := run(t, dir, env, "", args...); res.code != 2 || !strings.Contains(res.stderr, "another process is at work with the same items") {
				t.Errorf("the second process: exit code %d\n%s", res.code, res.stderr)
			}
			if res := run(t, dir, env, "", append(args, "--name", "another")...); res.code != 0 {
				t.Errorf("with a name of its own: exit code %d\n%s", res.code, res.stderr)
			}
			close(goOn)
			if res := <-ended; res.code != 0 {
				t.Errorf("the first process: exit code %d\n%s", res.code, res.stderr)
			}
			res := run(t, dir, env, "", args...)
			if n := strings.Count(strings.Join(texts(s.State()), "\n"), "Once."); res.code != 0 || n != 2 || !strings.Contains(res.stderr, "already there") {
				t.Errorf("exit code %d with %d comments:\n%s", res.code, n, res.stderr)
			}
		})
	}
}

const codePolicy = `
create-pull-request:
push-to-branch:
create-issue:
`

const codeLines = `{"type":"push-to-branch","message":"Add a page"}
{"type":"create-pull-request","title":"Add a page","body":"It was missing."}
{"type":"create-issue","title":"Told","body":"A page is there."}
`

// TestKilledWithCode kills the program at random moments while it pushes commits and opens a pull
// request, and runs it again. As on a runner, a git that the program started may end after it.
func TestKilledWithCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": codeLines, "policy.yml": codePolicy})
	start := func(t *testing.T) (h hosted, env, args []string) {
		h = newHosted(t)
		workspace := h.checkout(t, "changes")
		writeFile(t, filepath.Join(workspace, "docs/new.md"), "New.\n")
		return h, h.env(t), []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s", "--dir", workspace}
	}
	calm, env, args := start(t)
	if res := run(t, dir, env, "", args...); res.code != 0 {
		t.Fatalf("without a kill it ended with %d:\n%s", res.code, res.stderr)
	}
	wanted, requests := calm.outcome(), len(calm.server.Requests())
	for seed := range shorttest.Count(8, 8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 11))
			h, env, args := start(t)
			temp := t.TempDir()
			env = append(env, "TMPDIR="+temp)
			runKilled(t, h.server, dir, env, 1+r.IntN(requests), r.IntN(3), args)
			h.server.SetFault(nil)
			// This is the same attempt. Whether a later one waits for GitHub's lists is tested elsewhere.
			if res := run(t, dir, env, "", args...); res.code != 0 {
				t.Errorf("the second run ended with %d:\n%s", res.code, res.stderr)
			}
			if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
				t.Errorf("the temporary directory contains %v, %v", left, err)
			}
			if diff := cmp.Diff(wanted, h.outcome()); diff != "" {
				t.Errorf("the repository (-not killed +killed):\n%s", diff)
			}
		})
	}
}

// outcome returns what the items led to: the branches with their messages and files, and
// all texts. Ids of commits and names of branches follow from the run and are not
// compared.
func (h hosted) outcome() []string {
	out := texts(h.server.State())
	for _, branch := range strings.Fields(h.git.Run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")) {
		kind, _, _ := strings.Cut(branch, "/")
		out = append(out, fmt.Sprint(kind, "\n", h.git.Run("log", "--format=%s%n%an", "master.."+branch), "\n", h.git.Run("ls-tree", "-r", branch)))
	}
	return out
}
