//go:build unix

package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is what a pipe takes without a reader on every system.
const pipeSize = 4096

// replace runs the program again in the place of this process; it returns only
// on an error.
func replace(environ, args []string, secrets map[string]string) (Secrets, error) {
	data, err := json.Marshal(onlyTokens(secrets))
	if err != nil {
		return Secrets{}, err
	}
	if len(data) > pipeSize {
		return Secrets{}, errors.New("the token is too long to be one: check how the secret was stored")
	}
	self, err := os.Executable()
	if err != nil {
		return Secrets{}, fmt.Errorf("running again without the token in the environment: %w", err)
	}
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return Secrets{}, fmt.Errorf("running again without the token in the environment: %w", err)
	}
	// The reading end stays open in the second run; the writing end does not.
	syscall.CloseOnExec(fds[1])
	if _, err = syscall.Write(fds[1], data); err == nil {
		err = syscall.Exec(self, args, append(environ, handoverVariable+"="+strconv.Itoa(fds[0])))
	}
	_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
	return Secrets{}, fmt.Errorf("running again without the token in the environment: %w", err)
}

// receive reads the pipe to its end and closes it.
func receive(fd string) ([]byte, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n < 3 {
		return nil, errors.New(handoverVariable + " is not for you to set: unset it")
	}
	var st unix.Stat_t
	if err := unix.Fstat(n, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, errors.New(handoverVariable + " is not for you to set: unset it")
	}
	if err := unix.SetNonblock(n, true); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(n), "handover")
	defer f.Close()
	buf := make([]byte, pipeSize)
	got, err := syscall.Read(n, buf)
	if err != nil && err != syscall.EAGAIN {
		return nil, err
	}
	if got <= 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return buf[:got], nil
}
