package isolate

import (
	"fmt"
	"net"
	"os"

	"github.com/agent-airlock/airlock/internal/command"
)

// identities are those that a room may have, the usual one first: several rooms at
// the same time have one each. Debian keeps the ids from 65000 to 65533 free of
// users; every second is taken, since the one above is the program's guard.
func identities() []command.Identity {
	ids := []command.Identity{DefaultIdentity}
	for id := uint32(65400); id < 65432; id += 2 {
		ids = append(ids, command.Identity{UID: id, GID: id})
	}
	return ids
}

// claim takes an identity until Close: the wanted one, or else the first that
// nobody uses.
func (r *Room) claim(wanted *command.Identity) error {
	if wanted != nil {
		return r.lock(*wanted)
	}
	var first error
	for _, id := range identities() {
		err := r.lock(id)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// lock takes an identity that works here, and that no other Airlock uses. The
// socket's name belongs to this process until it ends: two that end the processes of
// one user would end each other's, where they see them. Containers that share a
// network share names, but not processes.
func (r *Room) lock(id command.Identity) error {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	lock, err := net.Listen("unix", fmt.Sprintf("@airlock-user-%d-%s", id.UID, space))
	if err != nil {
		return &RefusedError{fmt.Sprintf("another Airlock uses the user id %d (%v)", id.UID, err)}
	}
	if err := command.Probe(id); err != nil {
		_ = lock.Close()
		return &RefusedError{err.Error()}
	}
	r.identity = id
	r.undo = append(r.undo, lock.Close)
	return nil
}
