package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/verify"
)

// openStore opens the directory of dispatches.
func (f verifyFlags) openStore() (verify.Dispatches, error) {
	store, err := verify.OpenDispatches(f.store)
	if err != nil {
		err = withoutRoom(fmt.Errorf("--store: %w", err))
		if exitcode.IsFull(err) {
			return store, exitcode.FailedError(err)
		}
		return store, exitcode.UsageError(err)
	}
	return store, nil
}

// withoutRoom adds what to do to the error of a disk that is full.
func withoutRoom(err error) error {
	if exitcode.IsFull(err) {
		return fmt.Errorf("%w; make room there, and try again: nothing that was stored is lost", err)
	}
	return err
}

// send stores a request as dispatched, and prints it for the validator.
func (f verifyFlags) send(env Environment) error {
	req, err := f.readRequest(env, "--dispatch", f.dispatch)
	if err != nil {
		return err
	}
	store, err := f.openStore()
	if err != nil {
		return err
	}
	dir, err := f.directory(req)
	if err != nil {
		return err
	}
	d, err := store.Add(req, verify.Head(verify.Config{Request: req, Dir: dir}), time.Now())
	if err != nil {
		return exitcode.FailedError(withoutRoom(fmt.Errorf("the dispatch cannot be stored: %w", err)))
	}
	fmt.Fprintf(env.Stderr, "airlock: dispatched as %s; an answer is due at %s\n", d.ID, d.Due.Format(time.RFC3339))
	message := []byte(d.Request)
	if f.envelope != "" {
		if message, err = acceptance.EncodeEnvelope(f.envelope, string(d.Request), "Validation request for "+d.TaskID); err != nil {
			return exitcode.FailedError(err)
		}
	}
	_, err = env.Stdout.Write(message)
	return err
}

// receive takes the answer to a dispatched request.
func (f verifyFlags) receive(ctx context.Context, env Environment, gate *doors.Gate) error {
	message, err := readMessage(env, "--response", f.response)
	if err != nil {
		return err
	}
	r, err := acceptance.ReadResponse(message)
	if err != nil {
		return refuseMessage(env, err)
	}
	store, err := f.openStore()
	if err != nil {
		return err
	}
	all, err := store.Of(r.TaskID)
	if err != nil {
		return exitcode.UsageError(fmt.Errorf("--store: %w", err))
	}
	var what verify.Config
	var req acceptance.Request
	head := ""
	if len(all) > 0 {
		if req, err = acceptance.ReadRequest(all[len(all)-1].Request); err != nil {
			return exitcode.UsageError(fmt.Errorf("--store: the dispatched request is not valid any more: %w", err))
		}
		if what, err = f.verifyConfig(req, gate); err != nil {
			return err
		}
		head = verify.Head(what)
	}
	var reading error
	d, reception, why := acceptance.Receive(r, all, func(id string) bool {
		for _, one := range all {
			if one.ID == id {
				answer, err := store.Answer(one)
				reading = errors.Join(reading, err)
				return answer != nil
			}
		}
		return false
	}, head, time.Now())
	if reading != nil {
		return exitcode.UsageError(fmt.Errorf("--store: %w", reading))
	}
	switch reception {
	case acceptance.Accepted:
		return f.accept(ctx, env, gate, store, d, what, r)
	case acceptance.Late:
		if err := store.KeepLate(d, r); err != nil {
			return exitcode.FailedError(withoutRoom(err))
		}
		return &exitcode.Error{Code: exitcode.Findings, Err: errors.New("the response is kept and not applied: " + why)}
	}
	return exitcode.UsageError(errors.New("the response is refused: " + why))
}

// accept applies the first answer to a dispatch: missing criteria are blocked, the claims
// are checked and the gates are judged. Then the answer stands.
func (f verifyFlags) accept(ctx context.Context, env Environment, gate *doors.Gate, store verify.Dispatches, d acceptance.Dispatch, what verify.Config, r acceptance.Response) error {
	if violations := r.Answers(what.Request); len(violations) > 0 {
		return refuseMessage(env, &acceptance.InvalidError{Schema: acceptance.ResponseSchema, Violations: violations})
	}
	r = r.Complete(what.Request)
	r.Dispatch = d.ID
	r, err := verify.Conclude(ctx, what, verifyDeps(env, gate), r)
	if err != nil {
		return err
	}
	if err := store.Accept(d, r); errors.Is(err, os.ErrExist) {
		return exitcode.UsageError(fmt.Errorf("the response is refused: the dispatch %s has an answer already, which stands", d.ID))
	} else if err != nil {
		return exitcode.FailedError(withoutRoom(fmt.Errorf("the response cannot be stored: %w", err)))
	}
	return f.answer(env, gate, r)
}

// listPending prints all dispatches and what has become of them.
func (f verifyFlags) listPending(env Environment) error {
	store, err := f.openStore()
	if err != nil {
		return err
	}
	states, err := store.States(time.Now())
	if err != nil {
		return exitcode.UsageError(fmt.Errorf("--store: %w", err))
	}
	if err := printJSON(env, map[string]any{"dispatches": states}); err != nil {
		return err
	}
	missing := false
	for _, s := range states {
		if s.Missing {
			missing = true
			fmt.Fprintf(env.Stderr, "airlock: %s: no answer came by %s, so the task is %s: dispatch the request again\n", s.ID, s.Due.Format(time.RFC3339), acceptance.VerdictBlocked)
		}
	}
	if missing {
		return exitcode.ErrFindings
	}
	return nil
}
