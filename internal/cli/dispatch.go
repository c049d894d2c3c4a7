package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/verify"
)

// send stores a request as dispatched, and prints it for the validator.
func (f verifyFlags) send(env Environment) error {
	req, err := f.readRequest(env, "--dispatch", f.dispatch)
	if err != nil {
		return err
	}
	dispatches, err := verify.OpenDispatches(f.store)
	if err != nil {
		return err
	}
	dir, err := verify.Directory(f.dir, req)
	if err != nil {
		return err
	}
	d, err := dispatches.Send(verify.Config{Request: req, Dir: dir}, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "airlock: dispatched as %s; an answer is due at %s\n", d.ID, d.Due.Format(time.RFC3339))
	message, err := d.EncodeIn(f.envelope)
	if err != nil {
		return exitcode.FailedError(err)
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
		return verify.Refuse(err, env.Stdout, env.Stderr)
	}
	dispatches, err := verify.OpenDispatches(f.store)
	if err != nil {
		return err
	}
	r, err = dispatches.Receive(ctx, r, func(req acceptance.Request) (verify.Config, error) { return f.verifyConfig(req, gate) }, verifyDeps(env, gate))
	if err != nil {
		return verify.Refuse(err, env.Stdout, env.Stderr)
	}
	return f.answer(env, gate, r)
}

// listPending prints all dispatches and what has become of them.
func (f verifyFlags) listPending(env Environment) error {
	dispatches, err := verify.OpenDispatches(f.store)
	if err != nil {
		return err
	}
	states, err := dispatches.States(time.Now())
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
