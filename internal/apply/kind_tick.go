package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/tasklist"
)

// tickHandler applies tick-boxes. GitHub has no compare-and-swap for an issue's text, so the
// text is read right before it is written, and the versions that GitHub keeps show afterwards
// whether somebody else wrote in between: that text is put back, with the boxes ticked.
func tickHandler() handler {
	return handler{
		needs: func(n *needs, e *entry) { n.texts.add(e.target.Number) },
		plan:  planTick,
	}
}

func planTick(p *planner, group []*entry) Operation {
	e := group[0]
	op := p.operation(group, fmt.Sprintf("tick the boxes of verified criteria in %s", describeTarget(e.target)))
	op.Permissions = []Permission{{"issues", "write"}}
	current := p.snap.texts[e.target.Number]
	if current.err != nil {
		op.failAll(current.err, "")
		return op
	}
	w := &tickWork{number: e.target.Number, boxes: e.item.(*safeoutput.TickBoxes).Boxes}
	op.work = w
	if !p.snap.connected {
		op.Notes = append(op.Notes, "which boxes are there is unchecked")
		op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/%d", w.number)), bodyJSON{"<the issue's text, with these boxes ticked>"})}
		return op
	}
	t := w.ticked(current.value, p.snap.viewer.Actor)
	op.Notes = append(op.Notes, t.notes()...)
	if len(t.Ticked) == 0 {
		r := t.unchangedResult(e)
		e.decided = &r
		op.Summary = "nothing: no box has to be ticked"
		return op
	}
	op.Summary = fmt.Sprintf("tick %s in %s", boxes(len(t.Ticked)), describeTarget(e.target))
	op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/%d", w.number)), bodyJSON{t.body})}
	return op
}

// boxes counts boxes for people.
func boxes(n int) string {
	if n == 1 {
		return "1 box"
	}
	return fmt.Sprintf("%d boxes", n)
}

// ticked is a text with boxes ticked.
type ticked struct {
	tasklist.Outcome
	there    githubapi.IssueText
	body     string
	unticked int // boxes that we ticked once, and somebody has unticked since
}

// notes describes, for people, what was left alone.
func (t ticked) notes() (notes []string) {
	for _, text := range t.Ambiguous {
		notes = append(notes, fmt.Sprintf("not ticked, because the list has it more than once: %q", text))
	}
	if t.Changed > 0 {
		notes = append(notes, fmt.Sprintf("not ticked, because their text was changed or removed after they were verified: %d of the criteria", t.Changed))
	}
	if t.unticked > 0 {
		notes = append(notes, fmt.Sprintf("not ticked again, because somebody has unticked them: %s", boxes(t.unticked)))
	}
	return notes
}

// unchangedResult returns the result where no box has to be ticked.
func (t ticked) unchangedResult(e *entry) Result {
	notes := t.notes()
	r := e.result(Adopted, "", "the boxes of the verified criteria in %s are ticked already", describeTarget(e.target))
	if t.Already > 0 {
		r.Notes = notes
	} else if len(notes) > 0 {
		r = e.result(Skipped, CodeNotTicked, "no box of %s was ticked: %s", describeTarget(e.target), strings.Join(notes, "; "))
	}
	obj := textObject(t.there)
	r.Object = &obj
	return r
}

func textObject(t githubapi.IssueText) Object {
	return Object{Type: objIssue, ID: t.ID, NodeID: t.NodeID, Number: t.Number, URL: t.URL}
}

// tickWork ticks boxes in the text of one issue.
type tickWork struct {
	number int
	boxes  []string // digests of the criteria's texts
}

// ticked ticks boxes in a text, except those that were ticked by us once and are not any more.
func (w *tickWork) ticked(there githubapi.IssueText, viewer githubapi.Actor) ticked {
	before := map[string]bool{} // boxes that we left ticked
	for _, v := range there.Versions {
		if isBy(v, viewer) {
			for _, item := range tasklist.Criteria(v.Text) {
				if item.Ticked {
					before[tasklist.Digest(item.Text)] = true
				}
			}
		}
	}
	t := ticked{there: there}
	wanted := slices.Clone(w.boxes)
	if len(before) > 0 {
		for _, item := range tasklist.Criteria(there.Body) {
			if d := tasklist.Digest(item.Text); !item.Ticked && before[d] && slices.Contains(wanted, d) {
				wanted = slices.DeleteFunc(wanted, func(other string) bool { return other == d })
				t.unticked++
			}
		}
	}
	t.body, t.Outcome = tasklist.Tick(there.Body, wanted)
	return t
}

// isBy reports whether an account made an edit.
func isBy(v githubapi.TextVersion, who githubapi.Actor) bool {
	return v.Editor.DatabaseID == who.DatabaseID && who.DatabaseID != 0
}

func (w *tickWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	viewer := x.plan.snap.viewer.Actor
	current, err := x.deps.GitHub.IssueText(ctx, x.repo, w.number)
	if err != nil {
		return []Result{x.failed(op, e, err)}
	}
	first := w.ticked(current, viewer)
	if len(first.Ticked) == 0 {
		return []Result{first.unchangedResult(e)}
	}
	r := w.write(ctx, x, op, first)
	obj := textObject(current)
	r.Object = &obj
	r.Notes = append(first.notes(), r.Notes...)
	return []Result{r}
}

// write writes a text until no text of somebody else's is lost by it.
func (w *tickWork) write(ctx context.Context, x *executor, op *Operation, t ticked) Result {
	e, viewer := op.entries[0], x.plan.snap.viewer.Actor
	n := len(t.Ticked)
	sent := map[string]bool{}
	var notes []string
	overwritten := func(format string, args ...any) Result {
		r := e.result(Failed, CodeOverwritten, format, args...)
		r.Message += "; look at the edits of the issue's text on its page, and put back by hand what is missing"
		r.Notes = notes
		return r
	}
	for try := 1; ; try++ {
		sent[t.body] = true
		err := x.write(ctx, func(ctx context.Context) error {
			_, err := x.deps.GitHub.EditIssue(ctx, x.repo, w.number, githubapi.IssueEdit{Body: &t.body})
			return err
		})
		if err != nil && !isKind(err, githubapi.Ambiguous) {
			r := x.failed(op, e, err)
			r.Notes = notes
			return r
		}
		seen, found, lookErr := w.lookBack(ctx, x, t, viewer)
		switch {
		case found:
		case err != nil && try < maxTries && lookErr == nil && ctx.Err() == nil: // it was not written
			if t = w.ticked(seen, viewer); len(t.Ticked) == 0 {
				r := t.unchangedResult(e)
				r.Notes = notes
				return r
			}
			continue
		case err != nil:
			r := x.failed(op, e, err)
			r.Notes = notes
			return r
		case lookErr == nil && seen.Body == t.body: // GitHub keeps no versions
			return w.done(e, n, append(notes, "whether somebody else edited the text at the same moment is not known: GitHub shows no versions of it"))
		case lookErr == nil:
			r := e.result(Failed, CodeNotTaken, "GitHub accepted the request, but did not change the text of %s; look there whether something else changes it back, and run the job again", describeTarget(e.target))
			r.Notes = notes
			return r
		default:
			return w.done(e, n, append(notes, "whether somebody else edited the text at the same moment is not known: "+reason(lookErr)))
		}
		if newest := seen.Versions[0]; try < maxTries && isBy(newest, viewer) && newest.Text != t.body && sent[newest.Text] {
			t.there = seen // an earlier write, whose answer was lost, took effect after this one
			continue
		}
		lost, known := overwrittenBy(t, seen, viewer, sent)
		if lost == nil {
			if after, o := tasklist.Tick(seen.Body, w.boxes); after != seen.Body {
				notes = append(notes, fmt.Sprintf("somebody edited the text right after, and %s not ticked any more", isOrAre(boxes(len(o.Ticked)), len(o.Ticked))))
			}
			return w.done(e, n, notes)
		}
		who := fmt.Sprintf("%s edited the text of %s at %s, between reading and writing", cmp.Or(lost.Editor.Login, "somebody"), describeTarget(e.target), lost.At.UTC().Format("15:04:05 MST"))
		back, o := tasklist.Tick(lost.Text, w.boxes)
		switch {
		case !known:
			return overwritten("%s, and GitHub does not show that text", who)
		case back == t.body:
			return w.done(e, n, notes)
		case seen.Body != t.body:
			return overwritten("%s, and somebody edited it again right after", who)
		case try >= maxTries:
			return overwritten("%s; Airlock gave up after %d tries", who, try)
		}
		notes = append(notes, who+": that text was put back, with the boxes ticked")
		n = len(o.Ticked) + o.Already
		t = ticked{Outcome: o, there: seen, body: back}
	}
}

func isOrAre(what string, n int) string {
	if n == 1 {
		return what + " is"
	}
	return what + " are"
}

// done returns the result where boxes were ticked.
func (w *tickWork) done(e *entry, n int, notes []string) Result {
	r := e.result(Applied, "", "ticked %s in %s", boxes(n), describeTarget(e.target))
	r.Notes = notes
	return r
}

// lookBack reads the versions until one is the text that was written, which GitHub may list
// late.
func (w *tickWork) lookBack(ctx context.Context, x *executor, t ticked, viewer githubapi.Actor) (seen githubapi.IssueText, found bool, err error) {
	for i := 0; ; i++ {
		rctx, done := inFlight(ctx, lookGrace)
		seen, err = x.deps.GitHub.IssueText(rctx, x.repo, w.number)
		done()
		if found = err == nil && writtenAt(t, seen, viewer) >= 0; found || i == len(lookWaits) {
			return seen, found, err
		}
		if x.deps.Clock.Sleep(ctx, lookWaits[i]) != nil {
			return seen, false, ctx.Err()
		}
	}
}

// added returns the versions that were added since a text was read, without the original that
// GitHub adds with the first edit; the newest first.
func added(before, now githubapi.IssueText) []githubapi.TextVersion {
	known := map[string]bool{}
	for _, v := range before.Versions {
		known[v.ID] = true
	}
	list := now.Versions
	if n := len(list); len(before.Versions) == 0 && n > 1 {
		list = list[:n-1]
	}
	i := slices.IndexFunc(list, func(v githubapi.TextVersion) bool { return known[v.ID] })
	if i < 0 {
		i = len(list)
	}
	return list[:i]
}

// writtenAt returns which of the added versions is the text that we wrote, -1 for none. Where
// GitHub shows the versions' texts otherwise than expected, it is the newest one if we made it
// and the issue has our text.
func writtenAt(t ticked, now githubapi.IssueText, viewer githubapi.Actor) int {
	list := added(t.there, now)
	i := slices.IndexFunc(list, func(v githubapi.TextVersion) bool { return isBy(v, viewer) && v.Text == t.body })
	if i < 0 && len(list) > 0 && isBy(list[0], viewer) && now.Body == t.body {
		i = 0
	}
	return i
}

// overwrittenBy returns the version that was there when we wrote, if it is neither the one that
// we read nor one of those that we sent. known reports whether its text is known.
func overwrittenBy(t ticked, now githubapi.IssueText, viewer githubapi.Actor, sent map[string]bool) (lost *githubapi.TextVersion, known bool) {
	list := added(t.there, now)
	ours := writtenAt(t, now, viewer)
	for _, v := range list[ours+1:] {
		if sent[v.Text] && isBy(v, viewer) {
			continue
		}
		return &v, list[ours].Text == t.body && v.Text != ""
	}
	return nil, false
}
