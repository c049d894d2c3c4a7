package githubapi

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// Comment is a comment on an issue or in a pull request's conversation.
type Comment struct {
	ID     int64
	NodeID string
	Number int // of the issue or pull request; 0 if unknown
	Body   string
	Author Actor
	URL    string
}

// ListIssueComments yields the comments of an issue's or pull request's
// conversation, the oldest first. Unless the time since is zero, comments that were
// last updated before it are left out.
func (c *Client) ListIssueComments(ctx context.Context, r Repo, n int, since time.Time) iter.Seq2[Comment, error] {
	op := listing(r, "list the comments of #%d", n).checkNumber(n)
	return pages(ctx, op, func(c Comment) int64 { return c.ID }, commentOf, func(ctx context.Context, page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		opts := &github.IssueListCommentsOptions{ListOptions: page}
		if !since.IsZero() {
			opts.Since = &since
		}
		return c.gh.Issues.ListComments(ctx, r.Owner, r.Name, n, opts)
	})
}

// ListComments yields the comments on all issues and pull requests, the newest first, without those
// that were last updated before the time since.
func (c *Client) ListComments(ctx context.Context, r Repo, since time.Time) iter.Seq2[Comment, error] {
	op := listing(r, "list comments")
	sort, direction := "created", "desc"
	return pages(ctx, op, func(c Comment) int64 { return c.ID }, commentOf, func(ctx context.Context, page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return c.gh.Issues.ListComments(ctx, r.Owner, r.Name, 0, &github.IssueListCommentsOptions{Sort: &sort, Direction: &direction, Since: &since, ListOptions: page})
	})
}

// CreateIssueComment adds a comment to an issue or pull request.
func (c *Client) CreateIssueComment(ctx context.Context, r Repo, n int, body string) (Comment, error) {
	op := creating(r, "comment on #%d", n).checkNumber(n)
	g, _, err := c.gh.Issues.CreateComment(op.context(ctx), r.Owner, r.Name, n, &github.IssueComment{Body: &body})
	return resultOf(op, g, err, commentOf, func(Comment) bool { return isOn(g.GetIssueURL(), n) })
}

// EditIssueComment replaces a comment's text.
func (c *Client) EditIssueComment(ctx context.Context, r Repo, id int64, body string) (Comment, error) {
	op := writing(r, "update the comment %d", id)
	g, _, err := c.gh.Issues.EditComment(op.context(ctx), r.Owner, r.Name, id, &github.IssueComment{Body: &body})
	return resultOf(op, g, err, commentOf, func(c Comment) bool { return c.ID == id })
}

// DeleteIssueComment removes a comment for good.
func (c *Client) DeleteIssueComment(ctx context.Context, r Repo, id int64) error {
	op := deleting(r, "delete the comment %d", id)
	_, err := c.gh.Issues.DeleteComment(op.context(ctx), r.Owner, r.Name, id)
	return op.finish(err)
}

// The reactions that Airlock adds to comments, as the API spells them.
const (
	ThumbsUp = "+1"
	Confused = "confused"
)

// ReactToIssueComment adds a reaction of the token's account to a comment, unless it is there
// already. Nobody is notified.
func (c *Client) ReactToIssueComment(ctx context.Context, r Repo, id int64, content string) error {
	op := writing(r, "react to the comment %d", id)
	g, _, err := c.gh.Reactions.CreateIssueCommentReaction(op.context(ctx), r.Owner, r.Name, id, content)
	if err == nil && g.GetContent() != content {
		return op.unexpectedAnswer("it is about something else")
	}
	return op.finish(err)
}

func (c Comment) identified() bool { return c.ID > 0 }

// isOn reports whether an answer is about the issue or pull request with a number. address is the
// address of the issue in the answer; an answer without an address is believed.
func isOn(address string, number int) bool {
	return address == "" || strings.HasSuffix(address, "/"+strconv.Itoa(number))
}

func commentOf(g *github.IssueComment) Comment {
	// The issue's address ends in its number.
	number, _ := strconv.Atoi(g.GetIssueURL()[strings.LastIndexByte(g.GetIssueURL(), '/')+1:])
	return Comment{ID: g.GetID(), NodeID: g.GetNodeID(), Number: number, Body: g.GetBody(), Author: actorOf(g.User), URL: g.GetHTMLURL()}
}

// The reasons for which a comment is hidden, as GraphQL spells them.
const (
	Resolved = "RESOLVED"
	Outdated = "OUTDATED"
)

const (
	minimizeCommentMutation = `mutation MinimizeComment($input: MinimizeCommentInput!) {
  minimizeComment(input: $input) { minimizedComment { isMinimized minimizedReason } }
}`

	unminimizeCommentMutation = `mutation UnminimizeComment($input: UnminimizeCommentInput!) {
  unminimizeComment(input: $input) { unminimizedComment { isMinimized } }
}`
)

// MinimizeComment hides a comment, by its node id, for a reason that readers see.
// A comment that is hidden already is hidden again without harm.
func (c *Client) MinimizeComment(ctx context.Context, nodeID, reason string) error {
	return c.setMinimized(ctx, "hide a comment", minimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID, "classifier": reason}, true)
}

// UnminimizeComment shows a hidden comment again. It takes the comment's node id.
func (c *Client) UnminimizeComment(ctx context.Context, nodeID string) error {
	return c.setMinimized(ctx, "show a hidden comment", unminimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID}, false)
}

func (c *Client) setMinimized(ctx context.Context, what, mutation, nodeID string, input map[string]any, hidden bool) error {
	// GraphQL's errors do not name the permission that hiding one's own comment needs.
	op := &operation{what: what, write: true, needs: "pull_requests=write"}
	op.require("the comment has no node id", nodeID)
	type comment struct{ IsMinimized *bool }
	var out struct {
		MinimizeComment   struct{ MinimizedComment comment }
		UnminimizeComment struct{ UnminimizedComment comment }
	}
	if err := c.query(ctx, op, mutation, map[string]any{"input": input}, &out); err != nil {
		return err
	}
	got := out.UnminimizeComment.UnminimizedComment.IsMinimized
	if hidden {
		got = out.MinimizeComment.MinimizedComment.IsMinimized
	}
	if got == nil || *got != hidden {
		return op.unexpectedAnswer("it does not show the comment as changed")
	}
	return nil
}
