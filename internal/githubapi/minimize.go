package githubapi

import "context"

// The reasons for which a comment is hidden, as GraphQL spells them.
const (
	Resolved  = "RESOLVED"
	Outdated  = "OUTDATED"
	Duplicate = "DUPLICATE"
)

// pullsWrite is needed to hide a comment of one's own; GraphQL does not say so.
const pullsWrite = "pull_requests=write"

// MinimizeComment hides a comment, by its node id, for a reason that readers see.
// A comment that is hidden already is hidden once more without harm.
func (c *Client) MinimizeComment(ctx context.Context, nodeID, reason string) error {
	return c.minimizing(ctx, "hide a comment", minimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID, "classifier": reason})
}

// UnminimizeComment shows a hidden comment, by its node id, again.
func (c *Client) UnminimizeComment(ctx context.Context, nodeID string) error {
	return c.minimizing(ctx, "show a hidden comment", unminimizeCommentMutation, nodeID, map[string]any{"subjectId": nodeID})
}

func (c *Client) minimizing(ctx context.Context, op, mutation, nodeID string, input map[string]any) error {
	if nodeID == "" {
		return usage(op, Repo{}, "the comment has no node id")
	}
	var out struct{}
	return c.query(ctx, &call{op: op, write: true, needs: pullsWrite}, mutation, map[string]any{"input": input}, &out)
}
