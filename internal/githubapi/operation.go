package githubapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/branchname"
)

// operation is one request of a caller on its way to GitHub and back. It travels in the context,
// and the sender leaves its error in it: after a context has ended, go-github returns the context's
// error instead.
type operation struct {
	what    string // "create an issue", for Error.Op
	repo    Repo   // zero when it names none
	write   bool   // changes something: never sent twice unless the first certainly had no effect
	content bool   // creates content, which GitHub limits separately
	graphql bool
	several bool   // GraphQL: several mutations, of which some may be refused
	slow    bool   // carries a large body
	stable  bool   // lists what cannot move from page to page
	answer  shape  // what a good REST answer is
	needs   string // the permission that it needs, where GitHub's answer does not name it
	err     error  // why it failed; set before anything was sent, it keeps the sender from sending
}

// shape is the JSON value that an answer consists of, by its first byte.
type shape byte

// The shapes of answers. A complete answer of another shape, such as null, a message or no content,
// is not a success, whatever its status. It shows neither that a list is empty nor that something
// was written.
const (
	anyShape shape = 0 // nothing is read from the answer
	anObject shape = '{'
	aList    shape = '['
)

// String describes the shape for people.
func (s shape) String() string {
	if s == aList {
		return "a list"
	}
	return "an object"
}

// reading returns an operation that changes nothing and is answered with an object.
func reading(r Repo, format string, args ...any) *operation {
	op := &operation{what: fmt.Sprintf(format, args...), repo: r, answer: anObject}
	if err := r.check(); err != nil {
		op.repo = Repo{} // err names it already
		op.refuse("%v", err)
	}
	return op
}

// listing returns an operation that reads a list.
func listing(r Repo, format string, args ...any) *operation {
	op := reading(r, format, args...)
	op.answer = aList
	return op
}

// deleting returns an operation that removes something, and whose answer is not read.
func deleting(r Repo, format string, args ...any) *operation {
	op := writing(r, format, args...)
	op.answer = anyShape
	return op
}

// writing returns an operation that changes something.
func writing(r Repo, format string, args ...any) *operation {
	op := reading(r, format, args...)
	op.write = true
	return op
}

// creating returns an operation that creates content.
func creating(r Repo, format string, args ...any) *operation {
	op := writing(r, format, args...)
	op.content = true
	return op
}

// checkNumber refuses what cannot be the number of an issue.
func (op *operation) checkNumber(n int) *operation {
	if n <= 0 {
		op.refuse("invalid number %d of an issue, a pull request or a discussion: it must be 1 or more", n)
	}
	return op
}

// checkBranch refuses what cannot be the name of a branch.
func (op *operation) checkBranch(name string) *operation {
	if err := branchname.CheckRef(name); err != nil {
		op.refuse("%v", err)
	}
	return op
}

// checkCommit refuses what is not the complete id of a commit.
func (op *operation) checkCommit(sha string) *operation {
	if !branchname.IsObjectID(sha) {
		op.refuse("invalid commit id %q: give all 40 or 64 hexadecimal digits", sha)
	}
	return op
}

// checkPath refuses what is not a clean path below the repository's root.
func (op *operation) checkPath(name string) *operation {
	if !isRepositoryPath(name) {
		op.refuse("%q is not a path within the repository", name)
	}
	return op
}

// require refuses the operation for a reason if one of the values is missing.
func (op *operation) require(reason string, values ...string) {
	if slices.Contains(values, "") {
		op.refuse("%s", reason)
	}
}

// refuse makes the operation fail before anything is sent, with a Usage error. The
// first reason counts.
func (op *operation) refuse(format string, args ...any) {
	if op.err == nil {
		op.err = op.fail(Usage, format, args...)
	}
}

// fail returns an error of the operation.
func (op *operation) fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Op: op.what, Repo: op.repo, Message: fmt.Sprintf(format, args...)}
}

// moved returns the error about what has another name or number now.
func (op *operation) moved() *Error {
	e := op.fail(NotFound, "it has moved")
	e.Moved = true
	return e
}

// uncertain returns the kind of a failure after which nobody knows whether the request took effect:
// ofRead for a read, for which that does not matter, and Ambiguous for a write.
func (op *operation) uncertain(ofRead Kind) Kind {
	if op.write {
		return Ambiguous
	}
	return ofRead
}

type operationKey struct{}

// context attaches the operation to a context.
func (op *operation) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, operationKey{}, op)
}

// operationOf returns the operation of a context; without one, the request is taken
// for a write, which is the careful choice.
func operationOf(ctx context.Context) *operation {
	if op, ok := ctx.Value(operationKey{}).(*operation); ok {
		return op
	}
	return &operation{write: true}
}

// finish returns the error to return for an error of go-github. That is the sender's own, if the
// sender left one. For nil it is nil.
func (op *operation) finish(err error) error {
	if err == nil {
		return nil
	}
	if op.err != nil {
		return op.err
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("could not %s: %w", op.what, err)
	}
	// The sender let the answer through, so its status was good and its body was JSON. But
	// go-github could not decode the body.
	e := op.fail(op.uncertain(Malformed), "%s", asMessage(err.Error()))
	e.Err = err
	return e
}

// result converts the value that go-github returned, or finishes its error. A value without an
// identity is not an answer: nothing shows that it exists.
func result[G, T any](op *operation, value G, err error, convert func(G) T) (T, error) {
	var none T
	if err != nil {
		return none, op.finish(err)
	}
	out := convert(value)
	if thing, ok := any(out).(identified); ok && !thing.identified() {
		return none, op.unexpectedAnswer("it does not name what it is about")
	}
	return out, nil
}

// identified is a value that names the thing on GitHub that it describes.
type identified interface{ identified() bool }

// resultOf is like result, for a request about one particular thing. The function same reports
// whether the answer is about that thing.
func resultOf[G any, T identified](op *operation, value G, err error, convert func(G) T, same func(T) bool) (T, error) {
	out, err := result(op, value, err, convert)
	if err == nil && !same(out) {
		var none T
		return none, op.unexpectedAnswer("it is about something else")
	}
	return out, err
}

// unexpectedAnswer returns the error for a complete answer that is not what was asked for.
func (op *operation) unexpectedAnswer(why string) error {
	return op.fail(op.uncertain(Malformed), "the answer is not what was expected: %s", why)
}
