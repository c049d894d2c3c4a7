package githubapi

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Branch is a branch and the commit that it points to.
type Branch struct {
	Name string // without refs/heads/
	SHA  string
}

// GetBranch returns the commit that a branch points to. The error is NotFound if there is no such
// branch or the repository is empty.
func (c *Client) GetBranch(ctx context.Context, r Repo, name string) (sha string, err error) {
	op := reading(r, "read the branch %s", asMessage(name)).checkBranch(name)
	ref, _, err := c.gh.Git.GetRef(op.context(ctx), r.Owner, r.Name, "heads/"+name)
	if err != nil {
		return "", emptyIsNotFound(op.finish(err))
	}
	switch got := ref.GetRef(); {
	case got == "" || ref.GetObject().GetSHA() == "":
		return "", op.unexpectedAnswer("it does not name a branch and its commit")
	case got != "refs/heads/"+name:
		// Earlier servers answered with refs that only begin with the name.
		return "", op.fail(NotFound, "GitHub answers with %s", asMessage(got))
	}
	return ref.GetObject().GetSHA(), nil
}

// ListBranches returns the branches whose names begin with prefix, which may be "", in the order of
// their names; none for an empty repository. GitHub documents no pages for this list, so the first
// request names no page. If an answer names a next page, that page is read, too.
func (c *Client) ListBranches(ctx context.Context, r Repo, prefix string) ([]Branch, error) {
	op := listing(r, "list the branches that begin with %s", asMessage(prefix)).checkBranch(prefix + "x")
	if prefix == "" {
		op.what = "list the branches"
	}
	// GitHub does not document whether a slash at the end of an address counts. The request has
	// none, and the branches that do not begin with the entire prefix are left out below.
	which := &github.ReferenceListOptions{Ref: strings.TrimRight("heads/"+prefix, "/")}
	refs := pages(ctx, op, func(b Branch) string { return b.Name }, branchOf, func(ctx context.Context, page github.ListOptions) ([]*github.Reference, *github.Response, error) {
		which.ListOptions = page
		if page.Page == 1 {
			which.ListOptions = github.ListOptions{}
		}
		return c.gh.Git.ListMatchingRefs(ctx, r.Owner, r.Name, which)
	})
	var out []Branch
	for ref, err := range refs {
		if isEmptyRepository(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok && strings.HasPrefix(name, prefix) {
			out = append(out, Branch{Name: name, SHA: ref.SHA})
		}
	}
	return out, nil
}

// branchOf converts a ref to a Branch with the ref's complete name; a ref without a commit becomes
// the zero Branch.
func branchOf(g *github.Reference) Branch {
	if g.GetObject().GetSHA() == "" {
		return Branch{}
	}
	return Branch{Name: g.GetRef(), SHA: g.GetObject().GetSHA()}
}

// CreateBranch makes a branch at a commit that the repository has. Conflict: the branch exists, or
// the repository is empty. Validation: there is no such commit, or a rule forbids it.
func (c *Client) CreateBranch(ctx context.Context, r Repo, name, sha string) error {
	op := writing(r, "create the branch %s", asMessage(name)).checkBranch(name).checkCommit(sha)
	ref := "refs/heads/" + name
	made, _, err := c.gh.Git.CreateRef(op.context(ctx), r.Owner, r.Name, &github.Reference{Ref: &ref, Object: &github.GitObject{SHA: &sha}})
	if err == nil && (made.GetRef() != ref || made.GetObject().GetSHA() != sha) {
		return op.unexpectedAnswer("it does not name the branch and its commit")
	}
	return op.finish(err)
}

// isEmptyRepository recognises GitHub's refusal for a repository without any commit.
func isEmptyRepository(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Conflict && strings.Contains(strings.ToLower(e.Message), "repository is empty")
}

// emptyIsNotFound makes the refusal for an empty repository a NotFound, and returns any other error
// as it is.
func emptyIsNotFound(err error) error {
	var e *Error
	if isEmptyRepository(err) && errors.As(err, &e) {
		e.Kind = NotFound
	}
	return err
}
