package githubapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v60/github"
)

// Branch is a branch and the commit that it points to.
type Branch struct {
	Name string // without refs/heads/
	SHA  string
}

// GetBranch returns the commit that a branch points to. NotFound: there is no
// such branch, also where the repository is empty.
func (c *Client) GetBranch(ctx context.Context, r Repo, name string) (sha string, err error) {
	op := "read the branch " + oneLine(name)
	if err := branch(op, r, name); err != nil {
		return "", err
	}
	ctx, k := read(ctx, op, r)
	ref, _, err := c.gh.Git.GetRef(ctx, r.Owner, r.Name, "heads/"+name)
	if err != nil {
		return "", emptyIs(NotFound, k.finish(err))
	}
	if got := ref.GetRef(); got != "refs/heads/"+name {
		// Earlier servers answered with what the name begins.
		return "", &Error{Kind: NotFound, Op: op, Repo: r, Message: "GitHub answers with " + oneLine(got)}
	}
	return ref.GetObject().GetSHA(), nil
}

// ListBranches returns the branches whose names begin with prefix, all for an
// empty one, in the order of their names. GitHub hands them out in one answer.
func (c *Client) ListBranches(ctx context.Context, r Repo, prefix string) ([]Branch, error) {
	op := "list the branches that begin with " + oneLine(prefix)
	if prefix == "" {
		op = "list the branches"
	}
	if err := branch(op, r, prefix+"x"); err != nil {
		return nil, err
	}
	ctx, k := read(ctx, op, r)
	// Whether a slash at the end of an address counts is not documented, so none
	// is sent, and what begins otherwise is left out here.
	refs, _, err := c.gh.Git.ListMatchingRefs(ctx, r.Owner, r.Name, &github.ReferenceListOptions{Ref: strings.TrimRight("heads/"+prefix, "/")})
	if err = emptyIs("", k.finish(err)); err != nil {
		return nil, err
	}
	var out []Branch
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref.GetRef(), "refs/heads/"); ok && strings.HasPrefix(name, prefix) {
			out = append(out, Branch{Name: name, SHA: ref.GetObject().GetSHA()})
		}
	}
	return out, nil
}

// CreateBranch makes a branch at a commit that the repository has. Conflict: the
// branch exists. Validation: there is no such commit, or a rule forbids it.
func (c *Client) CreateBranch(ctx context.Context, r Repo, name, sha string) error {
	op := "create the branch " + oneLine(name)
	if err := branch(op, r, name); err != nil {
		return err
	}
	if !isObjectID(sha) {
		return usage(op, r, "%q is not the id of a commit", sha)
	}
	ctx, k := write(ctx, op, r)
	ref := "refs/heads/" + name
	_, _, err := c.gh.Git.CreateRef(ctx, r.Owner, r.Name, &github.Reference{Ref: &ref, Object: &github.GitObject{SHA: &sha}})
	return k.finish(err)
}

// emptyIs replaces the error of a repository without any commit; an empty kind
// makes it no error.
func emptyIs(kind Kind, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Conflict || !strings.Contains(strings.ToLower(e.Message), "repository is empty") {
		return err
	}
	if kind == "" {
		return nil
	}
	e.Kind = kind
	return e
}

// branch checks what every request about a branch needs.
func branch(op string, r Repo, name string) error {
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	if why := badBranch(name); why != "" {
		return usage(op, r, "%q cannot be a branch: %s", name, why)
	}
	return nil
}

// badBranch says what git has against a name, "" if nothing. The rules are those
// of git check-ref-format; they also keep a name from leading to another address.
func badBranch(name string) string {
	switch {
	case name == "" || len(name) > 1000:
		return "it is empty or too long"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case name == "@" || strings.Contains(name, "@{") || strings.Contains(name, ".."):
		return "'@' alone, '@{' and '..' have a meaning of their own"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	}
	for _, r := range name {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) {
			return fmt.Sprintf("it holds %q", r)
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return "a part of it is empty, begins with a dot or ends with .lock"
		}
	}
	return ""
}

// isObjectID reports whether s is a whole SHA-1 or SHA-256 object id.
func isObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
