package command

import (
	"os"
	"os/exec"
	"syscall"
)

// extensions are what may follow a program's name. Scripts are left out: they
// are run by a shell, which reads their arguments in its own way.
var extensions = [...]string{"", ".exe", ".com"}

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills the process; its children end on their own.
func killGroup(p *os.Process) { _ = p.Kill() }

func terminateGroup(*os.Process) bool { return false }

func signalOf(*os.ProcessState) string { return "" }
