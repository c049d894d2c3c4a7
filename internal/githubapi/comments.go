package githubapi

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/go-github/v60/github"
)

// ListIssueComments yields the comments of an issue's or pull request's
// conversation that were updated at or after since, the oldest first. A zero
// since means all.
func (c *Client) ListIssueComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[Comment, error] {
	op := fmt.Sprintf("list the comments of #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[Comment](err)
	}
	return pages(func(c Comment) int64 { return c.ID }, false, func(page int) ([]Comment, int, error) {
		ctx, k := read(ctx, op, r)
		opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{Page: page, PerPage: perPage}}
		if !since.IsZero() {
			opts.Since = &since
		}
		list, resp, err := c.gh.Issues.ListComments(ctx, r.Owner, r.Name, n, opts)
		return converted(k, list, resp, err, commentOf)
	})
}

// CreateIssueComment adds a comment to an issue or pull request.
func (c *Client) CreateIssueComment(ctx context.Context, r Repo, n int, body string) (Comment, error) {
	op := fmt.Sprintf("comment on #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Comment{}, err
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.Issues.CreateComment(ctx, r.Owner, r.Name, n, &github.IssueComment{Body: &body})
	if err != nil {
		return Comment{}, k.finish(err)
	}
	return commentOf(g), nil
}

// EditIssueComment replaces a comment's text.
func (c *Client) EditIssueComment(ctx context.Context, r Repo, id int64, body string) (Comment, error) {
	op := fmt.Sprintf("update the comment %d", id)
	if err := r.check(); err != nil {
		return Comment{}, usage(op, Repo{}, "%v", err)
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.Issues.EditComment(ctx, r.Owner, r.Name, id, &github.IssueComment{Body: &body})
	if err != nil {
		return Comment{}, k.finish(err)
	}
	return commentOf(g), nil
}

// DeleteIssueComment removes a comment for good.
func (c *Client) DeleteIssueComment(ctx context.Context, r Repo, id int64) error {
	op := fmt.Sprintf("delete the comment %d", id)
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	ctx, k := write(ctx, op, r)
	_, err := c.gh.Issues.DeleteComment(ctx, r.Owner, r.Name, id)
	return k.finish(err)
}

func commentOf(g *github.IssueComment) Comment {
	return Comment{ID: g.GetID(), NodeID: g.GetNodeID(), Body: g.GetBody(), Author: actorOf(g.User), URL: g.GetHTMLURL(),
		CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
}

// The reasons for which a comment is hidden, as GraphQL spells them.
const (
	Resolved  = "RESOLVED"
	Outdated  = "OUTDATED"
	Duplicate = "DUPLICATE"
)

// pullsWrite is needed to hide a comment of one's own; GraphQL does not say so.
const pullsWrite = "pull_requests=write"

// MinimizeComment hides a comment, by its node id, for a reason that readers see.
// A comment that is hidden already is hidden once more without harm.
func (c *Client) MinimizeComment(ctx context.Context, nodeID, reason string) error {
	return c.minimizing(ctx, "hide a comment", minimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID, "classifier": reason})
}

// UnminimizeComment shows a hidden comment, by its node id, again.
func (c *Client) UnminimizeComment(ctx context.Context, nodeID string) error {
	return c.minimizing(ctx, "show a hidden comment", unminimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID})
}

func (c *Client) minimizing(ctx context.Context, op, mutation, nodeID string, input map[string]any) error {
	if nodeID == "" {
		return usage(op, Repo{}, "the comment has no node id")
	}
	var out struct{}
	return c.query(ctx, &call{op: op, write: true, needs: pullsWrite}, mutation, map[string]any{"input": input}, &out)
}
