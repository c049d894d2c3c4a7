//go:build unix

package action

import (
	"io/fs"
	"os"
	"syscall"
)

const openNofollow = syscall.O_NOFOLLOW

// giveTo makes the file belong to the owner of its directory when this process is
// root, because the runner's later steps work as that user.
func giveTo(f *os.File, dir fs.FileInfo) error {
	st, ok := dir.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}
