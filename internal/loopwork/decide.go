package loopwork

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// Decide makes a person's decision about a loop of a store, which it closes, and returns where the
// loop is then. log is the engine's. Its errors carry their exit code.
func Decide(ctx context.Context, st *store.Store, id string, decision fixloop.Event, log *slog.Logger) (s loops.Status, err error) {
	eng, err := engine.Open(ctx, st, engine.Config{Logger: log})
	if err != nil {
		return s, exitcode.FailedError(err)
	}
	defer eng.Close()
	book := loops.NewWritable(eng)
	err = book.Apply(ctx, id, "decision/"+rand.Text(), decision)
	refused, isRefused := errors.AsType[*fixloop.Refused](err)
	switch {
	case isRefused && refused.Code == fixloop.CodeInvalid:
		return s, exitcode.UsageError(errors.New(refused.Why))
	case isRefused:
		return s, &exitcode.Error{Code: exitcode.Findings, Err: errors.New(refused.Why)}
	case err != nil:
		return s, exitcode.FailedError(err)
	}
	l, err := book.Get(ctx, id)
	if err == nil {
		s, err = book.Status(ctx, l)
	}
	if err != nil {
		return s, exitcode.FailedError(err)
	}
	return s, nil
}
