package apply

import (
	"context"
	"fmt"
)

// commentList is where review comments are looked for: ours in all workflow runs,
// so that a finding is told once as long as it is there.
func commentList(own bool) string {
	if own {
		return listAllReviewComments
	}
	return listReviewComments
}

// commentEdit is the request that replaces a review comment's text.
func (p *planner) commentEdit(id int64, body string) Request {
	return newRequest("PATCH", p.path(fmt.Sprintf("/pulls/comments/%d", id)), struct {
		Body string `json:"body"`
	}{body})
}

// showAgain shows the settled comments whose reason has come back. The text, which
// says that a comment is settled, is changed last: what is cut short is done again.
func (r *reviewRun) showAgain(ctx context.Context) {
	for i, c := range r.reopen {
		err := r.x.idempotent(ctx, func(ctx context.Context) error {
			return r.x.w.GitHub.UnminimizeComment(ctx, c.there.NodeID)
		})
		if err == nil {
			err = r.x.idempotent(ctx, func(ctx context.Context) error {
				_, err := r.x.w.GitHub.EditReviewComment(ctx, r.repo, c.there.ID, r.inlineBody(c))
				return err
			})
		}
		switch {
		case err == nil:
			r.done(c, *c.there, "the comment is shown again, since what it says is so again", nil)
		case lacksPermission(err) || ctx.Err() != nil:
			r.giveUp(ctx, err, r.reopen[i:])
			return
		default:
			r.giveUp(ctx, err, r.reopen[i:i+1])
		}
	}
}
