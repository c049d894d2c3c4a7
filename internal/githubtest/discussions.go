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

// plainLogin is a login as GraphQL spells it.
func plainLogin(a Account) string { return strings.TrimSuffix(a.Login, "[bot]") }

func actorNode(a Account) *node {
	if a == (Account{}) {
		return nil
	}
	typ := "User"
	if strings.HasSuffix(a.Login, "[bot]") {
		typ = "Bot"
	}
	return &node{typ: typ, fields: object{"login": plainLogin(a), "databaseId": a.ID}}
}

func (s *Server) repositoryNode(c *conversation) *node {
	r := s.state.Repo
	return &node{typ: "Repository", fields: object{
		"id":                    nodeID("R", r.ID),
		"hasDiscussionsEnabled": !r.NoDiscussions,
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

func keyOf(n *node) string { return n.fields["id"].(string) }

func number(v any) int {
	var n int
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

func (s *Server) categoryNode(k Category) *node {
	return &node{typ: "DiscussionCategory", fields: object{"id": nodeID("DIC", k.ID), "name": k.Name, "slug": k.Slug, "isAnswerable": k.Answerable,
		"repository": &node{typ: "Repository", fields: object{"id": nodeID("R", s.state.Repo.ID)}}}}
}

// discussionNodes lists what is visible, in the order that was asked for.
func (s *Server) discussionNodes(c *conversation, args map[string]any) []*node {
	var list []*Discuss
	for _, d := range s.state.Discussions {
		if s.visible(d) && !s.state.Repo.NoDiscussions {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *Discuss) int { return int(a.ID - b.ID) })
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

func (s *Server) discussionNode(d *Discuss) *node {
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
			for _, m := range d.Comments {
				if s.visible(m) {
					list = append(list, s.discussionCommentNode(d, m))
				}
			}
			return connection("DiscussionCommentConnection", list, args, keyOf), nil
		}}}
}

func (s *Server) discussionCommentNode(d *Discuss, m *Comment) *node {
	return &node{typ: "DiscussionComment", fields: object{"id": nodeID("DC", m.ID), "databaseId": m.ID, "body": m.Body, "author": actorNode(m.Author),
		"url": fmt.Sprintf("%s/discussions/%d#discussioncomment-%d", s.siteURL(), d.Number, m.ID), "createdAt": stamp(m.CreatedAt), "updatedAt": stamp(m.UpdatedAt)}}
}

// historyNode is an issue or pull request with its edits. GitHub adds an entry
// for the first text once a body has been edited, and lists the newest first.
func (s *Server) historyNode(i *Issue) *node {
	var bodies, events []*node
	for k, e := range i.Edits {
		id := fmt.Sprintf("%s_%d_%d", "E", i.ID, k)
		switch {
		case e.Field == "body":
			bodies = append([]*node{{typ: "UserContentEdit", fields: object{"id": id, "editedAt": stamp(e.At), "editor": actorNode(e.Editor)}}}, bodies...)
		case e.Field == "title":
			events = append(events, &node{typ: "RenamedTitleEvent", fields: object{"id": id, "createdAt": stamp(e.At), "actor": actorNode(e.Editor)}})
		case e.Field == "state" && e.To == "closed":
			events = append(events, &node{typ: "ClosedEvent", fields: object{"id": id, "createdAt": stamp(e.At), "actor": actorNode(e.Editor)}})
		case e.Field == "state":
			events = append(events, &node{typ: "ReopenedEvent", fields: object{"id": id, "createdAt": stamp(e.At), "actor": actorNode(e.Editor)}})
		}
	}
	if len(bodies) > 0 {
		bodies = append(bodies, &node{typ: "UserContentEdit", fields: object{"id": nodeID("E", i.ID), "editedAt": stamp(i.CreatedAt), "editor": actorNode(i.Author)}})
	}
	typ, timeline := "Issue", "IssueTimelineItemsConnection"
	if i.Pull != nil {
		typ, timeline = "PullRequest", "PullRequestTimelineItemsConnection"
	}
	return &node{typ: typ, fields: object{"id": nodeID("I", i.ID), "createdAt": stamp(i.CreatedAt),
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
