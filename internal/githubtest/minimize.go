package githubtest

import "strings"

// minimizeComment hides a review comment. An author may hide the own ones, and
// whoever may write to the repository every one.
func (s *Server) minimizeComment(_ *conversation, in map[string]any) (any, error) {
	d := s.diffCommentByNode(in["subjectId"])
	if d == nil {
		return nil, missingNode(in["subjectId"])
	}
	d.Minimized = strings.ToLower(in["classifier"].(string))
	return &node{typ: "MinimizeCommentPayload", fields: object{"minimizedComment": minimizable(d)}}, nil
}

func (s *Server) unminimizeComment(_ *conversation, in map[string]any) (any, error) {
	d := s.diffCommentByNode(in["subjectId"])
	if d == nil {
		return nil, missingNode(in["subjectId"])
	}
	d.Minimized = ""
	return &node{typ: "UnminimizeCommentPayload", fields: object{"unminimizedComment": minimizable(d)}}, nil
}

func minimizable(d *DiffComment) *node {
	n := &node{typ: "PullRequestReviewComment", fields: object{"isMinimized": d.Minimized != "", "minimizedReason": nil, "viewerCanMinimize": true}}
	if d.Minimized != "" {
		n.fields["minimizedReason"] = d.Minimized
	}
	return n
}

func (s *Server) diffCommentByNode(id any) *DiffComment {
	for _, i := range s.state.Issues {
		if i.Pull == nil {
			continue
		}
		for _, d := range i.Pull.Comments {
			if nodeID("PRRC", d.ID) == id {
				return d
			}
		}
	}
	return nil
}
