//go:build image

package main_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestImageAll runs the action on the real output of a real agentic workflow.
func TestImageAll(t *testing.T) {
	h := newHosted(t)
	s := h.server
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"out/lines.ndjson": readFile(t, filepath.Join(root, "testdata", "outputs", "ok", "custom-engine.ndjson"))})
	writeFile(j.t, filepath.Join(j.workflow, "event.json"), h.event(t))
	j.env["GITHUB_SHA"] = h.start
	h.fill(t, j.workspace, "changes")
	writeFile(t, filepath.Join(j.workspace, "docs/new.md"), "New.\n")
	j.input("output-file", "out/lines.ndjson", "config", everyKind)
	res := j.run()

	if res.code != 0 {
		t.Errorf("exit code %d, want 0: nothing failed\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertWrites(t, s)
	assertState(t, s.State())
	if got := h.git.Run("diff", "--name-only", "changes~1", "changes"); got != "docs/new.md" {
		t.Errorf("the push changed %q", got)
	}
	assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
	if res.stderr != "" {
		t.Errorf("standard error: %s", res.stderr)
	}
	out := j.outputs()
	want := map[string]string{
		"asked": "10", "applied": "10", "adopted": "0", "staged": "0", "denied": "0", "skipped": "0", "failed": "0", "rejected": "0", "dropped": "0",
		"agent-output": ".airlock/agent-output.json", "report": ".airlock/report.json", "results-file": ".airlock/results.json", "issue-number": "4",
		"discussion-number": "5", "pull-request-number": "3", "patch-file": "", "sarif-file": "",
	}
	for name, value := range want {
		if got, ok := out[name]; !ok || got != value {
			t.Errorf("output %s is %q (%t), want %q", name, got, ok, value)
		}
	}
	for _, name := range []string{"issue-url", "comment-url", "comment-id", "review-url", "review-id", "discussion-url", "sarif-id", "results", "pull-request-url"} {
		if out[name] == "" {
			t.Errorf("output %s is empty", name)
		}
	}
	if sha := h.git.SHA(out["branch"]); sha == "" || out["commit-sha"] != sha {
		t.Errorf("the branch %q is at %q, and commit-sha is %q", out["branch"], sha, out["commit-sha"])
	}
	for _, name := range []string{"agent-output", "report", "results-file", "plan-file"} {
		if path := out[name]; filepath.IsAbs(path) || j.read(j.workspace, path) == "" {
			t.Errorf("output %s is %q", name, path)
		}
	}
	if summary := j.read(j.commands, "step_summary_1"); !strings.Contains(summary, "## Airlock: all 10 requests done") {
		t.Errorf("the summary:\n%s", summary)
	}
	for _, name := range []string{"set_env_1", "add_path_1", "save_state_1"} {
		if text := j.read(j.commands, name); text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
	j.assertOwned()
}

// TestImageInputs asserts where the step finds its input, and its exit codes.
func TestImageInputs(t *testing.T) {
	const config = "add-issue-comment:\nadd-issue-label:\n"
	for _, c := range []struct {
		name   string
		inputs []string
		env    map[string]string
		code   int
		says   string
		writes []string
	}{
		{name: "a path of the workspace, as the runner translates it", inputs: []string{"output-file", "/github/workspace/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "a path of the runner's directory", inputs: []string{"output-file", "/github/runner_temp/agent/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "the variable of agentic workflows", inputs: []string{"output-file", ""}, env: map[string]string{"GH_AW_SAFE_OUTPUTS": "/github/runner_temp/agent/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "collect without a token", inputs: []string{"mode", "collect", "token", ""}},
		{name: "fail-on rejected", inputs: []string{"fail-on", "rejected"}, code: 1, writes: []string{"issues/create-comment"}},
		{name: "staged", inputs: []string{"staged", "true"}, says: "Airlock: "},
		{name: "no configuration", inputs: []string{"config", ""}, says: "Airlock: "},
		{name: "no token", inputs: []string{"token", ""}, code: 2, says: "no token"},
		{name: "wrong token", inputs: []string{"token", "ghs_WrongToken0123456789"}, code: 3, says: "Airlock stopped"},
		{name: "missing file", inputs: []string{"output-file", "none.ndjson"}, code: 2, says: "none.ndjson does not exist"},
		{name: "unreachable", env: map[string]string{"GITHUB_API_URL": "http://127.0.0.1:1", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:1/graphql"}, code: 3, says: "127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
			writeFile(j.t, filepath.Join(j.temp, "agent", "lines.ndjson"), threeLines)
			j.input("config", config)
			j.input(c.inputs...)
			for name, value := range c.env {
				j.env[name] = value
			}
			res := j.run()
			if res.code != c.code || !strings.Contains(res.stdout, c.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", res.code, c.code, c.says, res.stdout, res.stderr)
			}
			var writes []string
			for _, w := range s.Writes() {
				writes = append(writes, w.Operation)
			}
			if diff := cmp.Diff(c.writes, writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
			j.assertOwned()
		})
	}
}

// TestImageTokenInAnAnswer tests rule R14, that no form of the token is shown, where an answer
// repeats it: a proxy's or a server's error page with the request's headers.
func TestImageTokenInAnAnswer(t *testing.T) {
	const special = "ghs_Test+Only/0123456789=~%41.abcdefghij"
	forms := secretForms(special)
	page := "Denied: Authorization: Bearer " + special + " Basic " + strings.Join(forms, " ") + " " + url.QueryEscape(special)
	body := jsonText(t, map[string]string{"message": page, "documentation_url": "https://docs.github.com/" + url.PathEscape(special)})
	for _, c := range []struct {
		name, operation string
		fault           githubtest.Fault
	}{
		{"refused", "issues/create-comment", githubtest.Fault{Status: http.StatusForbidden, Body: body}},
		{"invalid", "issues/create-comment", githubtest.Fault{Status: http.StatusUnprocessableEntity, Body: body}},
		{"not JSON", "issues/create-comment", githubtest.Fault{Status: http.StatusOK, Body: page}},
		{"unauthorized", "graphql/Viewer", githubtest.Fault{Status: http.StatusUnauthorized, Body: body}},
		{"first request", "", githubtest.Fault{Status: http.StatusForbidden, Body: body}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := pullRequestFixture()
			f.Tokens[0].Secret = special
			s := server(t, f, githubtest.Options{Fault: githubtest.Faults([]githubtest.FaultRule{{Operation: c.operation, Fault: c.fault}})})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
			j.input("config", "add-issue-comment:\n", "token", special, "log-level", "debug")
			res := j.run() // it asserts that the token is not shown
			if res.code == 0 {
				t.Errorf("exit code 0:\n%s", res.stdout)
			}
		})
	}
}

// TestImageLogIsNotObeyed tests rule R9: no line of the log is a command of the
// agent's, whatever the agent wrote and whatever the log level is.
func TestImageLogIsNotObeyed(t *testing.T) {
	for _, c := range []struct{ name, config, staged, level string }{
		{"applied", hostileConfig("2"), "false", "info"},
		{"planned", hostileConfig("300"), "true", "debug"},
		{"not configured", "", "false", "debug"},
		{"denied", "noop:\n", "false", "debug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": hostileLines(t)})
			j.input("config", c.config, "staged", c.staged, "log-level", c.level)
			res := j.run()
			if res.code > 1 || !strings.Contains(res.stdout, "pwned") {
				t.Errorf("exit code %d, or the log shows nothing of the agent's:\n%.2000s%.2000s", res.code, res.stdout, res.stderr)
			}
			assertOwnCommands(t, res.stdout, secret)
			if len(obey(t, res.stderr)) > 0 {
				t.Errorf("commands on standard error:\n%s", res.stderr)
			}
			if out := j.outputs(); out["applied"] == "pwned" || len(out) > 40 {
				t.Errorf("outputs: %v", out)
			}
		})
	}
}

// blockingServer returns a server that answers once release is closed. It closes reached at the first
// request.
func blockingServer(t *testing.T) (s *githubtest.Server, reached, release chan struct{}) {
	t.Helper()
	reached, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	s = server(t, pullRequestFixture(), githubtest.Options{Fault: func(githubtest.Request) githubtest.Fault {
		once.Do(func() { close(reached) })
		<-release
		return githubtest.Fault{}
	}})
	return s, reached, release
}

// TestImageTokenIsNotInTheProcess tests rule R5: while the action works, no other process finds a
// credential in the action's environment or arguments.
func TestImageTokenIsNotInTheProcess(t *testing.T) {
	s, reached, release := blockingServer(t)
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
	j.input("config", "add-issue-comment:\n")
	c := j.start()
	<-reached

	const look = `id -u; ls /proc/1; cat /proc/1/cmdline /proc/1/environ /proc/1/task/*/environ /proc/1/auxv /proc/1/maps; ls -l /proc/1/fd; cat /proc/1/fd/*`
	for name, flags := range map[string][]string{"the runner's user": {"--user", id(runnerUID)}, "root": nil} {
		got, _ := c.exec(flags, "sh", "-c", look) // the error says only that some reads were refused
		if !strings.Contains(got, "/usr/local/bin/airlock\x00action\x00") {
			t.Errorf("%s sees nothing at all:\n%s", name, got)
		}
		for _, form := range append(secretForms(secret, runtimeSecret), "ACTIONS_") {
			if strings.Contains(got, form) {
				t.Errorf("%s reads %s:\n%s", name, form, got)
			}
		}
		if got, err := c.exec(flags, "cat", "/proc/1/environ"); err == nil {
			t.Errorf("the process is open to %s:\n%s", name, got)
		}
	}
	// The machine's root may read everything: it finds the environment, and no
	// credential in it.
	environ := c.environ()
	if !strings.Contains(environ, "GITHUB_REPOSITORY=Codertocat/Hello-World\x00") || strings.Contains(environ, secret) || strings.Contains(environ, "ACTIONS_") {
		t.Errorf("the environment is %q", environ)
	}
	close(release)
	res := c.wait()
	j.assertNoSecret(res)
	if res.code != 0 || len(s.Writes()) != 1 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
}

// TestImageEndsOnSignals asserts that a cancelled job is not kept waiting.
func TestImageEndsOnSignals(t *testing.T) {
	s, reached, release := blockingServer(t)
	defer close(release)
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
	j.input("config", "add-issue-comment:\n")
	c := j.start()
	<-reached
	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil { // docker passes it on
		t.Fatal(err)
	}
	res := c.wait()
	j.assertNoSecret(res)
	if res.code == 0 || len(s.Writes()) != 0 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
}

// TestImageReadsOnlyFilesOfTheWorkspace tests rule R7: whatever an earlier step puts in the place
// of the agent's file, the action reads no other file, and does not hang.
func TestImageReadsOnlyFilesOfTheWorkspace(t *testing.T) {
	link := func(target string) func(string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
	for _, c := range []struct {
		name, file string
		make       func(path string) error
		says       string
	}{
		{"own environment", "evil", link("/proc/self/environ"), "evil is a link"},
		{"environment of process 1", "evil", link("/proc/1/environ"), "evil is a link"},
		{"the event", "evil", link("/github/workflow/event.json"), "evil is a link"},
		{"a file of the workspace", "evil", link("lines.ndjson"), "evil is a link"},
		{"linked directory", "evil/environ", link("/proc/self"), "is a link"},
		{"directory", "evil", func(path string) error { return os.Mkdir(path, 0o755) }, "evil is a directory"},
		{"FIFO", "evil", func(path string) error { return syscall.Mkfifo(path, 0o666) }, "evil is a FIFO"},
		{"device", "evil", func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|5) }, "evil is a device"},
		{"socket", "evil", func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o666, 0) }, "evil is a socket"},
		{"outside", "../../proc/1/environ", func(string) error { return nil }, "outside"},
		{"absolute", "/proc/1/environ", func(string) error { return nil }, "outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
			if err := c.make(filepath.Join(j.workspace, "evil")); err != nil {
				t.Fatal(err)
			}
			for input, mode := range map[string]string{"output-file": "all", "agent-output": "apply"} {
				j.input("config", "add-issue-comment:\n", "output-file", "", "agent-output", "", input, c.file, "mode", mode)
				res := j.run()
				if res.code != 2 || !strings.Contains(res.stdout, c.says) || !strings.Contains(res.stdout, input) {
					t.Errorf("%s: exit code %d, want 2 with %q:\n%s%s", input, res.code, c.says, res.stdout, res.stderr)
				}
			}
			if len(s.Writes()) != 0 {
				t.Errorf("%d writes", len(s.Writes()))
			}
		})
	}
}

// TestImageWritesOnlyBelowTheWorkspace tests the other half of rule R7: where the step would write
// a file or directory, a link is refused, and the file that it leads to stays.
func TestImageWritesOnlyBelowTheWorkspace(t *testing.T) {
	for _, path := range []string{".airlock", ".airlock/agent-output.json", ".airlock/report.json", ".airlock/results.json", ".airlock/.gitignore"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines})
			evil := filepath.Join(j.workspace, path)
			if err := os.MkdirAll(filepath.Dir(evil), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/github/workflow/event.json", evil); err != nil {
				t.Fatal(err)
			}
			before := j.read(j.workflow, "event.json")
			res := j.run()
			if res.code == 0 || !strings.Contains(res.stdout, "link") {
				t.Errorf("exit code %d:\n%s%s", res.code, res.stdout, res.stderr)
			}
			if j.read(j.workflow, "event.json") != before {
				t.Error("the event was written")
			}
		})
	}
}

// TestImageAttacksOfAPullRequest checks rule R3 of docs/security.md in the container of an action,
// which has the token and the runner's mounts. Each script succeeds if the container's root runs
// it. It must fail as a pull request's code, both as the sandbox's own user and as a worker's user.
func TestImageAttacksOfAPullRequest(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sandbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	attacked := func(t *testing.T) *job {
		t.Helper()
		j := newJob(t, server(t, pullRequestFixture(), githubtest.Options{}), "pull_request", "pull_request.opened.json", map[string]string{
			"lines.ndjson": threeLines, ".git/config": "extraheader = AUTHORIZATION: basic " + secret, ".git/hooks/sample": "",
		})
		writeFile(j.t, filepath.Join(j.temp, "git-credentials-1.config"), "extraheader = AUTHORIZATION: basic "+secret)
		if err := os.Chmod(filepath.Join(filepath.Dir(j.temp), "docker.sock"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{j.temp, j.workspace, j.home, j.commands, j.workflow} {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		return j
	}
	inSandbox := []string{"--volume", program + ":/sandbox:ro", "--entrypoint", "/sandbox"}
	for _, c := range []struct{ name, script string }{
		{"environment of process 1", `grep -q . /proc/1/environ`},
		{"memory of process 1", `grep -q . /proc/1/maps`},
		{"files of process 1", `ls /proc/1/fd/0`},
		{"root", `[ "$(id -u)" = 0 ]`},
		{"GITHUB_ENV", `echo EVIL=1 >>/github/file_commands/set_env_1`},
		{"GITHUB_ENV by the other path", `echo EVIL=1 >>/github/runner_temp/_runner_file_commands/set_env_1`},
		{"GITHUB_OUTPUT", `echo evil=1 >>/github/file_commands/set_output_1`},
		{"GITHUB_PATH by the other path", `echo /evil >>/github/runner_temp/_runner_file_commands/add_path_1`},
		{"the event", `cat /github/workflow/event.json`},
		{"the event by the other path", `cat /github/runner_temp/_github_workflow/event.json`},
		{"another event", `echo '{}' >/github/workflow/event.json`},
		{"checkout's credentials", `cat /github/workspace/.git/config`},
		{"checkout's credentials from version 6 on", `cat /github/runner_temp/git-credentials-1.config`},
		{"a hook", `echo evil >/github/workspace/.git/hooks/pre-commit`},
		{"the workspace", `echo evil >/github/workspace/evil`},
		{"the home directory", `echo evil >/github/home/.bashrc`},
		{"the engine's socket", `test -w /var/run/docker.sock`},
		{"a link out of the copy", `ln -s /github/workspace out && cat out/lines.ndjson`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := attacked(t)
			j.flags = inSandbox
			for _, args := range [][]string{{c.script}, {"worker", c.script}} {
				res := j.start(args...).wait()
				// The exit code 99 means that the sandbox failed, not the script.
				if res.code == 0 || res.code == 99 || strings.Contains(res.stdout, secret) {
					t.Errorf("%q: exit code %d:\n%s%s", args, res.code, res.stdout, res.stderr)
				}
			}
			for _, name := range []string{"set_env_1", "set_output_1", "add_path_1"} {
				if text := j.read(j.commands, name); text != "" {
					t.Errorf("%s contains %q", name, text)
				}
			}
			for _, dir := range []string{j.temp, j.workspace, j.home, j.commands, j.workflow} {
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
					t.Errorf("%s stays closed: %v, %v", dir, info.Mode(), err)
				}
			}
			j.flags = []string{"--entrypoint", "sh"}
			if res := j.start("-c", c.script).wait(); res.code != 0 {
				t.Errorf("the attack fails in any case: exit code %d:\n%s%s", res.code, res.stdout, res.stderr)
			}
		})
	}
	j := attacked(t)
	j.flags = inSandbox
	work := `cat lines.ndjson && echo mine >mine && echo mine >a/mine && env && id -u`
	writeFile(j.t, filepath.Join(j.workspace, "a", "mine"), "theirs")
	var users []string
	for _, args := range [][]string{{work}, {"worker", work}} {
		res := j.start(args...).wait()
		if res.code != 0 || !strings.HasPrefix(res.stdout, threeLines) || strings.Contains(res.stdout, secret) || strings.Contains(res.stdout, "ACTIONS_") || strings.Contains(res.stdout, "GITHUB_") {
			t.Fatalf("ordinary work, %q: exit code %d:\n%s%s", args, res.code, res.stdout, res.stderr)
		}
		lines := strings.Fields(res.stdout)
		users = append(users, lines[len(lines)-1])
	}
	if users[0] == users[1] {
		t.Errorf("the worker's user is the sandbox's own, %s", users[0])
	}
	j.assertOwned()
}

// TestImageChecks is one job that checks a pull request and reports, in the container of an action.
// The command of the tests prints what a pull request's code can see.
func TestImageChecks(t *testing.T) {
	h, _ := newChecked(t)
	j := newJob(t, h.server, "pull_request", "pull_request.opened.json", nil)
	writeFile(j.t, filepath.Join(j.workflow, "event.json"), h.event(t))
	j.env["GITHUB_SHA"] = h.start
	h.fill(t, j.workspace, "changes")
	writeFile(t, filepath.Join(j.workspace, "lines.ndjson"), `{"type": "add_comment", "body": "Looks good."}`+"\n")
	j.input("output-file", "lines.ndjson", "config", checksConfig+"  format-command: test -f shop.go\nadd-issue-comment:\n")
	if res := j.run(); res.code != 2 || !strings.Contains(res.stdout, "the image of the gate has no toolchains") {
		t.Errorf("the gate checks: exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	// The other image is the same and has toolchains, which these commands do not need.
	j.flags = []string{"--entrypoint", "airlock"}
	res := j.start("action", "--image=checks").wait()
	j.assertNoSecret(res)

	if res.code != 1 {
		t.Errorf("exit code %d, want 1: a check failed\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
	out := j.outputs()
	if out["checks-status"] != "fail" || out["findings-file"] != ".airlock/findings.json" || out["applied"] != "1" {
		t.Errorf("outputs: %q", out)
	}
	// The tests print their user's id, 60000 or more, and how many variables are about a token.
	if findings := j.read(j.workspace, out["findings-file"]); !regexp.MustCompile(`[6-9]\d{4}\\n0"`).MatchString(findings) {
		t.Errorf("the tests saw more than they may:\n%s", findings)
	}
	var checks, agents int
	for _, c := range h.server.State().Issues[1].Comments {
		if strings.Contains(c.Body, "Airlock checks: ") {
			checks++
		} else if strings.HasPrefix(c.Body, "Looks good.") {
			agents++
		}
	}
	if checks != 1 || agents != 1 {
		t.Errorf("%d comments of the checks and %d of the agent", checks, agents)
	}
	if summary := j.read(j.commands, "step_summary_1"); !strings.Contains(summary, "## ❌ Airlock checks: ") || !strings.Contains(summary, "What the checks reported") {
		t.Errorf("the summary:\n%s", summary)
	}
	j.assertOwned()
}
