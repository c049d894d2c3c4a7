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

// tickHandler applies tick-boxes. GitHub has no compare-and-swap for an issue's text, so the text
// is read right before it is written. Afterwards, the versions that GitHub keeps show whether
// somebody else wrote in between. If so, their text is put back, with the boxes ticked.
var tickHandler = handler{
	needs: func(n *needs, e *entry) { n.texts.add(e.target.Number) },
	plan:  planTick,
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
		op.Notes = append(op.Notes, "it was not checked which boxes are there")
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

// boxesAre counts boxes for people, as the beginning of a statement about them.
func boxesAre(n int) string {
	if n == 1 {
		return boxes(n) + " is"
	}
	return boxes(n) + " are"
}

// ticked is a text with boxes ticked.
type ticked struct {
	tasklist.Outcome
	there    githubapi.IssueText
	body     string
	boxes    []string // the boxes to tick, without those that somebody has unticked
	unticked int      // boxes that we ticked once, and somebody has unticked since
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

// ticked ticks boxes in a text, except boxes that we ticked once and somebody has unticked.
func (w *tickWork) ticked(there githubapi.IssueText, viewer githubapi.Actor) ticked {
	before := map[string]bool{} // boxes that we left ticked
	for _, v := range there.Versions {
		if sameAccount(v.Editor, viewer) {
			for _, item := range tasklist.Criteria(v.Text) {
				if item.Ticked {
					before[tasklist.Digest(item.Text)] = true
				}
			}
		}
	}
	t := ticked{there: there, boxes: slices.Clone(w.boxes)}
	if len(before) > 0 {
		for _, item := range tasklist.Criteria(there.Body) {
			if d := tasklist.Digest(item.Text); !item.Ticked && before[d] && slices.Contains(t.boxes, d) {
				t.boxes = slices.DeleteFunc(t.boxes, func(other string) bool { return other == d })
				t.unticked++
			}
		}
	}
	t.body, t.Outcome = tasklist.Tick(there.Body, t.boxes)
	return t
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
	run := &tickRun{tickWork: w, x: x, op: op, e: e, viewer: viewer, text: first, count: len(first.Ticked), sent: map[string]bool{}}
	r := run.write(ctx)
	obj := textObject(current)
	r.Object = &obj
	return []Result{r}
}

// tickRun is the state of writing one issue's text.
type tickRun struct {
	*tickWork
	x      *executor
	op     *Operation
	e      *entry
	viewer githubapi.Actor
	text   ticked          // what is written next
	count  int             // how many boxes the result counts as ticked
	sent   map[string]bool // the texts that were written
	notes  []string
}

// write writes a text until no text of somebody else's is lost by it, in at most maxTries tries.
func (r *tickRun) write(ctx context.Context) Result {
	for try := 1; ; try++ {
		if res, done := r.writeOnce(ctx, try == maxTries); done {
			if res.Code != CodeNotTicked { // whose message has them
				res.Notes = r.text.notes()
			}
			res.Notes = append(res.Notes, r.notes...)
			return res
		}
	}
}

// writeOnce writes r.text and looks at what became of it. done is false if r.text has to be written
// again; it may be another text by then. At the last try done is always true.
func (r *tickRun) writeOnce(ctx context.Context, isLast bool) (res Result, done bool) {
	r.sent[r.text.body] = true
	err := r.x.write(ctx, func(ctx context.Context) error {
		_, err := r.x.deps.GitHub.EditIssue(ctx, r.x.repo, r.number, githubapi.IssueEdit{Body: &r.text.body})
		return err
	})
	if err != nil && !isKind(err, githubapi.Ambiguous) {
		return r.x.failed(r.op, r.e, err), true
	}
	seen, found, lookErr := r.lookBack(ctx)
	switch {
	case found:
		return r.putBack(seen, isLast)
	case err != nil && !isLast && lookErr == nil && ctx.Err() == nil: // it was not written
		r.text = r.ticked(seen, r.viewer)
		if len(r.text.Ticked) == 0 {
			return r.text.unchangedResult(r.e), true
		}
		r.count = len(r.text.Ticked)
		return Result{}, false
	case err != nil:
		return r.x.failed(r.op, r.e, err), true
	}
	const unknown = "whether somebody else edited the text at the same moment is not known: "
	switch {
	case lookErr != nil:
		r.notes = append(r.notes, unknown+reason(lookErr))
	case seen.Body == r.text.body:
		r.notes = append(r.notes, unknown+"GitHub shows no versions of it")
	default:
		return r.e.result(Failed, CodeNotTaken, "GitHub accepted the request, but did not change the text of %s; look there whether something else changes it back, and run the job again", describeTarget(r.e.target)), true
	}
	return r.done(), true
}

// putBack is called once the versions in seen include the text that was written. If that text
// replaced one of somebody else's, putBack has their text written next, with the boxes ticked.
// If an earlier write took effect after this one, it has the same text written again.
func (r *tickRun) putBack(seen githubapi.IssueText, isLast bool) (res Result, done bool) {
	newest := seen.Versions[0]
	if !isLast && sameAccount(newest.Editor, r.viewer) && newest.Text != r.text.body && r.sent[newest.Text] {
		r.text.there = seen // an earlier write, whose answer was lost, took effect after this one
		return Result{}, false
	}
	lost, known := overwrittenBy(r.text, seen, r.viewer, r.sent)
	if lost == nil {
		if after, o := tasklist.Tick(seen.Body, r.text.boxes); after != seen.Body {
			r.notes = append(r.notes, fmt.Sprintf("somebody edited the text right after, and %s not ticked any more", boxesAre(len(o.Ticked))))
		}
		return r.done(), true
	}
	who := fmt.Sprintf("%s edited the text of %s at %s, between reading and writing", cmp.Or(lost.Editor.Login, "somebody"), describeTarget(r.e.target), lost.At.UTC().Format("15:04:05 MST"))
	back, o := tasklist.Tick(lost.Text, r.text.boxes)
	switch {
	case !known:
		return r.overwritten("%s, and GitHub does not show that text", who), true
	case back == r.text.body:
		return r.done(), true
	case seen.Body != r.text.body:
		return r.overwritten("%s, and somebody edited it again right after", who), true
	case isLast:
		return r.overwritten("%s; Airlock gave up after %d tries", who, maxTries), true
	}
	r.notes = append(r.notes, who+": that text was put back, with the boxes ticked")
	r.count = len(o.Ticked) + o.Already
	r.text = ticked{Outcome: o, there: seen, body: back, boxes: r.text.boxes, unticked: r.text.unticked}
	return Result{}, false
}

// overwritten returns the result where a text of somebody else's was lost.
func (r *tickRun) overwritten(format string, args ...any) Result {
	res := r.e.result(Failed, CodeOverwritten, format, args...)
	res.Message += "; look at the edits of the issue's text on its page, and put back by hand what is missing"
	return res
}

// done returns the result where boxes were ticked.
func (r *tickRun) done() Result {
	return r.e.result(Applied, "", "ticked %s in %s", boxes(r.count), describeTarget(r.e.target))
}

// lookBack reads the versions until one is the text that was written, which GitHub may list
// late.
func (r *tickRun) lookBack(ctx context.Context) (seen githubapi.IssueText, found bool, err error) {
	for i := 0; ; i++ {
		rctx, done := inFlight(ctx, lookGrace)
		seen, err = r.x.deps.GitHub.IssueText(rctx, r.x.repo, r.number)
		done()
		found = err == nil && writtenAt(r.text, seen, r.viewer) >= 0
		if found || i == len(lookWaits) {
			return seen, found, err
		}
		if r.x.deps.Clock.Sleep(ctx, lookWaits[i]) != nil {
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

// writtenAt returns which of the added versions is the text that we wrote, -1 for none. If no
// version has our text, because GitHub shows their texts otherwise than expected, it is the newest
// version, provided that we made it and the issue has our text.
func writtenAt(t ticked, now githubapi.IssueText, viewer githubapi.Actor) int {
	list := added(t.there, now)
	i := slices.IndexFunc(list, func(v githubapi.TextVersion) bool { return sameAccount(v.Editor, viewer) && v.Text == t.body })
	if i < 0 && len(list) > 0 && sameAccount(list[0].Editor, viewer) && now.Body == t.body {
		i = 0
	}
	return i
}

// overwrittenBy returns the version that was there when we wrote, if we neither read nor sent that
// version. known reports whether its text is known.
func overwrittenBy(t ticked, now githubapi.IssueText, viewer githubapi.Actor, sent map[string]bool) (lost *githubapi.TextVersion, known bool) {
	list := added(t.there, now)
	ours := writtenAt(t, now, viewer)
	for _, v := range list[ours+1:] {
		if sent[v.Text] && sameAccount(v.Editor, viewer) {
			continue
		}
		return &v, list[ours].Text == t.body && v.Text != ""
	}
	return nil, false
}
