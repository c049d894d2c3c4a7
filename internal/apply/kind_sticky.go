package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// stickyHandler applies sticky-comment: one comment in a pull request's
// conversation, which every later workflow run brings up to date.
func stickyHandler() handler {
	return handler{
		needs: func(n *needs, e *entry) { n.list(listAllComments, e.target.Number) },
		plan:  planSticky,
	}
}

func planSticky(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.StickyComment)
	op := p.operation(group, fmt.Sprintf("comment on %s", targetWords(e.target)))
	op.Permissions = permissionsFor(safeoutput.KindAddIssueComment, e.target)
	list := listID{what: listAllComments, number: e.target.Number}
	if err := p.snap.lists[list]; err != nil {
		p.unread(&op, group, err)
		return op
	}
	body, cut := p.cfg.body(it.Body, p.cfg.ownFooter(e.settings.Footer), e.marker(p.cfg.Run))
	own := p.snap.found(e.key)
	if len(own) == 0 && it.OnlyUpdate {
		e.decide(Applied, "", "nothing to say, and no comment that says otherwise")
		op.Summary = "nothing: there is no comment to bring up to date"
		return op
	}
	op.noteCut(cut)
	post := p.commentWork(list, e.key, body)
	if len(own) == 0 {
		op.Requests, op.work = []Request{p.commentRequest(e.target.Number, body)}, post
		return op
	}
	there := own[0]
	op.Adopts = own
	op.Summary = fmt.Sprintf("bring the comment on %s up to date", targetWords(e.target))
	switch {
	case there.known.later(p.cfg.Run):
		e.decide(Adopted, "", "a later workflow run has brought the comment up to date already")
	case saysTheSame(there.known.body, body):
		e.decide(Adopted, "", "the comment says this already")
	default:
		op.Requests = []Request{newRequest("PATCH", p.path(fmt.Sprintf("/issues/comments/%d", there.ID)), struct {
			Body string `json:"body"`
		}{body})}
		op.work = &stickyWork{repo: p.repo, there: there, body: body, post: post}
		return op
	}
	e.decided.Object = &there
	return op
}

// saysTheSame reports whether two bodies say the same, whatever their markers, which
// are their last lines.
func saysTheSame(a, b string) bool {
	text := func(s string) string {
		s = strings.TrimSpace(s)
		return s[:strings.LastIndexByte(s, '\n')+1]
	}
	return sameText(text(a), text(b))
}

// stickyWork replaces the text of the comment that is there.
type stickyWork struct {
	repo  githubapi.Repo
	there Object
	body  string
	post  *createWork
}

func (w *stickyWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	err := x.idempotent(ctx, func(ctx context.Context) error {
		_, err := x.deps.GitHub.EditIssueComment(ctx, w.repo, w.there.ID, w.body)
		return err
	})
	switch {
	case isKind(err, githubapi.NotFound) && w.gone(ctx, x):
		return w.post.execute(ctx, x, op)
	case err != nil:
		return []Result{x.failed(op, e, err)}
	}
	r := e.result(Applied, "", "brought the comment on #%d up to date", w.there.Number)
	r.Object = &w.there
	return []Result{r}
}

// gone reports whether somebody has removed the comment meanwhile. That GitHub does
// not find it is not enough: it says so too where a token may not see something.
func (w *stickyWork) gone(ctx context.Context, x *executor) bool {
	own, err := ownObjects(ctx, x.deps.GitHub, w.repo, w.post.list, x.plan.snap.viewer, x.since)
	return err == nil && !slices.ContainsFunc(own, func(o Object) bool { return o.key == w.there.key })
}
