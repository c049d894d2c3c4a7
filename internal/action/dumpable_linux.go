package action

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CloseToOthers keeps other processes of the same user from reading this process's memory and
// environment. It also keeps the kernel from writing this process's memory to a core file.
func CloseToOthers() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("making the process unreadable for other processes: %w", err)
	}
	return nil
}
