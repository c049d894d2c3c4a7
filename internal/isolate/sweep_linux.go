package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharedDirs are the directories in which every user may leave files; not each system
// has all of them.
var sharedDirs = [...]string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"}

// sweep removes what the users' programs left to all: files, and System V's queues,
// semaphores and memory. No program runs any more.
func (r *Room) sweep() error {
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
