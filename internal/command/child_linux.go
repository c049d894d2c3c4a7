package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A second run of this program does its work here. The work is done in an init function, so that
// the libraries of the main program are not initialised first: Go initialises packages in the order
// of their paths, each after the packages that it imports. A second run needs none of those
// libraries. Initialising them takes more than twice the processor time of everything that the
// second run does itself.
func init() { enterChild(os.Args) }

// enterChild returns at once, unless args are those with which this package starts this program a
// second time. Then this process becomes the program that Run was asked for, a supervisor or a
// guard, and enterChild never returns.
func enterChild(args []string) {
	if len(args) != 3 || args[1] != childFlag && args[1] != superviseFlag && args[1] != guardFlag {
		return
	}
	if args[1] == guardFlag {
		if err := guard(args[2]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	runtime.LockOSThread() // what is set below belongs to the thread that becomes the program
	fd, err := strconv.Atoi(args[2])
	if err != nil || fd < 3 {
		os.Exit(2)
	}
	answer := os.NewFile(uintptr(fd+1), "answer")
	if args[1] == superviseFlag {
		code, err := supervise(fd, answer)
		if err != nil {
			_, _ = answer.WriteString(err.Error())
		}
		os.Exit(code)
	}
	if err := carryOut(fd, answer); err != nil {
		_, _ = answer.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// carryOut carries out the order on descriptor fd. It returns nil only for an order
// without a program.
func carryOut(fd int, answer *os.File) error {
	if err := closeOnExec(fd); err != nil {
		return err
	}
	o, err := readOrder(fd)
	if err != nil {
		return err
	}
	if o.Loopback {
		if err := raiseLoopback(); err != nil {
			return fmt.Errorf("setting up the loopback of a network of its own: %w", err)
		}
	}
	handleSignals()
	if o.Identity != nil {
		for _, output := range []int{1, 2} {
			if err := o.Identity.ownPipe(output); err != nil {
				return fmt.Errorf("giving the output to user %d: %w", o.Identity.UID, err)
			}
		}
		if err := o.Identity.assume(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tying the program's end to Airlock's: %w", err)
	}
	if os.Getppid() != o.Parent {
		return errors.New("airlock ended before the program began")
	}
	umask := 0o022
	if o.Identity != nil && o.Identity.GroupWrites {
		umask = 0o002
	}
	unix.Umask(umask)
	if err := unix.Chdir(string(o.Dir)); err != nil {
		return fmt.Errorf("entering %s: %w", o.Dir, err)
	}
	argv, env := stringsOf(o.Args), stringsOf(o.Env) // before memory is limited
	if err := o.Limits.set(); err != nil {
		return err
	}
	if _, err := answer.WriteString(ready); err != nil || len(o.Path) == 0 {
		return err
	}
	return syscall.Exec(string(o.Path), argv, env)
}

// closeOnExec keeps the descriptors from fd on away from the program: those of the
// order and the answer, and whatever this process itself was started with.
func closeOnExec(fd int) error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("closing files: %w", err)
	}
	for _, e := range open {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= fd {
			unix.CloseOnExec(n)
		}
	}
	return nil
}

// readOrder reads what to run from a descriptor.
func readOrder(fd int) (order, error) {
	var o order
	if err := json.NewDecoder(os.NewFile(uintptr(fd), "order")).Decode(&o); err != nil {
		return order{}, fmt.Errorf("reading what to run: %w", err)
	}
	return o, nil
}

// handleSignals handles signals, so that they have their defaults in the program that comes next.
// One that this process ignores would stay ignored there.
func handleSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
}

// ownPipe gives an unnamed pipe to the identity, so that the program can also open it
// by names such as /dev/stdout. Anything else keeps its owner.
func (id Identity) ownPipe(fd int) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || fs.Type != unix.PIPEFS_MAGIC {
		return err
	}
	return unix.Fchown(fd, int(id.UID), int(id.GID))
}

// assume makes this thread, and what it becomes, run as the identity, for good:
// without groups or capabilities, and without a way to gain them.
func (id Identity) assume() error {
	for c := 0; c <= 63; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if err == unix.EINVAL {
			break // past the last capability
		}
		if err != nil {
			return fmt.Errorf("dropping capabilities needs root: %w", err)
		}
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"dropping groups", func() error { return syscall.Setgroups(nil) }},
		{"changing the group", func() error { return syscall.Setresgid(int(id.GID), int(id.GID), int(id.GID)) }},
		{"changing the user", func() error { return syscall.Setresuid(int(id.UID), int(id.UID), int(id.UID)) }},
		{"dropping capabilities", dropCapabilities},
		{"forbidding new privileges", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s (user %d, group %d): %w", step.what, id.UID, id.GID, err)
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETUID, 0, 0, 0); errno == 0 {
		return errors.New("the program could become root again")
	}
	return nil
}

// dropCapabilities takes all capabilities from this thread.
func dropCapabilities() error {
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// set lowers this process's limits for good, and allows no core file.
func (l Limits) set() error {
	seconds := int64(0)
	if l.CPU > 0 {
		seconds = int64((l.CPU-1)/1e9) + 1
	}
	for _, limit := range []struct {
		name     string
		resource int
		value    int64
	}{
		{"processor time", unix.RLIMIT_CPU, seconds},
		{"size of files", unix.RLIMIT_FSIZE, l.FileSize},
		{"processes", unix.RLIMIT_NPROC, int64(l.Processes)},
		{"open files", unix.RLIMIT_NOFILE, int64(l.OpenFiles)},
		{"memory", unix.RLIMIT_DATA, l.Memory},
	} {
		if limit.value <= 0 {
			continue
		}
		var now syscall.Rlimit
		err := syscall.Getrlimit(limit.resource, &now)
		if err == nil {
			most := min(uint64(limit.value), now.Max)
			err = syscall.Setrlimit(limit.resource, &syscall.Rlimit{Cur: most, Max: most})
		}
		if err != nil {
			return fmt.Errorf("limiting %s: %w", limit.name, err)
		}
	}
	return syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{})
}

func stringsOf(b [][]byte) []string {
	s := make([]string, len(b))
	for i := range b {
		s[i] = string(b[i])
	}
	return s
}
