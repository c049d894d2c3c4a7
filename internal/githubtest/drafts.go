package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

// reviewByNode finds a review by its node id. Nobody but its author sees a pending one.
func (s *Server) reviewByNode(c *conversation, id any) (*Issue, *Review) {
	for _, i := range s.state.Issues {
		if i.Pull == nil {
			continue
		}
		for _, r := range i.Pull.Reviews {
			if nodeID("PRR", r.ID) == id && (r.State != pendingState || r.Author == c.account) {
				return i, r
			}
		}
	}
	return nil, nil
}

// reviewNode returns a review that is read by its id. Unlike listings, it has new comments at once.
func (s *Server) reviewNode(r *Review) *node {
	var comments []*DiffComment
	for _, i := range s.state.Issues {
		if i.Pull == nil || !slices.Contains(i.Pull.Reviews, r) {
			continue
		}
		for _, d := range i.Pull.Comments {
			if d.ReviewID == r.ID {
				comments = append(comments, d)
			}
		}
	}
	return &node{typ: "PullRequestReview", fields: object{"id": nodeID("PRR", r.ID), "state": r.State, "body": r.Body,
		"comments": connected("PullRequestReviewCommentConnection", comments, func(d *DiffComment) *node {
			return &node{typ: "PullRequestReviewComment", fields: object{"id": nodeID("PRRC", d.ID), "body": d.Body}}
		})}}
}

// addThread adds a comment to a pending review. As GitHub does, it answers with neither a thread nor
// an error if the comment's place is not in the diff. It does the same if the pull request comes from
// a fork and the request does not name it (pullRequestId).
func (s *Server) addThread(c *conversation, in map[string]any) (any, error) {
	i, r := s.reviewByNode(c, in["pullRequestReviewId"])
	if r == nil {
		return nil, missingNode(in["pullRequestReviewId"])
	}
	if r.State != pendingState {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Could not add a comment to a review that was submitted"}
	}
	if pull := in["pullRequestId"]; pull != nil && pull != nodeID("PR", i.ID) {
		return nil, missingNode(pull)
	}
	member := func(name, missing string) string {
		if text, ok := in[name].(string); ok {
			return text
		}
		return missing
	}
	d := &DiffComment{Path: member("path", ""), Body: member("body", ""), Line: number(in["line"]), StartLine: number(in["startLine"]),
		Side: member("side", "RIGHT"), Subject: strings.ToLower(member("subjectType", "LINE"))}
	if d.StartLine != 0 {
		d.StartSide = member("startSide", "RIGHT")
	}
	if err := checkLengths(nil, d.Body); err != nil {
		return nil, err
	}
	payload := &node{typ: "AddPullRequestReviewThreadPayload", fields: object{"thread": nil}}
	files, _ := i.Pull.filesAt(r.CommitID)
	unnamedFork := i.Pull.Head.Fork != "" && in["pullRequestId"] == nil
	if unnamedFork || s.refusal(files, d) != "" {
		return payload, nil
	}
	s.addDiffComment(i, d, r, c.account)
	payload.fields["thread"] = &node{typ: "PullRequestReviewThread", fields: object{"id": nodeID("PRRT", d.ID), "path": d.Path}}
	return payload, nil
}

// submitReview publishes a pending review.
func (s *Server) submitReview(c *conversation, in map[string]any) (any, error) {
	i, r := s.reviewByNode(c, in["pullRequestReviewId"])
	if r == nil {
		return nil, missingNode(in["pullRequestReviewId"])
	}
	refuse := func(format string, args ...any) (any, error) {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: fmt.Sprintf(format, args...)}
	}
	event := in["event"].(string)
	if r.State != pendingState {
		return refuse("Could not submit pull request review. It was submitted already")
	}
	if i.Author.ID == c.account.ID && event != "COMMENT" {
		return refuse("Can not %s your own pull request", strings.ToLower(strings.ReplaceAll(event, "_", " ")))
	}
	body := r.Body
	if given, ok := in["body"].(string); ok {
		body = given
	}
	if length(body) > 65536 {
		return refuse("Body is too long (maximum is 65536 characters)")
	}
	hasComments := slices.ContainsFunc(i.Pull.Comments, func(d *DiffComment) bool { return d.ReviewID == r.ID })
	needsBody := event == "REQUEST_CHANGES" || event == "COMMENT" && !hasComments
	if needsBody && strings.TrimSpace(body) == "" {
		return refuse("Body can't be blank")
	}
	states := map[string]string{"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "DISMISS": "DISMISSED"}
	r.State, r.Body, r.SubmittedAt = states[event], body, s.now()
	s.lag(submission{r})
	i.UpdatedAt = s.now()
	return &node{typ: "SubmitPullRequestReviewPayload", fields: object{"pullRequestReview": s.reviewNode(r)}}, nil
}

// deleteReview removes a pending review with its comments.
func (s *Server) deleteReview(c *conversation, in map[string]any) (any, error) {
	i, r := s.reviewByNode(c, in["pullRequestReviewId"])
	if r == nil {
		return nil, missingNode(in["pullRequestReviewId"])
	}
	if r.State != pendingState {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Can not delete a non-pending pull request review"}
	}
	i.Pull.Reviews = slices.DeleteFunc(i.Pull.Reviews, func(o *Review) bool { return o == r })
	i.Pull.Comments = slices.DeleteFunc(i.Pull.Comments, func(d *DiffComment) bool { return d.ReviewID == r.ID })
	return &node{typ: "DeletePullRequestReviewPayload", fields: object{"pullRequestReview": &node{typ: "PullRequestReview", fields: object{"id": nodeID("PRR", r.ID)}}}}, nil
}
