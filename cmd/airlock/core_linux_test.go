package main_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestNoCommandLeavesACoreFile ends commands by SIGABRT, as a crash does under GOTRACEBACK=crash,
// where core files of any size are allowed. It asserts that the kernel writes none, because these
// commands know a secret.
func TestNoCommandLeavesACoreFile(t *testing.T) {
	t.Parallel()
	policy := map[string]string{"policy.yml": "add-issue-comment:\n", "lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}`}
	for name, c := range map[string]struct {
		args []string
		ask  string // standard input; the command is at work once it prints a line or, for apply, asks GitHub
	}{
		"apply": {args: []string{"apply", "--config", "policy.yml", "--input", "lines.ndjson"}},
		"serve": {args: []string{"serve", "--addr", "127.0.0.1:0", "--store", "store.db"}},
		"mcp":   {args: []string{"mcp"}, ask: `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atWork, release := make(chan struct{}, 64), make(chan struct{})
			s := server(t, pullRequestFixture(), githubtest.Options{})
			t.Cleanup(func() { close(release) }) // before the server is closed, which waits for its answers
			s.SetFault(func(githubtest.Request) githubtest.Fault {
				atWork <- struct{}{}
				<-release
				return githubtest.Fault{Cut: true}
			})
			dir := newWorkspace(t, policy).dir
			cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$@"`, binary}, c.args...)...)
			cmd.Dir = dir
			cmd.Env = append(workflowEnv(s, "pull_request", "pull_request.opened.json"), "PATH="+os.Getenv("PATH"), "HOME="+dir, "GOTRACEBACK=crash")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, printed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer output.Close()
			cmd.Stdout, cmd.Stderr = printed, printed
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = printed.Close()
			if _, err := io.WriteString(stdin, c.ask); err != nil {
				t.Fatal(err)
			}
			lines := make(chan string)
			go func() {
				for scanner := bufio.NewScanner(output); scanner.Scan(); {
					lines <- scanner.Text()
				}
				close(lines)
			}()
			if name == "serve" || name == "mcp" {
				<-lines
			} else {
				<-atWork
			}
			if err := cmd.Process.Signal(syscall.SIGABRT); err != nil {
				t.Fatal(err)
			}
			for range lines { // read the traces of the goroutines to their end
			}
			_ = cmd.Wait() // it was ended by the signal
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.CoreDump() {
				t.Errorf("ended by a signal: %v, with a core file: %v", status.Signaled(), status.CoreDump())
			}
			if files, err := filepath.Glob(filepath.Join(dir, "core*")); len(files) > 0 || err != nil {
				t.Errorf("it left %v, %v", files, err)
			}
		})
	}
}
