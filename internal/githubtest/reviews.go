package githubtest

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

func (s *Server) listReviews(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	var list []*Review
	for _, r := range i.Pull.Reviews {
		if s.visible(r) {
			list = append(list, r)
		}
	}
	return page(s, c, list, func(a, b *Review) int { return cmp.Compare(b.ID, a.ID) }, func(r *Review) any { return s.renderReview(i, r) })
}

// unlockedPull returns the pull request that a request writes to, or the refusal. thing
// is what it is to get.
func (s *Server) unlockedPull(c *conversation, thing string) (*Issue, reply) {
	if r, ok := s.need(c, pullsWrite); !ok {
		return nil, r
	}
	i, bad := s.issue(c)
	if i != nil && i.Locked {
		return nil, fail(http.StatusForbidden, "Unable to create "+thing+" because issue is locked.")
	}
	return i, bad
}

// createReview posts a review with all its comments or nothing; the refusal does
// not say which comment it is about.
func (s *Server) createReview(c *conversation) reply {
	i, bad := s.unlockedPull(c, "review")
	if i == nil {
		return bad
	}
	var in struct {
		CommitID string `json:"commit_id"`
		Body     string
		Event    string
		Comments []struct {
			Path, Body, Side string
			Line             int
			StartLine        int    `json:"start_line"`
			StartSide        string `json:"start_side"`
			Position         *int
		}
	}
	decode(c, &in)
	states := map[string]string{"": "PENDING", "COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
	review := &Review{Body: in.Body, State: states[in.Event], CommitID: cmp.Or(in.CommitID, i.Pull.Head.SHA), Author: c.account, SubmittedAt: s.now()}
	if i.Author.ID == c.account.ID && (in.Event == "APPROVE" || in.Event == "REQUEST_CHANGES") {
		return invalidSimple(map[string]string{"APPROVE": "Can not approve your own pull request", "REQUEST_CHANGES": "Can not request changes on your own pull request"}[in.Event])
	}
	if in.Body == "" && (in.Event == "REQUEST_CHANGES" || in.Event == "COMMENT" && len(in.Comments) == 0) {
		return invalidSimple("Body can't be blank")
	}
	if length(in.Body) > 65536 {
		return invalidSimple("Body is too long (maximum is 65536 characters)")
	}
	files, ok := i.Pull.filesAt(review.CommitID)
	if !ok {
		return invalidSimple("The commit is not part of the pull request")
	}
	comments := make([]*DiffComment, 0, len(in.Comments))
	for _, k := range in.Comments {
		d := &DiffComment{Path: k.Path, Body: k.Body, Line: k.Line, Side: cmp.Or(k.Side, "RIGHT"), StartLine: k.StartLine, Subject: "line"}
		if d.StartLine != 0 {
			d.StartSide = cmp.Or(k.StartSide, d.Side)
		}
		if strings.TrimSpace(k.Body) == "" {
			return invalidSimple("Body can't be blank")
		}
		if length(k.Body) > 65536 {
			return invalidSimple("Body is too long (maximum is 65536 characters)")
		}
		if wrong := anchored(files, d); wrong != "" {
			return invalidSimple(wrong)
		}
		comments = append(comments, d)
	}
	review.ID = s.id()
	i.Pull.Reviews = append(i.Pull.Reviews, review)
	s.lag(review)
	for _, d := range comments {
		s.addDiffComment(i, d, review, c.account)
	}
	i.UpdatedAt = s.now()
	return okay(s.renderReview(i, review))
}

func (s *Server) updateReview(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	var in struct{ Body string }
	decode(c, &in)
	id, _ := strconv.ParseInt(c.params["review_id"], 10, 64)
	for _, r := range i.Pull.Reviews {
		if r.ID != id {
			continue
		}
		if r.Author.ID != c.account.ID {
			return fail(http.StatusForbidden, "You may only edit your own reviews.")
		}
		if strings.TrimSpace(in.Body) == "" {
			return invalidSimple("Body can't be blank")
		}
		r.Body = in.Body
		return okay(s.renderReview(i, r))
	}
	return fail(http.StatusNotFound, "Not Found")
}
