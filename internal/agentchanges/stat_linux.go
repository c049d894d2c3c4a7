package agentchanges

import (
	"io/fs"
	"syscall"
	"time"
)

// statOf returns when a file's data or inode changed, and the inode's number.
func statOf(info fs.FileInfo) (changed time.Time, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0, false
	}
	return time.Unix(st.Ctim.Unix()), st.Ino, true
}
