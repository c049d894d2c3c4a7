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

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxDepth is how deep directories may nest: each level holds two files open.
const maxDepth = 200

// unreadable is why a file is left out that this process's user may not read.
const unreadable = "it may not be read"

// copier copies a tree. The tree may change meanwhile: links are never followed, and
// only ordinary files are read.
type copier struct {
	limits         CopyLimits
	uid, gid       int                         // of the copies; -1: those of this process
	target         func(dir, to string) string // of a link in a folder, in the copy; nil: as it is
	entries, bytes atomic.Int64
	slots          chan struct{} // directories that may be copied beside another

	mu    sync.Mutex
	notes []Note
}

// copyTree copies what is in the directory from to the directory to, for the
// identity: contents, permissions without setuid and setgid, and times. Links stay
// links; everything else is left out with a note. The notes are in order of path.
func copyTree(ctx context.Context, from, to string, id command.Identity, limits CopyLimits) ([]Note, error) {
	c := &copier{limits: limits, uid: int(id.UID), gid: int(id.GID)}
	return c.copy(ctx, from, to)
}

func (c *copier) copy(ctx context.Context, from, to string) ([]Note, error) {
	c.limits, c.slots = c.limits.withDefaults(), make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	src, err := openDir(unix.AT_FDCWD, from)
	if err != nil {
		return nil, err
	}
	dst, err := openDir(unix.AT_FDCWD, to)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	if err := c.dir(ctx, src, dst, "", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(c.notes, func(a, b Note) int { return cmp.Compare(a.Name, b.Name) })
	return c.notes, nil
}

// dir copies the entries of src to dst and closes both.
func (c *copier) dir(ctx context.Context, src, dst *os.File, rel string, depth int) (err error) {
	defer func() { err = errors.Join(err, src.Close(), dst.Close()) }()
	if depth > maxDepth {
		return fmt.Errorf("%s: directories nest deeper than %d", rel, maxDepth)
	}
	entries, err := src.ReadDir(-1)
	if err != nil {
		return err
	}
	var below sync.WaitGroup
	var failed atomic.Pointer[error]
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		if err = ctx.Err(); err != nil || failed.Load() != nil {
			break
		}
		if why := c.limits.leaveOut(e.Name()); why != "" {
			c.note(name, why)
			continue
		}
		if c.entries.Add(1) > c.limits.Entries {
			err = fmt.Errorf("the workspace has more than %d files and directories", c.limits.Entries)
			break
		}
		switch t := e.Type(); {
		case t.IsDir():
			var from, to *os.File
			if from, to, err = c.mkdir(src, dst, e.Name(), name); from == nil {
				break
			}
			select {
			case c.slots <- struct{}{}:
				below.Go(func() {
					if err := c.dir(ctx, from, to, name, depth+1); err != nil {
						failed.CompareAndSwap(nil, &err)
					}
					<-c.slots
				})
			default:
				if err := c.dir(ctx, from, to, name, depth+1); err != nil { // which names its file
					failed.CompareAndSwap(nil, &err)
				}
			}
		case t.IsRegular():
			err = c.file(src, dst, e.Name(), name)
		case t&fs.ModeSymlink != 0:
			err = c.link(src, dst, e.Name(), rel)
		default:
			c.note(name, "it is a "+text.FileKind(t))
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
	}
	below.Wait()
	if p := failed.Load(); p != nil && err == nil {
		err = *p
	}
	if err != nil {
		return err
	}
	return c.finish(src, dst, 0o700)
}

// mkdir makes a directory and opens it with the one it is a copy of. Both are nil
// where that may not be read.
func (c *copier) mkdir(src, dst *os.File, base, name string) (from, to *os.File, err error) {
	from, err = openDir(int(src.Fd()), base)
	if errors.Is(err, fs.ErrPermission) {
		c.note(name, unreadable)
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err = unix.Mkdirat(int(dst.Fd()), base, 0o700); err == nil {
		to, err = openDir(int(dst.Fd()), base)
	}
	if err != nil {
		return nil, nil, errors.Join(err, from.Close())
	}
	return from, to, nil
}

// openDir opens a directory below another.
func openDir(at int, base string) (*os.File, error) {
	fd, err := unix.Openat(at, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the directory: %w", err)
	}
	// Where a file system does not report the kinds of entries (NFS, some of FUSE), the os
	// package asks for each by the name of its directory, which may stand for another one
	// meanwhile: this name stands for the descriptor. The file systems of macOS report them.
	name := "directory " + strconv.Itoa(fd)
	if runtime.GOOS == "linux" {
		name = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	return os.NewFile(uintptr(fd), name), nil
}

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
	if !info.Mode().IsRegular() { // it has just been put in the file's place
		c.note(name, "it is a "+text.FileKind(info.Mode()))
		return nil
	}
	if c.bytes.Add(info.Size()) > c.limits.Bytes {
		return fmt.Errorf("the workspace holds more than %s", text.Bytes(c.limits.Bytes))
	}
	fd, err = unix.Openat(int(dst.Fd()), base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	_, err = io.CopyN(to, from, info.Size())
	if err == nil || err == io.EOF { // a file that shrinks is what it is then
		err = c.finish(from, to, 0)
	}
	return errors.Join(err, to.Close())
}

// finish gives a copy the permissions and times of the original, and its owner.
func (c *copier) finish(from, to *os.File, atLeast fs.FileMode) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if c.uid >= 0 {
		if err := to.Chown(c.uid, c.gid); err != nil {
			return err
		}
	}
	if err := to.Chmod(info.Mode().Perm() | atLeast); err != nil {
		return err
	}
	at := unix.NsecToTimeval(info.ModTime().UnixNano())
	return unix.Futimes(int(to.Fd()), []unix.Timeval{at, at})
}

func (c *copier) link(src, dst *os.File, base, rel string) error {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(src.Fd()), base, target)
	if err != nil {
		return err
	}
	to := string(target[:n])
	if c.target != nil {
		to = c.target(rel, to)
	}
	if err := unix.Symlinkat(to, int(dst.Fd()), base); err != nil {
		return err
	}
	if c.uid < 0 {
		return nil
	}
	return unix.Fchownat(int(dst.Fd()), base, c.uid, c.gid, unix.AT_SYMLINK_NOFOLLOW)
}

func (c *copier) note(name, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, Note{name, why})
}

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

// copyOwn copies as copyTree does, for this process's own user. target says where a
// link in a folder, relative to from, leads to in the copy.
func copyOwn(ctx context.Context, from, to string, limits CopyLimits, target func(dir, to string) string) ([]Note, error) {
	c := &copier{limits: limits, uid: -1, gid: -1, target: target}
	return c.copy(ctx, from, to)
}

// freeBytes returns how much this user may still write below a directory.
func freeBytes(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return math.MaxInt64 // then a write says so
	}
	free := float64(st.Bavail) * float64(st.Bsize) // some file systems name more than there can be
	return int64(min(free, math.MaxInt64/2))
}
