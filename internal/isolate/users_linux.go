package isolate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	osuser "os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
)

// These ids are above those of people and services, which end at 65535, and below those that Debian
// and systemd give to containers, which begin at 100000. A tar archive can name them.
const (
	firstFree = 66000
	lastFree  = 99998
)

// identities returns the identities that a user may have, in the order in which they are to be
// tried. Only every second id is used, because nobody may use the id after that of an identity: see
// command.Identity.
//
// They begin at a random place, so that each run has users of its own. Another Airlock may run in a
// container of the same machine: this process can see and end its programs, and it is possible that
// neither of the two notices the other when it chooses.
//
// A user namespace may have no such ids. Its identities are the ids that Debian keeps free of
// users, from 65000 to 65533. systemd lends the ids up to 65519 to services while they run, so
// these come last.
func identities() []command.Identity {
	ids := make([]command.Identity, 0, 64)
	if mapped("/proc/self/uid_map", firstFree, lastFree) && mapped("/proc/self/gid_map", firstFree, lastFree) {
		const places = (lastFree - firstFree + 1) / 2
		first := rand.Uint32N(places)
		for i := range uint32(cap(ids)) {
			id := firstFree + 2*((first+i)%places)
			ids = append(ids, command.Identity{UID: id, GID: id})
		}
		return ids
	}
	for id := uint32(65532); len(ids) < cap(ids); id -= 2 {
		ids = append(ids, command.Identity{UID: id, GID: id})
	}
	return ids
}

// mapped reports whether all ids from first to last exist in this process's user namespace,
// whose map the file is.
func mapped(file string, first, last uint64) bool {
	table, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		var from, outside, count uint64
		if _, err := fmt.Sscan(line, &from, &outside, &count); err == nil && from <= first && last < from+count {
			return true
		}
	}
	return false
}

// claim takes an identity until its lock is closed: the wanted one or, if wanted is nil, one that
// nobody uses and that is not among those to avoid. The error is that of the first identity
// that could not be taken, a *RefusedError only if there was no other kind.
func claim(wanted *command.Identity, avoid ...uint32) (*user, error) {
	if wanted != nil {
		return lock(*wanted)
	}
	var first error
	for _, id := range identities() {
		if slices.Contains(avoid, id.UID) || isSomebody(id) {
			continue
		}
		u, err := lock(id)
		if err == nil {
			return u, nil
		}
		if first == nil || isRefused(first) && !isRefused(err) {
			first = err
		}
	}
	if first == nil {
		first = &RefusedError{"every user id that the code could run as belongs to somebody"}
	}
	return nil, first
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// isSomebody reports whether the system knows the user or the group.
func isSomebody(id command.Identity) bool {
	_, noUser := osuser.LookupId(strconv.FormatUint(uint64(id.UID), 10))
	_, noGroup := osuser.LookupGroupId(strconv.FormatUint(uint64(id.GID), 10))
	return noUser == nil || noGroup == nil
}

// lock takes an identity that works here and that no other Airlock uses. If two of them used one
// user and saw each other's processes, each would end the other's programs. The lock is an
// abstract socket, whose name is free again once it is closed here and in the guard: see
// command.Guard. The name contains the namespace of process ids, because containers that share a
// network share such names, but not processes. The error is a *RefusedError if the
// identity cannot be used, but not if there can be no lock at all, or if isExhausted reports true.
func lock(id command.Identity) (*user, error) {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, err
	}
	lock, err := net.Listen("unix", fmt.Sprintf("@airlock-user-%d-%s", id.UID, namespace))
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return nil, &RefusedError{fmt.Sprintf("another Airlock uses the user id %d (%v)", id.UID, err)}
	case err != nil:
		return nil, fmt.Errorf("cannot lock the user id %d: %w", id.UID, err)
	}
	err = command.Probe(id)
	var guarded *guardedLock
	if err == nil {
		guarded, err = guard(id, lock)
	}
	if err != nil {
		_ = lock.Close()
		if isExhausted(err) {
			return nil, fmt.Errorf("cannot take the user id %d: %w", id.UID, err)
		}
		return nil, &RefusedError{err.Error()}
	}
	return &user{identity: id, lock: guarded}, nil
}

// guardedLock is the lock of an identity, with the guard that ends the user's processes
// should this process be killed.
type guardedLock struct {
	net.Listener
	release func()
}

func guard(id command.Identity, lock net.Listener) (*guardedLock, error) {
	hold, err := lock.(*net.UnixListener).File()
	if err != nil {
		return nil, err
	}
	defer hold.Close()
	release, err := command.Guard(id, hold)
	return &guardedLock{lock, release}, err
}

// Close gives the identity up.
func (l *guardedLock) Close() error {
	l.release()
	return l.Listener.Close()
}

// makeDirs makes the user's own directories in one that exists. The home directory begins
// with what is in seed, unless that is "".
func (u *user) makeDirs(parent, seed string) error {
	u.home, u.temp = filepath.Join(parent, "home"), filepath.Join(parent, "tmp")
	if err := errors.Join(u.mkdir(u.home), u.mkdir(u.temp)); err != nil || seed == "" {
		return err
	}
	return u.plant(seed, u.home, 0)
}

// mkdir makes a directory that is closed to all but the user.
func (u *user) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, int(u.identity.UID), int(u.identity.GID))
}
