// Package loopturn takes one turn of a pull request's fix loop in a workflow job. An event woke the
// job, and the log on the loop's ref shows how the loop stands. The findings of the checks, a command
// or the time move the loop on. Messages to people are recorded first, then delivered. A later turn
// delivers those that are missing.
package loopturn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// Turn is what a turn needs.
type Turn struct {
	Store *loopref.Store // required
	// Permission returns what a user may do at this moment.
	Permission func(ctx context.Context, login string) (githubapi.Permission, error) // required
	// React adds a reaction to a comment on the pull request: githubapi.ThumbsUp if it was a command
	// that the loop has taken, githubapi.Confused if it was one that decided nothing.
	React func(ctx context.Context, comment int64, content string) error // required
	// Event is what woke the turn.
	Event event.Event
	// Document is what the checks found at the pull request's head, nil if they did not run. It
	// cannot be trusted: the job that wrote it ran the pull request's code.
	Document *checkreport.Document
	// Verdict says which acceptance criteria are met there; nil if nobody checked. It cannot be
	// trusted either.
	Verdict *verdictreport.Document
	// RequireCriteria fails a loop's acceptance where there are no criteria.
	RequireCriteria bool
	Limits          fixloop.Limits
	// Mask removes secrets from what is recorded.
	Mask func(string) string // required
	Now  func() time.Time    // required
	// Deliver sends items through both doors and returns, for each, whether GitHub shows it.
	Deliver func(ctx context.Context, ev event.Event, items []intake.OwnItem) ([]bool, error) // required
	// Judge returns the reasons why the loop does not take an agent's changes, which lead from one
	// commit of a repository to another. It returns none if the loop takes them. If Judge is nil,
	// the loop takes all changes.
	Judge func(ctx context.Context, cloneURL, from, to string) ([]string, error)
	// Dispatch sends a repository_dispatch event with a payload, which asks an agent elsewhere for
	// a fix; nil if there is none.
	Dispatch func(ctx context.Context, payload map[string]any) error
	// Say writes a line to the log of the job.
	Say func(string) // required
}

// ErrNoPull is the error for an event that no turn can be about.
var ErrNoPull = errors.New("there is no fix loop to move on")

// maxTries is how often a turn decides at most. It decides again if others were faster.
const maxTries = 8

// Run takes a turn for the pull request that the event or, for a fork's workflow run, the findings
// name. If it was started by a schedule or by hand, it takes a turn for each open loop, because a
// deadline may have passed. An error about one loop does not stop the others.
func (t *Turn) Run(ctx context.Context) ([]Result, error) {
	numbers, err := t.numbers(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	var errs []error
	for _, n := range numbers {
		r, err := t.takeTurn(ctx, n)
		if err != nil {
			errs = append(errs, fmt.Errorf("the fix loop of #%d: %w", n, err))
		}
		if r.Log != nil || len(r.Notes) > 0 {
			results = append(results, r)
		}
	}
	return results, errors.Join(errs...)
}

// numbers returns the pull requests whose loops the turn is about.
func (t *Turn) numbers(ctx context.Context) ([]int, error) {
	ev := t.Event
	switch {
	case ev.IsPull && ev.Number > 0:
		return []int{ev.Number}, nil
	case t.claimed() > 0: // takeTurn compares the pull request's head
		return []int{t.claimed()}, nil
	case IsAboutAll(ev):
		return t.Store.Open(ctx)
	case ev.Name == "issue_comment" && !ev.IsPull: // people comment on issues, too
		return nil, nil
	}
	return nil, fmt.Errorf("%w: the event %q is not about a pull request: run the fix loop on pull_request, issue_comment, workflow_run and schedule", ErrNoPull, ev.Name)
}

// IsAboutAll reports whether an event is about each open loop.
func IsAboutAll(ev event.Event) bool { return ev.Name == "schedule" || ev.Name == "workflow_dispatch" }

// claimed returns the number of the pull request that the findings name, if the event does not name
// one because it is a fork's workflow run; otherwise 0.
func (t *Turn) claimed() int {
	if t.Event.Name == "workflow_run" && !t.Event.IsPull && t.Document != nil && t.Event.Head.SHA != "" {
		return t.Document.Number
	}
	return 0
}

// takeTurn takes the turn of one loop.
func (t *Turn) takeTurn(ctx context.Context, number int) (Result, error) {
	for range maxTries {
		log, pull, err := t.Store.Load(ctx, number)
		if err != nil {
			return Result{}, err
		}
		if t.claimed() > 0 && pull.Head != t.Event.Head.SHA {
			return Result{}, fmt.Errorf("the findings name this pull request, but its head is %.12s, and the workflow run was about %.12s", pull.Head, t.Event.Head.SHA)
		}
		if log != nil {
			if err := t.readComments(log, pull.Comments); err != nil {
				return Result{}, err
			}
		}
		if err := t.checkLogIsThere(log, number, pull.Comments); err != nil {
			return Result{}, err
		}
		d := &decision{Turn: t, number: number, log: log, pull: pull, now: t.Now()}
		if err := d.decide(ctx); err != nil {
			return Result{}, err
		}
		r := Result{Log: d.log, Notes: d.notes}
		if d.changed {
			if err := d.log.RecordSeen(d.now); err != nil {
				return r, err
			}
			err := t.Store.Save(ctx, d.log, d.now)
			if errors.Is(err, loopref.ErrMoved) {
				t.Say("another job has moved the loop on: reading it again")
				continue
			}
			if err != nil {
				return r, err
			}
		}
		if d.reaction != "" {
			if err := t.React(ctx, t.Event.CommentID, d.reaction); err != nil {
				r.Notes = append(r.Notes, "no reaction could be added to the comment with the command: "+err.Error())
			}
		}
		if d.log == nil {
			return r, nil
		}
		return r, t.publish(ctx, &r, pull, d.changed)
	}
	return Result{}, loopref.ErrMoved
}

// readComments notes which messages a pull request's comments show, and returns an error if the
// loop's own comment names an entry that the log lacks. Only comments by the token's account with
// the gate's marker count, because others may quote an agent.
func (t *Turn) readComments(l *loopref.Log, comments []githubapi.CommentNow) error {
	number, notices := l.State.Loop().Issue, l.Notices()
	for _, c := range comments {
		if !c.Own {
			continue
		}
		if is, _ := apply.IsRevised(c.Body, t.Event.Repo.ID, number, stickyName(l)); is {
			if err := l.Check(c.Body); err != nil {
				return err
			}
		}
		for _, n := range notices {
			if is, hidden := apply.IsRevised(c.Body, t.Event.Repo.ID, number, noticeName(l, n)); is {
				l.MarkSeen(n.Message.Entry, hidden)
			}
		}
	}
	return nil
}

// checkLogIsThere returns an error if a comment shows the loop that would begin next: somebody has
// removed that loop's log, and without the error the loop would begin again. newest is the newest
// loop that has a log, nil if none has one.
func (t *Turn) checkLogIsThere(newest *loopref.Log, number int, comments []githubapi.CommentNow) error {
	next := 1
	if newest != nil {
		next = newest.State.Loop().Ordinal + 1
	}
	name := loopref.Name(number, next)
	for _, c := range comments {
		if is, _ := apply.IsRevised(c.Body, t.Event.Repo.ID, number, "loop/"+name); c.Own && is {
			return fmt.Errorf("%w: the comment %d shows the loop %s, whose log is not there any more; push its ref again from a clone that has it, or delete the comment, so that another loop begins", loopref.ErrRolledBack, c.ID, name)
		}
	}
	return nil
}

// stickyName returns the name of the comment that shows a loop.
func stickyName(l *loopref.Log) string { return "loop/" + l.Name() }

// noticeName returns the name of the comment with a message.
func noticeName(l *loopref.Log, n loopref.Notice) string { return stickyName(l) + "/" + n.Message.ID }
