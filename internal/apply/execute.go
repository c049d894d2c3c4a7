package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// executor is the state of one call of Execute.
type executor struct {
	deps Deps
	plan *Plan
	repo githubapi.Repo
	// since bounds every listing, as in the snapshot.
	since time.Time
	// blocked holds, by what an operation needs, why no further one can succeed.
	blocked map[string]blockade
	// made lists what was created, for the settle pass.
	made []creation
	// results by entry.
	results map[int]*Result
	// outage is why GitHub did not work for the operation that is being carried
	// out; outages counts such operations in a row.
	outage  *blockade
	outages int
}

// Execute carries a plan out, one operation after the other, and returns one
// result for each item, in the items' order. A failure concerns its own items
// only, except that a lack of permission is not tried out again and again.
//
// When ctx ends, the write in flight is finished, and what was not begun fails
// with CodeCancelled.
func Execute(ctx context.Context, deps Deps, plan *Plan) []Result {
	x := &executor{deps: deps, plan: plan, repo: repoOf(plan.ev), since: plan.snap.since,
		blocked: map[string]blockade{}, results: map[int]*Result{}}
	if x.since.IsZero() && deps.Clock != nil {
		x.since = earliest(plan.config.Run, plan.ev, deps.Clock.Now())
	}
	if need := PermissionsNeeded(plan.Operations, false); len(need) > 0 {
		x.deps.log("this takes the permissions " + permissionWords(need))
	}
	for i := 0; i < len(x.plan.Operations); i++ { // replanning may change what follows
		x.operation(ctx, &x.plan.Operations[i])
		x.afterCode(i)
	}
	x.reconcile(ctx)
	return x.all()
}

// afterCode plans what follows anew when operation i carried code that was not
// delivered, and the plan had counted on it.
func (x *executor) afterCode(i int) {
	op := &x.plan.Operations[i]
	if !safeoutput.SpecOf(op.Kind).CarriesCode || op.Staged || x.plan.lost != "" {
		return
	}
	for _, e := range op.entries {
		if r := x.results[e.index]; r != nil && x.plan.lost == "" {
			x.plan.lost = lostIn(*r)
		}
	}
	if x.plan.lost != "" {
		x.replan(i+1, x.plan.lost)
	}
}

// all returns the results in the order of the items.
func (x *executor) all() []Result {
	out := make([]Result, 0, len(x.plan.entries))
	for _, e := range x.plan.entries {
		r, ok := x.results[e.index]
		if !ok {
			lost := e.result(Failed, CodeInternal, "nothing was reported about this item; please report this as a defect of Airlock")
			r = &lost
		}
		x.keepPatch(e, r)
		e.account(r)
		out = append(out, *r)
	}
	return out
}

func (x *executor) put(rs ...Result) {
	for _, r := range rs {
		r.Notes = slices.Clone(r.Notes)
		r.mask(x.plan.config)
		x.results[r.Index] = &r
	}
}

// operation carries out one operation.
func (x *executor) operation(ctx context.Context, op *Operation) {
	for _, e := range op.entries {
		if op.Staged {
			x.put(e.stagedResult(op))
		} else if e.decided != nil {
			x.put(*e.decided)
		}
	}
	open := pending(op.entries)
	if op.Staged || len(open) == 0 || op.work == nil {
		return
	}
	if code, message, stopped := x.stopped(ctx, op); stopped {
		for _, e := range open {
			x.put(x.refused(e, code, message))
		}
		return
	}
	x.deps.log(op.Summary)
	x.outage = nil
	x.put(op.work.execute(ctx, x, op)...)
	if x.outage == nil {
		x.outages = 0
		return
	}
	if x.outages++; x.outages >= maxOutages {
		x.blocked[everything] = blockade{x.outage.code, "not tried, because GitHub did not work for several items in a row: " + x.outage.message}
	}
}

// stagedResult is the result of an item that is only planned. What would not be
// done is no success of the plan either: it keeps the state that it would have.
func (e *entry) stagedResult(op *Operation) Result {
	if d := e.decided; d != nil && d.State != Applied {
		return *d
	}
	if e.decided != nil {
		return e.result(Staged, "", "%s", e.decided.Message)
	}
	return e.result(Staged, "", "would %s", op.Summary)
}

// describe is what became of one created object, in words.
func describe(what string, o Object) string {
	switch {
	case o.Number != 0 && o.Type != objComment && o.Type != objDiscussionComment:
		return fmt.Sprintf("created %s #%d", what, o.Number)
	case o.Number != 0:
		return fmt.Sprintf("posted %s on #%d", what, o.Number)
	}
	return "created " + what
}

// blockade is why no further write of some sort is tried.
type blockade struct{ code, message string }

// everything is the key of a blockade that concerns every write.
const everything = "*"

// stopped says why an operation is not even begun.
func (x *executor) stopped(ctx context.Context, op *Operation) (code, message string, stopped bool) {
	if ctx.Err() != nil {
		return CodeCancelled, "the run was cancelled before it was this item's turn; run the job again", true
	}
	if x.deps.GitHub == nil {
		return CodeNoToken, "there is no token to write with; give one with: " + permissionWords(op.Permissions), true
	}
	for _, k := range blockKeys(op) {
		if b, ok := x.blocked[k]; ok {
			return b.code, b.message, true
		}
	}
	return "", "", false
}

// blockKeys names what an operation shares with those that would fail for the
// same reason.
func blockKeys(op *Operation) []string {
	return []string{everything, permissionKey(op), kindKey(op), targetKind(op)}
}

func permissionKey(op *Operation) string {
	return "permission " + string(op.Kind) + " " + permissionWords(op.Permissions)
}
func kindKey(op *Operation) string    { return "kind " + string(op.Kind) }
func targetKind(op *Operation) string { return "target " + op.Target }

// failed is the result of an item whose write failed. It remembers what will
// fail again.
func (x *executor) failed(op *Operation, e *entry, err error) Result {
	code, message := failure(err, op.Permissions)
	x.remember(op, err, code, message)
	return x.refused(e, code, message)
}

// refused is the result of an item that GitHub did not take, or would not: a
// fork's token cannot write, so that its items are shown by other means.
func (x *executor) refused(e *entry, code, message string) Result {
	if code != CodeNoPermission || !x.readOnlyFork() {
		return e.result(Failed, code, "%s", message)
	}
	r := e.result(Skipped, CodeForkReadOnly, forkMessage)
	if r.Fallback = e.fallback(); r.Fallback != nil {
		r.Message += "; " + r.Fallback.words()
	}
	return r
}

// forkReason is why a fork's token could not write, and forkMessage what to do.
const (
	forkReason  = "workflow runs for pull requests from forks have a read-only token"
	forkMessage = forkReason + ", whatever their permissions: block says; a workflow that runs on workflow_run can write what this one was asked for"
)

// maxOutages is after how many failed operations in a row GitHub is taken to be
// out of order: each of them was tried several times already.
const maxOutages = 3

// remember blocks what the same lack would make fail.
func (x *executor) remember(op *Operation, err error, code, message string) {
	b := blockade{code, message}
	var e *githubapi.Error
	switch {
	case !errors.As(err, &e):
	case e.Kind == githubapi.Unreachable, e.Kind == githubapi.Ambiguous:
		x.outage = &b
	case e.Kind == githubapi.Unauthorized, e.Kind == githubapi.RateLimited, e.Feature == githubapi.FeatureArchived:
		x.blocked[everything] = b
	case e.Kind != githubapi.Forbidden:
	case e.Feature == githubapi.FeatureLocked:
		x.blocked[targetKind(op)] = b
	case e.Feature != "":
		x.blocked[kindKey(op)] = b
	default:
		x.blocked[permissionKey(op)] = b
	}
}

// readOnlyFork reports whether the event is one whose token is read-only because
// the pull request comes from a fork. pull_request_target is not.
func (x *executor) readOnlyFork() bool { return readOnlyFork(x.plan.ev.Fork, x.plan.ev.Name) }

func readOnlyFork(fork bool, name string) bool {
	switch name {
	case "pull_request", "pull_request_review", "pull_request_review_comment":
		return fork
	}
	return false
}
