package command

import (
	"os"
	"os/exec"
	"syscall"
)

// extensions are what may follow a program's name. Scripts are left out: they
// are run by a shell, which reads their arguments in its own way.
var extensions = [...]string{"", ".exe", ".com"}

// prepare makes the program the first of a process group of its own.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills the process, but not its children.
func killGroup(p *os.Process) { _ = p.Kill() }

// terminateGroup reports false: there is no signal that asks a process to end.
func terminateGroup(*os.Process) bool { return false }

// signalOf returns "": no signal ends a process.
func signalOf(*os.ProcessState) string { return "" }
