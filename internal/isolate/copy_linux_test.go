package isolate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

// TestCopy asserts the names, modes, owner and links of a copy, a file's time, and what is not copied.
func TestCopy(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	in := func(name string) string { return filepath.Join(r.workspace, name) }
	if err := errors.Join(
		os.Symlink("/etc/passwd", in("outside")), os.Symlink("nowhere", in("dangling")), os.Symlink("sub", in("linked")),
		syscall.Mkfifo(in("fifo"), 0o666), os.Chmod(in("sub/run.sh"), 0o755|os.ModeSetuid), os.Chtimes(in("sub/run.sh"), at, at),
		os.WriteFile(in("odd\xff\nname"), nil, 0o400), os.Mkdir(in("closed"), 0o500), os.WriteFile(in("left.log"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cfg := r.config()
	cfg.Copy.Exclude = []string{"*.log"}
	sandbox := open(t, cfg)
	if sandbox == nil {
		return
	}
	defer sandbox.Close()
	var got []string
	err = filepath.WalkDir(sandbox.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != cfg.Identity.UID || st.Gid != cfg.Identity.GID {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		rel, _ := filepath.Rel(sandbox.Dir(), path)
		target, _ := os.Readlink(path)
		got = append(got, fmt.Sprintf("%s %q %s", info.Mode(), rel, target))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`drwx------ "." `,
		`drwx------ "closed" `, // its owner may always enter and clean up
		`Lrwxrwxrwx "dangling" nowhere`, `Lrwxrwxrwx "linked" sub`, `-rw-rw-rw- "main.go" `,
		`-r-------- "odd\xff\nname" `, `Lrwxrwxrwx "outside" /etc/passwd`, `drwxr-xr-x "sub" `, `-rwxr-xr-x "sub/run.sh" `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the copy (-want +got)\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(sandbox.Dir(), "sub/run.sh")); err != nil {
		t.Error(err)
	} else if !info.ModTime().Equal(at) {
		t.Errorf("sub/run.sh is of %v, want %v", info.ModTime(), at)
	}
	var notes []string
	for _, n := range sandbox.Notes() {
		notes = append(notes, n.Name+": "+n.Why)
	}
	if diff := cmp.Diff([]string{
		".git: git's directory may contain credentials, and programs in its configuration", "fifo: it is a FIFO", "gha-creds-1.json: it contains credentials of a cloud",
		"left.log: excluded", "socket: it is a socket", "sub/.git: git's directory may contain credentials, and programs in its configuration",
	}, notes); diff != "" {
		t.Errorf("the notes (-want +got)\n%s", diff)
	}
}

// BenchmarkCopy opens and closes a sandbox on a workspace of 10,000 files of 4 KiB.
func BenchmarkCopy(b *testing.B) {
	if os.Getuid() != 0 {
		b.Fatal("needs root")
	}
	workspace := manyFiles(b)
	id := command.Identity{UID: uint32(1<<24 + 2*os.Getpid()), GID: uint32(1<<24 + 2*os.Getpid())}
	var closing time.Duration
	for b.Loop() {
		sandbox, err := isolate.Open(b.Context(), isolate.Config{Workspace: workspace, Identity: &id})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := sandbox.Close(); err != nil {
			b.Fatal(err)
		}
		closing += time.Since(began)
	}
	b.ReportMetric(float64(closing.Milliseconds())/float64(b.N), "ms-closing/op")
}

// BenchmarkSplit splits a sandbox on a workspace of 10,000 files of 4 KiB into two workers,
// and lets the sandbox's own program and a worker's take turns: each gets all the files that
// the other had.
func BenchmarkSplit(b *testing.B) {
	if os.Getuid() != 0 {
		b.Fatal("needs root")
	}
	workspace := manyFiles(b)
	entries, err := os.ReadDir(workspace)
	if err != nil {
		b.Fatal(err)
	}
	id := command.Identity{UID: uint32(1<<24 + 2*os.Getpid()), GID: uint32(1<<24 + 2*os.Getpid())}
	spec := command.Spec{Program: "/bin/true"}
	var turns time.Duration
	for b.Loop() {
		b.StopTimer()
		sandbox, err := isolate.Open(b.Context(), isolate.Config{Workspace: workspace, Identity: &id})
		if err != nil {
			b.Fatal(err)
		}
		directories := make([][]string, 2)
		for i, e := range entries {
			directories[i%2] = append(directories[i%2], filepath.Join(sandbox.Dir(), e.Name()))
		}
		b.StartTimer()
		workers, err := sandbox.Split(b.Context(), directories)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		for range 2 {
			if _, err := workers[1].Run(b.Context(), spec); err != nil {
				b.Fatal(err)
			}
			if _, err := sandbox.Run(b.Context(), spec); err != nil {
				b.Fatal(err)
			}
		}
		turns += time.Since(began)
		if err := sandbox.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(turns.Microseconds())/4000/float64(b.N), "ms/turn")
}

// nested is a script that nests directories more deeply than the number of files that this process
// may have open after fewFiles. Some of the directories are read-only. Others have the names that
// Airlock gives to directories when it removes nested ones.
const nested = `mkdir -p $(printf 'moved-%d/in ' $(seq 0 20)) $(printf 'd/%.0s' $(seq 400)) && cd d && echo >moved-25 && echo >f && cd d && mkdir locked && echo >locked/f && chmod 500 locked . ..`

// fewFiles lets this process have 300 files open until the test ends.
func fewFiles(t *testing.T) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 300, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
}

// TestDeepDirectoriesAreRemoved asserts that nested directories are removed from the sandbox and from a
// directory that everybody may write to.
func TestDeepDirectoriesAreRemoved(t *testing.T) {
	r := newRunner(t)
	sandbox := open(t, r.config())
	if sandbox == nil {
		return
	}
	left := fmt.Sprintf("/tmp/airlock-deep-%d", os.Getpid())
	mustRun(t, sandbox.Run, sh(nested))
	mustRun(t, sandbox.Run, sh(`mkdir $1 && cd $1 && `+nested, left))
	fewFiles(t)
	if err := sandbox.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{filepath.Dir(sandbox.Dir()), left} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestDeepScratchIsRemoved(t *testing.T) {
	workspace, temp := checkout(t)
	s, err := isolate.OpenScratch(t.Context(), isolate.Config{Workspace: workspace, TempDir: temp, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, s.Run, command.Spec{Program: "sh", Args: []string{"-c", nested}})
	fewFiles(t)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	assertNoScratch(t, temp)
}
