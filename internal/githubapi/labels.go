package githubapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/google/go-github/v60/github"
)

// ListLabels yields the names of a repository's labels.
func (c *Client) ListLabels(ctx context.Context, r Repo) iter.Seq2[string, error] {
	op := listing(r, "list the labels")
	return pages(ctx, op, nameKey, (*github.Label).GetName, func(ctx context.Context, page github.ListOptions) ([]*github.Label, *github.Response, error) {
		return c.gh.Issues.ListLabels(ctx, r.Owner, r.Name, &page)
	})
}

// ListLabelsOfIssue returns the names of an issue's or pull request's labels, of
// which there are at most 100.
func (c *Client) ListLabelsOfIssue(ctx context.Context, r Repo, n int) ([]string, error) {
	op := listing(r, "list the labels of #%d", n).checkNumber(n)
	return collect(pages(ctx, op, nameKey, (*github.Label).GetName, func(ctx context.Context, page github.ListOptions) ([]*github.Label, *github.Response, error) {
		return c.gh.Issues.ListLabelsByIssue(ctx, r.Owner, r.Name, n, &page)
	}), nameKey)
}

// AddLabels adds labels to an issue or pull request and returns all that it has
// then. Names match without regard to case, and a label that the repository does
// not have is created, which takes the permission issues: write.
func (c *Client) AddLabels(ctx context.Context, r Repo, n int, labels []string) ([]string, error) {
	op := writing(r, "add labels to #%d", n).checkNumber(n)
	op.answer = aList
	if len(labels) == 0 {
		op.refuse("there are no labels to add")
	}
	// go-github's AddLabelsToIssue sends a bare array; GitHub describes an object.
	var all []*github.Label
	err := c.send(ctx, op, http.MethodPost, fmt.Sprintf("issues/%d/labels", n), map[string][]string{"labels": labels}, &all)
	names, err := result(op, all, err, labelNames)
	if slices.Contains(names, "") {
		return nil, op.unexpectedAnswer("an entry of the list is empty")
	}
	return names, err
}

// nameKey returns the key of an entry in a list of names: the name itself.
func nameKey(name string) string { return name }

func labelNames(labels []*github.Label) []string {
	var names []string
	for _, l := range labels {
		names = append(names, l.GetName())
	}
	return names
}
