package command

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// superviseFlag marks the supervisor: a second process of Airlock, which runs the
// program and outlives this process for as long as it takes to end everything.
const superviseFlag = "--airlock-supervise"

// askToEnd, written to the supervisor's lifeline, makes it ask everything to end. When the
// lifeline ends, it kills everything.
const askToEnd = 't'

// startSupervised starts the program below a supervisor, which ends everything when the
// lifeline is closed: the system closes it when this process ends, however that happens.
func (p *running) startSupervised(o order) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	p.lifeline = write // set before the start, because the context may end right after it
	p.cmd.ExtraFiles = []*os.File{read}
	if err := startChild(p.cmd, superviseFlag, o); err != nil {
		_ = write.Close()
		return err
	}
	return nil
}

// supervise is the supervisor's main function. The lifeline is file 3, the order is file fd, and
// the answer is the file after the order. It returns the exit code of the program, or ends by the
// signal that ended the program.
func supervise(fd int, answer *os.File) (code int, err error) {
	runtime.LockOSThread() // the program is killed when the thread that started it ends
	if err := closeOnExec(3); err != nil {
		return 1, err
	}
	o, err := readOrder(fd)
	if err != nil {
		return 1, err
	}
	// Whoever loses its parent becomes a child of this process, also after it has left
	// its group and session.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1, fmt.Errorf("adopting what the program starts: %w", err)
	}
	handleSignals()
	pid, err := syscall.ForkExec(string(o.Path), stringsOf(o.Args), &syscall.ProcAttr{Dir: string(o.Dir), Env: stringsOf(o.Env), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return 1, err
	}
	if _, err := answer.WriteString(ready); err != nil {
		return 1, endTree()
	}
	_ = answer.Close()
	go obey(os.NewFile(3, "lifeline"))
	status := awaitProgram(pid)
	if err := endTree(); err != nil {
		fmt.Fprintf(os.Stderr, "airlock: %v\n", err)
	}
	if status.Signaled() {
		endLike(status.Signal())
	}
	return status.ExitStatus(), nil
}

// obey asks everything to end whenever the parent wants that, and kills everything once the
// lifeline has ended.
func obey(lifeline *os.File) {
	ask := make([]byte, 1)
	for {
		_, err := lifeline.Read(ask)
		if err != nil || ask[0] != askToEnd {
			break
		}
		signalAll(descendants(), syscall.SIGTERM)
	}
	for range time.Tick(10 * time.Millisecond) { // until the main thread sees that all have ended
		signalAll(descendants(), syscall.SIGKILL)
	}
}

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}

// awaitProgram reaps every child until the program has ended.
func awaitProgram(program int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if pid == program || err != nil && !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

// endTree kills all descendants until none is left. A process that loses its parent becomes a child
// of this process. So endTree reads /proc only while there is a child: most programs leave none,
// and reading /proc costs as much as starting a program.
func endTree() error {
	for until := time.Now().Add(endWithin); !reapEnded(); {
		pids := descendants()
		signalAll(pids, syscall.SIGKILL)
		if time.Now().After(until) {
			return fmt.Errorf("processes %v do not end", pids)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// reapEnded reaps the children that have ended, and reports whether no child is left.
func reapEnded() (none bool) {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return true
		case pid <= 0 && !errors.Is(err, syscall.EINTR):
			return false
		}
	}
}

// endLike ends this process by the signal that ended the program, so that its parent sees it.
func endLike(s syscall.Signal) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // no core file, nor anything for a program that collects them
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // the signal may be handled by another thread
	os.Exit(128 + int(s))
}

// descendants returns the children of this process, their children and so on.
func descendants() []int {
	children := map[int][]int{}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The program's name, in parentheses, may contain anything.
		fields := strings.Fields(string(stat[max(0, strings.LastIndexByte(string(stat), ')')+1):]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var list []int
	for next := []int{os.Getpid()}; len(next) > 0; next = next[1:] {
		list = append(list, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return list
}

// terminate asks everything that the program started to end, and reports whether it could ask.
// Without a supervisor, everything is the program's process group.
func (p *running) terminate() bool {
	if p.lifeline == nil {
		return terminateGroup(p.cmd.Process)
	}
	_, err := p.lifeline.Write([]byte{askToEnd})
	return err == nil
}

// killEverything kills everything that the program started, or its process group if there is no
// supervisor. The supervisor needs a moment for it, and then ends as well.
func (p *running) killEverything() {
	if p.lifeline == nil {
		killGroup(p.cmd.Process)
		return
	}
	_ = p.lifeline.Close()
}
