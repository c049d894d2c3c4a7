package loopturn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/loopref"
)

// decision moves a loop on by what is known now.
type decision struct {
	*Turn
	number  int
	log     *loopref.Log // nil while there is no loop
	pull    *githubapi.PullNow
	now     time.Time
	changed bool
	notes   []string
}

func (d *decision) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// open reports whether there is a loop that has not ended.
func (d *decision) open() bool { return d.log != nil && d.log.State.Outcome() == fixloop.Running }

// send moves the loop on by an event. One that does not fit is noted.
func (d *decision) send(e fixloop.Event, comment int64) (taken bool, err error) {
	err = d.log.Event(e.Recorded(d.Mask), d.now, comment)
	var refused *fixloop.Refused
	switch {
	case errors.As(err, &refused):
		d.note("%s", refused.Error())
		return false, nil
	case err != nil:
		return false, err
	}
	d.changed = true
	return true, nil
}

func (d *decision) decide(ctx context.Context) error {
	if d.pull.State != "OPEN" {
		if !d.open() {
			return nil
		}
		_, err := d.send(fixloop.Event{Type: fixloop.EventClosed, Merged: d.pull.State == "MERGED", By: d.actorOf("pull_request")}, 0)
		return err
	}
	if err := d.moved(); err != nil {
		return err
	}
	if err := d.command(ctx); err != nil {
		return err
	}
	if err := d.findings(); err != nil {
		return err
	}
	if err := d.undelivered(); err != nil {
		return err
	}
	if due := d.deadline(); d.open() && !due.IsZero() && !d.now.Before(due) {
		_, err := d.send(fixloop.Event{Type: fixloop.EventTimer}, 0)
		return err
	}
	return nil
}

func (d *decision) deadline() time.Time {
	if !d.open() {
		return time.Time{}
	}
	return d.log.State.Deadline()
}

// actorOf is who caused the event if it has a name, else "".
func (d *decision) actorOf(name string) string {
	if d.Event.Name == name {
		return d.Event.Actor
	}
	return ""
}

// moved takes in a push: the fix that was asked for, or a manual one.
func (d *decision) moved() error {
	if !d.open() || d.log.State.Head() == d.pull.Head {
		return nil
	}
	_, err := d.send(fixloop.Event{Type: fixloop.EventPush, Head: d.pull.Head, By: d.actorOf("pull_request")}, 0)
	return err
}

// command takes in a decision by comment. It counts if the comment was just made, is as it
// was made, its author is the user who sent it, and that user may write at this moment.
func (d *decision) command(ctx context.Context) error {
	ev := d.Event
	if ev.Name != "issue_comment" || ev.Action != "created" || ev.CommentID == 0 {
		return nil
	}
	i := slices.IndexFunc(d.pull.Comments, func(c githubapi.CommentNow) bool { return c.ID == ev.CommentID })
	if i < 0 {
		d.note("the comment %d is gone, or over a hundred newer ones are there: nothing was decided", ev.CommentID)
		return nil
	}
	c := d.pull.Comments[i]
	e, found, err := fixloop.ParseCommand(c.Body)
	switch {
	case !found:
		return nil
	case err != nil:
		d.note("%v", err)
		return nil
	case d.log == nil:
		d.note("there is no fix loop that could be decided about")
		return nil
	case d.log.Commanded(c.ID):
		return nil
	case c.Edited:
		d.note("the comment was edited: nothing was decided; write a new one")
		return nil
	case !c.IsUser || c.Author.Login == "" || c.Author.Login != ev.Actor:
		d.note("the comment is not by a user who sent it: nothing was decided")
		return nil
	}
	p, err := d.Permission(ctx, c.Author.Login)
	if err != nil && !errors.Is(err, githubapi.NotFound) {
		return err
	}
	if err != nil || p.UserID != c.Author.DatabaseID || p.Level != "admin" && p.Level != "write" {
		d.note("%s may not write to the repository: nothing was decided", c.Author.Login)
		return nil
	}
	e.By = c.Author.Login
	_, err = d.send(e, c.ID)
	return err
}

// findings takes in what the checks found. Failures begin a loop, unless the last one has ended
// at the very same commit.
func (d *decision) findings() error {
	doc := d.Document
	if doc == nil {
		return nil
	}
	if doc.Head != d.pull.Head {
		d.note("the findings are about commit %.12s, but the pull request is at %.12s: they are not used", doc.Head, d.pull.Head)
		return nil
	}
	if !d.open() {
		if !doc.Failed() || d.log != nil && d.log.State.Head() == d.pull.Head {
			return nil
		}
		log, err := d.Store.Begin(d.log, fixloop.Loop{Issue: d.number, Title: d.Mask(d.pull.Title), Limits: d.Limits}, d.now)
		if err != nil {
			return err
		}
		d.log = log
		if _, err := d.send(fixloop.Event{Type: fixloop.EventStart, Head: d.pull.Head}, 0); err != nil {
			return err
		}
	}
	results := doc.LoopResults()
	for {
		w := d.log.State.Work()
		switch w.Kind {
		case fixloop.WorkValidate, fixloop.WorkRevalidate, fixloop.WorkFinal:
		default:
			return nil
		}
		// All six ran on this commit, so that one run answers each step of the validation. A check
		// that did not work was tried twice by those who ran it.
		e := fixloop.Event{Type: fixloop.EventResult, Op: w.Op, Head: d.pull.Head}
		for _, r := range results {
			if slices.Contains(w.Checks, r.Check) {
				e.Results = append(e.Results, r)
			}
		}
		if taken, err := d.send(e, 0); !taken || err != nil {
			return err
		}
	}
}

// undelivered gives up on a message that GitHub has refused often enough.
func (d *decision) undelivered() error {
	if !d.open() {
		return nil
	}
	for _, n := range d.log.Notices() {
		if n.Told || n.Tried < fixloop.DeliveryAttempts || n.Message.Type == fixloop.Escalation {
			continue
		}
		if d.log.State.Work().Kind == fixloop.WorkDecide {
			return nil
		}
		_, err := d.send(fixloop.Event{Type: fixloop.EventUndelivered, Message: n.Message.ID, Attempts: n.Tried, Text: "GitHub refused the comment"}, 0)
		return err
	}
	return nil
}
