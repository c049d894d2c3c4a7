package runs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Await looks at a run until it has ended. get returns the run with an id.
func Await(ctx context.Context, get func(context.Context, string) (Run, error), id string) (Run, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := get(ctx, id)
		if err != nil || r.Status.Final() {
			return r, err
		}
		select {
		case <-ctx.Done():
			if r.StatusReason != nil {
				return r, fmt.Errorf("the run %s is still %s: %s", id, r.Status, r.StatusReason.Message)
			}
			return r, fmt.Errorf("the run %s is still %s: 'airlock runs show %s' shows what becomes of it, and runs of a store begin when 'airlock serve' has it", id, r.Status, id)
		case <-tick.C:
		}
	}
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

// IsRefusal reports whether an error is about what was asked for, so that whoever asked can mend
// it.
func IsRefusal(err error) bool {
	for _, target := range []any{new(*NotFoundError), new(*ConflictError), new(*EndedError), new(*InvalidNeedsError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
