package loopturn

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// delivery is an item to write to GitHub, and the entry of the log that it is about.
type delivery struct {
	item  intake.OwnItem
	entry string // "" for the sticky comment
	hides bool   // it hides the entry's comment
}

// publish shows the state of the loop on the pull request: in one sticky comment, and in a comment
// for each message that notifies; it hides the comments of messages that are over. It also creates
// the issue about what was skipped and asks the agent for a fix, if they are due. Then it records
// what was delivered, and what could not be. It does nothing if there is only the sticky comment to
// write, the log has not changed in this turn, and no agent may be asked.
func (t *Turn) publish(ctx context.Context, r *Result, pull *githubapi.PullNow, changed bool) error {
	deliveries := deliveriesOf(r.Log)
	if len(deliveries) == 1 && !changed && !t.mayAsk(r.Log) { // only the comment, which shows this state already
		return nil
	}
	ev := t.Event
	if number := r.Log.State.Loop().Issue; !ev.IsPull || ev.Number != number {
		ev = event.Event{Name: ev.Name, Repo: ev.Repo, Number: number, IsPull: true, SHA: ev.SHA, Ref: ev.Ref, Actor: ev.Actor, Time: ev.Time}
	}
	items := make([]intake.OwnItem, len(deliveries))
	for i, d := range deliveries {
		items[i] = d.item
	}
	shown, err := t.Deliver(ctx, ev, items)
	if err != nil {
		return err
	}
	// A comment that GitHub shows is recorded now only if something else is. Otherwise the next
	// turn sees it, and records it.
	var delivered, failed []string
	for i, d := range deliveries {
		ok := i < len(shown) && shown[i]
		switch {
		case d.entry == "":
			if !ok {
				r.Notes = append(r.Notes, "the comment that shows the loop could not be written")
			}
		case ok && d.entry == loopref.FollowUp:
			delivered = append(delivered, d.entry)
		case ok:
			r.Log.MarkSeen(d.entry, d.hides)
		case !d.hides:
			failed = append(failed, d.entry)
			r.Notes = append(r.Notes, "a message could not be delivered; "+afterFailure(r.Log, d.entry))
		}
	}
	if pull.Fork && t.mayAsk(r.Log) {
		r.Notes = append(r.Notes, "no agent is asked for a fix: the branch is in a fork, where its token cannot push")
	} else if entry, err := t.ask(ctx, r.Log, pull.Branch); err != nil {
		failed = append(failed, entry)
		r.Notes = append(r.Notes, "the agent could not be asked for a fix; "+afterFailure(r.Log, entry)+": "+err.Error())
	} else if entry != "" {
		delivered = append(delivered, entry)
	}
	if len(delivered)+len(failed) == 0 {
		return nil
	}
	return t.record(ctx, r, delivered, failed)
}

// afterFailure says what follows from an attempt to deliver an entry that has just failed.
func afterFailure(l *loopref.Log, entry string) string {
	if _, earlier := l.Delivery(entry); earlier+1 >= fixloop.DeliveryAttempts && entry != loopref.FollowUp {
		return "this was the last attempt"
	}
	return "a later turn tries again"
}

// record records in the log the entries that were delivered other than by a comment, and those
// whose delivery failed. If another job has continued the log meanwhile, record continues the newer
// log.
func (t *Turn) record(ctx context.Context, r *Result, delivered, failed []string) error {
	log := r.Log
	for range maxTries {
		if err := log.Delivered(delivered, failed, t.Now()); err != nil {
			return err
		}
		if err := log.RecordSeen(t.Now()); err != nil {
			return err
		}
		err := t.Store.Save(ctx, log, t.Now())
		if !errors.Is(err, loopref.ErrMoved) {
			r.Log = log
			return err
		}
		if log, _, err = t.Store.Load(ctx, r.Log.State.Loop().Issue); err != nil {
			return err
		}
		if log == nil || log.Ref != r.Log.Ref {
			return nil // the next loop has begun, and this one's log is no longer read
		}
	}
	return loopref.ErrMoved
}

// deliveriesOf returns the items that show the present state of the loop.
func deliveriesOf(l *loopref.Log) []delivery {
	name, revision := stickyName(l), len(l.Records)
	sticky := func(name, body string, outdated bool) intake.OwnItem {
		return intake.OwnItem{Item: &safeoutput.StickyComment{Name: name, Body: body, Revision: revision, Outdated: outdated}}
	}
	out := []delivery{{item: sticky(name, l.State.Comment(l.Messages, l.Witness()), false)}}
	notices := l.Notices()
	for i, n := range notices {
		comment := noticeName(l, n)
		current := i == len(notices)-1 && waitsForPeople(l.State)
		switch {
		case !n.Delivered && n.Tried < fixloop.DeliveryAttempts:
			out = append(out, delivery{item: sticky(comment, l.State.Posted(n.Message, current), false), entry: n.Message.Entry})
		case n.Delivered && !current && !n.Hidden:
			out = append(out, delivery{item: sticky(comment, fmt.Sprintf("%s is over.", n.Message.ID), true), entry: n.Message.Entry, hides: true})
		}
	}
	if l.State.Outcome() == fixloop.KnownIssues && !l.FollowedUp() {
		title, body := l.State.FollowUp()
		out = append(out, delivery{item: intake.OwnItem{Item: &safeoutput.CreateIssue{Title: title, Body: body}, Stable: name + "/" + loopref.FollowUp}, entry: loopref.FollowUp})
	}
	return out
}

// waitsForPeople reports whether the loop waits for a fix or a decision.
func waitsForPeople(s fixloop.State) bool {
	kind := s.Work().Kind
	return kind == fixloop.WorkFix || kind == fixloop.WorkDecide
}
