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

// addUsers gives each worker a user, the sandbox's own to the first, lets the users' group
// write to the workspace copy, and shares the caches of Go. The caller holds s.mu for writing, so
// no program of the sandbox runs meanwhile.
func (s *Sandbox) addUsers(ctx context.Context, workers []*Worker) (err error) {
	own := s.users[0]
	users := []*user{own}
	defer func() {
		if err != nil {
			for _, u := range users[1:] {
				err = errors.Join(err, u.lock.Close())
			}
		}
	}()
	for range workers[1:] {
		u, err := claim(nil, s.owners...)
		if err != nil {
			return err
		}
		users = append(users, u)
		u.identity.GID, u.identity.GroupWrites = own.identity.GID, true
		dir, err := os.MkdirTemp(s.base, "worker-")
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
		if err := u.makeDirs(dir, s.seed); err != nil {
			return err
		}
	}
	env, err := s.shareCaches(own)
	if err != nil {
		return err
	}
	if err := (giver{owners: s.ids(), to: own, share: true}).giveBelow(ctx, s.dir, "."); err != nil {
		return fmt.Errorf("letting the workers' users into the workspace: %w", err)
	}
	own.identity.GroupWrites = true
	s.env, s.users = append(s.env, env...), users
	for i, w := range workers {
		w.user = users[i]
	}
	return nil
}

// shareCaches makes caches of Go for all workers, except those that the environment names, and
// returns the variables that name them. With a cache of its own, each worker would compile the
// standard library for itself. Several users of a group may write to these caches at the same time.
func (s *Sandbox) shareCaches(own *user) ([]string, error) {
	var env []string
	for _, c := range []struct{ name, dir string }{{"GOCACHE", ".cache/go-build"}, {"GOMODCACHE", "go/pkg/mod"}} {
		if slices.ContainsFunc(s.env, func(e string) bool {
			return strings.HasPrefix(e, c.name+"=") || c.name == "GOMODCACHE" && strings.HasPrefix(e, "GOPATH=")
		}) {
			continue
		}
		dir := filepath.Join(s.sharedHome(), c.dir)
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return nil, err
		}
		if err := errors.Join(os.Chown(dir, int(own.identity.UID), int(own.identity.GID)), os.Chmod(dir, 0o770)); err != nil {
			return nil, err
		}
		if seed := filepath.Join(s.seed, c.dir); s.seed != "" {
			if err := own.plant(seed, dir, 0o070); err != nil {
				return nil, err
			}
		}
		env = append(env, c.name+"="+dir)
	}
	return env, nil
}

// giveDirs gives directories of the workspace copy, and what is in them, to a user.
func (s *Sandbox) giveDirs(ctx context.Context, dirs []string, to *user) error {
	g := giver{owners: s.ids(), to: to}
	for _, dir := range dirs {
		if err := g.giveBelow(ctx, s.dir, dir); err != nil {
			return err
		}
	}
	return nil
}

// giver gives the files of some users, its owners, to another user. A file of anyone else
// stays theirs: a program may have linked other people's files into its directory. None
// of the owners has a process meanwhile.
type giver struct {
	owners []uint32
	to     *user
	share  bool // gives the group the owner's rights as well
}

// giveBelow gives a directory below another one, with what is in it. It ignores one that does
// not exist or has become a link or a file.
func (g giver) giveBelow(ctx context.Context, root, name string) error {
	dir, err := openDir(unix.AT_FDCWD, root)
	for _, part := range strings.Split(name, string(filepath.Separator)) {
		if err != nil {
			break
		}
		parent := dir
		dir, err = openDir(int(parent.Fd()), part)
		_ = parent.Close() // it was only read
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.dir(ctx, dir, 0)
}

// dir gives an open directory with what is in it, and closes it. What is nested too deeply
// stays as it is, because each level keeps a file open.
func (g giver) dir(ctx context.Context, dir *os.File, depth int) (err error) {
	defer func() { err = errors.Join(err, dir.Close()) }()
	fd := int(dir.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if g.applies(&st) {
		if err := unix.Fchown(fd, int(g.to.identity.UID), int(g.to.identity.GID)); err != nil {
			return err
		}
		if g.share {
			if err := unix.Fchmod(fd, sharedMode(st.Mode)); err != nil {
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
			if err := g.entry(ctx, fd, e, depth); err != nil {
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

// entry gives an entry of the directory that fd stands for.
func (g giver) entry(ctx context.Context, fd int, e fs.DirEntry, depth int) error {
	if e.IsDir() {
		sub, err := openDir(fd, e.Name())
		if err != nil {
			return err
		}
		return g.dir(ctx, sub, depth+1)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || !g.applies(&st) {
		return err
	}
	if g.share && st.Mode&unix.S_IFMT == unix.S_IFREG {
		if err := unix.Fchmodat(fd, e.Name(), sharedMode(st.Mode), 0); err != nil {
			return err
		}
	}
	return unix.Fchownat(fd, e.Name(), int(g.to.identity.UID), int(g.to.identity.GID), unix.AT_SYMLINK_NOFOLLOW)
}

// applies reports whether there is anything to change about a file.
func (g giver) applies(st *unix.Stat_t) bool {
	return slices.Contains(g.owners, st.Uid) && (g.share || st.Uid != g.to.identity.UID)
}

// sharedMode returns the permissions of a mode, with the owner's for the group as well.
func sharedMode(mode uint32) uint32 {
	mode &= 0o777
	return mode | mode>>3&0o070
}
