package isolate

import (
	"io"

	"github.com/agent-airlock/airlock/internal/command"
)

// sharedHome is the folder in a room for what its users share.
const sharedHome = "shared"

// user is one that programs of a room run as, one program at a time.
type user struct {
	identity   command.Identity
	home, temp string // absolute: folders of its own
	lock       io.Closer
}

// env is what a user's environment has beside the room's.
func (u *user) env() []string { return []string{"HOME=" + u.home, "TMPDIR=" + u.temp} }

// ids returns the ids of the room's users.
func (r *Room) ids() []uint32 {
	ids := make([]uint32, len(r.users))
	for i, u := range r.users {
		ids[i] = u.identity.UID
	}
	return ids
}
