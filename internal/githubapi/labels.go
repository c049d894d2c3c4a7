package githubapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/google/go-github/v60/github"
)

// ListLabels yields the names of a repository's labels.
func (c *Client) ListLabels(ctx context.Context, r Repo) iter.Seq2[string, error] {
	const op = "list the labels"
	if err := r.check(); err != nil {
		return failed[string](usage(op, Repo{}, "%v", err))
	}
	return pages(func(s string) string { return s }, false, func(page int) ([]string, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.Issues.ListLabels(ctx, r.Owner, r.Name, &github.ListOptions{Page: page, PerPage: perPage})
		return converted(k, list, resp, err, (*github.Label).GetName)
	})
}

// ListLabelsOfIssue yields the names of an issue's or pull request's labels, of
// which there are at most 100.
func (c *Client) ListLabelsOfIssue(ctx context.Context, r Repo, n int) iter.Seq2[string, error] {
	op := fmt.Sprintf("list the labels of #%d", n)
	if err := numbered(op, r, n); err != nil {
		return failed[string](err)
	}
	return pages(func(s string) string { return s }, false, func(page int) ([]string, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.Issues.ListLabelsByIssue(ctx, r.Owner, r.Name, n, &github.ListOptions{Page: page, PerPage: perPage})
		return converted(k, list, resp, err, (*github.Label).GetName)
	})
}

// AddLabels adds labels to an issue or pull request and returns all that it has
// then. Names match without regard to case, and a label that the repository does
// not have is created, which takes the permission issues: write.
func (c *Client) AddLabels(ctx context.Context, r Repo, n int, labels []string) ([]string, error) {
	op := fmt.Sprintf("add labels to #%d", n)
	if err := numbered(op, r, n); err != nil {
		return nil, err
	}
	if len(labels) == 0 {
		return nil, usage(op, r, "there are no labels to add")
	}
	ctx, k := write(ctx, op, r)
	// go-github's AddLabelsToIssue sends a bare array; GitHub describes an object.
	body := struct {
		Labels []string `json:"labels"`
	}{labels}
	req, err := c.gh.NewRequest(http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/labels", r.Owner, r.Name, n), body)
	if err != nil {
		return nil, usage(op, r, "%v", err)
	}
	var got []*github.Label
	if _, err := c.gh.Do(ctx, req, &got); err != nil {
		return nil, k.finish(err)
	}
	names := make([]string, len(got))
	for i, l := range got {
		names[i] = l.GetName()
	}
	return names, nil
}
