package isolate

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestEntriesAreFoundByDescriptor asserts that the entries of a directory are found if it was opened
// by a name relative to another directory. In Info, and in ReadDir on file systems that do not report
// the kinds of entries, the os package looks up an entry by the name of the os.File of its directory.
// The relative name would lead nowhere, so openDir gives the file another name.
func TestEntriesAreFoundByDescriptor(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	at := unix.AT_FDCWD
	for _, name := range []string{filepath.Join(base, "a"), "b"} {
		dir, err := openDir(at, name)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		at = int(dir.Fd())
		entries, err := dir.ReadDir(-1)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: %d entries, %v", name, len(entries), err)
		}
		if info, err := entries[0].Info(); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIdentities asserts that identities differ, that the id after each one, which a guard uses, is
// not an identity, and that not all runs begin with the same one if the user namespace has all ids
// that sandboxes use.
func TestIdentities(t *testing.T) {
	t.Parallel()
	first := map[uint32]bool{}
	for range 4 {
		ids := identities()
		first[ids[0].UID] = true
		taken := map[uint32]bool{}
		for _, id := range ids {
			if taken[id.UID] || taken[id.UID+1] || id.UID != id.GID || id.UID < 65000 || id.UID > 99998 || id.UID%2 != 0 {
				t.Errorf("%+v", id)
			}
			taken[id.UID], taken[id.UID+1] = true, true
		}
		if len(ids) < 64 {
			t.Errorf("%d identities are not enough for many workers", len(ids))
		}
	}
	if mapped("/proc/self/uid_map", 0, 1<<20) && len(first) == 1 {
		t.Errorf("each of four runs begins with the user %v", first)
	}
}

// TestNoIdentityIsLeft asserts that it is an error if all identities are to be avoided.
func TestNoIdentityIsLeft(t *testing.T) {
	t.Parallel()
	var all []uint32
	for id := uint32(65000); id <= lastFree; id++ {
		all = append(all, id)
	}
	u, err := claim(nil, all...)
	if _, ok := errors.AsType[*RefusedError](err); !ok || u != nil {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestLockThatFails asserts that only a lock which another process has counts as one that another
// Airlock uses. It is not parallel, because it takes all file descriptors.
func TestLockThatFails(t *testing.T) {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	taken := command.Identity{UID: 1<<20 + uint32(os.Getpid())} // not one of identities
	other, err := net.Listen("unix", fmt.Sprintf("@airlock-user-%d-%s", taken.UID, namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = lock(taken)
	if _, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(err.Error(), fmt.Sprint("another Airlock uses the user id ", taken.UID)) {
		t.Error(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, err = lock(taken)
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); back != nil {
		t.Fatal(back)
	}
	if _, ok := errors.AsType[*RefusedError](err); ok || !errors.Is(err, unix.EMFILE) || !strings.HasPrefix(err.Error(), fmt.Sprint("cannot lock the user id ", taken.UID, ": ")) {
		t.Error(err)
	}
}

// TestTooFewDescriptors asserts that no number of file descriptors which is too small to take an
// identity counts as a reason to run the checks elsewhere. It is not parallel, because it
// limits the descriptors of this process.
func TestTooFewDescriptors(t *testing.T) {
	free, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0) // the first that is free
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(free)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	wanted := identities()[0]
	for more := range 20 {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free + more), Max: limit.Max}); err != nil {
			t.Fatal(err)
		}
		u, err := claim(&wanted)
		_, netErr := Open(t.Context(), Config{NoNetwork: true})
		if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); back != nil {
			t.Fatal(back)
		}
		if err == nil {
			if err := u.lock.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		if _, ok := errors.AsType[*NoNetworkError](netErr); ok && errors.Is(netErr, unix.EMFILE) {
			t.Errorf("with %d more descriptors: %v", more, netErr)
		}
		if _, refused := errors.AsType[*RefusedError](err); refused && os.Geteuid() == 0 || !refused && !errors.Is(err, unix.EMFILE) {
			t.Errorf("with %d more descriptors: %v", more, err)
		}
	}
	if os.Geteuid() == 0 {
		t.Error("20 descriptors are too few")
	}
}

// TestMapped asserts which maps of a user namespace have all ids that sandboxes use.
func TestMapped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "map")
	for table, want := range map[string]bool{
		"         0          0 4294967295\n":          true,
		"         0       1000          1\n":          false,
		"0 1000 1\n1 100000 65536\n":                  false,
		"0 1000 1\n1 100000 200000\n":                 true,
		"0 100000 66001\n":                            false,
		"":                                            false,
		"hostile\n99999999999999999999 0 0\n-1 0 9\n": false,
	} {
		if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := mapped(file, firstFree, lastFree); got != want {
			t.Errorf("%q: %t, want %t", table, got, want)
		}
	}
	if mapped(file+".none", 0, 0) {
		t.Error("a file that does not exist maps an id")
	}
}

// TestNoWorkerWaitsForTheProgramOfAnother asserts that workers which begin at the same moment, before
// their directories are theirs, all get to run.
func TestNoWorkerWaitsForTheProgramOfAnother(t *testing.T) {
	for range 2000 {
		var s Sandbox
		var began, running, ended sync.WaitGroup
		began.Add(1)
		for range 2 {
			running.Add(1)
			ended.Go(func() {
				began.Wait()
				if err := s.lockSplit(t.Context()); err != nil {
					t.Error(err)
				}
				running.Done()
				running.Wait() // the program of each waits for the other's
				s.mu.RUnlock()
			})
		}
		began.Done()
		done := make(chan struct{})
		go func() { ended.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("a worker waits until the program of the other has ended")
		}
	}
}
