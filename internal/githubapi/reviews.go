package githubapi

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/go-github/v60/github"
)

// CreateReview posts a review with all its comments, or nothing: see NewReview.
func (c *Client) CreateReview(ctx context.Context, r Repo, n int, v NewReview) (Review, error) {
	op := fmt.Sprintf("review the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Review{}, err
	}
	if v.Event == "" {
		return Review{}, usage(op, r, "a review needs an event, or it would stay a hidden draft")
	}
	req := &github.PullRequestReviewRequest{Event: &v.Event}
	if v.Body != "" {
		req.Body = &v.Body
	}
	if v.CommitID != "" {
		req.CommitID = &v.CommitID
	}
	for _, d := range v.Comments {
		side := orString(d.Side, SideRight)
		g := &github.DraftReviewComment{Path: &d.Path, Body: &d.Body, Line: &d.Line, Side: &side}
		if d.StartLine != 0 && d.StartLine != d.Line {
			startSide := orString(d.StartSide, side)
			g.StartLine, g.StartSide = &d.StartLine, &startSide
		}
		req.Comments = append(req.Comments, g)
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.PullRequests.CreateReview(ctx, r.Owner, r.Name, n, req)
	if err != nil {
		return Review{}, k.finish(err)
	}
	return reviewOf(g), nil
}

// EditReview replaces the body of a review of one's own. A review that was
// submitted cannot be deleted.
func (c *Client) EditReview(ctx context.Context, r Repo, n int, id int64, body string) (Review, error) {
	op := fmt.Sprintf("update a review of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Review{}, err
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.PullRequests.UpdateReview(ctx, r.Owner, r.Name, n, id, body)
	if err != nil {
		return Review{}, k.finish(err)
	}
	return reviewOf(g), nil
}

// ListReviews yields a pull request's reviews, the oldest first.
func (c *Client) ListReviews(ctx context.Context, r Repo, n int) iter.Seq2[Review, error] {
	op := fmt.Sprintf("list the reviews of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[Review](err)
	}
	return pages(func(v Review) int64 { return v.ID }, false, func(page int) ([]Review, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.PullRequests.ListReviews(ctx, r.Owner, r.Name, n, &github.ListOptions{Page: page, PerPage: perPage})
		return converted(k, list, resp, err, reviewOf)
	})
}

// ListReviewComments yields the comments on a pull request's diff, of all
// reviews, that were updated at or after since, the newest first. A zero since
// means all.
func (c *Client) ListReviewComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[DiffComment, error] {
	op := fmt.Sprintf("list the review comments of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[DiffComment](err)
	}
	return pages(func(d DiffComment) int64 { return d.ID }, false, func(page int) ([]DiffComment, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.PullRequests.ListComments(ctx, r.Owner, r.Name, n, &github.PullRequestListCommentsOptions{Sort: "created", Direction: "desc",
			Since: since, ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		return converted(k, list, resp, err, diffCommentOf)
	})
}

// CreateReviewComment posts one comment on a pull request's diff, on a line, a
// range or a whole file.
func (c *Client) CreateReviewComment(ctx context.Context, r Repo, n int, d NewDiffComment) (DiffComment, error) {
	op := fmt.Sprintf("comment on the diff of the pull request #%d", n)
	if err := numbered(op, r, n); err != nil {
		return DiffComment{}, err
	}
	req := &github.PullRequestComment{Path: &d.Path, Body: &d.Body, CommitID: &d.CommitID}
	if d.OnFile {
		req.SubjectType = github.String("file")
	} else {
		side := orString(d.Side, SideRight)
		req.Line, req.Side = &d.Line, &side
		if d.StartLine != 0 && d.StartLine != d.Line {
			startSide := orString(d.StartSide, side)
			req.StartLine, req.StartSide = &d.StartLine, &startSide
		}
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.PullRequests.CreateComment(ctx, r.Owner, r.Name, n, req)
	if err != nil {
		return DiffComment{}, k.finish(err)
	}
	return diffCommentOf(g), nil
}

// EditReviewComment replaces the text of a comment on a diff.
func (c *Client) EditReviewComment(ctx context.Context, r Repo, id int64, body string) (DiffComment, error) {
	op := fmt.Sprintf("update the review comment %d", id)
	if err := r.check(); err != nil {
		return DiffComment{}, usage(op, Repo{}, "%v", err)
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.PullRequests.EditComment(ctx, r.Owner, r.Name, id, &github.PullRequestComment{Body: &body})
	if err != nil {
		return DiffComment{}, k.finish(err)
	}
	return diffCommentOf(g), nil
}

// DeleteReviewComment removes a comment on a diff for good.
func (c *Client) DeleteReviewComment(ctx context.Context, r Repo, id int64) error {
	op := fmt.Sprintf("delete the review comment %d", id)
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	ctx, k := write(ctx, op, r)
	_, err := c.gh.PullRequests.DeleteComment(ctx, r.Owner, r.Name, id)
	return k.finish(err)
}

func orString(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func reviewOf(g *github.PullRequestReview) Review {
	return Review{ID: g.GetID(), NodeID: g.GetNodeID(), State: g.GetState(), Body: g.GetBody(), CommitID: g.GetCommitID(), Author: actorOf(g.User),
		URL: g.GetHTMLURL(), SubmittedAt: g.GetSubmittedAt().Time}
}

func diffCommentOf(g *github.PullRequestComment) DiffComment {
	return DiffComment{ID: g.GetID(), NodeID: g.GetNodeID(), ReviewID: g.GetPullRequestReviewID(), InReplyTo: g.GetInReplyTo(), Path: g.GetPath(),
		Body: g.GetBody(), Line: g.GetLine(), OriginalLine: g.GetOriginalLine(), Side: g.GetSide(), StartLine: g.GetStartLine(), StartSide: g.GetStartSide(),
		SubjectType: g.GetSubjectType(), CommitID: g.GetCommitID(), Author: actorOf(g.User), URL: g.GetHTMLURL(),
		CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
}
