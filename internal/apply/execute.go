package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// executor is the state of one Execution.
type executor struct {
	deps Deps
	plan *Plan
	repo githubapi.Repo
	// since bounds every listing, as in the snapshot.
	since time.Time
	begun time.Time // when the Execution was made
	// blocked says for a key, such as that of a permission, why the operations that have this key
	// cannot succeed any more.
	blocked map[string]blockade
	// performed is how many of the plan's operations were carried out.
	performed int
	// created lists what was created, to be reconciled.
	created []creation
	results map[int]*Result // results by the entry's index
	// outage is why GitHub did not work for the current operation; outages counts such
	// operations in a row.
	outage  *blockade
	outages int
}

// Execution carries out a plan to which more may be added once it is known how its beginning
// ended. One goroutine may use it at a time.
type Execution struct{ x *executor }

// NewExecution returns an execution of which nothing is carried out yet.
func NewExecution(deps Deps, plan *Plan) *Execution {
	x := &executor{deps: deps, plan: plan, repo: repoOf(plan.ev), since: plan.snap.since,
		blocked: map[string]blockade{}, results: map[int]*Result{}}
	if x.since.IsZero() && deps.Clock != nil {
		x.since = earliest(plan.config.Run, plan.ev, deps.Clock.Now())
	}
	if deps.Clock != nil {
		x.begun = deps.Clock.Now()
	}
	return &Execution{x}
}

// Perform carries out the operations of the plan that were not carried out before, one after the
// other. A failure concerns only the items of its operation, except that operations which would
// fail for the same reason, such as a missing permission, are not tried. It returns the results of
// those items that are Airlock's own; Finish may still add to these results.
//
// When ctx ends, the write in flight is finished, and what was not begun fails with
// CodeCancelled.
func (e *Execution) Perform(ctx context.Context) []Result {
	x := e.x
	if need := PermissionsNeeded(x.plan.Operations[x.performed:], false); len(need) > 0 {
		x.deps.log("this takes the permissions " + joinPermissions(need))
	}
	var done []Result
	for ; x.performed < len(x.plan.Operations); x.performed++ { // replanning may change what follows
		op := &x.plan.Operations[x.performed]
		if err := crash.Try(func() error { x.operation(ctx, op); x.afterCode(x.performed); return nil }); err != nil {
			x.crashed(op, err)
		}
		for _, e := range op.entries {
			if r := x.results[e.index]; r != nil && e.own {
				done = append(done, *r)
			}
		}
	}
	return done
}

// Finish looks for what was written twice, where that is possible, and returns one result for
// each item of the plan, in the items' order.
func (e *Execution) Finish(ctx context.Context) []Result {
	if err := crash.Try(func() error { e.x.reconcile(ctx); return nil }); err != nil {
		e.x.deps.log("could not look for duplicates: " + err.Error())
	}
	return e.x.orderedResults()
}

// operation carries out one operation.
func (x *executor) operation(ctx context.Context, op *Operation) {
	for _, e := range op.entries {
		if op.Staged {
			x.record(e.stagedResult(op))
		} else if e.decided != nil {
			x.record(*e.decided)
		}
	}
	open := pending(op.entries)
	if op.Staged || len(open) == 0 || op.work == nil {
		return
	}
	if b := x.blockadeOf(ctx, op); b != nil {
		if w, ok := op.work.(*securityWork); ok {
			x.record(w.storeAsFile(x, op, b.code, b.message)...)
			return
		}
		for _, e := range open {
			x.record(x.refused(e, b.code, b.message))
		}
		return
	}
	x.deps.log(op.Summary)
	x.outage = nil
	x.record(op.work.execute(ctx, x, op)...)
	if x.outage == nil {
		x.outages = 0
		return
	}
	if x.outages++; x.outages >= maxOutages {
		x.blocked[everything] = blockade{x.outage.code, notTried + "GitHub did not work for several items in a row: " + x.outage.message}
	}
}

// crashed records that Airlock itself failed while it carried out an operation. What it wrote
// before that has markers like everything else.
func (x *executor) crashed(op *Operation, err error) {
	for _, e := range op.entries {
		if x.results[e.index] == nil {
			r := e.result(Failed, CodeCrash, "it may or may not have happened: %v", err)
			r.Fallback = e.fallback()
			x.record(r)
		}
	}
}

// afterCode plans the later operations again if operation i carried code that was not delivered
// although the plan had counted on it.
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

// record keeps results, without the secrets that may be in their texts.
func (x *executor) record(results ...Result) {
	for _, r := range results {
		r.Notes = slices.Clone(r.Notes)
		r.mask(x.plan.config)
		x.results[r.Index] = &r
	}
}

// orderedResults completes the results and returns them in the order of the items. It also keeps
// the patches of changes that were not delivered.
func (x *executor) orderedResults() []Result {
	out := make([]Result, 0, len(x.plan.entries))
	for _, e := range x.plan.entries {
		r, ok := x.results[e.index]
		if !ok {
			missing := e.result(Failed, CodeInternal, "nothing was reported about this item; please report this as a defect of Airlock")
			r = &missing
		}
		if err := crash.Try(func() error { x.keepPatch(e, r); return nil }); err != nil {
			r.Notes = append(slices.Clone(r.Notes), "its patch was not kept: "+err.Error())
		}
		e.addNotes(r)
		out = append(out, *r)
	}
	return out
}

// stagedResult returns the result of an item that is only planned. An item that would not be done
// keeps the state that it would have.
func (e *entry) stagedResult(op *Operation) Result {
	switch d := e.decided; {
	case d == nil:
		return e.result(Staged, "", "would %s", op.Summary)
	case d.State == Applied:
		return e.result(Staged, "", "%s", d.Message)
	default:
		return *d
	}
}

// blockade is the reason why no further write of some sort is tried.
type blockade struct{ code, message string }

// notTried begins the message of an item that is not even begun because of another.
const notTried = "not tried, because "

// everything is the key of a blockade of all writes.
const everything = "*"

// blockadeOf returns why an operation is not even begun; nil if it may begin.
func (x *executor) blockadeOf(ctx context.Context, op *Operation) *blockade {
	if ctx.Err() != nil {
		return &blockade{CodeCancelled, "the run was cancelled before it was this item's turn; run the job again"}
	}
	if x.deps.GitHub == nil {
		return &blockade{CodeNoToken, "there is no token to write with; give one with: " + joinPermissions(op.Permissions)}
	}
	for _, key := range []string{everything, permissionKey(op), kindKey(op), conversationKey(op), codeKey(op)} {
		if b, ok := x.blocked[key]; ok {
			if !strings.HasPrefix(b.message, notTried) {
				b.message = notTried + "an item before could not be done: " + b.message
			}
			return &b
		}
	}
	return nil
}

// Each of these returns a key of executor.blocked. Operations with the same key would fail for the
// same reason.
func permissionKey(op *Operation) string {
	return "permission " + string(op.Kind) + " " + joinPermissions(op.Permissions)
}
func kindKey(op *Operation) string { return "kind " + string(op.Kind) }
func conversationKey(op *Operation) string {
	switch op.Kind {
	case safeoutput.KindAddIssueComment, safeoutput.KindCreateReviewComment, safeoutput.KindStickyComment:
		return "comments on " + op.Target
	}
	return string(op.Kind) + " on " + op.Target // a lock leaves labels, title and status alone
}
func codeKey(op *Operation) string {
	if safeoutput.SpecOf(op.Kind).CarriesCode {
		return "code"
	}
	return "" // no blockade is recorded under this key
}

// failed returns the result of an item whose write failed. It remembers what will fail again.
func (x *executor) failed(op *Operation, e *entry, err error) Result {
	code, message := failure(err, op.Permissions)
	x.block(op, err, blockade{code, message})
	return x.refused(e, code, message)
}

// refused returns the result of an item that GitHub did not accept, or would not. If there is no
// token, or it lacks a permission, because GitHub itself restricts the workflow run, that is not a
// failure: the item is skipped, and its text is shown by other means.
func (x *executor) refused(e *entry, code, message string) Result {
	readOnly := readOnlyRunOf(x.plan.ev)
	switch {
	case readOnly == nil || code != CodeNoPermission && code != CodeNoToken:
		return e.result(Failed, code, "%s", message)
	case code == CodeNoToken:
		message = readOnly.noToken
	default:
		message = readOnly.message(e.permissions())
	}
	r := e.result(Skipped, readOnly.code, "%s", message)
	if r.Fallback = e.fallback(); r.Fallback != nil {
		r.Message += "; " + r.Fallback.describe()
	}
	return r
}

// maxOutages is the number of failed operations in a row after which GitHub is taken to be
// out of order: each of them was tried several times already.
const maxOutages = 3

// block remembers the reason for which other operations would fail, too, so that none is tried.
func (x *executor) block(op *Operation, err error, b blockade) {
	e, ok := errors.AsType[*githubapi.Error](err)
	switch {
	case !ok:
	case gitLimit(err) != nil:
		x.blocked[codeKey(op)] = b
	case e.Kind == githubapi.Unreachable, e.Kind == githubapi.Ambiguous:
		x.outage = &b
	case e.Kind == githubapi.Unauthorized, e.Kind == githubapi.RateLimited, e.Feature == githubapi.FeatureArchived, e.Feature == githubapi.FeatureBlocked,
		e.Feature == githubapi.FeatureAccess:
		x.blocked[everything] = b
	case e.Kind != githubapi.Forbidden:
	case e.Feature == githubapi.FeatureLocked:
		x.blocked[conversationKey(op)] = b
	case e.Feature != "":
		x.blocked[kindKey(op)] = b
	default:
		x.blocked[permissionKey(op)] = b
	}
}

// describeCreated describes one created object.
func describeCreated(what string, o Object) string {
	switch {
	case o.Number != 0 && o.Type != objComment && o.Type != objDiscussionComment:
		return fmt.Sprintf("created %s #%d", what, o.Number)
	case o.Number != 0:
		return fmt.Sprintf("posted %s on #%d", what, o.Number)
	}
	return "created " + what
}
