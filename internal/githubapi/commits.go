package githubapi

import (
	"context"
	"time"

	"github.com/google/go-github/v60/github"
)

// Person is an author or a committer as a commit names them, which nobody
// verifies.
type Person struct{ Name, Email string }

// Commit is a commit without its changes.
type Commit struct {
	SHA       string
	Tree      string
	Message   string
	Author    Person
	Committer Person
	When      time.Time // of committing
	Parents   []string
	Verified  bool // GitHub found a valid signature
}

// GetCommit reads a commit by its whole id.
func (c *Client) GetCommit(ctx context.Context, r Repo, sha string) (Commit, error) {
	op := "read the commit " + oneLine(sha)
	if err := r.check(); err != nil {
		return Commit{}, usage(op, Repo{}, "%v", err)
	}
	if !isObjectID(sha) {
		return Commit{}, usage(op, r, "it is not the whole id of a commit")
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Git.GetCommit(ctx, r.Owner, r.Name, sha)
	if err != nil {
		return Commit{}, emptyIs(NotFound, k.finish(err))
	}
	return commitOf(g.GetSHA(), g, g.Parents), nil
}

// ListCommits returns the newest n commits that ref leads to, the newest first:
// one page, so n is at most 100. ref is a branch, a tag or a commit; empty means
// the default branch. An empty repository has none.
func (c *Client) ListCommits(ctx context.Context, r Repo, ref string, n int) ([]Commit, error) {
	const op = "list the commits"
	if err := r.check(); err != nil {
		return nil, usage(op, Repo{}, "%v", err)
	}
	if n < 1 || n > perPage {
		return nil, usage(op, r, "between 1 and %d can be listed, not %d", perPage, n)
	}
	ctx, k := read(ctx, op, r)
	list, _, err := c.gh.Repositories.ListCommits(ctx, r.Owner, r.Name, &github.CommitsListOptions{SHA: ref, ListOptions: github.ListOptions{PerPage: n}})
	if err = emptyIs("", k.finish(err)); err != nil {
		return nil, err
	}
	out := make([]Commit, 0, len(list))
	for _, g := range list[:min(n, len(list))] {
		out = append(out, commitOf(g.GetSHA(), g.GetCommit(), g.Parents))
	}
	return out, nil
}

func commitOf(sha string, g *github.Commit, parents []*github.Commit) Commit {
	c := Commit{SHA: sha, Tree: g.GetTree().GetSHA(), Message: g.GetMessage(), Author: personOf(g.GetAuthor()), Committer: personOf(g.GetCommitter()),
		When: g.GetCommitter().GetDate().Time, Verified: g.GetVerification().GetVerified()}
	for _, p := range parents {
		c.Parents = append(c.Parents, p.GetSHA())
	}
	return c
}

func personOf(a *github.CommitAuthor) Person { return Person{Name: a.GetName(), Email: a.GetEmail()} }
