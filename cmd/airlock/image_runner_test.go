//go:build image

package main_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// runnerUID is the user who owns a hosted runner's files.
const runnerUID = 1001

// job is a job of a hosted runner, as its container actions see it: what the
// runner mounts, and the environment of a step.
type job struct {
	t         *testing.T
	temp      string // the runner's temporary directory, which contains home, commands and workflow
	workspace string
	home      string
	commands  string
	workflow  string
	env       map[string]string
	flags     []string // more flags for docker run
	image     string   // what runs; "": the image of the gate
}

// newJob returns a job that uses the API of s, was started by an event with a payload of
// testdata/events, and has the files in its workspace.
func newJob(t *testing.T, s *githubtest.Server, event, payload string, files map[string]string) *job {
	t.Helper()
	base := t.TempDir()
	j := &job{t: t, temp: filepath.Join(base, "_temp"), workspace: filepath.Join(base, "Hello-World"), env: map[string]string{}}
	j.home, j.commands, j.workflow = filepath.Join(j.temp, "_github_home"), filepath.Join(j.temp, "_runner_file_commands"), filepath.Join(j.temp, "_github_workflow")
	for _, dir := range []string{j.workspace, j.home, j.commands, j.workflow} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(j.t, filepath.Join(j.workflow, "event.json"), readFile(t, filepath.Join(root, "testdata", "events", payload)))
	for _, name := range []string{"set_output_1", "step_summary_1", "set_env_1", "add_path_1", "save_state_1"} {
		writeFile(j.t, filepath.Join(j.commands, name), "")
	}
	writeFile(j.t, filepath.Join(base, "docker.sock"), "") // a file in place of the engine's socket
	for path, text := range files {
		writeFile(j.t, filepath.Join(j.workspace, path), text)
	}
	for _, e := range workflowEnv(s, event, payload) {
		name, value, _ := strings.Cut(e, "=")
		j.env[name] = value
	}
	delete(j.env, "GITHUB_TOKEN") // the runner does not export it
	for name, value := range map[string]string{
		"HOME": "/github/home", "CI": "true", "GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_PATH": "/github/workflow/event.json",
		"GITHUB_OUTPUT": "/github/file_commands/set_output_1", "GITHUB_STEP_SUMMARY": "/github/file_commands/step_summary_1",
		"GITHUB_ENV": "/github/file_commands/set_env_1", "GITHUB_PATH": "/github/file_commands/add_path_1", "GITHUB_STATE": "/github/file_commands/save_state_1",
		"RUNNER_TEMP": "/github/runner_temp", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "runner", "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
		"ACTIONS_RUNTIME_URL": "https://runtime.test/", "ACTIONS_RUNTIME_TOKEN": runtimeSecret, "ACTIONS_CACHE_URL": "https://cache.test/",
		"ACTIONS_ID_TOKEN_REQUEST_URL": "https://id.test/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": runtimeSecret,
	} {
		j.env[name] = value
	}
	for name, value := range declaredInputs(t) {
		j.input(name, value)
	}
	j.input("token", secret, "output-file", "lines.ndjson", "matrix-index", "0")
	return j
}

// runtimeSecret is the runner's own credential, which every step gets.
const runtimeSecret = "runtime-secret-0123456789"

// input sets inputs of the action's step.
func (j *job) input(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		j.env["INPUT_"+strings.ToUpper(pairs[i])] = pairs[i+1]
	}
}

// container is a running step.
type container struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	cancel context.CancelFunc
	out    bytes.Buffer
	errs   bytes.Buffer
}

// start runs the image as the runner runs a container action: as root, with
// its mounts. More arguments replace the action's.
func (j *job) start(args ...string) *container {
	j.t.Helper()
	j.chown()
	c := &container{t: j.t, name: "airlock-test-" + strings.ToLower(rand.Text())}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	c.cancel = cancel
	argv := []string{
		"run", "--rm", "--name", c.name, "--workdir", "/github/workspace", "--network", "host",
		"--volume", filepath.Join(filepath.Dir(j.temp), "docker.sock") + ":/var/run/docker.sock",
		"--volume", j.temp + ":/github/runner_temp",
		"--volume", j.home + ":/github/home",
		"--volume", j.workflow + ":/github/workflow",
		"--volume", j.commands + ":/github/file_commands",
		"--volume", j.workspace + ":/github/workspace",
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST")}
	for name, value := range j.env {
		argv = append(argv, "--env", name)
		env = append(env, name+"="+value)
	}
	argv = append(argv, j.flags...)
	argv = append(argv, cmp.Or(j.image, os.Getenv("AIRLOCK_IMAGE")))
	c.cmd = exec.CommandContext(ctx, docker(), append(argv, args...)...)
	// HOME and the like are for the container. docker itself needs PATH and DOCKER_HOST.
	c.cmd.Env = env
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errs
	if err := c.cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	return c
}

// wait returns how the container ended. It fails the test if it had to be killed.
func (c *container) wait() result {
	c.t.Helper()
	defer c.cancel()
	err := c.cmd.Wait()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		c.t.Fatal(err)
	}
	res := result{c.cmd.ProcessState.ExitCode(), c.out.String(), c.errs.String()}
	if res.code < 0 {
		if out, err := exec.Command(docker(), "kill", c.name).CombinedOutput(); err != nil {
			c.t.Errorf("docker kill: %v: %s", err, out)
		}
		c.t.Errorf("the container did not end:\n%s%s", res.stdout, res.stderr)
	}
	return res
}

// exec runs a second process in the running container.
func (c *container) exec(flags []string, args ...string) (string, error) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), docker(), append(append(append([]string{"exec"}, flags...), c.name), args...)...).CombinedOutput()
	return string(out), err
}

// environ reads the environment of the container's process from outside.
func (c *container) environ() string {
	c.t.Helper()
	pid, err := exec.CommandContext(c.t.Context(), docker(), "inspect", "--format", "{{.State.Pid}}", c.name).Output()
	if err != nil {
		c.t.Fatal(err)
	}
	return readFile(c.t, filepath.Join("/proc", strings.TrimSpace(string(pid)), "environ"))
}

// run runs the action to its end, and asserts that neither its output nor a file contains a
// secret (rule R14 of docs/security.md).
func (j *job) run() result {
	j.t.Helper()
	res := j.start().wait()
	j.assertNoSecret(res)
	return res
}

// chown gives the job's files, and the links themselves, to the runner's user.
func (j *job) chown() {
	j.t.Helper()
	for _, dir := range []string{j.workspace, j.temp} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, runnerUID, runnerUID)
		})
		if err != nil {
			j.t.Fatal(err)
		}
	}
}

// assertOwned asserts that every file belongs to the runner's user: a later step
// that does not run as root must be able to clean up.
func (j *job) assertOwned() {
	j.t.Helper()
	for _, dir := range []string{j.workspace, j.temp} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if st := info.Sys().(*syscall.Stat_t); st.Uid != runnerUID || st.Gid != runnerUID {
				j.t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
			}
			return nil
		})
		if err != nil {
			j.t.Fatal(err)
		}
	}
}

// assertNoSecret asserts that the step's output, apart from commands that mask a secret, and all
// files contain no secret.
func (j *job) assertNoSecret(res result) {
	j.t.Helper()
	texts := map[string]string{"standard output": withoutMasks(res.stdout), "standard error": res.stderr}
	for _, dir := range []string{j.workspace, j.temp} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			texts[path] = string(raw)
			return err
		})
		if err != nil {
			j.t.Fatal(err)
		}
	}
	for where, text := range texts {
		for _, form := range secretForms(j.env["INPUT_TOKEN"], runtimeSecret) {
			if form != "" && strings.Contains(text, form) {
				j.t.Errorf("%s contains a secret as %s:\n%s", where, form, text)
			}
		}
	}
}

// outputs returns the outputs that the step set.
func (j *job) outputs() map[string]string {
	return workspace{output: filepath.Join(j.commands, "set_output_1")}.outputs(j.t)
}

// read returns the text of the file whose path has these elements.
func (j *job) read(elements ...string) string {
	return readFile(j.t, filepath.Join(elements...))
}

func docker() string { return os.Getenv("AIRLOCK_DOCKER") }

// id renders a user for docker exec.
func id(uid int) string { return strconv.Itoa(uid) + ":" + strconv.Itoa(uid) }
