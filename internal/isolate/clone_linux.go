package isolate

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// clone gives one file the contents of another: they share their blocks until one of them is written
// (FICLONE). Btrfs, XFS and others support it.
func clone(to, from *os.File) error {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
}

// neverClones reports whether the error of clone applies to all files of these two file systems:
// cloning is not supported, or not from one file system to another.
func neverClones(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS)
}
