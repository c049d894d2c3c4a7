package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestApplyLeavesNoCoreFile runs apply as an ordinary user with GOTRACEBACK=crash, which an earlier
// step can set. It asserts that the kernel would write no core file, because the token would be in it:
// the files of such a process in /proc belong to root.
func TestApplyLeavesNoCoreFile(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dir, err := os.MkdirTemp("", "airlock-core-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write(t, dir, map[string]string{"policy.yml": "create-issue:\n", "event.json": `{"repository":{"id":1,"full_name":"o/r"},"issue":{"number":1}}`})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "apply", "--config", "policy.yml", "--event", "event.json")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(`{"type":"create-issue","title":"x","body":"y"}`)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=" + secret, "GITHUB_API_URL=http://" + listener.Addr().String(), "GOTRACEBACK=crash"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept() // it is at work, with the token
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 {
		t.Errorf("/proc/<pid>/environ belongs to %d", st.Uid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
}
