package verify

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// Receive receives a validator's response. If the response is the first to its dispatch and in
// time, Receive marks the criteria that it lacks as blocked, checks the claims of the request, and
// judges the gates. Then it stores and returns the result. A late response is only stored, and the
// error says so. configure returns the configuration for a dispatched request. If the response does
// not answer the request, the error is an acceptance.InvalidError. Any other error carries its exit
// code.
func (d Dispatches) Receive(ctx context.Context, r acceptance.Response, configure func(acceptance.Request) (Config, error), deps Deps) (acceptance.Response, error) {
	dispatches, err := d.List(r.TaskID)
	if err != nil {
		return r, exitcode.UsageError(fmt.Errorf("--store: %w", err))
	}
	var cfg Config
	head := ""
	if len(dispatches) > 0 {
		req, err := acceptance.ReadRequest(dispatches[len(dispatches)-1].Request)
		if err != nil {
			return r, exitcode.UsageError(fmt.Errorf("--store: the dispatched request is not valid any more: %w", err))
		}
		if cfg, err = configure(req); err != nil {
			return r, err
		}
		head = Head(cfg)
	}
	var unreadable error
	answered := func(one acceptance.Dispatch) bool {
		answer, err := d.Answer(one)
		unreadable = errors.Join(unreadable, err)
		return answer != nil
	}
	dispatch, reception, why := acceptance.Receive(r, dispatches, answered, head, deps.Now())
	if unreadable != nil {
		return r, exitcode.UsageError(fmt.Errorf("--store: %w", unreadable))
	}
	switch reception {
	case acceptance.Accepted:
		return d.conclude(ctx, dispatch, r, cfg, deps)
	case acceptance.Late:
		r.Mask(deps.Scanner.Mask)
		if err := d.KeepLate(dispatch, r); err != nil {
			return r, exitcode.FailedError(explainFull(err))
		}
		return r, &exitcode.Error{Code: exitcode.Findings, Err: errors.New("the response is kept and not applied: " + why)}
	}
	return r, exitcode.UsageError(errors.New("the response is refused: " + why))
}

// conclude completes and judges the first answer to a dispatch, and stores it.
func (d Dispatches) conclude(ctx context.Context, dispatch acceptance.Dispatch, r acceptance.Response, cfg Config, deps Deps) (acceptance.Response, error) {
	if violations := r.Mismatches(cfg.Request); len(violations) > 0 {
		return r, &acceptance.InvalidError{Schema: acceptance.ResponseSchema, Violations: violations}
	}
	r = r.Complete(cfg.Request)
	r.Dispatch = dispatch.ID
	r, err := Conclude(ctx, cfg, deps, r)
	if err != nil {
		return r, err
	}
	err = d.Accept(dispatch, r)
	switch {
	case errors.Is(err, os.ErrExist):
		return r, exitcode.UsageError(fmt.Errorf("the response is refused: the dispatch %s has an answer already, which stands", dispatch.ID))
	case err != nil:
		return r, exitcode.FailedError(explainFull(fmt.Errorf("the response cannot be stored: %w", err)))
	}
	return r, nil
}

// explainFull adds advice to the error of a disk that is full.
func explainFull(err error) error {
	if exitcode.IsFull(err) {
		return fmt.Errorf("%w; make room there, and try again: nothing that was stored is lost", err)
	}
	return err
}
