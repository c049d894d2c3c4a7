package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

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
		"comments": connected("DiscussionCommentConnection", visibleOf(s, d.Comments, func(*Comment) bool { return true }), func(m *Comment) *node {
			return s.discussionCommentNode(d, m)
		})}}
}

func (s *Server) discussionCommentNode(d *Discussion, m *Comment) *node {
	return &node{typ: "DiscussionComment", fields: object{"id": nodeID("DC", m.ID), "databaseId": m.ID, "body": m.Body, "author": actorNode(m.Author),
		"url": fmt.Sprintf("%s/discussions/%d#discussioncomment-%d", s.siteURL(), d.Number, m.ID), "createdAt": stamp(m.CreatedAt), "updatedAt": stamp(m.UpdatedAt)}}
}

func (s *Server) createDiscussion(c *conversation, in map[string]any) (any, error) {
	title, body := in["title"].(string), in["body"].(string)
	if in["repositoryId"] != nodeID("R", s.state.Repo.ID) {
		return nil, missingNode(in["repositoryId"])
	}
	if s.state.Repo.NoDiscussions {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Discussions are disabled for this repository."}
	}
	category := find(s.state.Categories, func(k Category) bool { return nodeID("DIC", k.ID) == in["categoryId"] })
	if category.ID == 0 {
		return nil, missingNode(in["categoryId"])
	}
	if err := checkLengths(&title, body); err != nil {
		return nil, err
	}
	d := &Discussion{ID: s.id(), Number: s.number(), Title: title, Body: body, CategoryID: category.ID, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
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
	return find(s.state.Discussions, func(d *Discussion) bool { return nodeID("D", d.ID) == id })
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
