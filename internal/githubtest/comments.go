package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) listComments(c *conversation) reply {
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	from := since(c.query)
	var list []*Comment
	for _, m := range i.Comments {
		if s.visible(m) && !m.UpdatedAt.Before(from) {
			list = append(list, m)
		}
	}
	return page(s, c, list, func(a, b *Comment) int { return cmp.Compare(b.ID, a.ID) }, func(m *Comment) any { return s.renderComment(i, m) })
}

func (s *Server) createComment(c *conversation) reply {
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	if r, ok := s.need(c, permissionFor(i)); !ok {
		return r
	}
	if i.Locked {
		return fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	body, r := s.commentBody(c)
	if r.status != 0 {
		return r
	}
	m := &Comment{ID: s.id(), Body: body, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	i.Comments = append(i.Comments, m)
	i.UpdatedAt = s.now()
	s.lag(m)
	return created(s.renderComment(i, m))
}

func (s *Server) commentBody(c *conversation) (string, reply) {
	var in struct{ Body string }
	decode(c, &in)
	if strings.TrimSpace(in.Body) == "" {
		return "", invalid(fieldError{Resource: "IssueComment", Field: "body", Code: "missing_field"})
	}
	if bad := checkText("IssueComment", nil, &in.Body); bad != nil {
		return "", invalid(bad...)
	}
	return in.Body, reply{}
}

// comment finds the comment of the path and its issue.
func (s *Server) comment(c *conversation) (*Issue, int) {
	id, _ := strconv.ParseInt(c.params["comment_id"], 10, 64)
	for _, i := range s.state.Issues {
		for k, m := range i.Comments {
			if m.ID == id {
				return i, k
			}
		}
	}
	return nil, 0
}

func (s *Server) updateComment(c *conversation) reply {
	i, k := s.comment(c)
	if i == nil {
		return fail(http.StatusNotFound, "Not Found")
	}
	if r, ok := s.need(c, permissionFor(i)); !ok {
		return r
	}
	body, r := s.commentBody(c)
	if r.status != 0 {
		return r
	}
	i.Comments[k].Body, i.Comments[k].UpdatedAt = body, s.now()
	return okay(s.renderComment(i, i.Comments[k]))
}

func (s *Server) deleteComment(c *conversation) reply {
	i, k := s.comment(c)
	if i == nil {
		return fail(http.StatusNotFound, "Not Found")
	}
	if r, ok := s.need(c, permissionFor(i)); !ok {
		return r
	}
	i.Comments = slices.Delete(i.Comments, k, k+1)
	return reply{status: http.StatusNoContent}
}
