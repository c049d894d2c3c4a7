package isolate

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/tempdir"
	"github.com/agent-airlock/airlock/internal/text"
)

// cannotSeparate returns why this process cannot keep a program apart from a credential, or "". The
// text calls the credential "it".
func cannotSeparate() string {
	if os.Geteuid() != 0 {
		return "only root can keep the code apart from it"
	}
	return ""
}

// separate sets the sandbox up. What it did is in s.undo, also after an error.
func (s *Sandbox) separate(ctx context.Context, cfg Config) error {
	paths := append([]string{cfg.Workspace}, cfg.Closed...)
	own, err := claim(cfg.Identity, owners(paths)...)
	if err != nil {
		return err
	}
	s.users = []*user{own}
	temp, err := filepath.EvalSymlinks(cmp.Or(cfg.TempDir, os.TempDir()))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := s.shut(path, temp); err != nil {
			return err
		}
	}
	if dir := replaceable(cfg.Environ); dir != "" && cfg.Credential {
		return &RefusedError{fmt.Sprintf("a token or git credential can be seen here, and every user may replace the programs in %s, which later steps would run", dir)}
	}
	if err := mayEnter(temp); err != nil {
		return err
	}
	made, err := tempdir.Make(temp, "airlock-sandbox-", removeAll)
	if err != nil {
		return err
	}
	s.base = made.Path
	s.undo = append(s.undo, made.Close, s.sweep)
	if err := os.Chmod(s.base, 0o711); err != nil {
		return err
	}
	if err := own.makeDirs(s.base, cfg.Seed); err != nil {
		return err
	}
	s.dir = filepath.Join(s.base, "workspace")
	if err := own.mkdir(s.dir); err != nil {
		return err
	}
	leftOut, err := copyTree(ctx, cfg.Workspace, s.dir, copyOptions{limits: cfg.Copy, owner: &own.identity, copied: cfg.Copied})
	if err != nil {
		return fmt.Errorf("copying the workspace: %w", err)
	}
	if err := os.Chmod(s.dir, 0o700); err != nil { // whatever the workspace's mode is
		return err
	}
	env, dropped := environment(cfg.Environ, cfg.Pass)
	env, closed := withoutClosed(env)
	s.env, s.notes = env, slices.Concat(leftOut, dropped, closed)
	return nil
}

// owners returns the users and groups that the paths belong to, those that do not exist left
// out.
func owners(paths []string) []uint32 {
	var ids []uint32
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				ids = append(ids, st.Uid, st.Gid)
			}
		}
	}
	return ids
}

// mayEnter returns an error if other users cannot get into a directory.
func mayEnter(dir string) error {
	d, err := closedTo(dir)
	if d != "" {
		return fmt.Errorf("the workspace cannot be copied below %s, since other users may not enter %s: set TMPDIR to a directory that they may", dir, d)
	}
	return err
}

// closedTo returns the directory that keeps other users from getting into dir: dir itself,
// or one that it lies in; "" if none does.
func closedTo(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return "", err
		}
		if info.Mode()&0o001 == 0 {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", nil
		}
	}
}

// withoutClosed removes the directories from PATH that the programs' users cannot get into,
// and returns a note about each. A shell that may not look into one of them reports every
// missing program as one that may not be run.
func withoutClosed(env []string) (open []string, notes []Note) {
	for _, e := range env {
		value, isPath := strings.CutPrefix(e, "PATH=")
		if !isPath {
			open = append(open, e)
			continue
		}
		var dirs []string
		for _, dir := range filepath.SplitList(value) {
			closed := ""
			if target, err := filepath.EvalSymlinks(dir); err == nil {
				closed, _ = closedTo(target) // a directory that has just gone is not in the way
			}
			if closed == "" {
				dirs = append(dirs, dir)
			} else if note := (Note{dir + " in PATH", "the user of the checks may not enter " + closed}); !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		open = append(open, "PATH="+strings.Join(dirs, string(filepath.ListSeparator)))
	}
	return open, notes
}

// shut takes all rights to a path from other users until Close. The owner and the group
// keep theirs; therefore a path that belongs to the sandbox's own user or group is
// refused. So is one that contains temp, which the programs have to reach.
func (s *Sandbox) shut(path, temp string) error {
	failed := func(err error) error { return fmt.Errorf("closing %s to others: %w", path, err) }
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed(err)
	}
	// The descriptor stands for the file that is at the path now, of whatever kind, and gives no
	// access to its content. A file that is put in its place later does not get its rights from
	// Close.
	fd, err := unix.Open(target, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed(err)
	}
	f := os.NewFile(uintptr(fd), target)
	s.undo = append(s.undo, f.Close)
	info, err := f.Stat()
	if err != nil {
		return failed(err)
	}
	id := s.users[0].identity
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == id.UID || st.Gid == id.GID {
		return &RefusedError{fmt.Sprintf("%s belongs to the user or group %d, as which the code would run", path, id.UID)}
	}
	s.owners = append(s.owners, st.Uid)
	if rel, err := filepath.Rel(target, temp); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("the workspace cannot be copied below %s, which lies in %s: set TMPDIR to a directory outside of it", temp, path)
	}
	if info.Mode()&0o007 == 0 {
		return nil
	}
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	s.undo = append(s.undo, func() error { return os.Chmod(name, info.Mode()) })
	if err := os.Chmod(name, info.Mode()&^0o007); err != nil {
		return &RefusedError{fmt.Sprintf("%s cannot be closed to others: %v", path, err)}
	}
	// Some file systems accept a change of mode and ignore it, and the path may have become
	// another file's.
	if now, err := os.Lstat(target); err != nil || now.Mode()&0o007 != 0 || !os.SameFile(now, info) {
		return &RefusedError{fmt.Sprintf("%s stays open to others (%v)", path, err)}
	}
	return nil
}

// watchDisk returns a context that ends when more than limit bytes of the file system of
// dir have been taken since now. A limit that is not positive is none.
func watchDisk(ctx context.Context, dir string, limit int64) (context.Context, func()) {
	if limit <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	free := func() int64 {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			return 0
		}
		return int64(st.Bfree) * st.Bsize
	}
	before := free()
	tick := time.NewTicker(50 * time.Millisecond)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if before-free() > limit {
					cancel(fmt.Errorf("it took more than %s of disk", text.Bytes(limit)))
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// replaceable returns a directory of programs that every user may write to, or "". A program of the
// pull request could replace a program in it that a later step runs with the credentials.
// replaceable looks at the directories of PATH and at the runner's tools, which everybody may write
// to on GitHub's machines.
func replaceable(environ []string) string {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if name != "PATH" && name != "RUNNER_TOOL_CACHE" && name != "AGENT_TOOLSDIRECTORY" {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if found := writableAbove(dir); found != "" {
				return found
			}
		}
	}
	return ""
}

// writableAbove returns the directory through which every user may replace what is in
// dir: dir itself, or one that it lies in. It returns "" if there is none, or if other
// users cannot reach dir. A directory with the sticky bit, as /tmp has it, protects its
// entries from others.
func writableAbove(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "" // missing, or relative to a directory that is not known
	}
	found := ""
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return ""
		}
		if info.Mode()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			found = dir
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// sharedDirs are the directories in which every user may leave files. A system need not
// have all of them.
var sharedDirs = [...]string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"}

// sweep removes what the programs left in places that all users share: files, and the
// queues, semaphores and shared memory of System V. No program runs any more.
func (s *Sandbox) sweep() error {
	users := s.ids()
	var all []error
	for _, dir := range sharedDirs {
		all = append(all, sweepDir(dir, users))
	}
	for table, control := range map[string]uintptr{"shm": unix.SYS_SHMCTL, "msg": unix.SYS_MSGCTL, "sem": unix.SYS_SEMCTL} {
		all = append(all, sweepIPC("/proc/sysvipc/"+table, users, control))
	}
	return errors.Join(all...)
}

// sweepDir removes those entries of a directory that belong to one of the users.
func sweepDir(name string, users []uint32) error {
	dir, err := os.Open(name)
	if err != nil {
		return nil // this system has no such directory
	}
	defer dir.Close()
	for { // removing entries may hide others from the listing, so it is repeated until nothing is removed
		again, err := sweepListing(dir, name, users)
		if err != nil || !again {
			return err
		}
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}

// sweepListing removes the users' entries in the rest of the directory's listing. again reports
// whether to list the directory once more: something was removed, and the listing was read to its
// end. Entries that cannot be listed do not belong to the users.
func sweepListing(dir *os.File, name string, users []uint32) (again bool, err error) {
	for {
		entries, listErr := dir.ReadDir(1024)
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue // somebody else removed it
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok && slices.Contains(users, st.Uid) {
				if err := removeAll(filepath.Join(name, e.Name())); err != nil {
					return false, err
				}
				again = true
			}
		}
		if listErr != nil {
			return again && errors.Is(listErr, io.EOF), nil
		}
	}
}

// sweepIPC removes the objects in a table of the kernel that one of the users has created.
// Their owner does not count, because a program can give its objects to another user.
// control is the system call for such objects.
func sweepIPC(table string, users []uint32, control uintptr) error {
	f, err := os.Open(table)
	if err != nil {
		return nil // this system has no such objects
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	creator := -1
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if creator < 0 {
			creator = slices.Index(columns, "cuid")
			continue
		}
		if creator < 1 || creator >= len(columns) {
			return fmt.Errorf("%s: a line that cannot be read", table)
		}
		id, err := strconv.Atoi(columns[1])
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		creatorID, err := strconv.ParseUint(columns[creator], 10, 32)
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		if !slices.Contains(users, uint32(creatorID)) {
			continue
		}
		// The command is the third argument of semctl, and the second of the others.
		if _, _, errno := unix.Syscall(control, uintptr(id), unix.IPC_RMID, unix.IPC_RMID); errno != 0 && errno != unix.EIDRM && errno != unix.EINVAL {
			return fmt.Errorf("%s: removing %d: %w", table, id, errno)
		}
	}
	return lines.Err()
}
