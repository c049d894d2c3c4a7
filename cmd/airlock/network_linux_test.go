package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckWithoutNetwork checks code that connects to two servers: one of this test, and one
// that the code starts itself. Without a network, only the second one answers.
func TestCheckWithoutNetwork(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	_, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	outside := `bash -c 'echo >/dev/tcp/127.0.0.1/` + port + `'`
	const inside = `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname())'`
	config := func(network string) string {
		return fmt.Sprintf("checks:\n  format-command: \"true\"\n  lint-command: \"true\"\n  build-command: |\n    %s\n  test-command: |\n    %s\n  max-retries: 0\n%s", outside, inside, network)
	}
	for _, c := range []struct {
		name, config string
		args         []string
		code         int
	}{
		{name: "open by default", config: config("")},
		{name: "none by the configuration", config: config("  network: none\n"), code: 1},
		{name: "none by the flag", config: config("  network: open\n"), args: []string{"--network", "none"}, code: 1},
		{name: "open by the flag", config: config("  network: none\n"), args: []string{"--network=open"}},
		{name: "a word that is neither", config: config(""), args: []string{"--network=some"}, code: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.write("home/checks.yml", c.config)
			users := map[string]func() result{"not root": func() result { res, _ := u.check(append(c.args, "--allow-credentials")...); return res }}
			if os.Getuid() == 0 {
				users["root"] = func() result {
					return run(t, u.repo, append(u.env, "TMPDIR="+t.TempDir()), "", append([]string{"check", "--config", filepath.Join(u.home, "checks.yml"), "--changed-files", "a.js"}, c.args...)...)
				}
			}
			for name, check := range users {
				res := check()
				if res.code == 2 && strings.Contains(res.stderr, "network: none: the programs cannot be kept from the network here: no network of its own can be made") {
					if c.code != 1 {
						t.Errorf("%s: refused although the network is open", name)
					}
					continue // this machine does not allow a network of one's own
				}
				if res.code != c.code || c.code == 1 && (!strings.Contains(res.stdout, "Connection refused") || strings.Count(res.stdout, `"status": "fail"`) != 2) {
					t.Errorf("%s: exit code %d, want %d\n%s%s", name, res.code, c.code, res.stdout, res.stderr)
				}
				if c.code == 2 && !strings.Contains(res.stderr, `--network: "some" is not open or none`) {
					t.Errorf("%s: %s", name, res.stderr)
				}
			}
		})
	}
}
