package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/text"

	"golang.org/x/sys/unix"
)

// cannotSeparate returns why this process cannot keep a program apart, or "".
func cannotSeparate() string {
	if os.Geteuid() != 0 {
		return "only root can keep it apart"
	}
	return ""
}

// separate sets the room up; what it did is in r.undo, also on an error.
func (r *Room) separate(ctx context.Context, cfg Config) error {
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
	if r.base, err = os.MkdirTemp(scratch, "airlock-room-"); err != nil {
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
func (r *Room) shut(path, scratch string) error {
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
