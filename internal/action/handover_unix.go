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

// maxHandover is the most that is handed over, in bytes: a little less than what a
// pipe takes without a reader on Linux and macOS (64 KiB).
const maxHandover = 60 << 10

// replace replaces this process by a second run of the program; it returns only
// on an error.
func replace(environ, args []string, secrets map[string]string) (Secrets, error) {
	data, err := json.Marshal(onlyNeeded(secrets))
	if err != nil {
		return Secrets{}, err
	}
	if len(data) > maxHandover {
		return Secrets{}, errors.New("the inputs token and secrets are too long together: check how the token was stored, and give fewer values")
	}
	return Secrets{}, fmt.Errorf("running again without the token in the environment: %w", runAgain(environ, args, data))
}

func runAgain(environ, args []string, data []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return err
	}
	// The reading end stays open in the second run; the writing end does not.
	syscall.CloseOnExec(fds[1])
	if err = fill(fds[1], data); err == nil {
		err = syscall.Exec(self, args, append(environ, handoverVariable+"="+strconv.Itoa(fds[0])))
	}
	_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
	return err
}

// fill writes data into a pipe that nobody reads yet.
func fill(fd int, data []byte) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	n, err := syscall.Write(fd, data)
	if err == nil && n < len(data) || errors.Is(err, syscall.EAGAIN) {
		return errors.New("the system's pipes are too small for the inputs token and secrets; give fewer values")
	}
	return err
}

// receive reads the pipe and closes it. One read is enough: all data was written, and
// the writing end closed, before this run of the program began.
func receive(fd string) ([]byte, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n < 3 {
		return nil, errNotOurs
	}
	var st unix.Stat_t
	if err := unix.Fstat(n, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, errNotOurs
	}
	if err := unix.SetNonblock(n, true); err != nil {
		return nil, err
	}
	defer syscall.Close(n)
	data := make([]byte, maxHandover)
	got, err := syscall.Read(n, data)
	if err == nil && got == 0 || errors.Is(err, syscall.EAGAIN) {
		err = io.ErrUnexpectedEOF
	}
	return data[:max(got, 0)], err
}
