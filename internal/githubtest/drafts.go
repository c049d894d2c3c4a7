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

// reviewNode returns a review that is read by its id. Unlike in listings, what was written is there at
// once.
func (s *Server) reviewNode(r *Review) *node {
	return &node{typ: "PullRequestReview", fields: object{"id": nodeID("PRR", r.ID), "state": r.State, "body": r.Body,
		"comments": func(args map[string]any) (any, error) {
			var list []*node
			for _, i := range s.state.Issues {
				if i.Pull == nil || !slices.Contains(i.Pull.Reviews, r) {
					continue
				}
				for _, d := range i.Pull.Comments {
					if d.ReviewID == r.ID {
						list = append(list, &node{typ: "PullRequestReviewComment", fields: object{"id": nodeID("PRRC", d.ID), "body": d.Body}})
					}
				}
			}
			return connection("PullRequestReviewCommentConnection", list, args, keyOf), nil
		}}}
}

// pullNode returns a pull request with its reviews and their comments, as far as they are listed.
func (s *Server) pullNode(c *conversation, i *Issue) *node {
	state := strings.ToUpper(i.State)
	if i.Pull.Merged {
		state = "MERGED"
	}
	return &node{typ: "PullRequest", fields: object{
		"id": nodeID("PR", i.ID), "state": state, "title": i.Title,
		"headRefOid": i.Pull.Head.SHA, "headRefName": i.Pull.Head.Ref, "isCrossRepository": i.Pull.Head.Fork != "",
		"comments": func(args map[string]any) (any, error) {
			var list []*node
			for _, m := range visibleOf(s, i.Comments, func(*Comment) bool { return true }) {
				list = append(list, issueCommentNode(c, m))
			}
			return connection("IssueCommentConnection", list, args, keyOf), nil
		},
		"reviews": func(args map[string]any) (any, error) {
			var list []*node
			for _, r := range s.listedReviews(c, i) {
				list = append(list, s.listedReviewNode(i, r))
			}
			return connection("PullRequestReviewConnection", list, args, keyOf), nil
		},
		"closingIssuesReferences": func(args map[string]any) (any, error) {
			var list []*node
			for _, closed := range s.state.Issues {
				if slices.Contains(i.Pull.Closes, closed.Number) {
					list = append(list, s.closedIssueNode(closed))
				}
			}
			return connection("IssueConnection", list, args, keyOf), nil
		},
	}}
}

// issueCommentNode returns a comment of a pull request's conversation.
func issueCommentNode(c *conversation, m *Comment) *node {
	n := &node{typ: "IssueComment", fields: object{"id": nodeID("IC", m.ID), "fullDatabaseId": fmt.Sprint(m.ID), "body": m.Body, "lastEditedAt": nil,
		"viewerDidAuthor": m.Author == c.account, "author": actorNode(m.Author)}}
	if m.UpdatedAt.After(m.CreatedAt) {
		n.fields["lastEditedAt"] = stamp(m.UpdatedAt)
	}
	return n
}

// closedIssueNode returns an issue that a pull request closes.
func (s *Server) closedIssueNode(i *Issue) *node {
	fields := object{"id": nodeID("I", i.ID), "number": i.Number, "body": i.Body, "author": actorNode(i.Author), "editor": nil, "lastEditedAt": nil,
		"repository": &node{typ: "Repository", fields: object{"nameWithOwner": s.state.Repo.Owner + "/" + s.state.Repo.Name}}}
	for _, e := range i.Edits {
		if e.Field == "body" {
			fields["editor"], fields["lastEditedAt"] = actorNode(e.Editor), stamp(e.At)
		}
	}
	return &node{typ: "Issue", fields: fields}
}

// listedReviewNode returns a review as a pull request lists it, with what listings already show.
func (s *Server) listedReviewNode(i *Issue, r *Review) *node {
	n := s.reviewNode(r)
	if !s.visible(submission{r}) {
		n.fields["state"] = pendingState
	}
	n.fields["fullDatabaseId"], n.fields["author"] = fmt.Sprint(r.ID), actorNode(r.Author)
	n.fields["url"] = fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", s.siteURL(), i.Number, r.ID)
	n.fields["comments"] = func(args map[string]any) (any, error) {
		var list []*node
		for _, d := range visibleOf(s, i.Pull.Comments, func(d *DiffComment) bool { return d.ReviewID == r.ID }) {
			comment := object{"id": nodeID("PRRC", d.ID), "fullDatabaseId": fmt.Sprint(d.ID), "body": d.Body, "author": actorNode(d.Author), "replyTo": nil,
				"url": fmt.Sprintf("%s/pull/%d#discussion_r%d", s.siteURL(), i.Number, d.ID)}
			if d.InReplyTo != 0 {
				comment["replyTo"] = &node{typ: "PullRequestReviewComment", fields: object{"fullDatabaseId": fmt.Sprint(d.InReplyTo)}}
			}
			list = append(list, &node{typ: "PullRequestReviewComment", fields: comment})
		}
		return connection("PullRequestReviewCommentConnection", list, args, keyOf), nil
	}
	return n
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
