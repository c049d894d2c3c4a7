package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// stickyHandler applies sticky-comment: one comment in a pull request's conversation, which
// every later workflow run updates.
var stickyHandler = handler{
	needs: func(n *needs, e *entry) { n.list(listAllComments, e.target.Number) },
	plan:  planSticky,
}

func planSticky(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.StickyComment)
	op := p.operation(group, fmt.Sprintf("comment on %s", describeTarget(e.target)))
	op.Permissions = permissionsFor(safeoutput.KindAddIssueComment, e.target)
	list := listID{what: listAllComments, number: e.target.Number}
	if err := p.snap.lists[list]; err != nil {
		op.failReading(err)
		return op
	}
	run := e.writer(p.cfg.Run)
	own := p.snap.found(e.key)
	if it.Outdated {
		return p.outdated(op, e, own)
	}
	body, cut := p.cfg.body(it.Body, p.cfg.ownFooter(e.settings.Footer), e.marker(run))
	if len(own) == 0 && it.OnlyUpdate {
		e.decide(Applied, "", "there is nothing to report, and no comment that reports otherwise")
		op.Summary = "nothing: there is no comment to update"
		return op
	}
	op.noteCut(cut)
	post := commentWork(p.repo, list, e.key, body)
	if len(own) == 0 {
		op.Requests, op.work = []Request{p.commentRequest(e.target.Number, body)}, post
		return op
	}
	existing := own[0]
	op.Adopts = own
	op.Summary = fmt.Sprintf("update the comment on %s", describeTarget(e.target))
	switch {
	case existing.known.later(run):
		e.adopt(existing, "a later workflow run has updated the comment already")
	case sameButMarker(existing.known.body, body):
		e.adopt(existing, "the comment has this text already")
	default:
		op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/comments/%d", existing.ID)), bodyJSON{body})}
		op.work = &stickyWork{there: existing, body: body, post: post}
	}
	return op
}

// stickyWork replaces the text of the comment that is there, or posts a new one if somebody has
// removed it.
type stickyWork struct {
	there Object
	body  string
	post  *createWork
}

func (w *stickyWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	_, err := idempotentAnswer(ctx, x, func(ctx context.Context) (githubapi.Comment, error) {
		return x.deps.GitHub.EditIssueComment(ctx, x.repo, w.there.ID, w.body)
	})
	switch {
	case isKind(err, githubapi.NotFound) && w.isRemoved(ctx, x):
		return w.post.execute(ctx, x, op)
	case err != nil:
		return []Result{x.failed(op, e, err)}
	}
	r := e.result(Applied, "", "updated the comment on #%d", w.there.Number)
	r.Object = &w.there
	return []Result{r}
}

// isRemoved reports whether somebody has removed the comment. It reads the list, because GitHub
// answers Not Found also where the token may not see the comment.
func (w *stickyWork) isRemoved(ctx context.Context, x *executor) bool {
	own, err := ownObjects(ctx, x.deps.GitHub, x.repo, w.post.list, x.plan.snap.viewer, x.since)
	return err == nil && !slices.ContainsFunc(own, func(o Object) bool { return o.key == w.there.key })
}

// outdated plans to hide the comment that is there.
func (p *planner) outdated(op Operation, e *entry, own []Object) Operation {
	if len(own) == 0 || own[0].known.resolved {
		e.decide(Applied, "", "no comment had to be hidden")
		op.Summary = "nothing: there is no comment to hide"
		return op
	}
	existing := own[0]
	body, _ := p.cfg.body(existing.known.body, "", stableMarker(existing.key, history{resolved: true, run: existing.known.run}))
	op.Summary = fmt.Sprintf("hide an older comment on %s", describeTarget(e.target))
	op.Requests = []Request{
		graphQL("minimizeComment", map[string]any{"subjectId": existing.NodeID, "classifier": githubapi.Outdated}),
		newRequest("PATCH", p.path(fmt.Sprintf("/issues/comments/%d", existing.ID)), bodyJSON{body}),
	}
	op.work = &outdateWork{there: existing, body: body}
	return op
}

// outdateWork hides a comment before it changes the marker, by which later runs recognise what
// is done.
type outdateWork struct {
	there Object
	body  string
}

func (w *outdateWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	err := x.idempotent(ctx, func(ctx context.Context) error {
		if err := x.deps.GitHub.MinimizeComment(ctx, w.there.NodeID, githubapi.Outdated); err != nil {
			return err
		}
		_, err := x.deps.GitHub.EditIssueComment(ctx, x.repo, w.there.ID, w.body)
		return err
	})
	if err != nil {
		return []Result{x.failed(op, e, err)}
	}
	r := e.result(Applied, "", "hid an older comment on #%d", e.target.Number)
	r.Object = &w.there
	return []Result{r}
}
