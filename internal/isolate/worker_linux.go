package isolate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// prepareWorkers gives each worker a user, the sandbox's own to the first, and lets the users'
// group write the workspace. Nothing has run there yet.
func (r *Sandbox) prepareWorkers(ctx context.Context, workers []*Worker) (err error) {
	own := r.users[0]
	users := []*user{own}
	defer func() {
		if err != nil {
			for _, u := range users[1:] {
				err = errors.Join(err, u.lock.Close())
			}
		}
	}()
	for range workers[1:] {
		u, err := claim(nil, r.owners...)
		if err != nil {
			return err
		}
		users = append(users, u)
		u.identity.GID, u.identity.GroupWrites = own.identity.GID, true
		dir, err := os.MkdirTemp(r.base, "worker-")
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
		if err := u.settle(dir); err != nil {
			return err
		}
	}
	env, err := r.shareCaches(own)
	if err != nil {
		return err
	}
	if err := (handing{from: r.ids(), to: own, share: true}).below(ctx, r.dir, "."); err != nil {
		return fmt.Errorf("letting the workers' users into the workspace: %w", err)
	}
	own.identity.GroupWrites = true
	r.env, r.users = append(r.env, env...), users
	for i, l := range workers {
		l.user = users[i]
	}
	return nil
}

// shareCaches returns the variables that give all workers the same caches of Go, where
// the environment does not name them: each worker would compile the standard library
// for itself. Its files may be written by a group, and by several at a time.
func (r *Sandbox) shareCaches(own *user) ([]string, error) {
	var env []string
	for _, c := range []struct{ name, dir string }{{"GOCACHE", ".cache/go-build"}, {"GOMODCACHE", "go/pkg/mod"}} {
		if slices.ContainsFunc(r.env, func(e string) bool {
			return strings.HasPrefix(e, c.name+"=") || c.name == "GOMODCACHE" && strings.HasPrefix(e, "GOPATH=")
		}) {
			continue
		}
		dir := filepath.Join(r.base, sharedHome, c.dir)
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return nil, err
		}
		if err := errors.Join(os.Chown(dir, int(own.identity.UID), int(own.identity.GID)), os.Chmod(dir, 0o770)); err != nil {
			return nil, err
		}
		env = append(env, c.name+"="+dir)
	}
	return env, nil
}

// hand gives what lies in the folders to one of the sandbox's users.
func (r *Sandbox) hand(ctx context.Context, folders []string, to *user) error {
	h := handing{from: r.ids(), to: to}
	for _, dir := range folders {
		if err := h.below(ctx, r.dir, dir); err != nil {
			return err
		}
	}
	return nil
}

// handing gives files to a user. Only what belongs to one of those in from changes its
// owner: whatever else a stranger's program has linked into its folder stays as it is.
// None of these users has a process meanwhile.
type handing struct {
	from  []uint32
	to    *user
	share bool // gives the group the owner's rights, too
}

// below hands over a folder of a sandbox, and what it holds. One that is not there, or has
// become a link or a file, is passed over.
func (h handing) below(ctx context.Context, sandbox, name string) error {
	dir, err := openDir(unix.AT_FDCWD, sandbox)
	for _, part := range strings.Split(name, string(filepath.Separator)) {
		if err != nil {
			break
		}
		above := dir
		dir, err = openDir(int(above.Fd()), part)
		_ = above.Close() // it was only read
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.dir(ctx, dir, 0)
}

// dir hands over an open directory with what it holds, and closes it. What is nested
// too deeply stays as it is: each level holds a file open.
func (h handing) dir(ctx context.Context, dir *os.File, depth int) (err error) {
	defer func() { err = errors.Join(err, dir.Close()) }()
	fd := int(dir.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if h.concerns(&st) {
		if err := unix.Fchown(fd, int(h.to.identity.UID), int(h.to.identity.GID)); err != nil {
			return err
		}
		if h.share {
			if err := unix.Fchmod(fd, shared(st.Mode)); err != nil {
				return err
			}
		}
	}
	for depth < maxDepth {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			if err := h.entry(ctx, fd, e, depth); err != nil {
				return err
			}
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(entries) == 0 || err == io.EOF {
			return nil
		}
	}
	return nil
}

// entry hands over an entry of the directory fd.
func (h handing) entry(ctx context.Context, fd int, e fs.DirEntry, depth int) error {
	if e.IsDir() {
		sub, err := openDir(fd, e.Name())
		if err != nil {
			return err
		}
		return h.dir(ctx, sub, depth+1)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || !h.concerns(&st) {
		return err
	}
	if h.share && st.Mode&unix.S_IFMT == unix.S_IFREG {
		if err := unix.Fchmodat(fd, e.Name(), shared(st.Mode), 0); err != nil {
			return err
		}
	}
	return unix.Fchownat(fd, e.Name(), int(h.to.identity.UID), int(h.to.identity.GID), unix.AT_SYMLINK_NOFOLLOW)
}

// concerns reports whether there is something to do about a file.
func (h handing) concerns(st *unix.Stat_t) bool {
	return slices.Contains(h.from, st.Uid) && (h.share || st.Uid != h.to.identity.UID)
}

// shared returns permissions with the owner's for the group, too.
func shared(mode uint32) uint32 {
	mode &= 0o777
	return mode | mode>>3&0o070
}
