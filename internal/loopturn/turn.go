// Package loopturn takes one turn of a pull request's fix loop in a workflow job: an event woke
// it, the log on the loop's ref says how the loop stands, and the findings of the checks, a
// command or the time move it on. What people will be told is recorded first; the job that
// recorded it tells it, and a later turn tells what is missing.
package loopturn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopref"
)

// Turn is what a turn needs.
type Turn struct {
	Store *loopref.Store // required
	// Permission returns what a user may do at this moment.
	Permission func(ctx context.Context, login string) (githubapi.Permission, error) // required
	// Event is what woke the turn.
	Event event.Event
	// Document is what the checks found at the pull request's head, nil if they did not run.
	// It is a stranger's: its job ran the pull request's code.
	Document *checkreport.Document
	Limits   fixloop.Limits
	// Mask removes secrets from what is recorded.
	Mask func(string) string // required
	Now  func() time.Time    // required
	// Deliver sends items through both doors and returns, for each, whether GitHub shows it.
	Deliver func(ctx context.Context, ev event.Event, items []intake.OwnItem) ([]bool, error) // required
	// Say tells the log of the job something.
	Say func(string) // required
}

// maxTries is how often a turn decides anew because others were faster.
const maxTries = 8

// Run takes a turn for the pull request of the event or, where the event is about none, for
// each open loop, whose deadlines it looks at. An error about one loop does not stop the others.
func (t *Turn) Run(ctx context.Context) ([]Result, error) {
	numbers, err := t.numbers(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	var errs []error
	for _, n := range numbers {
		r, err := t.one(ctx, n)
		if err != nil {
			errs = append(errs, fmt.Errorf("the fix loop of #%d: %w", n, err))
		}
		if r.Log != nil || len(r.Notes) > 0 {
			results = append(results, r)
		}
	}
	return results, errors.Join(errs...)
}

// numbers are the pull requests whose loops the turn is about.
func (t *Turn) numbers(ctx context.Context) ([]int, error) {
	ev := t.Event
	switch {
	case ev.IsPull && ev.Number > 0:
		return []int{ev.Number}, nil
	case t.claimed() > 0: // whether it is true, the pull request's head shows
		return []int{t.claimed()}, nil
	case ev.Name == "schedule" || ev.Name == "workflow_dispatch":
		return t.Store.Open(ctx)
	}
	return nil, fmt.Errorf("the event %q is not about a pull request: run the fix loop on pull_request, issue_comment, workflow_run and schedule", ev.Name)
}

// claimed is the pull request that findings say they are about, where the event of a fork's
// workflow run names none.
func (t *Turn) claimed() int {
	if t.Event.Name == "workflow_run" && !t.Event.IsPull && t.Document != nil && t.Event.Head.SHA != "" {
		return t.Document.Number
	}
	return 0
}

// one takes the turn of one loop.
func (t *Turn) one(ctx context.Context, number int) (Result, error) {
	for range maxTries {
		log, pull, err := t.Store.Load(ctx, number)
		if err != nil {
			return Result{}, err
		}
		if t.claimed() > 0 && pull.Head != t.Event.Head.SHA {
			return Result{}, fmt.Errorf("the findings say that they are about it, but its head is %.12s, and the workflow run was about %.12s", pull.Head, t.Event.Head.SHA)
		}
		if log != nil {
			for _, c := range pull.Comments {
				if !c.Own {
					continue // anybody can write a witness
				}
				if err := log.Check(c.Body); err != nil {
					return Result{}, err
				}
			}
		}
		d := &decision{Turn: t, number: number, log: log, pull: pull, now: t.Now()}
		if err := d.decide(ctx); err != nil {
			return Result{}, err
		}
		r := Result{Log: d.log, Notes: d.notes}
		if d.log == nil {
			return r, nil
		}
		if d.changed {
			if err = t.Store.Save(ctx, d.log, d.now); errors.Is(err, loopref.ErrMoved) {
				t.Say("another job has moved the loop on: reading it again")
				continue
			}
			if err != nil {
				return r, err
			}
		}
		return r, t.tell(ctx, &r, d.changed)
	}
	return Result{}, loopref.ErrMoved
}
