//go:build linux || darwin

package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxDepth is how deep directories may be nested.
const maxDepth = 200

// unreadable is why a file or a directory is left out if this process's user may not read it.
const unreadable = "it may not be read"

// copier copies a tree that may change at the same time: links are never followed, and
// only ordinary files are read.
type copier struct {
	copyOptions
	entries, bytes atomic.Int64
	noClones       atomic.Bool             // the file system cannot share contents
	cancel         context.CancelCauseFunc // ends the copying with an error
	slots          chan struct{}           // of directories that are copied by another goroutine
	others         crash.Group             // those goroutines

	mu    sync.Mutex
	notes []Note
}

// copyTree copies the entries of one directory into another: contents, permissions without setuid
// and setgid, and times. Links stay links; what is neither a file nor a link nor a directory is left
// out. The notes name all that is left out, ordered by name.
func copyTree(parent context.Context, from, to string, opt copyOptions) ([]Note, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	c := &copier{copyOptions: opt, cancel: cancel, slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	c.limits = c.limits.withDefaults()
	c.report(0)
	src, err := openDir(unix.AT_FDCWD, from)
	if err != nil {
		return nil, err
	}
	dst, err := openDir(unix.AT_FDCWD, to)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	if err := c.dir(ctx, src, dst, "", 0); err != nil {
		cancel(err)
	}
	c.others.Wait()
	if err := cmp.Or(parent.Err(), context.Cause(ctx)); err != nil {
		return nil, err
	}
	c.report(c.entries.Load())
	slices.SortFunc(c.notes, func(a, b Note) int { return cmp.Compare(a.Name, b.Name) })
	return c.notes, nil
}

// dir copies the entries of src, which is called rel in the tree, to dst and closes both.
func (c *copier) dir(ctx context.Context, src, dst *os.File, rel string, depth int) (err error) {
	defer func() { err = errors.Join(err, src.Close(), dst.Close()) }()
	if depth > maxDepth {
		return fmt.Errorf("%s: directories nest deeper than %d", rel, maxDepth)
	}
	entries, err := src.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(rel, e.Name())
		if why := c.limits.leaveOut(e.Name()); why != "" {
			c.note(name, why)
			continue
		}
		count := c.entries.Add(1)
		if count > c.limits.Entries {
			return fmt.Errorf("the workspace has more than %d files and directories", c.limits.Entries)
		}
		if count%reportEvery == 0 {
			c.report(count)
		}
		if e.IsDir() {
			if err := c.subdir(ctx, src, dst, e.Name(), name, depth); err != nil {
				return err
			}
			continue
		}
		switch kind := e.Type(); kind {
		case 0:
			err = c.file(src, dst, e.Name(), name)
		case fs.ModeSymlink:
			err = c.link(src, dst, e.Name(), rel)
		default:
			c.note(name, "it is a "+text.FileKind(kind))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	info, err := src.Stat()
	if err != nil {
		return err
	}
	return c.finish(info, dst, 0o700)
}

// subdir copies the directory base of src, which is called name in the tree, in another goroutine if
// there is a slot.
func (c *copier) subdir(ctx context.Context, src, dst *os.File, base, name string, depth int) error {
	from, err := openDir(int(src.Fd()), base)
	if errors.Is(err, fs.ErrPermission) {
		c.note(name, unreadable)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var to *os.File
	if err = unix.Mkdirat(int(dst.Fd()), base, 0o700); err == nil {
		to, err = openDir(int(dst.Fd()), base)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Join(err, from.Close()))
	}
	select {
	case c.slots <- struct{}{}:
		c.others.Go(func() {
			if err := c.dir(ctx, from, to, name, depth+1); err != nil {
				c.cancel(err)
			}
			<-c.slots
		})
		return nil
	default:
		return c.dir(ctx, from, to, name, depth+1)
	}
}

// openDir opens a directory in the one whose descriptor is at.
func openDir(at int, base string) (*os.File, error) {
	fd, err := unix.Openat(at, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the directory: %w", err)
	}
	// Where a file system does not report the kinds of entries (NFS, some of FUSE), ReadDir looks
	// up each entry by the directory's name. The real name may lead to another directory by then,
	// so the name given here leads to the descriptor. The file systems of macOS report the kinds.
	name := "directory " + strconv.Itoa(fd)
	if runtime.GOOS == "linux" {
		name = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// file copies the file base of src, which is called name in the tree.
func (c *copier) file(src, dst *os.File, base, name string) error {
	fd, err := unix.Openat(int(src.Fd()), base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrPermission) {
		c.note(name, unreadable)
		return nil
	}
	if err != nil {
		return err
	}
	from := os.NewFile(uintptr(fd), name)
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // it has just replaced the file
		c.note(name, "it is a "+text.FileKind(info.Mode()))
		return nil
	}
	if c.bytes.Add(info.Size()) > c.limits.Bytes {
		return fmt.Errorf("the workspace contains more than %s", text.Bytes(c.limits.Bytes))
	}
	fd, err = unix.Openat(int(dst.Fd()), base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	if err = c.contents(to, from, info.Size()); err == nil {
		err = c.finish(info, to, 0)
	}
	return errors.Join(err, to.Close())
}

// contents copies size bytes: by a reference where the file system can share them until one
// of the files is written to, otherwise by a copy in the kernel. A file that has shrunk
// meanwhile is copied as it is.
func (c *copier) contents(to, from *os.File, size int64) error {
	if size > 0 && !c.noClones.Load() {
		err := clone(to, from)
		if err == nil {
			return nil
		}
		if neverClones(err) {
			c.noClones.Store(true)
		}
	}
	_, err := io.CopyN(to, from, size)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// finish gives a copy its owner, and the permissions and times of the original. A directory
// gets at least the permissions that removing it will need.
func (c *copier) finish(info fs.FileInfo, to *os.File, atLeast fs.FileMode) error {
	if c.owner != nil {
		if err := to.Chown(int(c.owner.UID), int(c.owner.GID)); err != nil {
			return err
		}
	}
	if err := to.Chmod(info.Mode().Perm() | atLeast); err != nil {
		return err
	}
	modified := unix.NsecToTimeval(info.ModTime().UnixNano())
	return unix.Futimes(int(to.Fd()), []unix.Timeval{modified, modified})
}

// link copies the link base of src, which is the directory rel of the tree.
func (c *copier) link(src, dst *os.File, base, rel string) error {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(src.Fd()), base, buf)
	if err != nil {
		return err
	}
	target := string(buf[:n])
	if c.retarget != nil {
		target = c.retarget(rel, target)
	}
	if err := unix.Symlinkat(target, int(dst.Fd()), base); err != nil || c.owner == nil {
		return err
	}
	return unix.Fchownat(int(dst.Fd()), base, int(c.owner.UID), int(c.owner.GID), unix.AT_SYMLINK_NOFOLLOW)
}

// reportEvery is how many entries are copied between two reports to the caller.
const reportEvery = 500

// report gives the caller the number of entries that have been copied.
func (c *copier) report(entries int64) {
	if c.copied != nil {
		c.copied(entries)
	}
}

func (c *copier) note(name, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, Note{name, why})
}

// removeAll removes a tree that strangers' programs have worked in. Unlike os.RemoveAll it
// removes directories that are nested more deeply than the number of files that this process
// may have open, and those to which their owner may not write. No program may work there any
// more.
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
	moved := 0
	err = emptyDir(top, func(name string) error {
		dir, err := openWritable(int(top.Fd()), name)
		if err == nil {
			err = errors.Join(raiseDirs(dir, top, &moved), dir.Close())
		}
		if err == nil {
			err = unix.Unlinkat(int(top.Fd()), name, unix.AT_REMOVEDIR)
		}
		if err != nil {
			return &os.PathError{Op: "remove", Path: name, Err: err}
		}
		return nil
	})
	if err := errors.Join(err, top.Close()); err != nil {
		return err
	}
	return os.Remove(name)
}

// raiseDirs removes the files of a directory and moves its directories up into top, so that no
// more than three directories are open at any depth. moved is the number in the next new name.
func raiseDirs(dir, top *os.File, moved *int) error {
	return emptyDir(dir, func(name string) error {
		sub, err := openWritable(int(dir.Fd()), name) // moving a directory needs the right to write to it
		if err != nil {
			return err
		}
		for {
			err = unix.Renameat(int(dir.Fd()), name, int(top.Fd()), "moved-"+strconv.Itoa(*moved))
			*moved++
			isTaken := errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.ENOTDIR)
			if !isTaken {
				return errors.Join(err, sub.Close())
			}
		}
	})
}

// emptyDir removes the files of a directory, and calls removeDir for each of its
// directories until there is nothing left.
func emptyDir(dir *os.File, removeDir func(name string) error) error {
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
			if err := removeDir(name); err != nil {
				return err
			}
		}
	}
}

// openWritable opens a directory, whose owner may read and write it from then on.
func openWritable(at int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmodat(at, name, 0o700, 0) // if it fails, so does opening or removing
	}
	return openDir(at, name)
}

// freeBytes returns how much this user may still write below a directory.
func freeBytes(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return math.MaxInt64 // a write will report what is wrong
	}
	free := float64(st.Bavail) * float64(st.Bsize) // some file systems report more than an int64 can count
	return int64(min(free, math.MaxInt64/2))
}
