//go:build image

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestImageAttacksOfAPullRequest is rule R3 where it binds: in the container of an
// action, beside the token, among the runner's mounts. Each script succeeds as the
// container's root, and must fail as a pull request's code: as the sandbox's own user, and
// as that of a worker.
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
			"lines.ndjson": twoLines, ".git/config": "extraheader = AUTHORIZATION: basic " + secret, ".git/hooks/sample": "",
		})
		j.write(filepath.Join(j.temp, "git-credentials-1.config"), "extraheader = AUTHORIZATION: basic "+secret)
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
		{"the home folder", `echo evil >/github/home/.bashrc`},
		{"the engine's socket", `test -w /var/run/docker.sock`},
		{"a link out of the copy", `ln -s /github/workspace out && cat out/lines.ndjson`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := attacked(t)
			j.flags = inSandbox
			for _, args := range [][]string{{c.script}, {"worker", c.script}} {
				res := j.start(args...).wait()
				if res.code == 0 || res.code == 99 || strings.Contains(res.stdout, secret) {
					t.Errorf("%q: exit code %d:\n%s%s", args, res.code, res.stdout, res.stderr)
				}
			}
			for _, name := range []string{"set_env_1", "set_output_1", "add_path_1"} {
				if text := j.read(j.commands, name); text != "" {
					t.Errorf("%s holds %q", name, text)
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
	j.write(filepath.Join(j.workspace, "a", "mine"), "theirs")
	var users []string
	for _, args := range [][]string{{work}, {"worker", work}} {
		res := j.start(args...).wait()
		if res.code != 0 || !strings.HasPrefix(res.stdout, twoLines) || strings.Contains(res.stdout, secret) || strings.Contains(res.stdout, "ACTIONS_") || strings.Contains(res.stdout, "GITHUB_") {
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
