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
)

// childFlag marks the second run of this program. No command line knows it, so
// that a program which does not call EnterChild ends with a usage error.
const childFlag = "--airlock-child"

// ready is what the second run says before it becomes the program.
const ready = "ready"

// order is what the second run is told. The texts are bytes, because arguments
// and paths need not be UTF-8.
type order struct {
	Parent   int // the process id of this process
	Identity *Identity
	Limits   Limits
	Dir      []byte
	Path     []byte // none: only see whether all can be set up
	Args     [][]byte
	Env      [][]byte
}

// start starts the program: directly, or by a second run of this one, which takes
// on the identity and the limits and then becomes the program. It is the way in
// which a process can limit itself: a container's root may change its user, but
// not the limits of another's process.
func start(cmd *exec.Cmd, spec Spec) error {
	if spec.Identity == nil && spec.Limits == (Limits{}) {
		return cmd.Start()
	}
	if err := spec.Identity.check(); err != nil {
		return err
	}
	o := order{Parent: os.Getpid(), Identity: spec.Identity, Limits: spec.Limits, Dir: []byte(cmd.Dir), Path: []byte(cmd.Path)}
	for _, a := range cmd.Args {
		o.Args = append(o.Args, []byte(a))
	}
	for _, e := range cmd.Env {
		o.Env = append(o.Env, []byte(e))
	}
	return second(cmd, o)
}

// check refuses ids under which somebody else's processes run: they would be
// ended with the program's.
func (id *Identity) check() error {
	if id == nil {
		return nil
	}
	own := []uint32{0, uint32(os.Getuid()), uint32(os.Geteuid()), 1<<32 - 1}
	if slices.Contains(own, id.UID) || slices.Contains(own, id.UID+1) || id.GID == 0 {
		return fmt.Errorf("user %d and group %d cannot be a program's own: name a user and a group that nobody is", id.UID, id.GID)
	}
	return nil
}

// second makes cmd the second run of this program and starts it.
func second(cmd *exec.Cmd, o order) error {
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
	cmd.Path, cmd.Args = "/proc/self/exe", []string{"airlock", childFlag, strconv.Itoa(firstExtra + len(cmd.ExtraFiles))}
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], orderRead, answerWrite)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and a group of its own
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
			return syscall.EACCES // what callers can tell by errors.Is, as without an identity
		}
		return errors.New(problem)
	}
	if len(answer) > 0 {
		return errors.New(string(answer))
	}
	return fmt.Errorf("the second run of this program did not answer (its main function must begin with command.EnterChild): %w", errors.Join(err, readErr, io.ErrUnexpectedEOF))
}

// Probe reports why a program cannot be run as the identity on this system, or
// should not, since processes of that user run already; nil if it can. Nothing but
// this program itself is run.
func Probe(id Identity) error {
	if err := id.check(); err != nil {
		return err
	}
	others, err := living(id.UID, 0)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("processes %v run as user %d already, and would be ended with the program", others, id.UID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	err = second(cmd, order{Parent: os.Getpid(), Identity: &id, Dir: []byte("/")})
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("no program can be run as user %d: %w", id.UID, err)
	}
	return nil
}
