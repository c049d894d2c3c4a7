//go:build unix

package phase

import (
	"io/fs"
	"os"
	"syscall"
)

// takeOwner gives a file the owner that another one had, where this process may.
func (p *project) takeOwner(name string, was fs.FileInfo) error {
	if stat, ok := was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return p.root.Lchown(name, int(stat.Uid), int(stat.Gid))
	}
	return nil
}
