package apply

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// requests are the writes that are expected to happen.
func (w *reviewWork) requests(p *planner) []Request {
	reqs := []Request{}
	for _, c := range w.reopen {
		reqs = append(reqs, graphQL("unminimizeComment", map[string]any{"subjectId": c.there.NodeID}), p.commentEdit(c.there.ID, w.inlineBody(c)))
	}
	for _, c := range w.renew {
		reqs = append(reqs, p.commentEdit(c.there.ID, w.inlineBody(c)))
	}
	for _, c := range w.file {
		reqs = append(reqs, newRequest("POST", p.path(fmt.Sprintf("/pulls/%d/comments", w.number)), struct {
			Body        string `json:"body"`
			CommitID    string `json:"commit_id"`
			Path        string `json:"path"`
			SubjectType string `json:"subject_type"`
		}{w.fileBody(c), w.commit, c.item.Path, "file"}))
	}
	if len(w.inline)+len(w.body) == 0 {
		return reqs
	}
	parts := w.parts(w.body)
	reqs = append(reqs, newRequest("POST", p.path(fmt.Sprintf("/pulls/%d/reviews", w.number)), w.reviewJSON(w.inline, first(parts))))
	for _, part := range parts[min(1, len(parts)):] {
		reqs = append(reqs, p.commentRequest(w.number, w.partBody(part, nil)))
	}
	return reqs
}

func first(parts []part) part {
	if len(parts) == 0 {
		return part{}
	}
	return parts[0]
}

// reviewJSON is the body of the review's request.
func (w *reviewWork) reviewJSON(inline []*reviewComment, in part) any {
	v := w.newReview(inline, in)
	type comment struct {
		Path      string `json:"path"`
		Body      string `json:"body"`
		StartSide string `json:"start_side,omitempty"`
		Side      string `json:"side"`
		StartLine int    `json:"start_line,omitempty"`
		Line      int    `json:"line"`
	}
	list := make([]comment, len(v.Comments))
	for i, d := range v.Comments {
		list[i] = comment{d.Path, d.Body, d.StartSide, d.Side, d.StartLine, d.Line}
	}
	return struct {
		CommitID string    `json:"commit_id,omitempty"`
		Body     string    `json:"body"`
		Event    string    `json:"event"`
		Comments []comment `json:"comments,omitempty"`
	}{v.CommitID, v.Body, v.Event, list}
}

// newReview makes a review of inline comments and one part of the body. The
// event is always COMMENT: an agent's word approves nothing, and nobody can
// request changes on a pull request of their own.
func (w *reviewWork) newReview(inline []*reviewComment, in part) githubapi.NewReview {
	v := githubapi.NewReview{CommitID: w.commit, Event: githubapi.ReviewComment, Body: w.partBody(in, inline)}
	for _, c := range inline {
		side := c.item.Side
		if side == "" {
			side = githubapi.SideRight
		}
		d := githubapi.DraftComment{Path: c.item.Path, Body: w.inlineBody(c), Line: c.item.Line, Side: side}
		if c.item.StartLine != 0 && c.item.StartLine != c.item.Line {
			d.StartLine, d.StartSide = c.item.StartLine, side
		}
		v.Comments = append(v.Comments, d)
	}
	return v
}
