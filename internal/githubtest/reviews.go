package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// listedReviews returns the reviews that an account sees: of the pending ones only its own. A
// review that was submitted a moment ago may still be listed as pending.
func (s *Server) listedReviews(c *conversation, i *Issue) []*Review {
	return visibleOf(s, i.Pull.Reviews, func(r *Review) bool {
		return r.Author == c.account || r.State != pendingState && s.visible(submission{r})
	})
}

func (s *Server) listReviews(c *conversation, i *Issue) reply {
	return page(s, c, s.listedReviews(c, i), func(a, b *Review) int { return cmp.Compare(b.ID, a.ID) }, func(r *Review) any {
		if !s.visible(submission{r}) {
			stale := *r
			stale.State = pendingState
			return s.renderReview(i, &stale)
		}
		return s.renderReview(i, r)
	})
}

// submission is the key in s.listed of the time from which listings show a review as submitted. They
// may show it as pending before that.
type submission struct{ *Review }

const pendingState = "PENDING"

// pendingReview returns the account's review of the pull request that is not submitted yet; nil for
// none. While there is one, the account can make no other.
func (i *Issue) pendingReview(who Account) *Review {
	return find(i.Pull.Reviews, func(r *Review) bool { return r.State == pendingState && r.Author == who })
}

// createReview makes a review with all its comments, or refuses it with all of them. A refusal does
// not name the comment that it is about.
func (s *Server) createReview(c *conversation, i *Issue) reply {
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
	states := map[string]string{"": pendingState, "COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
	review := &Review{Body: in.Body, State: states[in.Event], CommitID: cmp.Or(in.CommitID, i.Pull.Head.SHA), Author: c.account}
	if review.State != pendingState {
		review.SubmittedAt = s.now()
	}
	ownPull := i.Author.ID == c.account.ID
	needsBody := in.Event == "REQUEST_CHANGES" || in.Event == "COMMENT" && len(in.Comments) == 0
	switch {
	case ownPull && in.Event == "APPROVE":
		return invalidSimple("Can not approve your own pull request")
	case ownPull && in.Event == "REQUEST_CHANGES":
		return invalidSimple("Can not request changes on your own pull request")
	case i.pendingReview(c.account) != nil:
		return invalidSimple("User can only have one pending review per pull request")
	case needsBody && in.Body == "":
		return invalidSimple("Body can't be blank")
	case length(in.Body) > 65536:
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
		if err := checkLengths(nil, k.Body); err != nil {
			return invalidSimple(err.Error())
		}
		if wrong := s.refusal(files, d); wrong != "" {
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

func (s *Server) updateReview(c *conversation, i *Issue) reply {
	var in struct{ Body string }
	decode(c, &in)
	id, _ := strconv.ParseInt(c.params["review_id"], 10, 64)
	r := find(i.Pull.Reviews, func(r *Review) bool { return r.ID == id })
	switch {
	case r == nil:
		return notFound()
	case r.Author.ID != c.account.ID:
		return fail(http.StatusForbidden, "You may only edit your own reviews.")
	case strings.TrimSpace(in.Body) == "":
		return invalidSimple("Body can't be blank")
	}
	r.Body = in.Body
	return okay(s.renderReview(i, r))
}

// listDiffComments shows the comments of reviews that listings show as submitted.
func (s *Server) listDiffComments(c *conversation, i *Issue) reply {
	from := since(c.query)
	list := visibleOf(s, i.Pull.Comments, func(d *DiffComment) bool {
		unsubmitted := slices.ContainsFunc(i.Pull.Reviews, func(r *Review) bool {
			return r.ID == d.ReviewID && (r.State == pendingState || !s.visible(submission{r}))
		})
		return !unsubmitted && !d.UpdatedAt.Before(from)
	})
	if c.query.Get("sort") != "" && c.query.Get("direction") == "desc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *DiffComment) int { return cmp.Compare(b.ID, a.ID) }, func(d *DiffComment) any { return s.renderDiffComment(i, d) })
}

// findDiffComment returns a review comment and its pull request; nil if there is none.
func (s *Server) findDiffComment(match func(*DiffComment) bool) (*Issue, *DiffComment) {
	for _, i := range s.state.Issues {
		if i.Pull == nil {
			continue
		}
		if d := find(i.Pull.Comments, match); d != nil {
			return i, d
		}
	}
	return nil, nil
}

// onDiffComment returns a handler that calls h with the review comment that the path names.
func onDiffComment(h func(*Server, *conversation, *Issue, *DiffComment) reply) handler {
	return func(s *Server, c *conversation) reply {
		id, _ := strconv.ParseInt(c.params["comment_id"], 10, 64)
		i, d := s.findDiffComment(func(d *DiffComment) bool { return d.ID == id })
		if d == nil {
			return notFound()
		}
		return h(s, c, i, d)
	}
}

func (s *Server) updateDiffComment(c *conversation, i *Issue, d *DiffComment) reply {
	body, bad := commentBody(c, "PullRequestReviewComment")
	if bad != nil {
		return invalid(bad...)
	}
	d.Body, d.UpdatedAt = body, s.now()
	return okay(s.renderDiffComment(i, d))
}

func (s *Server) deleteDiffComment(_ *conversation, i *Issue, d *DiffComment) reply {
	i.Pull.Comments = slices.DeleteFunc(i.Pull.Comments, func(o *DiffComment) bool { return o == d })
	return reply{status: http.StatusNoContent}
}

// addDiffComment adds a comment to a review.
func (s *Server) addDiffComment(i *Issue, d *DiffComment, review *Review, who Account) {
	d.ID, d.ReviewID, d.CommitID, d.Author = s.id(), review.ID, review.CommitID, who
	d.CreatedAt, d.UpdatedAt = s.now(), s.now()
	i.Pull.Comments = append(i.Pull.Comments, d)
	s.lag(d)
}

// commentByNode returns the conversation's comment with a node id; nil if there is none.
func (s *Server) commentByNode(id any) *Comment {
	for _, i := range s.state.Issues {
		if m := find(i.Comments, func(m *Comment) bool { return nodeID("IC", m.ID) == id }); m != nil {
			return m
		}
	}
	return nil
}

// minimizeComment hides a comment of a review or of the conversation.
func (s *Server) minimizeComment(_ *conversation, in map[string]any) (any, error) {
	return s.setMinimized(in, strings.ToLower(in["classifier"].(string)), "MinimizeCommentPayload", "minimizedComment")
}

func (s *Server) unminimizeComment(_ *conversation, in map[string]any) (any, error) {
	return s.setMinimized(in, "", "UnminimizeCommentPayload", "unminimizedComment")
}

// setMinimized hides a comment for a reason, or shows it again if reason is "". payload is the type
// of its answer, and field the answer's field that has the comment.
func (s *Server) setMinimized(in map[string]any, reason, payload, field string) (any, error) {
	_, d := s.findDiffComment(func(d *DiffComment) bool { return nodeID("PRRC", d.ID) == in["subjectId"] })
	typ := "PullRequestReviewComment"
	switch m := s.commentByNode(in["subjectId"]); {
	case d != nil:
		d.Minimized = reason
	case m != nil:
		m.Minimized, typ = reason, "IssueComment"
	default:
		return nil, missingNode(in["subjectId"])
	}
	n := &node{typ: typ, fields: object{"isMinimized": reason != "", "minimizedReason": nil, "viewerCanMinimize": true}}
	if reason != "" {
		n.fields["minimizedReason"] = reason
	}
	return &node{typ: payload, fields: object{field: n}}, nil
}

// hunk has, for each side, the numbers of the lines of a hunk. Each of the lines can have a
// comment.
type hunk struct{ left, right map[int]bool }

// hunksOf reads a unified diff without file headers, as the API's patch is.
// Context lines are on both sides.
func hunksOf(patch string) []hunk {
	var out []hunk
	var l, r int
	for line := range strings.SplitSeq(patch, "\n") {
		if rest, ok := strings.CutPrefix(line, "@@ -"); ok {
			old, after, _ := strings.Cut(rest, " +")
			new, _, _ := strings.Cut(after, " @@")
			l, r = firstNumber(old), firstNumber(new)
			out = append(out, hunk{map[int]bool{}, map[int]bool{}})
			continue
		}
		if len(out) == 0 {
			continue
		}
		h := out[len(out)-1]
		switch {
		case strings.HasPrefix(line, "+"):
			h.right[r] = true
			r++
		case strings.HasPrefix(line, "-"):
			h.left[l] = true
			l++
		case strings.HasPrefix(line, " "):
			h.left[l], h.right[r] = true, true
			l++
			r++
		}
	}
	return out
}

func firstNumber(s string) int {
	s, _, _ = strings.Cut(s, ",")
	n, _ := strconv.Atoi(s)
	return n
}

func countChanges(patch string) (add, del int) {
	for line := range strings.SplitSeq(patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			add++
		case strings.HasPrefix(line, "-"):
			del++
		}
	}
	return add, del
}

// filesAt returns the diff at a commit; ok is false where the commit is not part
// of the pull request.
func (p *Pull) filesAt(sha string) (files []File, ok bool) {
	if sha == p.Head.SHA {
		return p.Files, true
	}
	for _, r := range p.Earlier {
		if r.SHA == sha {
			return r.Files, true
		}
	}
	return nil, false
}

// refusal returns why GitHub does not take a comment, or "".
func (s *Server) refusal(files []File, d *DiffComment) string {
	if s.o.RefuseComment != nil && s.o.RefuseComment(d.Body) {
		return "Pull request review thread line must be part of the diff"
	}
	return badAnchor(files, d)
}

// badAnchor returns what is wrong with a comment's place in a diff, or "".
func badAnchor(files []File, d *DiffComment) string {
	for _, f := range files {
		if f.Path != d.Path {
			continue
		}
		if d.Subject == "file" {
			return ""
		}
		for _, h := range hunksOf(f.Patch) {
			if !h.linesOn(d.Side)[d.Line] {
				continue
			}
			if d.StartLine == 0 {
				return ""
			}
			if !h.linesOn(d.StartSide)[d.StartLine] {
				return "Start line must be part of the same hunk as the line."
			}
			if d.StartSide == d.Side && d.StartLine >= d.Line {
				return "Start line must precede the end line."
			}
			return ""
		}
		return "Line could not be resolved"
	}
	return "Path could not be resolved"
}

func (h hunk) linesOn(side string) map[int]bool {
	if side == "LEFT" {
		return h.left
	}
	return h.right
}
