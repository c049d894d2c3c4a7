package command

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardFlag marks a guard: a second run of this program, which outlives this process for
// as long as it takes to end the processes of a user.
const guardFlag = "--airlock-guard"

// dismissed is what the guard reads when it is not needed any more.
const dismissed = 'd'

// Guard sees to it that all processes of the identity's user end when this process does, however
// that happens, until release is called. Without a guard, only the program that Run started would
// end, and not those that it started in turn. hold is the file of a lock: the guard keeps it open
// as well, so that the lock is free only after these processes have ended.
func Guard(id Identity, hold *os.File) (release func(), err error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = []string{"airlock", guardFlag, strconv.FormatUint(uint64(id.UID), 10)}, []string{}, "/"
	cmd.ExtraFiles = []*os.File{read, hold}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it hears of no Ctrl-C
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("starting the guard of user %d: %w", id.UID, err)
	}
	return func() {
		_, _ = write.Write([]byte{dismissed})
		_ = write.Close()
		_ = cmd.Wait()
	}, nil
}

// guard is the guard's main function.
func guard(uid string) error {
	id, err := strconv.ParseUint(uid, 10, 32)
	if err != nil || id == 0 {
		return fmt.Errorf("%q is not a user to guard", uid)
	}
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	message := make([]byte, 1)
	if n, _ := os.NewFile(3, "lifeline").Read(message); n == 1 && message[0] == dismissed {
		return nil
	}
	err = endUser(Identity{UID: uint32(id)}, &os.Process{})
	return err
}
