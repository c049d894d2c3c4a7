package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/store"
)

// endedError is the cause with which the contexts of workflows end when the engine ends. It looks
// like the error of a deadline, because DBOS then leaves a workflow as it is. If it looked like
// context.Canceled, DBOS would record the workflow as cancelled and never resume it.
type endedError struct{ cause error }

func (e endedError) Error() string        { return "the engine has ended: " + e.cause.Error() }
func (e endedError) Unwrap() error        { return e.cause }
func (e endedError) Is(target error) bool { return target == context.DeadlineExceeded }

// untilEnd returns the context that the engine works in, which ends with base.
func (e *Engine) untilEnd() context.Context {
	ctx, end := context.WithCancelCause(context.WithoutCancel(e.base))
	context.AfterFunc(e.base, func() { end(endedError{context.Cause(e.base)}) })
	return ctx
}

// filteredLog is the log of DBOS without two sorts of errors: those that follow from the engine's
// end, and those about a full store, because Open or Engine.Cause returns these.
type filteredLog struct {
	slog.Handler
	engine *Engine
}

func (h filteredLog) Handle(ctx context.Context, r slog.Record) error {
	leftOut := false
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			leftOut = h.followsFromEnd(err) || store.Trouble(err) == store.Full
		}
		return !leftOut
	})
	if leftOut {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// endings are texts in the errors that DBOS logs because a context ended. The first is that of
// context.Canceled, for errors that have only its text and do not wrap it. The others are pgx's,
// about a transaction or a connection that ended with its context.
var endings = []string{context.Canceled.Error(), "tx is closed", "conn closed"}

// followsFromEnd reports whether an error follows from the engine's end.
func (h filteredLog) followsFromEnd(err error) bool {
	if h.engine.base.Err() == nil && !h.engine.closing.Load() {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		slices.ContainsFunc(endings, func(ending string) bool { return strings.Contains(err.Error(), ending) })
}

func (h filteredLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return filteredLog{h.Handler.WithAttrs(attrs), h.engine}
}

func (h filteredLog) WithGroup(name string) slog.Handler {
	return filteredLog{h.Handler.WithGroup(name), h.engine}
}
