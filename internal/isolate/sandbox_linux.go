package isolate

import (
	"bufio"
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

	"github.com/agent-airlock/airlock/internal/text"
)

// cannotSeparate returns why this process cannot keep a program apart, or "".
func cannotSeparate() string {
	if os.Geteuid() != 0 {
		return "only root can keep it apart"
	}
	return ""
}

// separate sets the sandbox up; what it did is in r.undo, also on an error.
func (r *Sandbox) separate(ctx context.Context, cfg Config) error {
	own, err := claim(cfg.Identity)
	if err != nil {
		return err
	}
	r.users = []*user{own}
	scratch, err := filepath.EvalSymlinks(orTemp(cfg.Scratch))
	if err != nil {
		return err
	}
	for _, p := range append([]string{cfg.Workspace}, cfg.Closed...) {
		if err := r.shut(p, scratch); err != nil {
			return err
		}
	}
	if dir := replaceable(cfg.Environ); dir != "" && cfg.Credential {
		return &RefusedError{fmt.Sprintf("a token or git credential can be seen here, and every user may replace the programs in %s, which later steps would run", dir)}
	}
	if err := enterable(scratch); err != nil {
		return err
	}
	if r.base, err = os.MkdirTemp(scratch, "airlock-sandbox-"); err != nil {
		return err
	}
	r.undo = append(r.undo, func() error { return removeAll(r.base) }, r.sweep)
	if err := os.Chmod(r.base, 0o711); err != nil {
		return err
	}
	if err := own.settle(r.base); err != nil {
		return err
	}
	r.dir = filepath.Join(r.base, "workspace")
	if err := own.mkdir(r.dir); err != nil {
		return err
	}
	left, err := copyTree(ctx, cfg.Workspace, r.dir, own.identity, cfg.Copy)
	if err != nil {
		return fmt.Errorf("copying the workspace: %w", err)
	}
	if err := os.Chmod(r.dir, 0o700); err != nil { // whatever the workspace's mode
		return err
	}
	env, dropped := environment(cfg.Environ, cfg.Pass)
	r.env, r.notes = env, append(left, dropped...)
	return nil
}

func orTemp(dir string) string {
	if dir == "" {
		return os.TempDir()
	}
	return dir
}

// enterable refuses a directory into which others cannot get.
func enterable(dir string) error {
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("the workspace cannot be copied below %s, since other users may not enter %s: set TMPDIR to a directory that they may", dir, d)
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

// shut takes all rights on a path from others, until Close. The owner and the
// group keep theirs; what belongs to the identity, or holds the scratch
// directory, is refused.
func (r *Sandbox) shut(path, scratch string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("closing %s to others: %w", path, err)
	}
	held, err := hold(real)
	if err != nil {
		return fmt.Errorf("closing %s to others: %w", path, err)
	}
	r.undo = append(r.undo, held.Close)
	info, err := held.Stat()
	if err != nil {
		return fmt.Errorf("closing %s to others: %w", path, err)
	}
	id := r.users[0].identity
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == id.UID || st.Gid == id.GID {
		return &RefusedError{fmt.Sprintf("%s belongs to the user or group %d, as which the code would run", path, id.UID)}
	}
	r.owners = append(r.owners, st.Uid)
	if rel, err := filepath.Rel(real, scratch); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return fmt.Errorf("the workspace cannot be copied below %s, which lies in %s: set TMPDIR to a directory outside of it", scratch, path)
	}
	if info.Mode()&0o007 == 0 {
		return nil
	}
	same := fmt.Sprintf("/proc/self/fd/%d", held.Fd())
	r.undo = append(r.undo, func() error { return os.Chmod(same, info.Mode()) })
	if err := os.Chmod(same, info.Mode()&^0o007); err != nil {
		return &RefusedError{fmt.Sprintf("%s cannot be closed to others: %v", path, err)}
	}
	if now, err := os.Lstat(real); err != nil || now.Mode()&0o007 != 0 || !os.SameFile(now, info) {
		return &RefusedError{fmt.Sprintf("%s stays open to others (%v)", path, err)}
	}
	return nil
}

// hold opens a path of any kind, without its content: what is put into its place later
// is not taken for it.
func hold(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// watchDisk returns a context that ends when the file system of dir has less left
// by more than limit bytes than now.
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
				if used := before - free(); used > limit {
					cancel(fmt.Errorf("it took more than %s of disk", text.Bytes(limit)))
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// replaceable returns a folder of programs which every user may write, and so replace
// what later steps run beside the credentials, or "". It looks at those of PATH, and at
// the runner's tools: on GitHub's machines everybody may write those. A folder with the
// sticky bit, as /tmp has, keeps what it holds from others.
func replaceable(environ []string) string {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains([]string{"PATH", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}, name) {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if found := writable(dir); found != "" {
				return found
			}
		}
	}
	return ""
}

// writable returns the folder through which every user may replace what lies in dir:
// itself, or one that it lies in; "" for none, or where others do not get to it.
func writable(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "" // it is not there
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

// sharedDirs are the directories in which every user may leave files; not each system
// has all of them.
var sharedDirs = [...]string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"}

// sweep removes what the users' programs left to all: files, and System V's queues,
// semaphores and memory. No program runs any more.
func (r *Sandbox) sweep() error {
	own := r.ids()
	var all []error
	for _, dir := range sharedDirs {
		all = append(all, sweepDir(dir, own))
	}
	for table, control := range map[string]uintptr{"shm": unix.SYS_SHMCTL, "msg": unix.SYS_MSGCTL, "sem": unix.SYS_SEMCTL} {
		all = append(all, sweepIPC("/proc/sysvipc/"+table, own, control))
	}
	return errors.Join(all...)
}

// sweepDir removes what lies in a directory and belongs to one of the users.
func sweepDir(name string, own []uint32) error {
	dir, err := os.Open(name)
	if err != nil {
		return nil // this system has no such directory
	}
	defer dir.Close()
	for { // what is removed meanwhile may shift what comes next: until there is nothing more
		removed := 0
		for err = nil; err == nil; {
			var entries []os.DirEntry
			entries, err = dir.ReadDir(1024)
			for _, e := range entries {
				info, err := e.Info()
				if err != nil {
					continue // somebody else removed it
				}
				if st, ok := info.Sys().(*syscall.Stat_t); ok && slices.Contains(own, st.Uid) {
					if err := removeAll(filepath.Join(name, e.Name())); err != nil {
						return err
					}
					removed++
				}
			}
		}
		if err != io.EOF || removed == 0 {
			return nil // what cannot be listed is not the users'
		}
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}

// sweepIPC removes the objects in a table of the kernel that one of the users has made.
// Whose they are now says nothing: that can be given away. control is the system call
// for such objects.
func sweepIPC(table string, own []uint32, control uintptr) error {
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
			return fmt.Errorf("%s: a line of another form", table)
		}
		id, err := strconv.Atoi(columns[1])
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		by, err := strconv.ParseUint(columns[creator], 10, 32)
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		if !slices.Contains(own, uint32(by)) {
			continue
		}
		if _, _, errno := unix.Syscall(control, uintptr(id), unix.IPC_RMID, unix.IPC_RMID); errno != 0 && errno != unix.EIDRM && errno != unix.EINVAL {
			return fmt.Errorf("%s: removing %d: %w", table, id, errno)
		}
	}
	return lines.Err()
}
