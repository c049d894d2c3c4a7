package apply

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// blockade is why no further write of some sort is tried.
type blockade struct{ code, message string }

// everything is the key of a blockade that concerns every write.
const everything = "*"

// stopped says why an operation is not even begun.
func (x *executor) stopped(ctx context.Context, op *Operation) (code, message string, stopped bool) {
	if ctx.Err() != nil {
		return CodeCancelled, "the run was cancelled before it was this item's turn; run the job again", true
	}
	if x.w.GitHub == nil {
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
