package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// actionsBot is whose token a workflow has.
const actionsBot = "github-actions[bot]"

// createPull keeps a pair of head and base unique among the open pull requests.
// With a git repository, both must be branches with something between them.
func (s *Server) createPull(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	if s.state.Repo.NoPullsByActions && c.account.Login == actionsBot {
		return fail(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	var in struct {
		Title, Head, Base string
		Body              *string
		Draft             bool
	}
	decode(c, &in)
	body := ""
	if in.Body != nil {
		body = *in.Body
	}
	if bad := checkText("PullRequest", &in.Title, &body); bad != nil {
		return invalid(bad...)
	}
	if owner, name, ok := strings.Cut(in.Head, ":"); ok && strings.EqualFold(owner, s.state.Repo.Owner) {
		in.Head = name
	}
	p := &Pull{Head: Branch{Ref: in.Head, SHA: strings.Repeat("c", 40)}, Base: Branch{Ref: in.Base, SHA: strings.Repeat("b", 40)}, Draft: in.Draft}
	if bad := s.between(p); bad != (fieldError{}) {
		return invalid(bad)
	}
	for _, i := range s.state.Issues {
		if i.Pull != nil && i.State == "open" && i.Pull.Base.Ref == in.Base && s.headLabel(i.Pull.Head) == s.headLabel(p.Head) {
			return invalid(fieldError{Resource: "PullRequest", Code: "custom", Message: "A pull request already exists for " + s.headLabel(p.Head) + "."})
		}
	}
	if in.Draft && s.state.Repo.NoDrafts {
		return fail(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	i := &Issue{ID: s.id(), Number: s.number(), Title: in.Title, Body: body, State: "open", Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now(), Pull: p}
	s.state.Issues = append(s.state.Issues, i)
	s.lag(i)
	if err := s.followBranches(); err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	return created(s.renderPull(i, true))
}

// between says what a pull request's branches lack in the git repository.
func (s *Server) between(p *Pull) fieldError {
	if s.o.Git == nil {
		return fieldError{}
	}
	for _, end := range []struct{ field, name string }{{"base", p.Base.Ref}, {"head", p.Head.Ref}} {
		if _, ok := s.findRef("refs/heads/" + end.name); !ok {
			return fieldError{Resource: "PullRequest", Field: end.field, Code: "invalid"}
		}
	}
	base, head := "refs/heads/"+p.Base.Ref, "refs/heads/"+p.Head.Ref
	wrong := func(format string, args ...any) fieldError {
		return fieldError{Resource: "PullRequest", Code: "custom", Message: fmt.Sprintf(format, args...)}
	}
	if _, err := s.o.Git.run("", "merge-base", base, head); err != nil {
		return wrong("The %s branch has no history in common with %s", p.Head.Ref, p.Base.Ref)
	}
	if n, err := s.o.Git.run("", "rev-list", "--count", base+".."+head); err != nil || n == "0" {
		return wrong("No commits between %s and %s", p.Base.Ref, p.Head.Ref)
	}
	return fieldError{}
}

func (s *Server) updatePull(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	var in struct{ Title, Body, State, Base *string }
	decode(c, &in)
	if bad := checkText("PullRequest", in.Title, in.Body); bad != nil {
		return invalid(bad...)
	}
	if in.Base != nil {
		moved := *i.Pull
		moved.Base.Ref = *in.Base
		if bad := s.between(&moved); bad != (fieldError{}) {
			return invalid(bad)
		}
		s.edit(i, c.account, "base", in.Base, &i.Pull.Base.Ref)
	}
	s.edit(i, c.account, "title", in.Title, &i.Title)
	s.edit(i, c.account, "body", in.Body, &i.Body)
	s.edit(i, c.account, "state", in.State, &i.State)
	return okay(s.renderPull(i, true))
}

// requestReviewers asks collaborators, all or none.
func (s *Server) requestReviewers(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	var in struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	decode(c, &in)
	for _, slug := range in.Teams {
		if !slices.Contains(s.state.Repo.Teams, slug) {
			return fail(http.StatusUnprocessableEntity, "Could not resolve to a node with the global id of '"+slug+"'.")
		}
	}
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, i.Author.Login):
			return fail(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case s.collaborator(login) == Account{}:
			return fail(http.StatusUnprocessableEntity, fmt.Sprintf("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s/%s repository.",
				s.state.Repo.Owner, s.state.Repo.Name))
		}
	}
	for _, login := range in.Reviewers {
		if name := s.collaborator(login).Login; !slices.Contains(i.Pull.Asked, name) {
			i.Pull.Asked = append(i.Pull.Asked, name)
		}
	}
	for _, slug := range in.Teams {
		if !slices.Contains(i.Pull.Teams, slug) {
			i.Pull.Teams = append(i.Pull.Teams, slug)
		}
	}
	i.UpdatedAt = s.now()
	return created(s.renderPull(i, false))
}

// collaborator is the account of that login, or none.
func (s *Server) collaborator(login string) Account {
	k := slices.IndexFunc(s.state.Repo.Collaborators, func(a Account) bool { return strings.EqualFold(a.Login, login) })
	if k < 0 {
		return Account{}
	}
	return s.state.Repo.Collaborators[k]
}
