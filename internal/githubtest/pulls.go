package githubtest

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// actionsBot is the account that a workflow's token belongs to.
const actionsBot = "github-actions[bot]"

// createPull opens a pull request, unless an open one has the same head and base. With a git
// repository, both must be branches, and the head must have commits that the base lacks.
func (s *Server) createPull(c *conversation) reply {
	if s.state.Repo.NoPullsByActions && c.account.Login == actionsBot {
		return fail(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	var in struct {
		Title, Body, Head, Base string // a body of null stays empty
		Draft                   bool
	}
	decode(c, &in)
	if bad := checkText("PullRequest", &in.Title, &in.Body); bad != nil {
		return invalid(bad...)
	}
	if owner, name, ok := strings.Cut(in.Head, ":"); ok && strings.EqualFold(owner, s.state.Repo.Owner) {
		in.Head = name
	}
	p := &Pull{Head: Branch{Ref: in.Head, SHA: strings.Repeat("c", 40)}, Base: Branch{Ref: in.Base, SHA: strings.Repeat("b", 40)}, Draft: in.Draft}
	if bad := s.checkBranches(p); bad != nil {
		return invalid(*bad)
	}
	for _, i := range s.state.Issues {
		if i.Pull != nil && i.State == "open" && i.Pull.Base.Ref == in.Base && s.headLabel(i.Pull.Head) == s.headLabel(p.Head) {
			return invalid(fieldError{Resource: "PullRequest", Code: "custom", Message: "A pull request already exists for " + s.headLabel(p.Head) + "."})
		}
	}
	if in.Draft && s.state.Repo.NoDrafts {
		return fail(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	i := &Issue{ID: s.id(), Number: s.number(), Title: in.Title, Body: in.Body, State: "open", Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now(), Pull: p}
	s.state.Issues = append(s.state.Issues, i)
	s.lag(i)
	if err := s.followBranches(); err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	return created(s.renderPull(i, true))
}

// checkBranches returns the reason for which there can be no pull request between two branches of the
// git repository; nil if there can be one, or there is no repository.
func (s *Server) checkBranches(p *Pull) *fieldError {
	if s.o.Git == nil {
		return nil
	}
	base, ok := s.findRef("refs/heads/" + p.Base.Ref)
	if !ok {
		return &fieldError{Resource: "PullRequest", Field: "base", Code: "invalid"}
	}
	head, ok := s.findRef("refs/heads/" + p.Head.Ref)
	if !ok {
		return &fieldError{Resource: "PullRequest", Field: "head", Code: "invalid"}
	}
	wrong := func(format string, args ...any) *fieldError {
		return &fieldError{Resource: "PullRequest", Code: "custom", Message: fmt.Sprintf(format, args...)}
	}
	switch fork, err := s.o.Git.mergeBase(base.sha, head.sha); {
	case err != nil:
		return wrong("The %s branch has no history in common with %s", p.Head.Ref, p.Base.Ref)
	case fork == head.sha:
		return wrong("No commits between %s and %s", p.Base.Ref, p.Head.Ref)
	}
	return nil
}

func (s *Server) updatePull(c *conversation, i *Issue) reply {
	var in struct{ Title, Body, State, Base *string }
	decode(c, &in)
	if bad := checkText("PullRequest", in.Title, in.Body); bad != nil {
		return invalid(bad...)
	}
	if in.Base != nil {
		moved := *i.Pull
		moved.Base.Ref = *in.Base
		if bad := s.checkBranches(&moved); bad != nil {
			return invalid(*bad)
		}
		s.edit(i, c.account, "base", in.Base, &i.Pull.Base.Ref)
	}
	s.edit(i, c.account, "title", in.Title, &i.Title)
	s.edit(i, c.account, "body", in.Body, &i.Body)
	s.edit(i, c.account, "state", in.State, &i.State)
	return okay(s.renderPull(i, true))
}

// requestReviewers asks collaborators and teams for a review, all or none.
func (s *Server) requestReviewers(c *conversation, i *Issue) reply {
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

// collaborator returns the collaborator with this login, or the zero Account.
func (s *Server) collaborator(login string) Account {
	return find(s.state.Repo.Collaborators, func(a Account) bool { return strings.EqualFold(a.Login, login) })
}

func (s *Server) getPull(_ *conversation, i *Issue) reply {
	return okay(s.renderPull(i, true))
}

func (s *Server) listPulls(c *conversation) reply {
	state, head, base := cmp.Or(c.query.Get("state"), "open"), c.query.Get("head"), c.query.Get("base")
	list := visibleOf(s, s.state.Issues, func(i *Issue) bool {
		if i.Pull == nil {
			return false
		}
		inState := state == "all" || i.State == state
		onBase := base == "" || base == i.Pull.Base.Ref
		ofHead := head == "" || strings.EqualFold(head, s.headLabel(i.Pull.Head))
		return inState && onBase && ofHead
	})
	if c.query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *Issue) int { return cmp.Compare(b.ID, a.ID) }, func(i *Issue) any { return s.renderPull(i, false) })
}

// headLabel returns a branch as GitHub labels it: with its owner in front, octo:main.
func (s *Server) headLabel(b Branch) string {
	owner := s.state.Repo.Owner
	if b.Fork != "" {
		owner, _, _ = strings.Cut(b.Fork, "/")
	}
	return owner + ":" + b.Ref
}

// listFiles shows at most 3,000 files, as GitHub does.
func (s *Server) listFiles(c *conversation, i *Issue) reply {
	list := i.Pull.Files[:min(len(i.Pull.Files), 3000)]
	return page(s, c, list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) }, func(f File) any { return s.renderFile(i.Pull.Head.SHA, f) })
}

// renderPull returns a pull request, in full or as lists show it. It starts from GitHub's example,
// which has the many addresses of two repositories, and replaces everything that depends on the state.
func (s *Server) renderPull(i *Issue, full bool) object {
	p := i.Pull
	o := s.rest.example("pull-request")
	if full {
		add, del := 0, 0
		for _, f := range p.Files {
			a, d := countChanges(f.Patch)
			add, del = add+a, del+d
		}
		o["additions"], o["deletions"], o["changed_files"] = add, del, len(p.Files)
		o["comments"], o["review_comments"], o["commits"] = len(i.Comments), len(p.Comments), 1
		o["merged"], o["merged_by"], o["mergeable"], o["rebaseable"], o["mergeable_state"] = p.Merged, nil, nil, nil, "unknown"
	} else {
		o = object{"auto_merge": nil, "_links": o["_links"], "head": o["head"], "base": o["base"], "merge_commit_sha": o["merge_commit_sha"]}
	}
	api := fmt.Sprintf("%s/pulls/%d", s.repoURL(), i.Number)
	issue := fmt.Sprintf("%s/issues/%d", s.repoURL(), i.Number)
	fields := object{"id": i.ID, "node_id": fmt.Sprintf("PR_%d", i.ID), "number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "locked": i.Locked,
		"draft": p.Draft, "user": s.renderUser(i.Author), "author_association": s.association(i.Author), "labels": s.renderLabels(i.Labels),
		"assignee": nil, "assignees": []any{}, "milestone": nil, "active_lock_reason": nil,
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt), "closed_at": nil, "merged_at": nil,
		"url": api, "issue_url": issue, "html_url": s.htmlURL(i), "diff_url": s.htmlURL(i) + ".diff", "patch_url": s.htmlURL(i) + ".patch",
		"commits_url": api + "/commits", "comments_url": issue + "/comments", "review_comments_url": api + "/comments", "review_comment_url": s.repoURL() + "/pulls/comments{/number}",
		"statuses_url": s.repoURL() + "/statuses/" + p.Head.SHA}
	asked := []any{}
	for _, login := range p.Asked {
		asked = append(asked, s.renderUser(s.collaborator(login)))
	}
	fields["requested_reviewers"] = asked
	teams := []any{}
	for k, slug := range p.Teams {
		teams = append(teams, s.renderTeam(k+1, slug))
	}
	fields["requested_teams"] = teams
	if i.State == "closed" {
		fields["closed_at"] = stamp(i.UpdatedAt)
	}
	if p.Merged {
		fields["merged_at"] = stamp(i.UpdatedAt)
	}
	maps.Copy(o, fields)
	o["head"] = s.renderBranch(o["head"], p.Head)
	o["base"] = s.renderBranch(o["base"], p.Base)
	return o
}

func (s *Server) renderTeam(id int, slug string) object {
	api := fmt.Sprintf("https://api.github.com/organizations/1/team/%d", id)
	return object{"id": id, "node_id": fmt.Sprintf("T_%d", id), "name": slug, "slug": slug, "description": nil, "permission": "pull", "parent": nil,
		"url": api, "html_url": "https://github.com/orgs/" + s.state.Repo.Owner + "/teams/" + slug, "members_url": api + "/members{/member}", "repositories_url": api + "/repos",
		"type": "organization", "organization_id": 1}
}

// renderBranch fills the head or base of GitHub's example of a pull request with b, and returns it.
// A branch of a deleted fork has neither a repository nor a user.
func (s *Server) renderBranch(example any, b Branch) object {
	o := example.(object)
	owner, name, id := s.state.Repo.Owner, s.state.Repo.Name, s.state.Repo.ID
	if b.Fork != "" {
		owner, name, _ = strings.Cut(b.Fork, "/")
		id += 1000
	}
	o["ref"], o["sha"], o["label"] = b.Ref, b.SHA, owner+":"+b.Ref
	if b.Fork == "deleted" {
		o["repo"], o["user"], o["label"] = nil, nil, "unknown:"+b.Ref
		return o
	}
	o["user"] = s.renderUser(Account{Login: owner, ID: id + 7})
	repo := o["repo"].(object)
	s.identify(repo, id, owner, name)
	repo["default_branch"], repo["fork"] = s.state.Repo.DefaultBranch, b.Fork != ""
	return o
}

// renderFile returns a file as the diff at a commit has it.
func (s *Server) renderFile(commit string, f File) object {
	add, del := countChanges(f.Patch)
	sum := sha1.Sum([]byte(f.Path + f.Patch))
	o := object{"sha": hex.EncodeToString(sum[:]), "filename": f.Path, "status": f.Status, "additions": add, "deletions": del, "changes": add + del,
		"blob_url": s.siteURL() + "/blob/x", "raw_url": s.siteURL() + "/raw/x", "contents_url": s.repoURL() + "/contents/x?ref=" + commit}
	if f.Patch != "" {
		o["patch"] = f.Patch
	}
	if f.PreviousPath != "" {
		o["previous_filename"] = f.PreviousPath
	}
	return o
}

func (s *Server) renderReview(i *Issue, r *Review) object {
	pull := fmt.Sprintf("%s/pulls/%d", s.repoURL(), i.Number)
	html := fmt.Sprintf("%s#pullrequestreview-%d", s.htmlURL(i), r.ID)
	o := object{"id": r.ID, "node_id": fmt.Sprintf("PRR_%d", r.ID), "user": s.renderUser(r.Author), "author_association": s.association(r.Author), "body": r.Body,
		"state": r.State, "commit_id": r.CommitID, "html_url": html, "pull_request_url": pull,
		"_links": object{"html": object{"href": html}, "pull_request": object{"href": pull}}}
	if r.State != pendingState {
		o["submitted_at"] = stamp(r.SubmittedAt)
	}
	return o
}

func (s *Server) renderDiffComment(i *Issue, d *DiffComment) object {
	pull := fmt.Sprintf("%s/pulls/%d", s.repoURL(), i.Number)
	self := fmt.Sprintf("%s/pulls/comments/%d", s.repoURL(), d.ID)
	html := fmt.Sprintf("%s#discussion_r%d", s.htmlURL(i), d.ID)
	o := object{"id": d.ID, "node_id": fmt.Sprintf("PRRC_%d", d.ID), "pull_request_review_id": nil, "path": d.Path, "body": d.Body, "diff_hunk": "@@", "commit_id": d.CommitID,
		"original_commit_id": d.CommitID, "user": s.renderUser(d.Author), "author_association": s.association(d.Author), "subject_type": d.Subject,
		"created_at": stamp(d.CreatedAt), "updated_at": stamp(d.UpdatedAt), "url": self, "html_url": html, "pull_request_url": pull,
		"_links": object{"self": object{"href": self}, "html": object{"href": html}, "pull_request": object{"href": pull}}}
	if d.ReviewID != 0 {
		o["pull_request_review_id"] = d.ReviewID
	}
	if d.InReplyTo != 0 {
		o["in_reply_to_id"] = d.InReplyTo
	}
	if d.Line != 0 {
		o["line"], o["original_line"], o["side"] = d.Line, d.Line, d.Side
		o["start_line"], o["original_start_line"], o["start_side"] = nil, nil, nil
		if d.StartLine != 0 {
			o["start_line"], o["original_start_line"], o["start_side"] = d.StartLine, d.StartLine, d.StartSide
		}
	}
	return o
}

// followBranches lets the open pull requests, except those of forks, follow the git repository,
// whoever changed it: the head is where its branch is, the files are what it changes, and an
// earlier head stays known. A pull request is merged when its base moves to a commit that contains
// its head, and closed when its branch is deleted. The caller holds the lock.
func (s *Server) followBranches() error {
	if s.o.Git == nil {
		return nil
	}
	refs, err := s.o.Git.refs()
	if err != nil {
		return err
	}
	heads := map[string]string{}
	for _, r := range refs {
		if name, ok := strings.CutPrefix(r.name, "refs/heads/"); ok {
			heads[name] = r.sha
		}
	}
	for _, i := range s.state.Issues {
		if i.Pull == nil || i.Pull.Head.Fork != "" || i.State != "open" {
			continue
		}
		if err := s.follow(i, heads); err != nil {
			return err
		}
	}
	s.heads = heads
	return nil
}

// follow brings one pull request to where its branches are now. s.heads has where they were before.
func (s *Server) follow(i *Issue, heads map[string]string) error {
	p, git := i.Pull, s.o.Git
	head, base := heads[p.Head.Ref], heads[p.Base.Ref]
	if head == "" {
		deleted := s.heads[p.Head.Ref] != ""
		if deleted {
			i.State, i.UpdatedAt = "closed", s.now()
		}
		return nil
	}
	before := s.heads[p.Base.Ref]
	baseMoved := before != "" && base != "" && before != base
	if baseMoved && git.descends(base, head) {
		i.State, p.Merged, i.UpdatedAt = "closed", true, s.now()
	}
	if head == p.Head.SHA {
		return nil
	}
	if _, err := git.resolve(p.Head.SHA); err == nil { // the head that a fixture gives may not exist
		p.Earlier = append(p.Earlier, Revision{SHA: p.Head.SHA, Files: p.Files})
		i.UpdatedAt = s.now()
	}
	p.Head.SHA = head
	if base != "" {
		p.Base.SHA = base
		fork, err := git.mergeBase(base, head)
		if err != nil {
			return nil // nothing in common: there is nothing to show
		}
		if p.Files, err = git.diff(fork, head); err != nil {
			return err
		}
	}
	return git.setRef(fmt.Sprintf("refs/pull/%d/head", i.Number), head)
}
