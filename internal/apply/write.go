package apply

import (
	"context"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// How long, after the context ended, a write that was begun may go on, and how
// long the look may then take whether one took effect whose answer is missing.
// The runner sends SIGTERM 7.5 s after SIGINT; the report has to be written too.
const (
	writeGrace = 4 * time.Second
	lookGrace  = 2 * time.Second
)

// write does one write. It is not begun once ctx has ended, and one that was
// begun is given the grace period to finish.
func (x *executor) write(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wctx, done := inFlight(ctx, writeGrace)
	defer done()
	return do(wctx)
}

// idempotent does a write that may be done twice without harm: an ambiguous
// failure is tried again after the waits of lookWaits.
func (x *executor) idempotent(ctx context.Context, do func(context.Context) error) error {
	err := x.write(ctx, do)
	for _, d := range lookWaits() {
		if !isKind(err, githubapi.Ambiguous) {
			return err
		}
		if x.w.Clock.Sleep(ctx, d) != nil {
			return err
		}
		switch again := x.write(ctx, do); {
		case again == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case isKind(again, githubapi.Ambiguous):
			err = again
		default:
			return &unsure{first: err, again: again}
		}
	}
	return err
}

// unsure is the failure of a write that may have taken effect at its first try,
// and was refused when it was tried again.
type unsure struct{ first, again error }

func (u *unsure) Error() string {
	return u.first.Error() + "; trying again led to: " + u.again.Error()
}

// Unwrap gives the refusal first: it says what will fail again.
func (u *unsure) Unwrap() []error { return []error{u.again, u.first} }

// inFlight returns a context that lives longer than ctx, by the grace period. The
// timer is the machine's own: the runner's patience is not virtual.
func inFlight(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	w, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return w, func() { stop(); cancel() }
}
