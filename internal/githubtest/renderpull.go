package githubtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// renderPull starts from GitHub's example, which has the many addresses of two
// repositories, and replaces all that is state.
func (s *Server) renderPull(i *Issue, full bool) object {
	p := i.Pull
	var o object
	if full {
		o = s.rest.example("pull-request")
		add, del := 0, 0
		for _, f := range p.Files {
			a, d := countChanges(f.Patch)
			add, del = add+a, del+d
		}
		o["additions"], o["deletions"], o["changed_files"] = add, del, len(p.Files)
		o["comments"], o["review_comments"], o["commits"] = len(i.Comments), len(p.Comments), 1
		o["merged"], o["merged_by"], o["mergeable"], o["rebaseable"], o["mergeable_state"] = p.Merged, nil, nil, nil, "unknown"
	} else {
		o = object{"author_association": s.association(i.Author), "auto_merge": nil, "active_lock_reason": nil}
		ex := s.rest.example("pull-request")
		for _, k := range []string{"_links", "head", "base", "review_comment_url", "merge_commit_sha"} {
			o[k] = ex[k]
		}
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
		api := fmt.Sprintf("https://api.github.com/organizations/1/team/%d", k+1)
		teams = append(teams, object{"id": k + 1, "node_id": fmt.Sprintf("T_%d", k+1), "name": slug, "slug": slug, "description": nil, "permission": "pull", "parent": nil,
			"url": api, "html_url": "https://github.com/orgs/" + s.state.Repo.Owner + "/teams/" + slug, "members_url": api + "/members{/member}", "repositories_url": api + "/repos",
			"type": "organization", "organization_id": 1})
	}
	fields["requested_teams"] = teams
	if i.State == "closed" {
		fields["closed_at"] = stamp(i.UpdatedAt)
	}
	if p.Merged {
		fields["merged_at"] = stamp(i.UpdatedAt)
	}
	for k, v := range fields {
		o[k] = v
	}
	o["head"] = s.renderBranch(o["head"], p.Head)
	o["base"] = s.renderBranch(o["base"], p.Base)
	return o
}

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

func (s *Server) renderFile(p *Pull, f File) object {
	add, del := countChanges(f.Patch)
	sum := sha1.Sum([]byte(f.Path + f.Patch))
	o := object{"sha": hex.EncodeToString(sum[:]), "filename": f.Path, "status": f.Status, "additions": add, "deletions": del, "changes": add + del,
		"blob_url": s.siteURL() + "/blob/x", "raw_url": s.siteURL() + "/raw/x", "contents_url": s.repoURL() + "/contents/x?ref=" + p.Head.SHA}
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
	if r.State != "PENDING" {
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
