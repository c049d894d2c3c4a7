package cli

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/phase"
)

// lanes let projects be checked side by side in a room.
type lanes struct {
	room *isolate.Room
	why  error // why they cannot
}

// split splits the room, as phase.World asks for it.
func (l *lanes) split(ctx context.Context) func(folders [][]string) []phase.Runner {
	return func(folders [][]string) (runners []phase.Runner) {
		var split []*isolate.Lane
		split, l.why = l.room.Split(ctx, folders)
		for _, lane := range split {
			runners = append(runners, lane.Run)
		}
		return runners
	}
}

// notes says why projects were not checked side by side, where they could have been.
func (l *lanes) notes() []string {
	if l.why == nil {
		return nil
	}
	return []string{fmt.Sprintf("The projects were checked one after the other: %v.", l.why)}
}
