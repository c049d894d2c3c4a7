package httpapi

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// TestWaysToTheOwner asserts that both ways to ask the kernel for the owner of a connection have the
// same answer, for each family of addresses, and none for a connection that was closed.
func TestWaysToTheOwner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ listen, dial, table string }{
		{"127.0.0.1:0", "127.0.0.1", "/proc/net/tcp"},
		{"[::1]:0", "::1", "/proc/net/tcp6"},
		{":0", "127.0.0.1", "/proc/net/tcp"}, // whose server sees the addresses in the form of version 6
	} {
		t.Run(c.listen, func(t *testing.T) {
			listener, err := net.Listen("tcp", c.listen)
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			client, err := net.Dial("tcp", net.JoinHostPort(c.dial, port))
			if err != nil {
				t.Fatal(err)
			}
			accepted, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer accepted.Close()
			here, there := accepted.LocalAddr().(*net.TCPAddr).AddrPort(), accepted.RemoteAddr().(*net.TCPAddr).AddrPort()
			ways := map[string]func(local, remote netip.AddrPort) (int, bool, error){"the kernel": diagnosedOwner,
				"the table": func(local, remote netip.AddrPort) (int, bool, error) { return listedOwner(c.table, local, remote) }}
			for name, ask := range ways {
				if uid, found, err := ask(there, here); err != nil || !found || uid != os.Getuid() {
					t.Errorf("%s says %d, %t, %v", name, uid, found, err)
				}
			}
			client.Close()
			for name, ask := range ways {
				if uid, found, _ := ask(there, here); found {
					t.Errorf("%s says that %d has a connection that was closed", name, uid)
				}
			}
		})
	}
}

// BenchmarkPeerUser asks for the owner next to 5,000 connections that were just closed.
func BenchmarkPeerUser(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	for range 5000 {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		accepted, err := listener.Accept()
		if err != nil {
			b.Fatal(err)
		}
		client.Close() // first, so that its end stays for a minute
		accepted.Close()
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	here, there := listener.Addr().(*net.TCPAddr).AddrPort(), client.LocalAddr().(*net.TCPAddr).AddrPort()
	b.Run("the kernel", func(b *testing.B) {
		for b.Loop() {
			if _, found, err := diagnosedOwner(there, here); !found || err != nil {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("the table", func(b *testing.B) {
		for b.Loop() {
			if _, found, err := listedOwner("/proc/net/tcp", there, here); !found || err != nil {
				b.Fatal(found, err)
			}
		}
	})
}
