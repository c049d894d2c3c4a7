package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func nodeID(prefix string, id int64) string { return fmt.Sprintf("%s_%d", prefix, id) }

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

// plainLogin returns a login as GraphQL spells it.
func plainLogin(a Account) string { return strings.TrimSuffix(a.Login, "[bot]") }

// kindOf returns the type of an account.
func kindOf(a Account) string {
	if strings.HasSuffix(a.Login, "[bot]") {
		return "Bot"
	}
	return "User"
}

func actorNode(a Account) *node {
	if a == (Account{}) {
		return nil
	}
	return &node{typ: kindOf(a), fields: object{"login": plainLogin(a), "databaseId": a.ID}}
}

func (s *Server) repositoryNode(c *conversation) *node {
	r := s.state.Repo
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
			return connection("BranchProtectionRuleConnection", list, args, keyOf), nil
		},
		"discussionCategories": func(args map[string]any) (any, error) {
			var list []*node
			if !r.NoDiscussions {
				for _, k := range s.state.Categories {
					list = append(list, s.categoryNode(k))
				}
			}
			return connection("DiscussionCategoryConnection", list, args, keyOf), nil
		},
		"discussions": func(args map[string]any) (any, error) {
			return connection("DiscussionConnection", s.discussionNodes(c, args), args, keyOf), nil
		},
		"discussion": func(args map[string]any) (any, error) {
			n := number(args["number"])
			for _, d := range s.state.Discussions {
				if d.Number == n {
					return s.discussionNode(d), nil
				}
			}
			return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a Discussion with the number of %d.", n)}
		},
		"pullRequest": func(args map[string]any) (any, error) {
			for _, i := range s.state.Issues {
				if i.Pull != nil && i.Number == number(args["number"]) {
					return s.pullNode(c, i), nil
				}
			}
			return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.", args["number"])}
		},
		"issue": func(args map[string]any) (any, error) {
			n := number(args["number"])
			for _, i := range s.state.Issues {
				if i.Number == n && i.Pull == nil {
					return s.historyNode(i), nil
				}
			}
			return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to an Issue with the number of %d.", n)}
		},
		"issueOrPullRequest": func(args map[string]any) (any, error) {
			n := number(args["number"])
			for _, i := range s.state.Issues {
				if i.Number == n {
					return s.historyNode(i), nil
				}
			}
			return nil, &gqlFailure{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to an issue or pull request with the number of %d.", n)}
		},
	}}
}

// keyOf returns a node's id, which is its cursor in a connection.
func keyOf(n *node) string { return n.fields["id"].(string) }

// number returns an argument of the type Int; 0 for none.
func number(v any) int {
	var n int
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

func (s *Server) categoryNode(k Category) *node {
	return &node{typ: "DiscussionCategory", fields: object{"id": nodeID("DIC", k.ID), "name": k.Name, "slug": k.Slug, "isAnswerable": k.Answerable,
		"repository": &node{typ: "Repository", fields: object{"id": nodeID("R", s.state.Repo.ID)}}}}
}

// discussionNodes lists the discussions that listings show, in the order that was asked for.
func (s *Server) discussionNodes(c *conversation, args map[string]any) []*node {
	list := visibleOf(s, s.state.Discussions, func(*Discussion) bool { return !s.state.Repo.NoDiscussions })
	slices.SortFunc(list, func(a, b *Discussion) int { return int(a.ID - b.ID) })
	if c.fault.Hide > 0 {
		list = list[:max(0, len(list)-c.fault.Hide)]
	}
	if order, ok := args["orderBy"].(map[string]any); ok && order["direction"] == "DESC" {
		slices.Reverse(list)
	}
	out := make([]*node, len(list))
	for i, d := range list {
		out[i] = s.discussionNode(d)
	}
	return out
}

func (s *Server) discussionNode(d *Discussion) *node {
	category := Category{ID: d.CategoryID, Name: "General", Slug: "general"}
	for _, k := range s.state.Categories {
		if k.ID == d.CategoryID {
			category = k
		}
	}
	return &node{typ: "Discussion", fields: object{"id": nodeID("D", d.ID), "databaseId": d.ID, "number": d.Number, "title": d.Title, "body": d.Body,
		"closed": false, "locked": d.Locked, "url": fmt.Sprintf("%s/discussions/%d", s.siteURL(), d.Number), "createdAt": stamp(d.CreatedAt),
		"updatedAt": stamp(d.UpdatedAt), "category": s.categoryNode(category), "author": actorNode(d.Author),
		"comments": func(args map[string]any) (any, error) {
			var list []*node
			for _, m := range visibleOf(s, d.Comments, func(*Comment) bool { return true }) {
				list = append(list, s.discussionCommentNode(d, m))
			}
			return connection("DiscussionCommentConnection", list, args, keyOf), nil
		}}}
}

func (s *Server) discussionCommentNode(d *Discussion, m *Comment) *node {
	return &node{typ: "DiscussionComment", fields: object{"id": nodeID("DC", m.ID), "databaseId": m.ID, "body": m.Body, "author": actorNode(m.Author),
		"url": fmt.Sprintf("%s/discussions/%d#discussioncomment-%d", s.siteURL(), d.Number, m.ID), "createdAt": stamp(m.CreatedAt), "updatedAt": stamp(m.UpdatedAt)}}
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
			return connection("UserContentEditConnection", bodies, args, keyOf), nil
		},
		"timelineItems": func(args map[string]any) (any, error) {
			from, _ := args["since"].(string)
			since, _ := time.Parse(time.RFC3339, from)
			list := slices.DeleteFunc(slices.Clone(events), func(n *node) bool {
				at, _ := time.Parse(time.RFC3339, n.fields["createdAt"].(string))
				return at.Before(since)
			})
			return connection(timeline, list, args, keyOf), nil
		}}}
}

// mutationFields returns the mutations, each of which refuses what the token may not do.
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

func (s *Server) createDiscussion(c *conversation, in map[string]any) (any, error) {
	title, body := in["title"].(string), in["body"].(string)
	if in["repositoryId"] != nodeID("R", s.state.Repo.ID) {
		return nil, missingNode(in["repositoryId"])
	}
	if s.state.Repo.NoDiscussions {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Discussions are disabled for this repository."}
	}
	k := slices.IndexFunc(s.state.Categories, func(k Category) bool { return nodeID("DIC", k.ID) == in["categoryId"] })
	if k < 0 {
		return nil, missingNode(in["categoryId"])
	}
	if err := checkLengths(&title, body); err != nil {
		return nil, err
	}
	d := &Discussion{ID: s.id(), Number: s.number(), Title: title, Body: body, CategoryID: s.state.Categories[k].ID, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	s.state.Discussions = append(s.state.Discussions, d)
	s.lag(d)
	return &node{typ: "CreateDiscussionPayload", fields: object{"discussion": s.discussionNode(d)}}, nil
}

// checkLengths applies GitHub's limits to a title and a text; a title of nil is not checked.
func checkLengths(title *string, body string) error {
	switch {
	case title != nil && strings.TrimSpace(*title) == "":
		return &gqlFailure{Type: "UNPROCESSABLE", Message: "Title can't be blank"}
	case title != nil && length(*title) > 256:
		return &gqlFailure{Type: "UNPROCESSABLE", Message: "Title is too long (maximum is 256 characters)"}
	case strings.TrimSpace(body) == "":
		return &gqlFailure{Type: "UNPROCESSABLE", Message: "Body can't be blank"}
	case length(body) > 65536:
		return &gqlFailure{Type: "UNPROCESSABLE", Message: "Body is too long (maximum is 65536 characters)"}
	}
	return nil
}

func missingNode(id any) error {
	text, _ := id.(string)
	return &gqlFailure{Type: "NOT_FOUND", Message: "Could not resolve to a node with the global id of '" + text + "'"}
}

func (s *Server) addDiscussionComment(c *conversation, in map[string]any) (any, error) {
	d := s.discussionByNode(in["discussionId"])
	if d == nil {
		return nil, missingNode(in["discussionId"])
	}
	if d.Locked {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Could not add the comment because the discussion is locked"}
	}
	body := in["body"].(string)
	if err := checkLengths(nil, body); err != nil {
		return nil, err
	}
	m := &Comment{ID: s.id(), Body: body, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	d.Comments = append(d.Comments, m)
	d.UpdatedAt = s.now()
	s.lag(m)
	return &node{typ: "AddDiscussionCommentPayload", fields: object{"comment": s.discussionCommentNode(d, m)}}, nil
}

func (s *Server) discussionByNode(id any) *Discussion {
	for _, d := range s.state.Discussions {
		if nodeID("D", d.ID) == id {
			return d
		}
	}
	return nil
}

func (s *Server) deleteDiscussion(_ *conversation, in map[string]any) (any, error) {
	d := s.discussionByNode(in["id"])
	if d == nil {
		return nil, missingNode(in["id"])
	}
	s.state.Discussions = slices.DeleteFunc(s.state.Discussions, func(o *Discussion) bool { return o == d })
	return &node{typ: "DeleteDiscussionPayload", fields: object{"discussion": s.discussionNode(d)}}, nil
}

func (s *Server) deleteDiscussionComment(_ *conversation, in map[string]any) (any, error) {
	for _, d := range s.state.Discussions {
		for k, m := range d.Comments {
			if nodeID("DC", m.ID) == in["id"] {
				d.Comments = slices.Delete(d.Comments, k, k+1)
				return &node{typ: "DeleteDiscussionCommentPayload", fields: object{"comment": s.discussionCommentNode(d, m)}}, nil
			}
		}
	}
	return nil, missingNode(in["id"])
}
