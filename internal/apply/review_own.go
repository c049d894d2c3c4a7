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
			err = r.edit(ctx, c)
		}
		if !r.changed(ctx, err, r.reopen[i:], "the comment is shown again, since what it says is so again") {
			return
		}
	}
}

// renewTexts replaces what comments say that are there, where the numbers in it or
// what is known of the rule have changed. Whoever reads one reads the present.
func (r *reviewRun) renewTexts(ctx context.Context) {
	for i, c := range r.renew {
		if !r.changed(ctx, r.edit(ctx, c), r.renew[i:], "the comment was brought up to date") {
			return
		}
	}
}

// edit replaces the text of the comment that is there.
func (r *reviewRun) edit(ctx context.Context, c *reviewComment) error {
	return r.x.idempotent(ctx, func(ctx context.Context) error {
		_, err := r.x.w.GitHub.EditReviewComment(ctx, r.repo, c.there.ID, r.inlineBody(c))
		return err
	})
}

// changed records how the change of the first of the comments ended, and reports
// whether the others may be tried.
func (r *reviewRun) changed(ctx context.Context, err error, left []*reviewComment, message string) bool {
	switch {
	case err == nil:
		r.done(left[0], *left[0].there, message, nil)
	case lacksPermission(err) || ctx.Err() != nil:
		r.giveUp(ctx, err, left)
		return false
	default:
		r.giveUp(ctx, err, left[:1])
	}
	return true
}
