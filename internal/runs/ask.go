package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Coordinator is what users ask for runs: a server, or a node in this process.
type Coordinator interface {
	Create(ctx context.Context, q Request) (id string, err error)
	Get(ctx context.Context, id string) (Run, error)
	Result(ctx context.Context, id string) (json.RawMessage, error)
	List(ctx context.Context, f Filter) (list []Run, more bool, err error)
	Stop(ctx context.Context, id string) (Run, error)
	Workers(ctx context.Context) ([]WorkerState, error)
	Close()
}

// await looks at a run until it has ended. It is an error if ctx ends first.
func await(ctx context.Context, c Coordinator, id string) (Run, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := c.Get(ctx, id)
		if err != nil || r.Status.Final() {
			return r, err
		}
		select {
		case <-ctx.Done():
			if r.StatusReason != nil {
				return r, fmt.Errorf("the run %s is still %s: %s", id, r.Status, r.StatusReason.Message)
			}
			return r, fmt.Errorf("the run %s is still %s: 'airlock runs show %s' shows its status, and the runs of a store start when 'airlock serve' or 'airlock runner' runs on it", id, r.Status, id)
		case <-tick.C:
		}
	}
}

// Check returns what is wrong with a user's filter.
func (f Filter) Check() error {
	if f.Status != "" && !slices.Contains(Statuses(), f.Status) {
		return fmt.Errorf("--status: %q is not one of %s", f.Status, strings.Trim(fmt.Sprint(Statuses()), "[]"))
	}
	if f.Limit < 1 || f.Limit > 200 {
		return fmt.Errorf("--limit: %d is not between 1 and 200", f.Limit)
	}
	return nil
}

// ListAll lists as many runs as the filter allows, which may take several answers of list.
func ListAll(ctx context.Context, list func(context.Context, Filter) (found []Run, more bool, err error), f Filter) (all []Run, err error) {
	for more := true; more && f.Limit > 0; {
		var found []Run
		if found, more, err = list(ctx, f); err != nil {
			return nil, err
		}
		all = append(all, found...)
		if more {
			f.Before, f.Limit = found[len(found)-1].ID, f.Limit-len(found)
		}
	}
	return all, nil
}

// IsRefusal reports whether an error is about the request itself, which the caller can then mend.
func IsRefusal(err error) bool {
	for _, target := range []any{new(*NotFoundError), new(*ConflictError), new(*EndedError), new(*InvalidNeedsError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
