// Command attacker does what a hostile program would, for the tests. An attack
// that is refused ends it with code 7.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
)

func main() {
	if err := attacks[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Println(err)
		os.Exit(7)
	}
}

var attacks = map[string]func(args []string) error{
	"read":   func(a []string) error { _, err := os.ReadFile(a[0]); return err },
	"signal": func(a []string) error { return syscall.Kill(number(a[0]), syscall.SIGCONT) },
	"trace": func(a []string) error {
		runtime.LockOSThread()
		return syscall.PtraceAttach(number(a[0]))
	},
	"memory": func(a []string) error {
		local := []unix.Iovec{{Base: new(byte), Len: 1}}
		_, err := unix.ProcessVMReadv(number(a[0]), local, []unix.RemoteIovec{{Base: 4096, Len: 1}}, 0)
		if err == unix.EFAULT {
			return nil // allowed, only the address is wrong
		}
		return err
	},
	"limits": func(a []string) error { return unix.Prlimit(number(a[0]), unix.RLIMIT_CORE, &unix.Rlimit{}, nil) },
	"connect": func(a []string) error {
		conn, err := net.DialTimeout("tcp", a[0], 5*time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	},
	"connect-unix": func(a []string) error { _, err := net.Dial("unix", a[0]); return err },
	"serve": func([]string) error { // and connects to itself
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			l, err := net.Listen("tcp", address)
			if err != nil {
				return err
			}
			if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
				return err
			}
		}
		return nil
	},
	"up": func([]string) error { // an interface that leads out
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		lo, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	},
	"without-network": func(a []string) error {
		if err := command.ProbeNoNetwork(); err != nil {
			return fmt.Errorf("refused: %w", err)
		}
		r, err := command.Run(context.Background(), command.Spec{Program: os.Args[0], Args: a, Dir: "/", NoNetwork: true})
		fmt.Print(r.Stdout)
		if err == nil && !r.OK() {
			err = errors.New("it ended with " + strconv.Itoa(r.ExitCode))
		}
		return err
	},
	"who":       func([]string) error { fmt.Println(os.Getuid(), os.Getgid()); return nil },
	"root":      func([]string) error { return syscall.Setuid(0) },
	"group":     func(a []string) error { return syscall.Setgroups([]int{0}) },
	"terminal":  func([]string) error { _, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); return err },
	"raise":     func([]string) error { return syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{Cur: 1, Max: 1}) },
	"namespace": func([]string) error { return unix.Mount("none", "/mnt", "tmpfs", 0, "") },
	"descriptor": func(a []string) error {
		for fd := 3; fd < 200; fd++ {
			if to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && to == a[0] {
				return nil
			}
		}
		return errors.New("it is not open")
	},
	"fill": func(a []string) error {
		signal.Ignore(unix.SIGXFSZ)
		f, err := os.Create(a[0])
		if err != nil {
			return nil // a mistake of the test's
		}
		for range 100 {
			if _, err := f.Write(make([]byte, 1<<16)); err != nil {
				return err
			}
		}
		return nil
	},
	"allocate": func([]string) error {
		b, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		runtime.KeepAlive(b)
		return err
	},
	// daemon leaves a process that has a session of its own and no parent, and that
	// ignores signals.
	"daemon": func(a []string) error { return again("wait", a...) },
	"wait":   wait,
	// headless is a process whose first thread has ended.
	"headless": func(a []string) error { return again("headless-wait", a...) },
	"headless-wait": func(a []string) error {
		go func() { _ = wait(a) }()
		runtime.LockOSThread() // the first thread, on which main begins
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
		return nil
	},
	// chain runs for ever as a process that starts its successor and ends.
	"chain": func(a []string) error { return again("link", a...) },
	"link": func(a []string) error {
		_ = os.WriteFile(a[0], strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o644)
		return again("link", a...)
	},
}

func init() { // the table's rows name each other
	attacks["bomb"] = func(a []string) error {
		for range 1000 {
			if err := again("wait", a...); err != nil {
				return err
			}
		}
		return nil
	}
}

// again starts this program, and does not wait for it.
func again(attack string, args ...string) error {
	cmd := exec.Command("/proc/self/exe", append([]string{attack}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // keeps the streams open
	return cmd.Start()
}

// wait notes its process id in a file and stays.
func wait(args []string) error {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	if err := os.WriteFile(args[0], strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o644); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	return os.WriteFile(args[0], nil, 0o644)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}
