package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) getPull(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	return okay(s.renderPull(i, true))
}

func (s *Server) listPulls(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	state, head, base := cmp.Or(c.query.Get("state"), "open"), c.query.Get("head"), c.query.Get("base")
	var list []*Issue
	for _, i := range s.state.Issues {
		if i.Pull == nil || !s.visible(i) || state != "all" && i.State != state {
			continue
		}
		if head != "" && !strings.EqualFold(head, s.headLabel(i.Pull.Head)) || base != "" && base != i.Pull.Base.Ref {
			continue
		}
		list = append(list, i)
	}
	if c.query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *Issue) int { return cmp.Compare(b.ID, a.ID) }, func(i *Issue) any { return s.renderPull(i, false) })
}

func (s *Server) headLabel(b Branch) string {
	owner := s.state.Repo.Owner
	if b.Fork != "" {
		owner, _, _ = strings.Cut(b.Fork, "/")
	}
	return owner + ":" + b.Ref
}

// listFiles shows at most 3,000 files, as GitHub does.
func (s *Server) listFiles(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	list := i.Pull.Files[:min(len(i.Pull.Files), 3000)]
	return page(s, c, list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) }, func(f File) any { return s.renderFile(i.Pull, f) })
}

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

// createReview posts a review with all its comments or nothing; the refusal does
// not say which comment it is about.
func (s *Server) createReview(c *conversation) reply {
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	if i.Locked {
		return fail(http.StatusForbidden, "Unable to create review because issue is locked.")
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

func (s *Server) addDiffComment(i *Issue, d *DiffComment, review *Review, who Account) {
	d.ID, d.ReviewID, d.CommitID, d.Author = s.id(), review.ID, review.CommitID, who
	d.CreatedAt, d.UpdatedAt = s.now(), s.now()
	i.Pull.Comments = append(i.Pull.Comments, d)
	s.lag(d)
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
	if r, ok := s.need(c, pullsWrite); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	if i.Locked {
		return fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
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
