package githubapi

import (
	"context"
	"fmt"
	"iter"

	"github.com/google/go-github/v60/github"
)

// GetIssue reads an issue or, as one, a pull request.
func (c *Client) GetIssue(ctx context.Context, r Repo, n int) (Issue, error) {
	op := fmt.Sprintf("read #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Issue{}, err
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Issues.Get(ctx, r.Owner, r.Name, n)
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// CreateIssue opens an issue. Errors of kind Ambiguous mean: list before
// creating again.
func (c *Client) CreateIssue(ctx context.Context, r Repo, n NewIssue) (Issue, error) {
	const op = "create an issue"
	if err := r.check(); err != nil {
		return Issue{}, usage(op, Repo{}, "%v", err)
	}
	req := &github.IssueRequest{Title: &n.Title, Body: &n.Body}
	if len(n.Labels) > 0 {
		req.Labels = &n.Labels
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// EditIssue changes the fields that e names, of an issue or a pull request.
func (c *Client) EditIssue(ctx context.Context, r Repo, n int, e IssueEdit) (Issue, error) {
	op := fmt.Sprintf("update #%d", n)
	if err := numbered(op, r, n); err != nil {
		return Issue{}, err
	}
	if e == (IssueEdit{}) {
		return Issue{}, usage(op, r, "there is nothing to change")
	}
	ctx, k := write(ctx, op, r)
	g, _, err := c.gh.Issues.Edit(ctx, r.Owner, r.Name, n, &github.IssueRequest{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason})
	if err != nil {
		return Issue{}, k.finish(err)
	}
	return issueOf(g), nil
}

// ListIssues yields issues and pull requests, the newest first.
func (c *Client) ListIssues(ctx context.Context, r Repo, f IssueFilter) iter.Seq2[Issue, error] {
	const op = "list issues"
	if err := r.check(); err != nil {
		return failed[Issue](usage(op, Repo{}, "%v", err))
	}
	if f.State == "" {
		f.State = "all"
	}
	return pages(func(i Issue) int64 { return i.ID }, false, func(page int) ([]Issue, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.Issues.ListByRepo(ctx, r.Owner, r.Name, &github.IssueListByRepoOptions{State: f.State, Since: f.Since, Labels: f.Labels,
			Sort: "created", Direction: "desc", ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		return converted(k, list, resp, err, issueOf)
	})
}

func issueOf(g *github.Issue) Issue {
	i := Issue{ID: g.GetID(), NodeID: g.GetNodeID(), Number: g.GetNumber(), Title: g.GetTitle(), Body: g.GetBody(), State: g.GetState(),
		StateReason: g.GetStateReason(), Author: actorOf(g.User), IsPull: g.IsPullRequest(), Locked: g.GetLocked(), Comments: g.GetComments(),
		URL: g.GetHTMLURL(), CreatedAt: g.GetCreatedAt().Time, UpdatedAt: g.GetUpdatedAt().Time}
	for _, l := range g.Labels {
		i.Labels = append(i.Labels, l.GetName())
	}
	return i
}

func actorOf(u *github.User) Actor {
	return Actor{Login: u.GetLogin(), DatabaseID: u.GetID()}
}

// numbered checks what every request about one numbered thing needs.
func numbered(op string, r Repo, n int) error {
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	if n <= 0 {
		return usage(op, r, "%d is not the number of an issue, a pull request or a discussion", n)
	}
	return nil
}

// converted turns a page of go-github's values into ours.
func converted[G, T any](k *call, list []G, resp *github.Response, err error, conv func(G) T) ([]T, int, error) {
	if err != nil {
		return nil, 0, k.finish(err)
	}
	out := make([]T, len(list))
	for i, g := range list {
		out[i] = conv(g)
	}
	return out, resp.NextPage, nil
}

// failed is the sequence that yields one error.
func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}
