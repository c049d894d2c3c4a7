package command

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// newNetwork makes a process start in a network namespace of its own. Users other than root may make
// one only in a user namespace of their own, which the process gets as well.
func newNetwork(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= unix.CLONE_NEWNET
	if os.Geteuid() == 0 {
		return
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // until the loopback is up
}

// raiseLoopback sets up the loopback of this process's network namespace. Then a process that is
// not root's gives up the right to do so.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written to it
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		return nil // newNetwork gave root no capability
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	return dropCapabilities()
}

// ProbeNoNetwork returns why no program can be run with NoNetwork on this system; nil if one
// can. It runs nothing but this program itself.
func ProbeNoNetwork() error {
	err := probe(order{Loopback: true})
	if dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); errors.Is(err, unix.EACCES) && dumpable == 0 {
		return fmt.Errorf("no network of its own can be made: %w, because this process's memory is closed to others; if that is so because its hard limit of core files is 0, a limit of 1 avoids it", err)
	}
	if err != nil {
		return fmt.Errorf("no network of its own can be made: %w", err)
	}
	return nil
}
