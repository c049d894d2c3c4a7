package filelock

import "golang.org/x/sys/unix"

// setLock is the fcntl command for locks that belong to the open file, not to the process.
const setLock = unix.F_OFD_SETLK
