package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// queryFields returns what a query can ask for at its top.
func (s *Server) queryFields(c *conversation) object {
	return object{
		"node": func(args map[string]any) (any, error) {
			_, r := s.reviewByNode(c, args["id"])
			if r == nil {
				return nil, missingNode(args["id"])
			}
			return s.reviewNode(r), nil
		},
		"viewer": &node{typ: "User", fields: object{"login": plainLogin(c.account), "databaseId": c.account.ID}},
		"repository": func(args map[string]any) (any, error) {
			owner, name := args["owner"].(string), args["name"].(string)
			if !strings.EqualFold(owner, s.state.Repo.Owner) || !strings.EqualFold(name, s.state.Repo.Name) {
				return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name)}
			}
			return s.repositoryNode(c), nil
		},
	}
}

// repositoryNode returns the repository with everything that can be asked for in it.
func (s *Server) repositoryNode(c *conversation) *node {
	r, categories := s.state.Repo, s.state.Categories
	if r.NoDiscussions {
		categories = nil
	}
	return &node{typ: "Repository", fields: object{
		"id":                    nodeID("R", r.ID),
		"hasDiscussionsEnabled": !r.NoDiscussions,
		"refs":                  s.refNodes,
		"object": func(args map[string]any) (any, error) {
			expression, _ := args["expression"].(string)
			if s.o.Git == nil {
				return nil, errNoGit
			}
			sha, err := s.o.Git.resolve(expression)
			if err != nil {
				return nil, nil //nolint:nilerr,nilnil // GitHub answers null
			}
			return s.commitNode(sha), nil
		},
		"url": strings.TrimSuffix(s.gitURL(), ".git"),
		"branchProtectionRules": func(args map[string]any) (any, error) {
			var list []*node
			if c.token != nil && c.token.has("administration=read") { // others see none
				for i, pattern := range r.Protected {
					list = append(list, &node{typ: "BranchProtectionRule", fields: object{"id": nodeID("BPR", int64(i+1)), "pattern": pattern}})
				}
			}
			return connection("BranchProtectionRuleConnection", list, args), nil
		},
		"discussionCategories": connected("DiscussionCategoryConnection", categories, s.categoryNode),
		"discussions": func(args map[string]any) (any, error) {
			return connection("DiscussionConnection", s.discussionNodes(c, args), args), nil
		},
		"discussion": func(args map[string]any) (any, error) {
			n := number(args["number"])
			if d := find(s.state.Discussions, func(d *Discussion) bool { return d.Number == n }); d != nil {
				return s.discussionNode(d), nil
			}
			return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a Discussion with the number of %d.", n)}
		},
		"pullRequest":        s.numbered("a PullRequest", func(i *Issue) bool { return i.Pull != nil }, func(i *Issue) *node { return s.pullNode(c, i) }),
		"issue":              s.numbered("an Issue", func(i *Issue) bool { return i.Pull == nil }, s.historyNode),
		"issueOrPullRequest": s.numbered("an issue or pull request", func(*Issue) bool { return true }, s.historyNode),
	}}
}

// numbered returns a field that shows the issue or pull request whose number is the argument, if
// isWanted returns true for it. Otherwise the failure says that there is no such wantedName.
func (s *Server) numbered(wantedName string, isWanted func(*Issue) bool, show func(*Issue) *node) func(map[string]any) (any, error) {
	return func(args map[string]any) (any, error) {
		n := number(args["number"])
		if i := find(s.state.Issues, func(i *Issue) bool { return i.Number == n && isWanted(i) }); i != nil {
			return show(i), nil
		}
		return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to %s with the number of %d.", wantedName, n)}
	}
}

// mutationFields returns the mutations, each of which refuses what the token may not do, and every
// change of an archived repository.
func (s *Server) mutationFields(c *conversation) object {
	wrap := func(permission string, f func(*conversation, map[string]any) (any, error)) func(map[string]any) (any, error) {
		return func(args map[string]any) (any, error) {
			if !s.isPermitted(c, permission) {
				return nil, &gqlFailure{Type: "FORBIDDEN", Message: "Resource not accessible by integration"}
			}
			if s.state.Repo.Archived {
				return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Repository was archived so is read-only."}
			}
			input, _ := args["input"].(map[string]any)
			return f(c, input)
		}
	}
	return object{
		"updateRefs":              wrap("contents=write", s.updateRefs),
		"createCommitOnBranch":    wrap("contents=write", s.createCommitOnBranch),
		"createDiscussion":        wrap("discussions=write", s.createDiscussion),
		"addDiscussionComment":    wrap("discussions=write", s.addDiscussionComment),
		"deleteDiscussion":        wrap("discussions=write", s.deleteDiscussion),
		"deleteDiscussionComment": wrap("discussions=write", s.deleteDiscussionComment),
		"minimizeComment":         wrap(pullsWrite, s.minimizeComment),
		"unminimizeComment":       wrap(pullsWrite, s.unminimizeComment),

		"addPullRequestReviewThread": wrap(pullsWrite, s.addThread),
		"submitPullRequestReview":    wrap(pullsWrite, s.submitReview),
		"deletePullRequestReview":    wrap(pullsWrite, s.deleteReview),
	}
}

// pullNode returns a pull request with its comments and reviews, as far as listings show them, and
// with the issues that it closes.
func (s *Server) pullNode(c *conversation, i *Issue) *node {
	state := strings.ToUpper(i.State)
	if i.Pull.Merged {
		state = "MERGED"
	}
	closing := slices.DeleteFunc(slices.Clone(s.state.Issues), func(o *Issue) bool { return !slices.Contains(i.Pull.Closes, o.Number) })
	return &node{typ: "PullRequest", fields: object{
		"id": nodeID("PR", i.ID), "state": state, "title": i.Title,
		"headRefOid": i.Pull.Head.SHA, "headRefName": i.Pull.Head.Ref, "isCrossRepository": i.Pull.Head.Fork != "",
		"comments": connected("IssueCommentConnection", visibleOf(s, i.Comments, func(*Comment) bool { return true }), func(m *Comment) *node {
			return issueCommentNode(c, m)
		}),
		"reviews":                 connected("PullRequestReviewConnection", s.listedReviews(c, i), func(r *Review) *node { return s.listedReviewNode(i, r) }),
		"closingIssuesReferences": connected("IssueConnection", closing, s.closedIssueNode),
	}}
}

// issueCommentNode returns a comment of a pull request's conversation.
func issueCommentNode(c *conversation, m *Comment) *node {
	n := &node{typ: "IssueComment", fields: object{"id": nodeID("IC", m.ID), "fullDatabaseId": fmt.Sprint(m.ID), "body": m.Body, "lastEditedAt": nil,
		"viewerDidAuthor": m.Author == c.account, "author": actorNode(m.Author)}}
	if m.UpdatedAt.After(m.CreatedAt) {
		n.fields["lastEditedAt"] = stamp(m.UpdatedAt)
	}
	return n
}

// closedIssueNode returns an issue that a pull request closes.
func (s *Server) closedIssueNode(i *Issue) *node {
	fields := object{"id": nodeID("I", i.ID), "number": i.Number, "body": i.Body, "author": actorNode(i.Author), "editor": nil, "lastEditedAt": nil,
		"repository": &node{typ: "Repository", fields: object{"nameWithOwner": s.state.Repo.Owner + "/" + s.state.Repo.Name}}}
	for _, e := range i.Edits {
		if e.Field == "body" {
			fields["editor"], fields["lastEditedAt"] = actorNode(e.Editor), stamp(e.At)
		}
	}
	return &node{typ: "Issue", fields: fields}
}

// listedReviewNode returns a review as a pull request's list of reviews shows it, without what
// listings do not show yet. A review whose submission they do not show yet is pending.
func (s *Server) listedReviewNode(i *Issue, r *Review) *node {
	n := s.reviewNode(r)
	if !s.visible(submission{r}) {
		n.fields["state"] = pendingState
	}
	n.fields["fullDatabaseId"], n.fields["author"] = fmt.Sprint(r.ID), actorNode(r.Author)
	n.fields["url"] = fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", s.siteURL(), i.Number, r.ID)
	comments := visibleOf(s, i.Pull.Comments, func(d *DiffComment) bool { return d.ReviewID == r.ID })
	n.fields["comments"] = connected("PullRequestReviewCommentConnection", comments, func(d *DiffComment) *node {
		comment := object{"id": nodeID("PRRC", d.ID), "fullDatabaseId": fmt.Sprint(d.ID), "body": d.Body, "author": actorNode(d.Author), "replyTo": nil,
			"url": fmt.Sprintf("%s/pull/%d#discussion_r%d", s.siteURL(), i.Number, d.ID)}
		if d.InReplyTo != 0 {
			comment["replyTo"] = &node{typ: "PullRequestReviewComment", fields: object{"fullDatabaseId": fmt.Sprint(d.InReplyTo)}}
		}
		return &node{typ: "PullRequestReviewComment", fields: comment}
	})
	return n
}

// historyNode returns an issue or pull request with its edits. The edits of the body are listed with
// the newest first. Once there is one, GitHub adds an entry for the first text.
func (s *Server) historyNode(i *Issue) *node {
	bodyNode := func(id, body string, editor Account, at time.Time) *node {
		return &node{typ: "UserContentEdit", fields: object{"id": id, "editedAt": stamp(at), "editor": actorNode(editor), "diff": body}}
	}
	var bodies, events []*node
	for k, e := range i.Edits {
		id := fmt.Sprintf("E_%d_%d", i.ID, k)
		event := func(typ string) {
			events = append(events, &node{typ: typ, fields: object{"id": id, "createdAt": stamp(e.At), "actor": actorNode(e.Editor)}})
		}
		switch {
		case e.Field == "body":
			bodies = append(bodies, bodyNode(id, e.To, e.Editor, e.At))
		case e.Field == "title":
			event("RenamedTitleEvent")
		case e.Field == "state" && e.To == "closed":
			event("ClosedEvent")
		case e.Field == "state":
			event("ReopenedEvent")
		}
	}
	if len(bodies) > 0 {
		slices.Reverse(bodies)
		bodies = append(bodies, bodyNode(nodeID("E", i.ID), i.FirstBody, i.Author, i.CreatedAt))
	}
	typ, timeline := "Issue", "IssueTimelineItemsConnection"
	if i.Pull != nil {
		typ, timeline = "PullRequest", "PullRequestTimelineItemsConnection"
	}
	return &node{typ: typ, fields: object{"id": nodeID("I", i.ID), "fullDatabaseId": fmt.Sprint(i.ID), "number": i.Number, "url": s.htmlURL(i), "body": i.Body, "createdAt": stamp(i.CreatedAt),
		"userContentEdits": func(args map[string]any) (any, error) {
			return connection("UserContentEditConnection", bodies, args), nil
		},
		"timelineItems": func(args map[string]any) (any, error) {
			from, _ := args["since"].(string)
			since, _ := time.Parse(time.RFC3339, from)
			list := slices.DeleteFunc(slices.Clone(events), func(n *node) bool {
				at, _ := time.Parse(time.RFC3339, n.fields["createdAt"].(string))
				return at.Before(since)
			})
			return connection(timeline, list, args), nil
		}}}
}

// actorNode returns an account that wrote or did something; nil for the zero Account.
func actorNode(a Account) *node {
	if a == (Account{}) {
		return nil
	}
	return &node{typ: kindOf(a), fields: object{"login": plainLogin(a), "databaseId": a.ID}}
}

// nodeID returns the global id of an object: its type's prefix and its id in REST.
func nodeID(prefix string, id int64) string { return fmt.Sprintf("%s_%d", prefix, id) }

// keyOf returns a node's id, which is its cursor in a connection.
func keyOf(n *node) string { return n.fields["id"].(string) }

// number returns an argument of the type Int; 0 for none.
func number(v any) int {
	var n int
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

// missingNode returns the failure for a global id that no object has.
func missingNode(id any) error {
	text, _ := id.(string)
	return &gqlFailure{Type: "NOT_FOUND", Message: "Could not resolve to a node with the global id of '" + text + "'"}
}
