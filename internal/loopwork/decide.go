package loopwork

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
)

// ParseDecision returns the decision that words describe, such as "extend" and "2". by is who
// decides, for the loop's log. Its error carries its exit code.
func ParseDecision(words []string, by string) (fixloop.Event, error) {
	e := fixloop.Event{Type: fixloop.EventDecision, Decision: fixloop.Decision(words[0]), By: by}
	if len(words) == 1 {
		return e, nil
	}
	n, err := strconv.Atoi(words[1])
	if e.Decision == fixloop.DecideExtend && (err != nil || n < 1) {
		return e, exitcode.UsageError(fmt.Errorf("%q is not a number of iterations: give at least 1, such as 'extend 3'", words[1]))
	}
	if e.Decision != fixloop.DecideExtend {
		return e, exitcode.UsageError(fmt.Errorf("%q does not go with %s: only extend takes a number of iterations, such as 'extend 3'", words[1], words[0]))
	}
	e.N = n
	return e, nil
}

// Decide makes a person's decision about the loop, and returns the loop's status after it. log is
// the engine's.
func (k Key) Decide(ctx context.Context, getenv func(string) string, decision fixloop.Event, log *slog.Logger) (s loops.Status, err error) {
	st, l, err := k.find(ctx, getenv)
	if err != nil {
		return s, err
	}
	eng, err := engine.Open(ctx, st, engine.Config{Logger: log})
	if err != nil {
		return s, exitcode.FailedError(err)
	}
	defer eng.Close()
	book := loops.NewWritable(eng)
	err = book.Apply(ctx, l.ID, "decision/"+rand.Text(), decision)
	refused, isRefused := errors.AsType[*fixloop.Refused](err)
	switch {
	case isRefused && refused.Code == fixloop.CodeInvalid:
		return s, exitcode.UsageError(errors.New(refused.Why))
	case isRefused:
		return s, &exitcode.Error{Code: exitcode.Findings, Err: errors.New(refused.Why)}
	case err != nil:
		return s, exitcode.FailedError(err)
	}
	if l, err = book.Get(ctx, l.ID); err == nil {
		s, err = book.Status(ctx, l)
	}
	if err != nil {
		return s, exitcode.FailedError(err)
	}
	return s, nil
}
