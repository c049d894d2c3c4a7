package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// HasTag reports whether a repository has a tag of exactly this name.
func (c *Client) HasTag(ctx context.Context, r Repo, name string) (bool, error) {
	op := reading(r, "look for the tag %s", asMessage(name)).checkBranch(name)
	ref, _, err := c.gh.Git.GetRef(op.context(ctx), r.Owner, r.Name, "tags/"+name)
	if err = emptyIsNotFound(op.finish(err)); errors.Is(err, NotFound) {
		return false, nil
	}
	return err == nil && ref.GetRef() == "refs/tags/"+name, err
}

// BranchProtected reports whether a branch that is there is protected. NotFound: there is no
// such branch.
func (c *Client) BranchProtected(ctx context.Context, r Repo, name string) (bool, error) {
	var got struct{ Protected bool }
	err := c.getOfBranch(ctx, reading(r, "read whether the branch %s is protected", asMessage(name)), r, "branches/%s", name, &got)
	return got.Protected, emptyIsNotFound(err)
}

// BranchRules returns the types of the active rules that rulesets have for a branch, such as
// "pull_request": at most 100. The branch need not exist: the rules are those that one of this
// name would have. Every token may read them.
func (c *Client) BranchRules(ctx context.Context, r Repo, name string) ([]string, error) {
	// go-github refuses an answer that has a rule of a type which it does not know.
	var got []struct{ Type string }
	op := listing(r, "read the rules for the branch %s", asMessage(name))
	err := c.getOfBranch(ctx, op, r, "rules/branches/%s?per_page=100", name, &got)
	types := make([]string, len(got))
	for i, rule := range got {
		types[i] = rule.Type
	}
	return types, err
}

// getOfBranch reads something about a branch, whose name goes into the address as one part.
func (c *Client) getOfBranch(ctx context.Context, op *operation, r Repo, format, name string, out any) error {
	op.checkBranch(name)
	req, err := c.gh.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/"+format, r.Owner, r.Name, url.PathEscape(name)), nil)
	if err != nil {
		op.refuse("%v", err)
		return op.err
	}
	_, err = c.gh.Do(op.context(ctx), req, out)
	return op.finish(err)
}

const protectedQuery = `query ProtectedBranches($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { branchProtectionRules(first: 100) { nodes { pattern } } }
}`

// ProtectedPatterns returns the patterns of a repository's branch protection rules, at most
// 100. GitHub shows none to a token without the permission to administer the repository, such
// as a workflow's.
func (c *Client) ProtectedPatterns(ctx context.Context, r Repo) ([]string, error) {
	var out struct {
		Repository struct {
			BranchProtectionRules struct{ Nodes []struct{ Pattern string } }
		}
	}
	err := c.query(ctx, reading(r, "read the branch protection rules"), protectedQuery, map[string]any{"owner": r.Owner, "name": r.Name}, &out)
	var patterns []string
	for _, rule := range out.Repository.BranchProtectionRules.Nodes {
		patterns = append(patterns, rule.Pattern)
	}
	return patterns, err
}
