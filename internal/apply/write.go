package apply

import (
	"context"
	"slices"
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
		if x.deps.Clock.Sleep(ctx, d) != nil {
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

// createWork creates one object for all entries of an operation: an issue, a
// comment, a discussion.
type createWork struct {
	key  string
	list listID
	what string // "the issue"
	do   func(ctx context.Context, gh GitHub) (Object, []string, error)
}

func (c *createWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	open := pending(op.entries)
	obj, state, notes, err := x.create(ctx, c, open)
	results := make([]Result, len(open))
	for i, e := range open {
		if err != nil {
			results[i] = x.failed(op, e, err)
			continue
		}
		message := describe(c.what, obj)
		if state == Adopted {
			message = "it was there already: an earlier attempt wrote it"
		}
		results[i] = e.result(state, "", "%s", message)
		o := obj
		results[i].Object, results[i].Notes = &o, slices.Clone(notes)
		if state == Applied && slices.Contains(op.Notes, cutText) {
			results[i].Notes = append(results[i].Notes, cutText)
		}
	}
	return results
}

// creation is an object that was created, for the settle pass.
type creation struct {
	list    *listID
	object  Object
	entries []*entry
	at      time.Time
	// doubtful says that an attempt before may have created it too.
	doubtful bool
}

// maxTries is how often one object is created anew after ambiguous failures.
const maxTries = 3

// lookWaits are the waits between looking for what an ambiguous failure may have
// written: 2, 5, 10 and 30 seconds after it. GitHub's lists lag behind its
// writes by up to the last of them.
func lookWaits() []time.Duration {
	return []time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second, 20 * time.Second}
}

// listLag is how long a write may stay out of GitHub's lists.
const listLag = 30 * time.Second

// create creates an object once. After an ambiguous failure it looks whether
// the object is there, and only when it is not, tries again.
func (x *executor) create(ctx context.Context, c *createWork, entries []*entry) (obj Object, state State, notes []string, err error) {
	for try := 1; ; try++ {
		err = x.write(ctx, func(ctx context.Context) (err error) {
			obj, notes, err = c.do(ctx, x.deps.GitHub)
			return err
		})
		if err == nil {
			obj.key = c.key
			x.made = append(x.made, creation{list: &c.list, object: obj, entries: entries, at: x.deps.Clock.Now(), doubtful: try > 1})
			return obj, Applied, notes, nil
		}
		if !isKind(err, githubapi.Ambiguous) {
			return Object{}, Failed, nil, err
		}
		found, looked := x.lookAgain(ctx, c.list, c.key)
		switch {
		case found != nil:
			x.made = append(x.made, creation{list: &c.list, object: *found, entries: entries, at: x.deps.Clock.Now(), doubtful: try > 1})
			return *found, Applied, []string{"GitHub's answer was lost; reading back showed that it was written"}, nil
		case !looked || try == maxTries:
			return Object{}, Failed, nil, err
		}
		x.deps.log(c.what + " was not written; trying again")
	}
}

// lookAgain looks for an object until it is found or GitHub's lists must have
// caught up. looked is false where that cannot be known: the last look failed, or
// ctx ended.
func (x *executor) lookAgain(ctx context.Context, list listID, key string) (found *Object, looked bool) {
	for _, d := range lookWaits() {
		cancelled := x.deps.Clock.Sleep(ctx, d) != nil
		rctx, done := inFlight(ctx, lookGrace)
		own, err := ownObjects(rctx, x.deps.GitHub, x.repo, list, x.plan.snap.viewer, x.since)
		done()
		looked = err == nil && !cancelled
		for _, o := range own {
			if o.key == key && (found == nil || o.ID < found.ID) {
				found = &o
			}
		}
		if found != nil || cancelled {
			return found, looked
		}
	}
	return nil, looked
}
