package action

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// closeToOthers keeps other processes of the same user from reading this one's
// memory and environment, and its memory out of core files.
func closeToOthers() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("making the process unreadable for others: %w", err)
	}
	return nil
}
