//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

// extensions are what may follow a program's name.
var extensions = [...]string{""}

// prepare makes the program the leader of a process group of its own.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process and everything in its group.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// terminateGroup asks the group to end; it reports whether that is possible.
func terminateGroup(p *os.Process) bool {
	return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil
}

func signalOf(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
