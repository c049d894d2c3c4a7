package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// endUser kills every process of the identity's user, whatever session, parent or signal handlers
// it has, until none is left or endWithin has passed. It reaps those that became children of this
// process, except the program. It kills them even while /proc cannot be read, because they may be
// the reason for that.
func endUser(id Identity, program *os.Process) error {
	for pause, until := time.Millisecond, time.Now().Add(endWithin); ; pause = min(2*pause, 50*time.Millisecond) {
		if err := killAll(id.UID); err != nil {
			return fmt.Errorf("ending the processes of user %d: %w", id.UID, err)
		}
		left, err := runningProcesses(id.UID, program.Pid)
		if err == nil && len(left) == 0 {
			return nil
		}
		if time.Now().After(until) {
			if err != nil {
				return fmt.Errorf("seeing whether the processes of user %d have ended: %w", id.UID, err)
			}
			return fmt.Errorf("processes %v of user %d do not end", left, id.UID)
		}
		time.Sleep(pause)
	}
}

// killAll kills all processes of the user in one system call, which no program that
// forks can outrun. The thread that does it has the user as its effective user id and
// the next one, which nobody else uses, as its other ids: so the processes cannot kill it
// first, and it can kill only them.
func killAll(uid uint32) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if unix.Gettid() == unix.Getpid() {
			// This is the main thread, which must not end: a goroutine on another thread does the work.
			defer runtime.UnlockOSThread()
			done <- killAll(uid)
			return
		}
		own, next := uintptr(uid), uintptr(uid+1)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, next, own, next); errno != 0 {
			done <- errno
			return
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL), 0); errno != 0 && errno != unix.ESRCH {
			done <- errno
			return
		}
		done <- nil
	}()
	return <-done
}

// runningProcesses lists the user's running processes except the program, and reaps
// dead ones that are this process's children.
func runningProcesses(uid uint32, program int) ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == program {
			continue
		}
		status, err := os.ReadFile("/proc/" + name + "/status")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // it has just ended
		}
		if err != nil {
			return nil, err
		}
		p := parseStatus(status)
		if !p.hasUser(uid) {
			continue
		}
		if !p.dead {
			pids = append(pids, pid)
		} else if p.parent == os.Getpid() {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
	return pids, nil
}

// process is what /proc shows of one.
type process struct {
	dead   bool
	parent int
	users  [4][]byte // the user ids: real, effective, saved and file system
}

// parseStatus reads /proc/<pid>/status. A process whose first thread has ended looks like a zombie,
// but is not dead as long as it has other threads.
func parseStatus(status []byte) process {
	var p process
	zombie, threads := false, 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		fields := bytes.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch string(name) {
		case "State":
			zombie = fields[0][0] == 'Z' || fields[0][0] == 'X'
		case "PPid":
			p.parent, _ = strconv.Atoi(string(fields[0]))
		case "Uid":
			copy(p.users[:], fields)
		case "Threads":
			threads, _ = strconv.Atoi(string(fields[0]))
		}
	}
	p.dead = zombie && threads <= 1
	return p
}

func (p process) hasUser(uid uint32) bool {
	want := strconv.AppendUint(nil, uint64(uid), 10)
	return slices.ContainsFunc(p.users[:], func(u []byte) bool { return bytes.Equal(u, want) })
}

// awaitExit waits until the process has ended, and reports whether it has. It does not reap the
// process: until somebody does, no other process or group gets its id or that of its group, so that
// the group can still be killed.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
