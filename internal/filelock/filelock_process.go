//go:build unix && !linux

package filelock

import "golang.org/x/sys/unix"

// setLock makes locks that belong to the process.
const setLock = unix.F_SETLK
