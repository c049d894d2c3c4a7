//go:build linux || darwin

package isolate

import (
	"context"
	"math"

	"golang.org/x/sys/unix"
)

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
