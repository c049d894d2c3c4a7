package loopturn

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// delivery is an item on its way, and which entry of the log it is about.
type delivery struct {
	item  intake.OwnItem
	entry string // "" for the living comment
	hides bool   // it hides the entry's comment
}

// tell shows people how the loop stands: one living comment, a comment for each message that
// notifies, and nothing of those that others have replaced. Then it records what it told.
func (t *Turn) tell(ctx context.Context, r *Result, changed bool) error {
	deliveries := t.deliveries(r.Log)
	if len(deliveries) == 1 && !changed { // only the comment, which shows this state already
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
	var told, tried, hidden []string
	for i, d := range deliveries {
		ok := i < len(shown) && shown[i]
		switch {
		case d.entry == "":
			if !ok {
				r.Notes = append(r.Notes, "the comment that shows the loop could not be written")
			}
		case ok && d.hides:
			hidden = append(hidden, d.entry)
		case ok:
			told = append(told, d.entry)
		case !d.hides:
			tried = append(tried, d.entry)
			r.Notes = append(r.Notes, "a message could not be delivered; a later turn tries again")
		}
	}
	if len(told)+len(tried)+len(hidden) == 0 {
		return nil
	}
	return t.record(ctx, r, told, tried, hidden)
}

// record writes down what was told. Where others have moved the loop on meanwhile, their log is
// continued.
func (t *Turn) record(ctx context.Context, r *Result, told, tried, hidden []string) error {
	log := r.Log
	for range maxTries {
		if err := log.Delivered(told, tried, hidden, t.Now()); err != nil {
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
			return nil // the next loop has begun; nobody needs to know
		}
	}
	return loopref.ErrMoved
}

// deliveries are the items that show the loop as it stands.
func (t *Turn) deliveries(l *loopref.Log) []delivery {
	name, revision := "loop/"+l.Name(), len(l.Records)
	sticky := func(name, body string, outdated bool) intake.OwnItem {
		return intake.OwnItem{Item: &safeoutput.StickyComment{Name: name, Body: body, Revision: revision, Outdated: outdated}}
	}
	out := []delivery{{item: sticky(name, l.State.Comment(l.Messages, l.Witness()), false)}}
	notices := l.Notices()
	for i, n := range notices {
		item := name + "/" + n.Message.ID
		current := i == len(notices)-1 && t.waits(l.State)
		switch {
		case !n.Told && n.Tried < fixloop.DeliveryAttempts:
			out = append(out, delivery{item: sticky(item, l.State.Posted(n.Message), false), entry: n.Message.Entry})
		case n.Told && !current && !n.Hidden:
			out = append(out, delivery{item: sticky(item, fmt.Sprintf("%s is over.", n.Message.ID), true), entry: n.Message.Entry, hides: true})
		}
	}
	if l.State.Outcome() == fixloop.KnownIssues && !l.FollowedUp() {
		title, body := l.State.FollowUp()
		out = append(out, delivery{item: intake.OwnItem{Item: &safeoutput.CreateIssue{Title: title, Body: body}, Stable: name + "/" + loopref.FollowUp}, entry: loopref.FollowUp})
	}
	return out
}

// waits reports whether the newest fix request or escalation is for somebody to act on.
func (t *Turn) waits(s fixloop.State) bool {
	kind := s.Work().Kind
	return kind == fixloop.WorkFix || kind == fixloop.WorkDecide
}
