package githubapi

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/google/go-github/v60/github"
)

// ReviewComment is the event of a review that neither approves nor requests changes. A review
// without an event would stay a hidden draft, so CreateReview refuses an empty event.
const ReviewComment = "COMMENT"

// The sides of a diff that a review comment may be on.
const (
	SideLeft  = "LEFT"
	SideRight = "RIGHT"
)

// NewReview is a review to post. If the anchor of one comment is not in the diff, GitHub refuses
// the entire review. The error is then Validation, and does not name the comment.
type NewReview struct {
	CommitID string // the head commit that the anchors were computed for
	Event    string
	Body     string
	Comments []DraftComment
}

// DraftComment is one comment of a NewReview.
type DraftComment struct {
	Path      string
	Body      string
	Line      int    // last line of the range
	Side      string // SideRight when empty
	StartLine int    // first line; 0 or Line for a single line
	StartSide string // Side when empty
}

// Review is a review on GitHub, pending or submitted.
type Review struct {
	ID     int64
	NodeID string
	State  string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED, PENDING
	Body   string
	Author Actor
	URL    string
}

// DiffComment is a comment on a line or file of a pull request's diff.
type DiffComment struct {
	ID        int64
	NodeID    string
	ReviewID  int64
	InReplyTo int64
	Body      string
	Author    Actor
	URL       string
}

// CreateReview posts a review with all its comments, or nothing: see NewReview.
func (c *Client) CreateReview(ctx context.Context, r Repo, n int, v NewReview) (Review, error) {
	op := creating(r, "review the pull request #%d", n).checkNumber(n)
	op.require("a review needs an event, or it would stay a hidden draft", v.Event)
	req := &github.PullRequestReviewRequest{Event: &v.Event, Body: optional(v.Body), CommitID: optional(v.CommitID)}
	for _, d := range v.Comments {
		g := &github.DraftReviewComment{Path: &d.Path, Body: &d.Body, Line: &d.Line}
		g.Side, g.StartLine, g.StartSide = anchor(d.Line, d.Side, d.StartLine, d.StartSide)
		req.Comments = append(req.Comments, g)
	}
	g, _, err := c.gh.PullRequests.CreateReview(op.context(ctx), r.Owner, r.Name, n, req)
	return resultOf(op, g, err, reviewOf, func(v Review) bool { return v.State != ReviewPending && isOn(g.GetPullRequestURL(), n) })
}

// EditReview replaces the body of a review that the token's account wrote. A review that was
// submitted cannot be deleted.
func (c *Client) EditReview(ctx context.Context, r Repo, n int, id int64, body string) (Review, error) {
	op := writing(r, "update a review of the pull request #%d", n).checkNumber(n)
	g, _, err := c.gh.PullRequests.UpdateReview(op.context(ctx), r.Owner, r.Name, n, id, body)
	return resultOf(op, g, err, reviewOf, func(v Review) bool { return v.ID == id })
}

// ListReviews yields a pull request's reviews, the oldest first.
func (c *Client) ListReviews(ctx context.Context, r Repo, n int) iter.Seq2[Review, error] {
	op := listing(r, "list the reviews of the pull request #%d", n).checkNumber(n)
	return pages(ctx, op, func(v Review) int64 { return v.ID }, reviewOf, func(ctx context.Context, page github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return c.gh.PullRequests.ListReviews(ctx, r.Owner, r.Name, n, &page)
	})
}

// ListReviewComments yields the comments on a pull request's diff, of all
// reviews, the newest first. Unless the time since is zero, comments that were last
// updated before it are left out.
func (c *Client) ListReviewComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[DiffComment, error] {
	op := listing(r, "list the review comments of the pull request #%d", n).checkNumber(n)
	return pages(ctx, op, func(d DiffComment) int64 { return d.ID }, diffCommentOf, func(ctx context.Context, page github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		return c.gh.PullRequests.ListComments(ctx, r.Owner, r.Name, n, &github.PullRequestListCommentsOptions{Sort: "created", Direction: "desc", Since: since, ListOptions: page})
	})
}

// EditReviewComment replaces the text of a comment on a diff.
func (c *Client) EditReviewComment(ctx context.Context, r Repo, id int64, body string) (DiffComment, error) {
	op := writing(r, "update the review comment %d", id)
	g, _, err := c.gh.PullRequests.EditComment(op.context(ctx), r.Owner, r.Name, id, &github.PullRequestComment{Body: &body})
	return resultOf(op, g, err, diffCommentOf, func(d DiffComment) bool { return d.ID == id })
}

// DeleteReviewComment removes a comment on a diff for good.
func (c *Client) DeleteReviewComment(ctx context.Context, r Repo, id int64) error {
	op := deleting(r, "delete the review comment %d", id)
	_, err := c.gh.PullRequests.DeleteComment(op.context(ctx), r.Owner, r.Name, id)
	return op.finish(err)
}

// anchor returns the members of a request that give a comment's place in addition to its last line:
// the side and, for more than one line, where the range starts.
func anchor(line int, side string, startLine int, startSide string) (sentSide *string, sentStartLine *int, sentStartSide *string) {
	side = cmp.Or(side, SideRight)
	if startLine == 0 || startLine == line {
		return &side, nil, nil
	}
	startSide = cmp.Or(startSide, side)
	return &side, &startLine, &startSide
}

// optional returns a pointer to s, or nil for "", so that an empty value is not sent.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (v Review) identified() bool { return v.ID > 0 }

func (d DiffComment) identified() bool { return d.ID > 0 }

func reviewOf(g *github.PullRequestReview) Review {
	return Review{ID: g.GetID(), NodeID: g.GetNodeID(), State: g.GetState(), Body: g.GetBody(), Author: actorOf(g.User), URL: g.GetHTMLURL()}
}

func diffCommentOf(g *github.PullRequestComment) DiffComment {
	return DiffComment{ID: g.GetID(), NodeID: g.GetNodeID(), ReviewID: g.GetPullRequestReviewID(), InReplyTo: g.GetInReplyTo(),
		Body: g.GetBody(), Author: actorOf(g.User), URL: g.GetHTMLURL()}
}
