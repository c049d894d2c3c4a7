package githubtest

import (
	"fmt"
	"strings"
	"time"
)

type object = map[string]any

// stamp returns a time as the API shows it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// repoURL returns the repository's address in the API, siteURL that for people.
func (s *Server) repoURL() string {
	return fmt.Sprintf("%s/repos/%s/%s", s.apiURL(), s.state.Repo.Owner, s.state.Repo.Name)
}

func (s *Server) siteURL() string {
	return fmt.Sprintf("https://github.com/%s/%s", s.state.Repo.Owner, s.state.Repo.Name)
}

// renderUser returns an account as other objects show it: null for the zero Account.
func (s *Server) renderUser(a Account) any {
	if a == (Account{}) {
		return nil
	}
	u := s.apiURL() + "/users/" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(a.Login)
	o := object{"login": a.Login, "id": a.ID, "node_id": fmt.Sprintf("U_%d", a.ID), "type": kindOf(a), "site_admin": false, "gravatar_id": "",
		"url": u, "html_url": "https://github.com/" + plainLogin(a),
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", a.ID)}
	for k, path := range map[string]string{"events": "/events{/privacy}", "followers": "/followers", "following": "/following{/other_user}", "gists": "/gists{/gist_id}",
		"organizations": "/orgs", "received_events": "/received_events", "repos": "/repos", "starred": "/starred{/owner}{/repo}", "subscriptions": "/subscriptions"} {
		o[k+"_url"] = u + path
	}
	return o
}

// association returns how an account relates to the repository.
func (s *Server) association(a Account) string {
	if a == s.state.Viewer {
		return "CONTRIBUTOR"
	}
	return "NONE"
}

func (s *Server) getRepo(*conversation) reply { return okay(s.renderRepo()) }

func (s *Server) renderRepo() object {
	r := s.state.Repo
	o := s.rest.example("full-repository-default-response")
	s.identify(o, r.ID, r.Owner, r.Name)
	o["default_branch"], o["private"], o["archived"] = r.DefaultBranch, r.Private, r.Archived
	if s.o.Git != nil {
		o["clone_url"] = s.gitURL()
	}
	o["language"] = nil // required, but missing in GitHub's example
	o["visibility"] = "public"
	if r.Private {
		o["visibility"] = "private"
	}
	o["has_issues"], o["has_discussions"] = !r.NoIssues, !r.NoDiscussions
	for _, k := range []string{"template_repository", "parent", "source", "organization"} {
		delete(o, k)
	}
	return o
}

// identify gives another identity to GitHub's example of a repository: the repository's own
// addresses in it are rewritten.
func (s *Server) identify(o object, id int64, owner, name string) {
	old, _ := o["full_name"].(string)
	full := owner + "/" + name
	for k, v := range o {
		if str, ok := v.(string); ok {
			str = strings.ReplaceAll(str, "https://api.github.com", s.apiURL())
			str = strings.ReplaceAll(str, "http://api.github.com", s.apiURL())
			o[k] = strings.ReplaceAll(str, old, full)
		}
	}
	o["id"], o["node_id"], o["name"], o["full_name"] = id, fmt.Sprintf("R_%d", id), name, full
	o["owner"] = s.renderUser(Account{Login: owner, ID: id + 7})
}

func (s *Server) renderLabel(l Label) object {
	return object{"id": l.ID, "node_id": fmt.Sprintf("LA_%d", l.ID), "url": s.repoURL() + "/labels/x", "name": l.Name, "description": "", "color": "ededed", "default": false}
}

func (s *Server) renderLabels(names []string) []object {
	out := []object{}
	for _, n := range names {
		out = append(out, s.renderLabel(s.label(n)))
	}
	return out
}

func (s *Server) renderIssue(i *Issue) object {
	u := fmt.Sprintf("%s/issues/%d", s.repoURL(), i.Number)
	o := object{"id": i.ID, "node_id": fmt.Sprintf("I_%d", i.ID), "number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "locked": i.Locked,
		"labels": s.renderLabels(i.Labels), "user": s.renderUser(i.Author), "author_association": s.association(i.Author), "assignee": nil, "assignees": []any{},
		"milestone": nil, "comments": len(i.Comments), "created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt), "closed_at": nil, "active_lock_reason": nil,
		"url": u, "repository_url": s.repoURL(), "labels_url": u + "/labels{/name}", "comments_url": u + "/comments", "events_url": u + "/events",
		"html_url": s.htmlURL(i), "state_reason": nil}
	if i.StateReason != "" {
		o["state_reason"] = i.StateReason
	}
	if i.State == "closed" {
		o["closed_at"] = stamp(i.UpdatedAt)
	}
	if i.Pull != nil {
		o["node_id"] = fmt.Sprintf("PR_%d", i.ID)
		o["draft"] = i.Pull.Draft
		o["pull_request"] = object{"url": fmt.Sprintf("%s/pulls/%d", s.repoURL(), i.Number), "html_url": s.htmlURL(i),
			"diff_url": s.htmlURL(i) + ".diff", "patch_url": s.htmlURL(i) + ".patch", "merged_at": nil}
	}
	return o
}

func (s *Server) htmlURL(i *Issue) string {
	kind := "issues"
	if i.Pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", s.siteURL(), kind, i.Number)
}

func (s *Server) renderComment(i *Issue, c *Comment) object {
	return object{"id": c.ID, "node_id": fmt.Sprintf("IC_%d", c.ID), "body": c.Body, "user": s.renderUser(c.Author), "author_association": s.association(c.Author),
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "url": fmt.Sprintf("%s/issues/comments/%d", s.repoURL(), c.ID),
		"html_url": fmt.Sprintf("%s#issuecomment-%d", s.htmlURL(i), c.ID), "issue_url": fmt.Sprintf("%s/issues/%d", s.repoURL(), i.Number)}
}

func (s *Server) renderReaction(r Reaction) object {
	return object{"id": r.ID, "node_id": fmt.Sprintf("REA_%d", r.ID), "content": r.Content, "user": s.renderUser(r.User), "created_at": stamp(r.CreatedAt)}
}
