//go:build unix && !linux

package filelock

import "golang.org/x/sys/unix"

// setLock is the fcntl command for locks that belong to the process.
const setLock = unix.F_SETLK
