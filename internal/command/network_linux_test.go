package command_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
)

// listen starts a server that programs on this machine can reach, and returns its address.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestNoNetwork asserts that a program reaches nothing but a loopback of its own. The attacks on this
// machine succeed with a network.
func TestNoNetwork(t *testing.T) {
	if err := command.ProbeNoNetwork(); err != nil {
		if !strings.Contains(err.Error(), "no network of its own can be made") {
			t.Errorf("the probe: %v", err)
		}
		if _, err := command.Run(t.Context(), command.Spec{Program: "true", Dir: "/", Env: []string{path}, NoNetwork: true}); err == nil {
			t.Error("a program runs with a network although it must not have one")
		}
		return
	}
	tcp, abstract := listen(t, "tcp", "127.0.0.1:0"), listen(t, "unix", fmt.Sprintf("@airlock-test-%d", os.Getpid()))
	for _, c := range []struct {
		attack  string
		args    []string
		refused string // without a network
	}{
		{"connect", []string{tcp}, "connection refused"},
		{"connect-unix", []string{abstract}, "connection refused"},
		{"connect", []string{"169.254.169.254:80"}, "network is unreachable"},
		{"connect", []string{"[2001:db8::1]:80"}, "network is unreachable"},
		{"up", nil, "operation not permitted"},
		{"serve", nil, ""},
	} {
		t.Run(c.attack, func(t *testing.T) {
			spec := hostile(t, c.attack, c.args...)
			if os.Getuid() != 0 {
				spec.Identity = nil
			}
			spec.NoNetwork = true
			res, err := command.Run(t.Context(), spec)
			if err != nil || (res.ExitCode == 7) != (c.refused != "") || !strings.Contains(res.Stdout.String(), c.refused) {
				t.Errorf("without a network: %v, exit code %d, %s, want %q", err, res.ExitCode, res.Stdout, c.refused)
			}
			if c.args == nil || strings.Contains(c.refused, "unreachable") {
				return // with a network, these would leave this machine, change it, or show nothing
			}
			spec.NoNetwork = false
			if res, err = command.Run(t.Context(), spec); err != nil || !res.OK() {
				t.Errorf("with a network: %v, exit code %d, %s", err, res.ExitCode, res.Stdout)
			}
		})
	}
}

// TestNoNetworkForAnotherUser asserts that a user other than root can run a program without a network,
// too: in a user namespace, in which the program is still that user and has no rights.
func TestNoNetworkForAnotherUser(t *testing.T) {
	if !isRoot(t) {
		return // then TestNoNetwork does the same
	}
	tcp := listen(t, "tcp", "127.0.0.1:0")
	run := func(args ...string) command.Result {
		t.Helper()
		res, err := command.Run(t.Context(), hostile(t, "without-network", args...))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	who := run("who")
	if strings.HasPrefix(who.Stdout.String(), "refused: ") {
		if who.ExitCode != 7 {
			t.Errorf("exit code %d, %s", who.ExitCode, who.Stdout)
		}
		return // this system lets nobody but root make a network
	}
	if want := fmt.Sprintf("%d %d\n", unusedIdentity().UID, unusedIdentity().GID); who.Stdout.String() != want {
		t.Errorf("the program is %s, want %s", who.Stdout, want)
	}
	if res := run("serve"); !res.OK() {
		t.Errorf("the loopback: %s", res.Stdout)
	}
	for _, attack := range [][]string{{"connect", tcp}, {"up"}, {"namespace"}, {"root"}} {
		if res := run(attack...); res.ExitCode != 7 {
			t.Errorf("%v: exit code %d, %s", attack, res.ExitCode, res.Stdout)
		}
	}
}

// TestNoNetworkOfAClosedProcess asserts that the probe says why an ordinary user's process cannot make
// a network if its memory is closed to others.
func TestNoNetworkOfAClosedProcess(t *testing.T) {
	if os.Getenv("NETWORK_TEST") != "" {
		fmt.Println(command.ProbeNoNetwork())
		fmt.Println(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0), command.ProbeNoNetwork())
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestNoNetworkOfAClosedProcess$")
	cmd.Env, cmd.Dir = []string{"NETWORK_TEST=1"}, "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	out, err := cmd.CombinedOutput()
	lines := strings.Split(string(out), "\n")
	if lines[0] != "<nil>" {
		t.Skipf("users cannot make networks here: %s", lines[0])
	}
	if err != nil || !strings.HasPrefix(lines[1], "<nil> no network of its own can be made: ") || !strings.Contains(lines[1], "permission denied, because this process's memory is closed to others") {
		t.Errorf("%v, %s", err, out)
	}
}
