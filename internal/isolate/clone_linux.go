package isolate

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// clone makes to share the contents of from until one of them is written to (FICLONE), as
// Btrfs, XFS and others can.
func clone(to, from *os.File) error {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
}

// neverClones reports whether the error of clone means that no file of these file systems
// can be cloned: they cannot, or they are two.
func neverClones(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS)
}
