package githubapi

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Repo names a repository.
type Repo struct {
	Owner, Name string
	// ID is the repository's id, 0 if it is unknown. If it is known, no redirect to another
	// repository is followed, and GetRepo does not return another one that has the name now.
	ID int64
}

// String returns the form owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// IsZero reports whether r names nothing.
func (r Repo) IsZero() bool { return r == Repo{} }

// check restricts names to the characters that GitHub allows, so that a name can
// never reach another address of the API.
func (r Repo) check() error {
	if isName(r.Owner) && isName(r.Name) {
		return nil
	}
	return fmt.Errorf("invalid repository %q: write it as owner/name", r.String())
}

func isName(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && s != "." && s != ".." && len(s) <= 100 && strings.Trim(s, allowed) == ""
}

// Actor is a user, a bot or an organization. Compare DatabaseID and never
// Login: REST writes "name[bot]" where GraphQL writes "name", and logins can
// be renamed. The zero Actor is an account that no longer exists.
type Actor struct {
	Login      string
	DatabaseID int64
}

// App returns the short name of the app whose bot the actor is, as CheckRun.App spells it.
func (a Actor) App() string { return strings.TrimSuffix(a.Login, "[bot]") }

func actorOf(u *github.User) Actor { return Actor{Login: u.GetLogin(), DatabaseID: u.GetID()} }

// Repository is what GetRepo returns.
type Repository struct {
	ID             int64
	Repo           Repo // the name in GitHub's spelling
	DefaultBranch  string
	Archived       bool // read-only: every write is refused
	HasIssues      bool
	HasDiscussions bool
	CloneURL       string
}

func (r Repository) identified() bool { return r.ID > 0 }

const viewerQuery = `query Viewer { viewer { login databaseId } }`

// Viewer returns the account of the token. It asks GraphQL, because the REST endpoint
// refuses the tokens of installations, such as a workflow's.
func (c *Client) Viewer(ctx context.Context) (Actor, error) {
	var out struct{ Viewer Actor }
	err := c.query(ctx, &operation{what: "find out who the token belongs to"}, viewerQuery, nil, &out)
	return out.Viewer, err
}

// Login returns the name of an account as REST spells it: that of a bot ends in "[bot]".
func (c *Client) Login(ctx context.Context, id int64) (string, error) {
	op := &operation{what: "read the account's name"}
	g, _, err := c.gh.Users.GetByID(op.context(ctx), id)
	return result(op, g, err, (*github.User).GetLogin)
}

// GetRepo reads a repository.
func (c *Client) GetRepo(ctx context.Context, r Repo) (Repository, error) {
	op := reading(r, "read the repository")
	g, _, err := c.gh.Repositories.Get(op.context(ctx), r.Owner, r.Name)
	if err == nil && r.ID != 0 && g.GetID() != 0 && g.GetID() != r.ID {
		return Repository{}, op.moved()
	}
	return result(op, g, err, func(g *github.Repository) Repository {
		return Repository{ID: g.GetID(), Repo: Repo{Owner: g.GetOwner().GetLogin(), Name: g.GetName()}, DefaultBranch: g.GetDefaultBranch(), Archived: g.GetArchived(),
			HasIssues: g.GetHasIssues(), HasDiscussions: g.GetHasDiscussions(), CloneURL: g.GetCloneURL()}
	})
}

// Permission is what a user may do with a repository.
type Permission struct {
	UserID int64
	Level  string // "admin", "write", "read" or "none"
}

func (p Permission) identified() bool { return p.UserID > 0 && p.Level != "" }

// GetPermission returns what a user may do at this moment. NotFound: there is no such user.
func (c *Client) GetPermission(ctx context.Context, r Repo, login string) (Permission, error) {
	op := reading(r, "read the permission of %s", asMessage(login))
	if login == "" || strings.ContainsAny(login, "/?#%") {
		op.refuse("%q is not the name of a user", login)
	}
	g, _, err := c.gh.Repositories.GetPermissionLevel(op.context(ctx), r.Owner, r.Name, login)
	return result(op, g, err, func(g *github.RepositoryPermissionLevel) Permission {
		return Permission{UserID: g.GetUser().GetID(), Level: g.GetPermission()}
	})
}

// GetFile reads a file of at most 1 MB as it is at ref (a branch, tag or commit;
// empty for the default branch).
func (c *Client) GetFile(ctx context.Context, r Repo, name, ref string) ([]byte, error) {
	op := reading(r, "read the file %s", asMessage(name)).checkPath(name)
	op.answer = anyShape // a directory is a list
	file, entries, _, err := c.gh.Repositories.GetContents(op.context(ctx), r.Owner, r.Name, name, &github.RepositoryContentGetOptions{Ref: ref})
	switch {
	case err != nil:
		return nil, op.finish(err)
	case entries == nil && file.GetType() == "":
		return nil, op.unexpectedAnswer("it is neither a file nor a directory")
	case file.GetType() != "file":
		return nil, op.fail(Usage, "it is not a file")
	case file.GetEncoding() == "none":
		return nil, op.fail(Usage, "it is larger than the 1 MB that GitHub hands out this way")
	}
	content, err := file.GetContent()
	return result(op, content, err, func(s string) []byte { return []byte(s) })
}

// isRepositoryPath reports whether name is a clean path below the repository's root.
func isRepositoryPath(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "../") && path.Clean(name) == name
}
