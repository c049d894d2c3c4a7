package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runWithOutput runs the binary with its standard output and error going to the given
// files; the result has the text of a stream whose file is nil.
func runWithOutput(t *testing.T, dir string, env []string, stdout, stderr *os.File, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if stderr != nil {
		cmd.Stderr = stderr
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func open(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// abandoned returns the writing end of a pipe whose reading end is closed.
func abandoned(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestFullDisk asserts that a result which cannot be written leads to the exit code of
// Airlock's own failures, and that nothing is applied if the plan cannot be written.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := writeFile(t, filepath.Join(dir, "lines.ndjson"), `{"type":"add-issue-comment","body":"Hello"}`+"\n")
	policy := writeFile(t, filepath.Join(dir, "policy.yml"), "add-issue-comment:\n")
	full := open(t, "/dev/full", os.O_WRONLY)
	for _, c := range shorttest.First(2, []struct {
		args   []string
		stdout *os.File
		writes int
		want   string // on standard error
	}{
		{[]string{"collect", "--input", lines}, full, 0, "airlock: standard output: no space left on device"},
		{[]string{"collect", "--input", lines, "--output", "/dev/full"}, nil, 0, "airlock: /dev/full cannot be used: no space left on device"},
		{[]string{"collect", "--input", lines, "--output", "out.json", "--report", "/dev/full"}, nil, 0, "/dev/full cannot be used"},
		{[]string{"schema"}, full, 0, "standard output: no space left"},
		{[]string{"instructions"}, full, 0, "standard output: no space left"},
		{[]string{"version"}, full, 0, "standard output: no space left"},
		{[]string{"sanitize"}, full, 0, "airlock: standard output: no space left"},
		{[]string{"--help"}, full, 0, "standard output: no space left"},
		{[]string{"apply", "--help"}, full, 0, "standard output: no space left"},
		{[]string{"help", "loop", "start"}, full, 0, "standard output: no space left"},
		{[]string{"apply", "--input", lines, "--config", policy, "--plan", "/dev/full"}, nil, 0, "the plan cannot be written, so nothing was applied"},
		{[]string{"apply", "--input", lines, "--config", policy}, full, 1, "the results cannot be written, standard error has them"},
	}) {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		res := runWithOutput(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), c.stdout, nil, c.args...)
		if res.code != 3 || !strings.Contains(res.stderr, c.want) {
			t.Errorf("airlock %v: exit code %d, want 3 and %q:\n%s", c.args, res.code, c.want, res.stderr)
		}
		if n := len(s.Writes()); n != c.writes {
			t.Errorf("airlock %v: %d writes, want %d", c.args, n, c.writes)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out.json")); err == nil {
		t.Error("out.json was left, though the report could not be written")
	}
}

// TestNobodyReads asserts that the program ends quietly if nobody reads its standard output any
// more, and that apply does everything though nobody reads its standard error.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"schema", "agent-output"}, {"--help"}} {
		if res := runWithOutput(t, t.TempDir(), nil, abandoned(t), nil, args...); res.code != 3 || res.stderr != "" {
			t.Errorf("%v: exit code %d, %q", args, res.code, res.stderr)
		}
	}
	s := server(t, pullRequestFixture(), githubtest.Options{})
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n" + `{"type":"add-issue-label","labels":["automation"]}` + "\n",
		"policy.yml":   "add-issue-comment:\nadd-issue-label:\n",
	})
	res := runWithOutput(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), nil, abandoned(t), "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml")
	if res.code != 0 || len(s.Writes()) != 2 || !strings.Contains(res.stdout, `"applied": 2`) {
		t.Errorf("exit code %d, %d writes:\n%s", res.code, len(s.Writes()), res.stdout)
	}
}

// TestToolsOnAFullDisk asserts that a call is refused with the reason if its line has no room on
// the disk. Lines that were accepted before stay, and the same call is accepted once there is room.
func TestToolsOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=64k none disk && head -c 32768 /dev/zero >disk/ballast && exec "$@"`, "sh",
		binary, "mcp", "--safe-outputs", "--output", "disk/lines", "--config", writeFile(t, filepath.Join(dir, "policy.yml"), "add-issue-comment: {max: 100}"))
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	s := connectTo(t, &mcp.CommandTransport{Command: cmd})
	call := func() *mcp.CallToolResult {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add_comment", Arguments: map[string]any{"body": strings.Repeat("x", 900)}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	accepted := 0
	res := call()
	for ; !res.IsError && accepted < 100; res = call() {
		accepted++
	}
	if got := res.Content[0].(*mcp.TextContent).Text; !res.IsError || accepted == 0 || !strings.Contains(got, "no space left on device") {
		t.Fatalf("after %d lines: %s", accepted, got)
	}
	disk := fmt.Sprintf("/proc/%d/root%s/disk", cmd.Process.Pid, dir) // as the server's process has it
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	if res := call(); res.IsError {
		t.Errorf("with room again: %+v", res.Content[0])
	}
	lines := readFile(t, filepath.Join(disk, "lines"))
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is not complete: %.80q", line)
		}
	}
	if n := strings.Count(lines, "\n"); n != accepted+1 {
		t.Errorf("%d lines, want %d", n, accepted+1)
	}
}
