//go:build unix

package phase

import (
	"os"

	"golang.org/x/sys/unix"
)

// look returns what an entry of an open directory is, without following a link, and the
// stamp of a regular file.
func (*project) look(dir *os.File, entry string) (stamp, entryKind) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), entry, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}, other
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return stamp{}, directory
	case unix.S_IFREG:
		return stamp{unix.TimespecToNsec(st.Mtim), st.Size}, regular
	}
	return stamp{}, other
}
