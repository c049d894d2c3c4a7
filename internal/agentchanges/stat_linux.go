package agentchanges

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file's data or inode changed, and the number of the inode.
func changeTime(info fs.FileInfo) (changed time.Time, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0, false
	}
	return time.Unix(st.Ctim.Unix()), st.Ino, true
}
