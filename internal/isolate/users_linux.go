package isolate

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-airlock/airlock/internal/command"
)

// identities returns the identities that a user may have, the usual one first: sandboxes
// that exist at the same time, and the workers of a sandbox, have one each. Debian keeps
// the ids from 65000 to 65533 free of users. systemd lends those up to 65519 to services
// while they run, so they come last. Only every second id is used, because the next one is
// the guard of the program that runs as it.
func identities() []command.Identity {
	ids := []command.Identity{DefaultIdentity}
	for id := uint32(65530); id >= 65400; id -= 2 {
		ids = append(ids, command.Identity{UID: id, GID: id})
	}
	return ids
}

// claim takes an identity until its lock is closed: the wanted one, or otherwise the first
// that nobody uses and that is not among those to avoid.
func claim(wanted *command.Identity, avoid ...uint32) (*user, error) {
	if wanted != nil {
		return lock(*wanted)
	}
	var first error
	for _, id := range identities() {
		if slices.Contains(avoid, id.UID) {
			continue
		}
		u, err := lock(id)
		if err == nil {
			return u, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// lock takes an identity that works here and that no other Airlock uses. Two of them that
// see each other's processes and use one user would end each other's programs. The name of
// an abstract socket belongs to this process until it ends. It contains the namespace of
// process ids, because containers that share a network share such names, but not processes.
func lock(id command.Identity) (*user, error) {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, err
	}
	lock, err := net.Listen("unix", fmt.Sprintf("@airlock-user-%d-%s", id.UID, namespace))
	if err != nil {
		return nil, &RefusedError{fmt.Sprintf("another Airlock uses the user id %d (%v)", id.UID, err)}
	}
	err = command.Probe(id)
	var guarded *guardedLock
	if err == nil {
		guarded, err = guard(id, lock)
	}
	if err != nil {
		_ = lock.Close()
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
