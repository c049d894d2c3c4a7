package isolate

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-airlock/airlock/internal/command"
)

// identities are those that a sandbox may have, the usual one first: several sandboxes at
// the same time, and several workers of a sandbox, have one each. Debian keeps the ids
// from 65000 to 65533 free of users; systemd lends those up to 65519 to services while
// they run, so they come last. Every second is taken, since the one above is the
// program's guard.
func identities() []command.Identity {
	ids := []command.Identity{DefaultIdentity}
	for id := uint32(65530); id >= 65400; id -= 2 {
		ids = append(ids, command.Identity{UID: id, GID: id})
	}
	return ids
}

// claim takes an identity until it is released: the wanted one, or else the first
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

// lock takes an identity that works here, and that no other Airlock uses. The
// socket's name belongs to this process until it ends: two that end the processes of
// one user would end each other's, where they see them. Containers that share a
// network share names, but not processes.
func lock(id command.Identity) (*user, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, err
	}
	lock, err := net.Listen("unix", fmt.Sprintf("@airlock-user-%d-%s", id.UID, space))
	if err != nil {
		return nil, &RefusedError{fmt.Sprintf("another Airlock uses the user id %d (%v)", id.UID, err)}
	}
	if err := command.Probe(id); err != nil {
		_ = lock.Close()
		return nil, &RefusedError{err.Error()}
	}
	return &user{identity: id, lock: lock}, nil
}

// settle makes the user's own folders in one that exists.
func (u *user) settle(in string) error {
	u.home, u.temp = filepath.Join(in, "home"), filepath.Join(in, "tmp")
	for _, dir := range []string{u.home, u.temp} {
		if err := u.mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// mkdir makes a folder that is closed to all but the user.
func (u *user) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, int(u.identity.UID), int(u.identity.GID))
}
