package loopturn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/loopref"
)

// decision moves a loop on by what is known now.
type decision struct {
	*Turn
	number  int          // the pull request's
	log     *loopref.Log // nil while there is no loop
	pull    *githubapi.PullNow
	now     time.Time
	changed bool // the log was continued
	notes   []string
	// reaction is the reaction to the event's comment; "" if that is not a user's command.
	reaction string
}

func (d *decision) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// open reports whether there is a loop that has not ended.
func (d *decision) open() bool { return d.log != nil && d.log.State.Outcome() == fixloop.Running }

// send moves the loop on by an event, and reports whether the loop has taken it. An event that does
// not fit is noted. comment is the id of the comment that commanded the event, 0 for none.
func (d *decision) send(e fixloop.Event, comment int64) (taken bool, err error) {
	err = d.log.Event(e.Recorded(d.Mask), d.now, comment)
	refusal, refused := errors.AsType[*fixloop.Refused](err)
	switch {
	case refused:
		d.note("%s", refusal.Error())
		return false, nil
	case err != nil:
		return false, err
	}
	d.changed = true
	return true, nil
}

// decide sends the loop every event that has happened: the end of its pull request, or a push, a
// command, results, a message that cannot be delivered, and the passing of time.
func (d *decision) decide(ctx context.Context) error {
	if d.pull.State != "OPEN" {
		if !d.open() {
			return nil
		}
		_, err := d.send(fixloop.Event{Type: fixloop.EventClosed, Merged: d.pull.State == "MERGED", By: d.actorOf("pull_request")}, 0)
		return err
	}
	if err := d.moved(ctx); err != nil {
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
	if !d.open() {
		return nil
	}
	if due := d.log.State.Deadline(); due.IsZero() || d.now.Before(due) {
		return nil
	}
	_, err := d.send(fixloop.Event{Type: fixloop.EventTimer}, 0)
	return err
}

// actorOf returns who caused the event if that is an event of the given name, and "" otherwise.
func (d *decision) actorOf(name string) string {
	if d.Event.Name == name {
		return d.Event.Actor
	}
	return ""
}

// pusher returns who pushed the commit that the event is about, "" if the event is about no push:
// somebody who reopens or labels a pull request did not push its commits.
func (d *decision) pusher() string {
	if d.Event.Name == "pull_request" && d.Event.Action == "synchronize" || d.Event.Name == "workflow_run" {
		return d.Event.Actor
	}
	return ""
}

// moved handles a push: the fix that was asked for, or a manual one. A push that may be an agent's
// is first checked against the rules about files. In two cases, the push is left to the turn that
// it wakes itself: it breaks these rules and the event does not show who pushed, or a comment woke
// this turn and the turn has no findings. A push by an App is an error if the log is not signed.
func (d *decision) moved(ctx context.Context) error {
	wokenByComment := d.Event.Name == "issue_comment" && d.Document == nil
	if !d.open() || d.log.State.Head() == d.pull.Head || wokenByComment {
		return nil
	}
	e := fixloop.Event{Type: fixloop.EventPush, Head: d.pull.Head, By: d.pusher()}
	byAgent := strings.HasSuffix(e.By, botSuffix)
	if byAgent && d.Store.Secret == "" {
		return fmt.Errorf("%s has pushed to the pull request: who pushes with an App's token can also write %s, so the log has to be signed; "+
			"give the step the input loop-secret, and remove the comment that shows the loop, and the unsigned log with 'git push origin :%s'", e.By, d.log.Ref, d.log.Ref)
	}
	mayBeAgent := byAgent || e.By == ""
	if from := d.log.State.Accepted(); d.Judge != nil && from != "" && mayBeAgent {
		var err error
		if e.Refused, err = d.Judge(ctx, d.pull.CloneURL, from, d.pull.Head); err != nil {
			return fmt.Errorf("what was pushed cannot be checked against the rules about files: %w", err)
		}
		if len(e.Refused) > 0 {
			d.note("what was pushed is not taken: %s", strings.Join(e.Refused, "; "))
			if e.By == "" {
				return nil
			}
		}
	}
	_, err := d.send(e, 0)
	return err
}

// botSuffix ends the logins of Apps, and of no user.
const botSuffix = "[bot]"

// command handles a decision by comment. It counts if the comment is new and unedited, its author
// is the user who caused the event, and that user may write to the repository now.
func (d *decision) command(ctx context.Context) error {
	ev := d.Event
	if ev.Name != "issue_comment" || ev.Action != "created" || ev.CommentID == 0 {
		return nil
	}
	i := slices.IndexFunc(d.pull.Comments, func(c githubapi.CommentNow) bool { return c.ID == ev.CommentID })
	if i < 0 {
		d.note("the comment %d is gone: nothing was decided", ev.CommentID)
		return nil
	}
	c := d.pull.Comments[i]
	e, found, err := fixloop.ParseCommand(c.Body)
	if !found {
		return nil
	}
	if c.IsUser {
		d.reaction = githubapi.Confused
	}
	switch {
	case err != nil:
		d.note("%v", err)
		return nil
	case d.log == nil:
		d.note("the pull request has no fix loop: nothing was decided")
		return nil
	case d.log.Commanded(c.ID):
		d.reaction = githubapi.ThumbsUp
		return nil
	case c.Edited:
		d.note("the comment was edited: nothing was decided; write a new one")
		return nil
	case !c.IsUser || c.Author.Login == "" || c.Author.Login != ev.Actor:
		d.note("the comment was not written by the user who caused this event: nothing was decided")
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
	if e.Decision == fixloop.DecideFixed {
		e.Head = d.pull.Head
	}
	taken, err := d.send(e, c.ID)
	if taken {
		d.reaction = githubapi.ThumbsUp
	}
	return err
}

// findings handles the results of the checks. Failures begin a loop, unless a person has ended the
// last one at the same commit by a decision.
func (d *decision) findings() error {
	doc := d.Document
	if doc == nil {
		return nil
	}
	if doc.Head != d.pull.Head {
		d.note("the findings are about commit %.12s, but the pull request is at %.12s: they are not used", doc.Head, d.pull.Head)
		return nil
	}
	verdict := d.verdict()
	if !d.open() {
		failed := doc.Failed() || verdict != nil && verdict.Status == fixloop.ResultFail
		if !failed || d.decidedHere() {
			return nil
		}
		if err := d.begin(verdict != nil); err != nil {
			return err
		}
	}
	return d.report(doc.LoopResults(), verdict)
}

// decidedHere reports whether a person has skipped what fails at the pull request's head, or aborted
// the loop there.
func (d *decision) decidedHere() bool {
	if d.log == nil || d.log.State.Head() != d.pull.Head {
		return false
	}
	outcome := d.log.State.Outcome()
	return outcome == fixloop.KnownIssues || outcome == fixloop.Aborted
}

// begin begins the next loop of the pull request.
func (d *decision) begin(withAcceptance bool) (err error) {
	d.log, err = d.Store.Begin(d.log, fixloop.Loop{Issue: d.number, Title: d.Mask(d.pull.Title), Acceptance: withAcceptance, Limits: d.Limits}, d.now)
	if err != nil {
		return err
	}
	_, err = d.send(fixloop.Event{Type: fixloop.EventStart, Head: d.pull.Head}, 0)
	return err
}

// report sends the loop the results of the six checks, and of the acceptance criteria if verdict is
// not nil, as long as the loop waits for results.
func (d *decision) report(results []fixloop.Result, verdict *fixloop.Result) error {
	if verdict != nil {
		results = append(results, *verdict)
		if !d.log.State.Loop().Acceptance {
			d.note("the loop began without acceptance criteria: the verdict is not part of it")
		}
	}
	for {
		w := d.log.State.Work()
		switch w.Kind {
		case fixloop.WorkValidate, fixloop.WorkRevalidate, fixloop.WorkFinal:
		case fixloop.WorkAcceptance:
			if verdict == nil {
				d.note("the loop waits for the acceptance verdict of commit %.12s: give the step the input verdict", d.pull.Head)
				return nil
			}
		default:
			return nil
		}
		// One run of all six checks answers both steps of the validation: the checks, and the
		// second try of checks that did not work. Whoever ran the checks has made the second try
		// already.
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

// verdict returns how the acceptance criteria were met at the pull request's head. It is nil if that
// is not known, and if there are no criteria and nothing requires any.
func (d *decision) verdict() *fixloop.Result {
	v := d.Verdict
	switch {
	case v == nil:
		return nil
	case v.Response != nil && v.Head != d.pull.Head:
		d.note("the acceptance verdict is about commit %.12s, but the pull request is at %.12s: it is not used", v.Head, d.pull.Head)
		return nil
	case v.Response == nil && !d.RequireCriteria && !(d.open() && d.log.State.Loop().Acceptance):
		return nil
	}
	r := v.LoopResult(d.RequireCriteria)
	return &r
}

// undelivered gives up on a message that GitHub has refused often enough.
func (d *decision) undelivered() error {
	if !d.open() {
		return nil
	}
	w := d.log.State.Work()
	if d.Dispatch != nil && w.Kind == fixloop.WorkFix {
		if delivered, tried := d.log.Delivery(dispatchEntry(w)); !delivered && tried >= fixloop.DeliveryAttempts {
			_, err := d.send(fixloop.Event{Type: fixloop.EventUndelivered, Message: w.Request.ID, Attempts: tried, Text: "GitHub refused the repository_dispatch event that asks an agent"}, 0)
			return err
		}
	}
	if w.Kind == fixloop.WorkDecide {
		return nil
	}
	for _, n := range d.log.Notices() {
		if n.Delivered || n.Tried < fixloop.DeliveryAttempts || n.Message.Type == fixloop.Escalation {
			continue
		}
		_, err := d.send(fixloop.Event{Type: fixloop.EventUndelivered, Message: n.Message.ID, Attempts: n.Tried, Text: "GitHub refused the comment"}, 0)
		return err
	}
	return nil
}
