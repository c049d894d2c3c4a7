package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) listComments(c *conversation, i *Issue) reply {
	from := since(c.query)
	list := visibleOf(s, i.Comments, func(m *Comment) bool { return !m.UpdatedAt.Before(from) })
	return page(s, c, list, func(a, b *Comment) int { return cmp.Compare(b.ID, a.ID) }, func(m *Comment) any { return s.renderComment(i, m) })
}

// listAllComments lists the comments of all issues and pull requests.
func (s *Server) listAllComments(c *conversation) reply {
	type placed struct {
		i *Issue
		m *Comment
	}
	from := since(c.query)
	var list []placed
	for _, i := range s.state.Issues {
		for _, m := range visibleOf(s, i.Comments, func(m *Comment) bool { return !m.UpdatedAt.Before(from) }) {
			list = append(list, placed{i, m})
		}
	}
	slices.SortFunc(list, func(a, b placed) int { return cmp.Compare(a.m.ID, b.m.ID) })
	if c.query.Get("sort") != "" && c.query.Get("direction") == "desc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b placed) int { return cmp.Compare(b.m.ID, a.m.ID) }, func(p placed) any { return s.renderComment(p.i, p.m) })
}

func (s *Server) createComment(c *conversation, i *Issue) reply {
	body, bad := commentBody(c, "IssueComment")
	if bad != nil {
		return invalid(bad...)
	}
	m := &Comment{ID: s.id(), Body: body, Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	i.Comments = append(i.Comments, m)
	i.UpdatedAt = s.now()
	s.lag(m)
	return created(s.renderComment(i, m))
}

// commentBody returns the text of the request's comment, or errors that name the resource and say
// what is wrong with the text.
func commentBody(c *conversation, resource string) (string, []fieldError) {
	var in struct{ Body string }
	decode(c, &in)
	if strings.TrimSpace(in.Body) == "" {
		return "", []fieldError{{Resource: resource, Field: "body", Code: "missing_field"}}
	}
	return in.Body, checkText(resource, nil, &in.Body)
}

// onComment returns a handler that calls h with the comment of the path, if the token may change it.
func onComment(h func(*Server, *conversation, *Issue, *Comment) reply) handler {
	return func(s *Server, c *conversation) reply {
		id, _ := strconv.ParseInt(c.params["comment_id"], 10, 64)
		for _, i := range s.state.Issues {
			if m := find(i.Comments, func(m *Comment) bool { return m.ID == id }); m != nil {
				if r, ok := s.need(c, permissionFor(i)); !ok {
					return r
				}
				return h(s, c, i, m)
			}
		}
		return notFound()
	}
}

func (s *Server) updateComment(c *conversation, i *Issue, m *Comment) reply {
	body, bad := commentBody(c, "IssueComment")
	if bad != nil {
		return invalid(bad...)
	}
	m.Body, m.UpdatedAt = body, s.now()
	return okay(s.renderComment(i, m))
}

func (s *Server) deleteComment(_ *conversation, i *Issue, m *Comment) reply {
	i.Comments = slices.DeleteFunc(i.Comments, func(o *Comment) bool { return o == m })
	return reply{status: http.StatusNoContent}
}

// createReaction adds the account's reaction to a comment, unless it is there.
func (s *Server) createReaction(c *conversation, _ *Issue, m *Comment) reply {
	var in struct{ Content string }
	decode(c, &in)
	for _, r := range m.Reactions {
		if r.User == c.account && r.Content == in.Content {
			return okay(s.renderReaction(r))
		}
	}
	r := Reaction{ID: s.id(), Content: in.Content, User: c.account, CreatedAt: s.now()}
	m.Reactions = append(m.Reactions, r)
	return created(s.renderReaction(r))
}
