package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// listDiffComments shows the comments of all submitted reviews.
func (s *Server) listDiffComments(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	from := since(c.query)
	var list []*DiffComment
	for _, d := range i.Pull.Comments {
		pending := slices.ContainsFunc(i.Pull.Reviews, func(r *Review) bool { return r.ID == d.ReviewID && r.State == "PENDING" })
		if s.visible(d) && !pending && !d.UpdatedAt.Before(from) {
			list = append(list, d)
		}
	}
	if c.query.Get("sort") != "" && c.query.Get("direction") == "desc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *DiffComment) int { return cmp.Compare(b.ID, a.ID) }, func(d *DiffComment) any { return s.renderDiffComment(i, d) })
}

// createDiffComment posts a single comment, which makes a review of its own.
func (s *Server) createDiffComment(c *conversation) reply {
	i, bad := s.unlockedPull(c, "comment")
	if i == nil {
		return bad
	}
	var in struct {
		Body, Path, Side string
		CommitID         string `json:"commit_id"`
		Line             int
		StartLine        int    `json:"start_line"`
		StartSide        string `json:"start_side"`
		SubjectType      string `json:"subject_type"`
	}
	decode(c, &in)
	wrong := func(field, message string) reply {
		return invalid(fieldError{Resource: "PullRequestReviewComment", Field: field, Code: "custom", Message: message})
	}
	if strings.TrimSpace(in.Body) == "" {
		return wrong("body", "can't be blank")
	}
	if bad := checkText("PullRequestReviewComment", nil, &in.Body); bad != nil {
		return invalid(bad...)
	}
	files, ok := i.Pull.filesAt(in.CommitID)
	if !ok {
		return wrong("commit_id", "is not part of the pull request")
	}
	d := &DiffComment{Path: in.Path, Body: in.Body, Line: in.Line, Side: cmp.Or(in.Side, "RIGHT"), StartLine: in.StartLine, Subject: cmp.Or(in.SubjectType, "line")}
	if d.StartLine != 0 {
		d.StartSide = cmp.Or(in.StartSide, d.Side)
	}
	if why := anchored(files, d); why != "" {
		return wrong("pull_request_review_thread.line", why)
	}
	review := &Review{ID: s.id(), State: "COMMENTED", CommitID: in.CommitID, Author: c.account, SubmittedAt: s.now()}
	i.Pull.Reviews = append(i.Pull.Reviews, review)
	s.lag(review)
	s.addDiffComment(i, d, review, c.account)
	i.UpdatedAt = s.now()
	return created(s.renderDiffComment(i, d))
}

// diffComment finds the review comment of the path, and its pull request.
func (s *Server) diffComment(c *conversation) (*Issue, int) {
	id, _ := strconv.ParseInt(c.params["comment_id"], 10, 64)
	for _, i := range s.state.Issues {
		if i.Pull == nil {
			continue
		}
		if k := slices.IndexFunc(i.Pull.Comments, func(d *DiffComment) bool { return d.ID == id }); k >= 0 {
			return i, k
		}
	}
	return nil, 0
}

func (s *Server) updateDiffComment(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, k := s.diffComment(c)
	if i == nil {
		return fail(http.StatusNotFound, "Not Found")
	}
	var in struct{ Body string }
	decode(c, &in)
	if strings.TrimSpace(in.Body) == "" {
		return invalid(fieldError{Resource: "PullRequestReviewComment", Field: "body", Code: "missing_field"})
	}
	if bad := checkText("PullRequestReviewComment", nil, &in.Body); bad != nil {
		return invalid(bad...)
	}
	d := i.Pull.Comments[k]
	d.Body, d.UpdatedAt = in.Body, s.now()
	return okay(s.renderDiffComment(i, d))
}

func (s *Server) deleteDiffComment(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, k := s.diffComment(c)
	if i == nil {
		return fail(http.StatusNotFound, "Not Found")
	}
	i.Pull.Comments = slices.Delete(i.Pull.Comments, k, k+1)
	return reply{status: http.StatusNoContent}
}

func (s *Server) addDiffComment(i *Issue, d *DiffComment, review *Review, who Account) {
	d.ID, d.ReviewID, d.CommitID, d.Author = s.id(), review.ID, review.CommitID, who
	d.CreatedAt, d.UpdatedAt = s.now(), s.now()
	i.Pull.Comments = append(i.Pull.Comments, d)
	s.lag(d)
}
