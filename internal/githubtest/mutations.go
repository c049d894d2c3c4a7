package githubtest

import (
	"slices"
	"strings"
)

func (s *Server) mutationFields(c *conversation) object {
	wrap := func(permission string, f func(*conversation, map[string]any) (any, error)) func(map[string]any) (any, error) {
		return func(args map[string]any) (any, error) {
			if !s.may(c, permission) {
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
		"createCommitOnBranch":    wrap("contents=write", s.createCommitOnBranch),
		"createDiscussion":        wrap("discussions=write", s.createDiscussion),
		"addDiscussionComment":    wrap("discussions=write", s.addDiscussionComment),
		"deleteDiscussion":        wrap("discussions=write", s.deleteDiscussion),
		"deleteDiscussionComment": wrap("discussions=write", s.deleteDiscussionComment),
		"minimizeComment":         wrap(pullsWrite, s.minimizeComment),
		"unminimizeComment":       wrap(pullsWrite, s.unminimizeComment),
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
	if err := checkDiscussion(&title, body); err != nil {
		return nil, err
	}
	d := &Discuss{ID: s.id(), Number: s.number(), Title: title, Body: body, CategoryID: s.state.Categories[k].ID, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	s.state.Discussions = append(s.state.Discussions, d)
	s.lag(d)
	return &node{typ: "CreateDiscussionPayload", fields: object{"discussion": s.discussionNode(d)}}, nil
}

func checkDiscussion(title *string, body string) error {
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
	if err := checkDiscussion(nil, body); err != nil {
		return nil, err
	}
	m := &Comment{ID: s.id(), Body: body, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	d.Comments = append(d.Comments, m)
	d.UpdatedAt = s.now()
	s.lag(m)
	return &node{typ: "AddDiscussionCommentPayload", fields: object{"comment": s.discussionCommentNode(d, m)}}, nil
}

func (s *Server) discussionByNode(id any) *Discuss {
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
	s.state.Discussions = slices.DeleteFunc(s.state.Discussions, func(o *Discuss) bool { return o == d })
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
