package isolate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNothingStays looks for what a program leaves: processes, files, and objects of
// System V, which it may have given away.
func TestNothingStays(t *testing.T) {
	r := newRunner(t)
	room := open(t, r.config())
	if room == nil {
		return
	}
	name := fmt.Sprintf("airlock-left-%d", os.Getpid())
	res, err := room.Run(t.Context(), sh(`for dir in /tmp /var/tmp /dev/shm /run/lock; do [ -w $dir ] || continue; mkdir -p $dir/$1 && echo evil >$dir/$1/evil || exit 1; done; trap "" TERM; setsid sleep 600 & exit 0`, name))
	if err != nil || !res.OK() || res.LeftBehind != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	said(t, room.Run, sh(`for i in $(seq 2000); do : >/tmp/$1-$i; done; ipcmk -M 4096 && ipcmk -Q && ipcmk -S 3`, name))
	giveAway(t, r.config().Identity.UID)
	if err := room.Close(); err != nil {
		t.Error(err)
	}
	for _, pattern := range []string{"/tmp/" + name + "*", "/var/tmp/" + name, "/dev/shm/" + name, "/run/lock/" + name} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("%d of %s are still there: %v", len(left), pattern, err)
		}
	}
	if left := objects(t, r.config().Identity.UID); len(left) > 0 {
		t.Errorf("still there:\n%s", left)
	}
	if err := room.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// objects lists System V's objects that a user has made, by table.
func objects(t *testing.T, creator uint32) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range []string{"shm", "msg", "sem"} {
		text, err := os.ReadFile("/proc/sysvipc/" + table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if slices.Contains(strings.Fields(line), fmt.Sprint(creator)) {
				all[table] += line
			}
		}
	}
	return all
}

// giveAway makes the user's shared memory another's, as its owner may.
func giveAway(t *testing.T, creator uint32) {
	t.Helper()
	left := objects(t, creator)
	if len(left) != 3 {
		t.Fatalf("the program left %v", left)
	}
	id, err := strconv.Atoi(strings.Fields(left["shm"])[1])
	if err != nil {
		t.Fatal(err)
	}
	var desc unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &desc); err != nil {
		t.Fatal(err)
	}
	desc.Perm.Uid, desc.Perm.Gid = 0, 0
	if _, err := unix.SysvShmCtl(id, unix.IPC_SET, &desc); err != nil {
		t.Fatal(err)
	}
}
