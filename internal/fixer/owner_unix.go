//go:build unix

package fixer

import (
	"os"
	"syscall"
)

// giveAway gives a new file to the owner of the directory root, if this process is root and the owner
// is not.
func giveAway(root *os.Root, name string) {
	info, err := root.Stat(".")
	if err != nil {
		return
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && owner.Uid != 0 {
		_ = root.Lchown(name, int(owner.Uid), int(owner.Gid))
	}
}
