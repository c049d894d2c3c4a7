package action

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// NoCoreFiles keeps this process's memory, and that of the programs that it starts, out of core
// files: GOTRACEBACK=crash, which an earlier step can set, makes a program that crashes leave one.
func NoCoreFiles() error {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	if err == nil {
		limit.Cur, limit.Max = min(1, limit.Max), min(1, limit.Max)
		err = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	if err != nil {
		return fmt.Errorf("keeping memory out of core files: %w", err)
	}
	return nil
}
