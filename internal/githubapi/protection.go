package githubapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"
)

// HasTag reports whether a repository has a tag of exactly this name.
func (c *Client) HasTag(ctx context.Context, r Repo, name string) (bool, error) {
	op := reading(r, "look for the tag %s", asMessage(name)).checkBranch(name)
	ref, _, err := c.gh.Git.GetRef(op.context(ctx), r.Owner, r.Name, "tags/"+name)
	if err = emptyIsNotFound(op.finish(err)); errors.Is(err, NotFound) {
		return false, nil
	}
	if err == nil && ref.GetRef() == "" {
		err = op.unexpectedAnswer("it does not name a tag")
	}
	return err == nil && ref.GetRef() == "refs/tags/"+name, err
}

// BranchProtected reports whether an existing branch is protected. NotFound: there is no such
// branch.
func (c *Client) BranchProtected(ctx context.Context, r Repo, name string) (bool, error) {
	op := reading(r, "read whether the branch %s is protected", asMessage(name)).checkBranch(name)
	var got struct{ Protected *bool }
	err := c.send(ctx, op, http.MethodGet, "branches/"+url.PathEscape(name), nil, &got)
	if err = emptyIsNotFound(op.finish(err)); err != nil {
		return false, err
	}
	if got.Protected == nil {
		return false, op.unexpectedAnswer(`it has no member "protected"`)
	}
	return *got.Protected, nil
}

// BranchRules returns the types of the active rules that rulesets have for a branch, such as
// "pull_request". The branch need not exist, because the rules depend on its name. Every token may
// read them.
func (c *Client) BranchRules(ctx context.Context, r Repo, name string) (types []string, err error) {
	// go-github's own method refuses an answer that has a rule of a type which it does not know. A
	// rule has no id, so its text identifies it.
	type rule struct{ kind, text string }
	convert := func(raw *json.RawMessage) rule {
		var got struct{ Type string }
		if json.Unmarshal(*raw, &got) != nil || got.Type == "" {
			return rule{}
		}
		return rule{got.Type, string(*raw)}
	}
	op := listing(r, "read the rules for the branch %s", asMessage(name)).checkBranch(name)
	return collect(pages(ctx, op, func(v rule) string { return v.text }, convert, func(ctx context.Context, page github.ListOptions) (got []*json.RawMessage, resp *github.Response, err error) {
		address := fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=%d", r.Owner, r.Name, url.PathEscape(name), page.PerPage)
		if page.Page > 1 {
			address += fmt.Sprintf("&page=%d", page.Page)
		}
		req, err := c.gh.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			return nil, nil, err
		}
		resp, err = c.gh.Do(ctx, req, &got)
		return got, resp, err
	}), func(v rule) string { return v.kind })
}

const protectedQuery = `query ProtectedBranches($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    branchProtectionRules(first: 100, after: $after) {
      nodes { id pattern }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

// ProtectedPatterns returns the patterns of a repository's branch protection rules. GitHub shows
// none to a token without the permission to administer the repository, such as a workflow's.
func (c *Client) ProtectedPatterns(ctx context.Context, r Repo) (patterns []string, err error) {
	type rule struct{ ID, Pattern string }
	list := reading(r, "read the branch protection rules")
	return collect(cursors(list, func(v rule) string { return v.ID }, func(op *operation, cursor string) ([]rule, pageInfo, error) {
		var out struct {
			Repository struct{ BranchProtectionRules connection[rule] }
		}
		err := c.query(ctx, op, protectedQuery, map[string]any{"owner": r.Owner, "name": r.Name, "after": cursorVariable(cursor)}, &out)
		rules := out.Repository.BranchProtectionRules
		return rules.Nodes, rules.PageInfo, err
	}), func(v rule) string { return v.Pattern })
}
