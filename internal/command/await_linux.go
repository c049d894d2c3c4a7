package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits until the process has ended, without reaping it, and reports
// that it did: the process's id, and so that of its group, cannot be given to
// another process before the group is killed.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
