//go:build image

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// held is a server that keeps the first request waiting until release is closed.
func held(t *testing.T) (s *githubtest.Server, reached, release chan struct{}) {
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

// TestImageTokenIsNotInTheProcess is rule R5: while the action works, no process
// finds a credential in its environment or its arguments.
func TestImageTokenIsNotInTheProcess(t *testing.T) {
	s, reached, release := held(t)
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
	j.input("config", "add-issue-comment:\n")
	c := j.start()
	<-reached

	const look = `id -u; ls /proc/1; cat /proc/1/cmdline /proc/1/environ /proc/1/task/*/environ /proc/1/auxv /proc/1/maps; ls -l /proc/1/fd; cat /proc/1/fd/*`
	for name, flags := range map[string][]string{"the runner's user": {"--user", id(runnerUID)}, "root": nil} {
		got, _ := c.exec(flags, "sh", "-c", look) // what is refused makes the status
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
	s, reached, release := held(t)
	defer close(release)
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
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

// TestImageReadsOnlyFilesOfTheWorkspace is rule R7: what an earlier step puts in
// the place of the agent's file leads nowhere else, and does not hang.
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
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
			if err := c.make(filepath.Join(j.workspace, "evil")); err != nil {
				t.Fatal(err)
			}
			for _, input := range []string{"output-file", "agent-output"} {
				j.input("config", "add-issue-comment:\n", "output-file", "", input, c.file, "mode", map[string]string{"output-file": "all", "agent-output": "apply"}[input])
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

// TestImageWritesOnlyBelowTheWorkspace is the other half of rule R7: links in the
// place of what the step writes are refused, and what they lead to stays.
func TestImageWritesOnlyBelowTheWorkspace(t *testing.T) {
	for _, path := range []string{".airlock", ".airlock/agent-output.json", ".airlock/report.json", ".airlock/results.json", ".airlock/.gitignore"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
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
