package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childFlag marks the child: a second run of this program, which becomes the program
// to run. It is not an option of any command line.
const childFlag = "--airlock-child"

// ready is what the child answers before it becomes the program. If it then cannot, the reason
// follows.
const ready = "ready"

// order is what the child is to become. The texts are bytes, because arguments
// and paths need not be UTF-8.
type order struct {
	Parent   int // the process id of this process
	Identity *Identity
	Loopback bool // the child is in a network of its own, and sets its loopback up
	Limits   Limits
	Dir      []byte
	Path     []byte // empty: only check that all can be set up
	Args     [][]byte
	Env      [][]byte
}

// start starts the program: directly, below a supervisor, or through a child that assumes the
// identity and the limits and then becomes the program. A process can always limit itself in
// this way: a container's root may change its user, but not the limits of another process.
func (p *running) start(spec Spec) error {
	cmd := p.cmd
	isConfined := spec.Identity != nil || spec.Limits != (Limits{}) || spec.NoNetwork
	if !isConfined && !spec.Supervised {
		return cmd.Start()
	}
	if spec.Supervised && (isConfined || len(spec.ExtraFiles) > 0) {
		return errors.New("command: a supervised program has no identity, limits, network of its own or extra files")
	}
	if err := spec.Identity.check(); err != nil {
		return err
	}
	o := order{Parent: os.Getpid(), Identity: spec.Identity, Limits: spec.Limits, Loopback: spec.NoNetwork, Dir: []byte(cmd.Dir), Path: []byte(cmd.Path)}
	for _, a := range cmd.Args {
		o.Args = append(o.Args, []byte(a))
	}
	for _, e := range cmd.Env {
		o.Env = append(o.Env, []byte(e))
	}
	if spec.Supervised {
		return p.startSupervised(o)
	}
	return startChild(cmd, childFlag, o)
}

// limitMemory limits the memory that a process of this user, and what it starts from now on, may
// write to. It raises no limit that is lower already, and does nothing if the process has ended.
func limitMemory(pid int, most int64) {
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &now) == nil {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(uint64(most), now.Cur), Max: min(uint64(most), now.Max)}, nil)
	}
}

// check refuses a UID if it, or UID+1, which must stay unused, is that of root or of this process,
// because processes of both users are ended with the program. It also refuses the UID that stands
// for no user, and root's group.
func (id *Identity) check() error {
	if id == nil {
		return nil
	}
	own := []uint32{0, uint32(os.Getuid()), uint32(os.Geteuid()), 1<<32 - 1}
	if slices.Contains(own, id.UID) || slices.Contains(own, id.UID+1) || id.GID == 0 {
		return fmt.Errorf("user %d and group %d cannot be a program's own: name a user and a group that nobody uses", id.UID, id.GID)
	}
	return nil
}

// startChild makes cmd a second run of this program, with the task that the flag names, and starts
// it.
func startChild(cmd *exec.Cmd, flag string, o order) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	orderRead, orderWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orderRead.Close()
	defer orderWrite.Close()
	answerRead, answerWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answerRead.Close()
	defer answerWrite.Close()

	const firstExtra = 3
	cmd.Path, cmd.Args = "/proc/self/exe", []string{"airlock", flag, strconv.Itoa(firstExtra + len(cmd.ExtraFiles))}
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), orderRead, answerWrite)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and a group of its own
	if o.Loopback {
		newNetwork(cmd.SysProcAttr)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = orderRead.Close()
	_ = answerWrite.Close()
	_, err = orderWrite.Write(data) // if it fails, so does the answer
	_ = orderWrite.Close()
	answer, readErr := io.ReadAll(io.LimitReader(answerRead, 4096))
	if string(answer) == ready {
		return nil
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if problem, ok := strings.CutPrefix(string(answer), ready); ok {
		if problem == syscall.EACCES.Error() {
			return syscall.EACCES // for errors.Is, as without an identity
		}
		return errors.New(problem)
	}
	if len(answer) > 0 {
		return errors.New(string(answer))
	}
	return fmt.Errorf("the second run of this program did not answer: %w", errors.Join(err, readErr, io.ErrUnexpectedEOF))
}

// Probe returns nil if a program can be run as the identity on this system. Otherwise it returns
// why that cannot be done, or should not, because processes of the user run already. It runs
// nothing but this program itself.
func Probe(id Identity) error {
	if err := id.check(); err != nil {
		return err
	}
	others, err := runningProcesses(id.UID, 0)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("processes %v already run as user %d, and would be ended with the program", others, id.UID)
	}
	if err := probe(order{Identity: &id}); err != nil {
		return fmt.Errorf("no program can be run as user %d: %w", id.UID, err)
	}
	return nil
}

// probe lets a child carry out an order without a program, and returns why the child could not.
func probe(o order) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	o.Parent, o.Dir = os.Getpid(), []byte("/")
	if err := startChild(cmd, childFlag, o); err != nil {
		return err
	}
	return cmd.Wait()
}
