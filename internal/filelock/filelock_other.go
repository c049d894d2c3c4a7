//go:build unix && !linux && !darwin

package filelock

import "golang.org/x/sys/unix"

// setLock is the fcntl command for locks that belong to the process: they end when the process
// closes the file anywhere.
const setLock = unix.F_SETLK
