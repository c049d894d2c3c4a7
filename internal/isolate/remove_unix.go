//go:build linux || darwin

package isolate

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeAll removes what strangers' programs have worked in: also folders that nest
// more deeply than this process may have files open, which os.RemoveAll needs, and
// those in which their owner may not write. No program may work there any more.
func removeAll(name string) error {
	first := os.RemoveAll(name)
	if first == nil {
		return nil
	}
	top, err := openWritable(unix.AT_FDCWD, name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return first
	}
	if err != nil {
		return err
	}
	if err := errors.Join(empty(top), top.Close()); err != nil {
		return err
	}
	return os.Remove(name)
}

// empty removes what lies in a folder. What lies in the folders there is moved up into
// it, so that only two are open at any depth.
func empty(top *os.File) error {
	at := int(top.Fd())
	for moved := 0; ; {
		if _, err := top.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := top.Readdirnames(1024)
		if err != nil && err != io.EOF {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			if unix.Unlinkat(at, name, 0) == nil {
				continue
			}
			dir, err := openWritable(at, name)
			if err == nil {
				err = errors.Join(raise(dir, at, &moved), dir.Close())
			}
			if err == nil {
				err = unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
			}
			if err != nil {
				return &os.PathError{Op: "remove", Path: name, Err: err}
			}
		}
	}
}

// raise removes the files of a folder, and moves its folders to the folder at to.
// moved counts those, for names.
func raise(dir *os.File, to int, moved *int) error {
	for {
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := dir.Readdirnames(1024)
		if err != nil && err != io.EOF {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			if unix.Unlinkat(int(dir.Fd()), name, 0) == nil {
				continue
			}
			sub, err := openWritable(int(dir.Fd()), name) // who moves a folder has to write in it
			if err != nil {
				return err
			}
			for err = unix.EEXIST; errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.ENOTDIR); *moved++ {
				err = unix.Renameat(int(dir.Fd()), name, to, "moved-"+strconv.Itoa(*moved))
			}
			if err := errors.Join(err, sub.Close()); err != nil {
				return err
			}
		}
	}
}

// openWritable opens a folder that the owner may read and write from then on.
func openWritable(at int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmodat(at, name, 0o700, 0) // what comes of it is seen next
	}
	return openDir(at, name)
}
