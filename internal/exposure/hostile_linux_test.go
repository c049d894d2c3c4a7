package exposure_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/exposure"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestHostileConfiguration makes configurations of git, or other things in their place, that keep a
// search waiting or hide something from it. It asserts what is reported about them.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range shorttest.First(2, []struct {
		name string
		set  func(t *testing.T, m *machine)
		want []string // each a place and the beginning of what is reported about it
	}{
		{"FIFO", func(t *testing.T, m *machine) {
			m.git(m.work, "config", "include.path", "pipe")
			must(t, syscall.Mkfifo(m.work+"/.git/pipe", 0o644))
			must(t, syscall.Mkfifo(m.home+"/.netrc", 0o644))
			must(t, syscall.Mkfifo(m.work+"/gha-fifo", 0o644))
			must(t, os.Mkdir(m.work+"/sub", 0o755))
			must(t, syscall.Mkfifo(m.work+"/sub/.git", 0o644))
		}, []string{"home/.netrc: this file of credentials cannot be judged: it is a FIFO", "repo/.git/pipe: this configuration of git cannot be judged: it is a FIFO", "repo/sub/.git: the place of git's directory cannot be judged: it is a FIFO"}},
		{"device", func(t *testing.T, m *machine) {
			must(t, os.Symlink("/dev/zero", m.home+"/.gitconfig"))
		}, []string{"home/.gitconfig: this configuration of git cannot be judged: it is a device"}},
		{"directory", func(t *testing.T, m *machine) { must(t, os.Mkdir(m.home+"/.gitconfig", 0o755)) }, nil},
		{"link", func(t *testing.T, m *machine) { // as people keep theirs
			m.write("home/dotfiles/gitconfig", "[http]\nextraheader = x\n")
			must(t, os.Symlink("dotfiles/gitconfig", m.home+"/.gitconfig"))
		}, []string{"home/.gitconfig:2: git sends this header"}},
		{"link to itself", func(t *testing.T, m *machine) { must(t, os.Symlink(".gitconfig", m.home+"/.gitconfig")) }, nil},
		{"linked directories", func(t *testing.T, m *machine) {
			must(t, os.Symlink(m.base, m.work+"/up"))
			must(t, os.Symlink(".", m.work+"/here"))
		}, nil},
		{"large file", func(t *testing.T, m *machine) {
			m.write("home/.gitconfig", strings.Repeat("#\n", 1<<19+1))
		}, []string{"home/.gitconfig: this configuration of git cannot be judged: it is larger than 1 MiB"}},
		{"many large files", func(t *testing.T, m *machine) {
			for i := range 18 {
				m.write(fmt.Sprintf("home/c%02d", i), strings.Repeat("#\n", 1<<19-100)+fmt.Sprintf("[include] path = c%02d\n", i+1))
			}
			var list strings.Builder
			for i := range 18 {
				fmt.Fprintf(&list, "[include] path = c%02d\n", 17-i)
			}
			m.write("home/.gitconfig", list.String())
		}, []string{"home/c01: this configuration of git cannot be judged: there are more than 16 MiB of it", "home/c00: ", "repo/.git/config: "}},
		{"deep includes", func(t *testing.T, m *machine) {
			for i := range 12 {
				m.write(fmt.Sprintf("home/c%02d", i), fmt.Sprintf("[include] path = c%02d\n", i+1))
			}
			m.write("home/.gitconfig", "[include] path = c00\n")
		}, []string{"home/c10: this configuration of git cannot be judged: it is included through more than 10 files"}},
		{"what git refuses", func(t *testing.T, m *machine) {
			m.write("home/.gitconfig", "[user]\nname = A\n= !\n[http \"x\n\textraheader = x\n")
		}, []string{"home/.gitconfig:3: git could not read this line", "home/.gitconfig:5: git sends this header"}},
		{"case, quotes and continued lines", func(t *testing.T, m *machine) {
			m.write("home/.gitconfig", "\ufeff[HTTP \"https://github.com/\"] ; x\r\n\tExtraHeader \\\r\n= x\n")
			m.write("home/.config/git/config", "[ht\\\ntp]extraheader=x\n[http.x]eXtraheader=\"\\\n \"x\n")
		}, []string{"home/.config/git/config:1: git could not", "home/.config/git/config:3: git sends", "home/.gitconfig:2: git could not"}},
		{"names", func(t *testing.T, m *machine) {
			m.write("repo/a\n::error::\x1b[31m/.git/config", "[http]extraheader=x")
			m.write("repo/a\n::error::\x1b[31m/.git/HEAD", "")
		}, []string{`"` + machineDir + `/repo/a\n::error::\x1b[31m/.git/config":1: git sends`}},
		{"secrets in names", func(t *testing.T, m *machine) {
			m.git(m.work, "config", "http.https://x:"+leaked+"@github.com/.extraheader", header)
		}, []string{"repo/.git/config:", "repo/.git/config:"}},
		{"git's file", func(t *testing.T, m *machine) {
			m.write("repo/a/.git", "gitdir: ../../far\n")
			m.write("far/config", "[http]extraheader=x")
			m.write("far/commondir", "../common\n")
			m.write("common/config", "[http]\nextraheader=x")
			m.write("repo/b/.git", "gitdir: ../b/.git\n")
			m.write("repo/c/.git", "gitdir: /\x00\n")
			m.write("repo/d/.git", "nothing\n")
		}, []string{"common/config:2: git sends", "far/config:1: git sends"}},
		{"an agent", func(t *testing.T, m *machine) {
			socket, err := net.Listen("unix", m.base+"/agent")
			must(t, err)
			t.Cleanup(func() { _ = socket.Close() })
			m.env = append(m.env, "SSH_AUTH_SOCK="+m.base+"/agent")
		}, []string{"SSH_AUTH_SOCK: it names an SSH agent"}},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			c.set(t, m)
			if c.name != "names" { // places finds no file by a path that is printed in quotes
				m.places() // which asserts what is true of every credential
			}
			var got []string
			for _, found := range exposure.Find(exposure.Config{Environ: m.env, Dir: m.work, SystemConfig: filepath.Join(m.base, "system")}) {
				s := strings.ReplaceAll(found.String(), m.base, machineDir)
				got = append(got, strings.TrimPrefix(s, machineDir+"/"))
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
					t.Errorf("%q is missing from %q", want, got)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// machineDir stands for the directory of a machine.
const machineDir = "M"

// TestCredentialsThatMayNotBeRead asserts that they are not listed.
func TestCredentialsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := m.write("home/.netrc", "machine github.com login me password Tr0ub4dor")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // root reads everything
		m.expect("home/.netrc")
		return
	}
	m.expect()
}

// BenchmarkFind looks at a workspace of 10,000 files on a runner.
func BenchmarkFind(b *testing.B) {
	base := b.TempDir()
	for d := range 100 {
		dir := filepath.Join(base, fmt.Sprintf("d%d/e%d", d%10, d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	src := exposure.Config{Environ: []string{"GITHUB_ACTIONS=true", "HOME=" + base, "GITHUB_WORKSPACE=" + base}, Dir: base}
	for b.Loop() {
		if found := exposure.Find(src); len(found) > 0 && strings.HasPrefix(found[0].Where, base) {
			b.Fatal(found)
		}
	}
}
