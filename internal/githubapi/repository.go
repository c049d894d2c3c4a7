package githubapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Viewer says who the token is. It asks GraphQL, since the REST endpoint refuses
// the tokens of installations, which is what a workflow has.
func (c *Client) Viewer(ctx context.Context) (Actor, error) {
	k := &call{op: "find out who the token belongs to"}
	var out struct {
		Viewer *gqlActor `json:"viewer"`
	}
	if err := c.query(ctx, k, viewerQuery, nil, &out); err != nil {
		return Actor{}, err
	}
	return out.Viewer.actor(), nil
}

// GetRepo reads a repository.
func (c *Client) GetRepo(ctx context.Context, r Repo) (Repository, error) {
	const op = "read the repository"
	if err := r.check(); err != nil {
		return Repository{}, usage(op, Repo{}, "%v", err)
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Repositories.Get(ctx, r.Owner, r.Name)
	if err != nil {
		return Repository{}, k.finish(err)
	}
	return Repository{ID: g.GetID(), NodeID: g.GetNodeID(), Repo: Repo{g.GetOwner().GetLogin(), g.GetName()},
		DefaultBranch: g.GetDefaultBranch(), Private: g.GetPrivate(), Archived: g.GetArchived(), HasIssues: g.GetHasIssues(),
		HasDiscussions: g.GetHasDiscussions(), URL: g.GetHTMLURL(), CloneURL: g.GetCloneURL()}, nil
}

// GetFile reads a file of at most 1 MB as it is at ref (a branch, tag or commit;
// empty for the default branch).
func (c *Client) GetFile(ctx context.Context, r Repo, name, ref string) ([]byte, error) {
	op := "read the file " + name
	if err := r.check(); err != nil {
		return nil, usage(op, Repo{}, "%v", err)
	}
	if !inRepository(name) {
		return nil, usage(op, r, "%q is not a path within the repository", name)
	}
	ctx, k := read(ctx, op, r)
	file, _, _, err := c.gh.Repositories.GetContents(ctx, r.Owner, r.Name, name, &github.RepositoryContentGetOptions{Ref: ref})
	if err != nil {
		return nil, k.finish(err)
	}
	if file == nil || file.GetType() != "file" {
		return nil, usage(op, r, "it is not a file")
	}
	if file.GetEncoding() == "none" {
		return nil, usage(op, r, "it is larger than the 1 MB that GitHub hands out this way")
	}
	text, err := file.GetContent()
	if err != nil {
		return nil, k.finish(err)
	}
	return []byte(text), nil
}

// Repo names a repository.
type Repo struct{ Owner, Name string }

// String is the form owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// IsZero reports whether r names nothing.
func (r Repo) IsZero() bool { return r == Repo{} }

// ParseRepo reads owner/name. Names are restricted to the characters that
// GitHub allows, so that a name can never reach another address of the API.
func ParseRepo(s string) (Repo, error) {
	owner, name, _ := strings.Cut(s, "/")
	r := Repo{Owner: owner, Name: name}
	if err := r.check(); err != nil {
		return Repo{}, err
	}
	return r, nil
}

// check refuses names that GitHub would not give out.
func (r Repo) check() error {
	if nameOK(r.Owner) && nameOK(r.Name) {
		return nil
	}
	return fmt.Errorf("%q is not a repository: write it as owner/name", r.String())
}

func nameOK(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 100 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
