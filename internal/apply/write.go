package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// Grace periods after the context ended: for a write that was begun, and then for checking
// whether a write whose answer was lost took effect. The runner sends SIGTERM 7.5 s after
// SIGINT, and the report has to be written too.
const (
	writeGrace = 4 * time.Second
	lookGrace  = 2 * time.Second
)

// inFlight returns a context that lives longer than ctx, by the grace period. The timer is
// the machine's own and not Deps.Clock, because the runner does not wait for a virtual one.
func inFlight(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}

// lookWaits are the waits between checks whether a write whose answer was lost took effect: 2,
// 5, 10 and 30 seconds after it. GitHub's lists may show a write up to 30 seconds late.
var lookWaits = []time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second, 20 * time.Second}

// listLag is how long a write may be missing from GitHub's lists.
const listLag = 30 * time.Second

// maxTries is how often the creation of one object is tried while the failures are ambiguous.
const maxTries = 3

// maxUnreadable replaces maxTries if the answer reports success but is not one of GitHub's, such as
// a page of a proxy. One more try, half a minute later, shows whether that lasts.
const maxUnreadable = 2

// triesOf returns how often a write that fails with err is tried.
func triesOf(err error) int {
	if e, ok := errors.AsType[*githubapi.Error](err); ok && e.Status >= 200 && e.Status < 300 {
		return maxUnreadable
	}
	return maxTries
}

// write performs one write. It does not begin once ctx has ended, and it is given the grace
// period to finish.
func (x *executor) write(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wctx, done := inFlight(ctx, writeGrace)
	defer done()
	return do(wctx)
}

// idempotent performs a write that may be done twice without harm: after an ambiguous
// failure it tries again after each of lookWaits.
func (x *executor) idempotent(ctx context.Context, do func(context.Context) error) error {
	err := x.write(ctx, do)
	for _, d := range lookWaits {
		if !isKind(err, githubapi.Ambiguous) || x.deps.Clock.Sleep(ctx, d) != nil {
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

// idempotentAnswer is executor.idempotent for a write with an answer.
func idempotentAnswer[T any](ctx context.Context, x *executor, do func(context.Context) (T, error)) (answer T, err error) {
	err = x.idempotent(ctx, func(ctx context.Context) (err error) {
		answer, err = do(ctx)
		return err
	})
	return answer, err
}

// unsure is the failure of a write that may have taken effect at an earlier try, and surely did not
// at its last one.
type unsure struct{ first, again error }

func (u *unsure) Error() string {
	return u.first.Error() + "; trying again led to: " + u.again.Error()
}

// Unwrap returns the error of the last try first: executor.block decides by it which other
// operations would fail, too.
func (u *unsure) Unwrap() []error { return []error{u.again, u.first} }

// tookEffect checks whether a write whose answer was lost took effect, until it is found or
// GitHub's lists must have caught up. sure is false where that cannot be known: the last
// check failed, or ctx ended.
func (x *executor) tookEffect(ctx context.Context, check func(context.Context) (found bool, err error)) (found, sure bool) {
	x.deps.log(fmt.Sprintf("GitHub's answer is not clear; looking for up to %v whether it was done", listLag))
	for _, d := range lookWaits {
		cancelled := x.deps.Clock.Sleep(ctx, d) != nil
		rctx, done := inFlight(ctx, lookGrace)
		found, err := check(rctx)
		done()
		sure = err == nil && !cancelled
		if found || cancelled {
			return found, sure
		}
	}
	return false, sure
}

// once performs a write that must not be done twice. After an ambiguous failure it checks whether the
// write took effect (see tookEffect), and tries again only if it did not. found is set if the check
// found the effect of a write whose answer was lost.
func (x *executor) once(ctx context.Context, do func(context.Context) error, check func(context.Context) (found bool, err error)) (found bool, err error) {
	for try := 1; ; try++ {
		err := x.write(ctx, do)
		if !isKind(err, githubapi.Ambiguous) {
			return false, err
		}
		found, sure := x.tookEffect(ctx, check)
		switch {
		case found:
			return true, nil
		case !sure || try >= triesOf(err):
			return false, err
		}
	}
}

// createWork creates one object for all entries of an operation, such as an issue, a comment
// or a discussion.
type createWork struct {
	key  string
	list listID
	what string // "the issue"
	// do returns the object, and whether it is the one that was sent: see executor.create.
	do func(ctx context.Context, gh *githubapi.Client) (o Object, ours bool, notes []string, err error)
}

func (c *createWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	open := pending(op.entries)
	obj, notes, err := x.create(ctx, c, open)
	results := make([]Result, len(open))
	for i, e := range open {
		if err != nil {
			results[i] = x.failed(op, e, err)
			continue
		}
		o := obj
		results[i] = e.result(Applied, "", "%s", describeCreated(c.what, obj))
		results[i].Object, results[i].Notes = &o, slices.Clone(notes)
		if slices.Contains(op.Notes, cutText) {
			results[i].Notes = append(results[i].Notes, cutText)
		}
	}
	return results
}

// creation is an object that was created, to be reconciled.
type creation struct {
	list      listID
	what, key string // the object's type and key
	entries   []*entry
	at        time.Time
	// doubtful is set where an earlier try may have created it too.
	doubtful bool
}

// create creates an object once: see executor.once. An answer that does not show what was sent may be
// about another object, and is as ambiguous as none. Of several objects with the key, the one with
// the lowest id counts as the one that was created.
func (x *executor) create(ctx context.Context, c *createWork, entries []*entry) (obj Object, notes []string, err error) {
	tries := 0
	found, err := x.once(ctx, func(ctx context.Context) (err error) {
		if tries++; tries > 1 {
			x.deps.log(c.what + " was not written; trying again")
		}
		var ours bool
		if obj, ours, notes, err = c.do(ctx, x.deps.GitHub); err == nil && !ours {
			err = &githubapi.Error{Kind: githubapi.Ambiguous, Op: "create " + c.what, Repo: x.repo, Message: "the answer is about something else"}
		}
		return err
	}, func(ctx context.Context) (found bool, err error) {
		own, err := ownObjects(ctx, x.deps.GitHub, x.repo, c.list, x.plan.snap.viewer, x.since)
		for _, o := range own {
			if o.key == c.key && (!found || o.ID < obj.ID) {
				obj, found = o, true
			}
		}
		return found, err
	})
	switch {
	case err != nil:
		return Object{}, nil, err
	case found:
		notes = []string{"GitHub's answer was lost; reading back showed that it was written"}
	}
	obj.key = c.key
	x.created = append(x.created, creation{list: c.list, what: obj.Type, key: obj.key, entries: entries, at: x.deps.Clock.Now(), doubtful: tries > 1})
	return obj, notes, nil
}

// hasKey reports whether a text ends with the marker of a key.
func hasKey(text, key string) bool {
	var o Object
	o.readKey(text)
	return o.key == key
}
