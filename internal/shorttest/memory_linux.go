package shorttest

import (
	"os"
	"syscall"
)

// TempInMemory puts the temporary files of a package's tests into memory, unless TMPDIR is set, the
// tests run at the limits (AtLimits), or the file system in memory is not there, is too full, or
// does not let programs run. It is for tests that make repositories, because they remove many
// files: when ext4 creates a file, it passes over each file that was removed in the last minutes.
// That took up to half of their time. A TestMain calls it before it makes a directory.
func TempInMemory() {
	const (
		place    = "/dev/shm"
		tmpfs    = 0x01021994 // the type of a file system in memory
		noexec   = 8          // the flag of one whose programs cannot be run, ST_NOEXEC
		minBytes = 2 << 30    // free; the tests of a package need less than a tenth
	)
	var fs syscall.Statfs_t
	if AtLimits() || os.Getenv("TMPDIR") != "" || syscall.Statfs(place, &fs) != nil {
		return
	}
	if fs.Type != tmpfs || fs.Flags&noexec != 0 || fs.Bavail < minBytes/uint64(fs.Bsize) {
		return
	}
	probe, err := os.MkdirTemp(place, "airlock-test-")
	if err != nil {
		return
	}
	_ = os.Remove(probe)
	if err := os.Setenv("TMPDIR", place); err != nil {
		panic(err)
	}
}
