package isolate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/agent-airlock/airlock/internal/command"
)

// Lane is a part of a room: its programs run one after the other, and beside those of
// the room's other lanes.
type Lane struct {
	room    *Room
	folders []string // relative to the room's directory
	user    *user    // nil where nothing is apart
	mu      sync.Mutex
}

// Split splits the room into lanes: lists of folders, absolute, none in another. Where
// the room is apart, each lane has a user of its own, who owns its folders while
// programs of lanes run, and a home of its own. All of them have one group, which may
// write the whole workspace, so that a program can still write into another's folder.
// A room can be split once. After an error, it is as it was.
func (r *Room) Split(ctx context.Context, folders [][]string) ([]*Lane, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lanes != nil {
		return nil, errors.New("the room is split already")
	}
	lanes := make([]*Lane, len(folders))
	for i, list := range folders {
		lanes[i] = &Lane{room: r}
		for _, dir := range list {
			rel, err := filepath.Rel(r.dir, dir)
			if err != nil || !filepath.IsLocal(rel) {
				return nil, fmt.Errorf("the folder %s does not lie in the workspace", dir)
			}
			lanes[i].folders = append(lanes[i].folders, rel)
		}
	}
	if r.apart && len(lanes) > 0 {
		if err := r.settleLanes(ctx, lanes); err != nil {
			return nil, err
		}
	}
	r.lanes = lanes
	return lanes, nil
}

// Run runs a program as Room.Run does, while others may run in the room's other lanes.
func (l *Lane) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	if !l.room.apart {
		return l.room.Run(ctx, spec)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.room.enter(ctx); err != nil {
		return command.Result{ExitCode: -1}, err
	}
	defer l.room.mu.RUnlock()
	return l.room.runAs(ctx, l.user, spec)
}

// enter returns with r.mu held for reading and the lanes' folders their users', or
// with an error.
func (r *Room) enter(ctx context.Context) error {
	for {
		r.mu.RLock()
		if r.split {
			return nil
		}
		r.mu.RUnlock()
		r.mu.Lock()
		err := r.divide(ctx)
		r.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// divide gives the lanes' folders to their users. The caller holds r.mu for writing.
func (r *Room) divide(ctx context.Context) error {
	if r.split {
		return nil
	}
	for _, l := range r.lanes {
		if err := r.hand(ctx, l.folders, l.user); err != nil {
			return fmt.Errorf("giving folders to the user who works in them: %w", err)
		}
	}
	r.split = true
	return nil
}

// unite gives all of the workspace to the room's own user. The caller holds r.mu for
// writing.
func (r *Room) unite(ctx context.Context) error {
	if !r.split {
		return nil
	}
	for _, l := range r.lanes {
		if err := r.hand(ctx, l.folders, r.users[0]); err != nil {
			return fmt.Errorf("giving folders to the user who works in them: %w", err)
		}
	}
	r.split = false
	return nil
}
