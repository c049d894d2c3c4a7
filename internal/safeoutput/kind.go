// Package safeoutput is the union of everything an agent may ask for: the kind
// table, one Go type a kind, the names agents use for them, the bounded NDJSON
// reader, and canonical decoding and encoding. It judges nothing: structure is
// the schema's, cleaning is intake's, permission is policy's.
package safeoutput

// Kind is the canonical name of a safe output, the value of its "type" field.
type Kind string

// The kinds an agent can name, in the order of the published table.
const (
	KindCreateIssue          Kind = "create-issue"
	KindAddIssueComment      Kind = "add-issue-comment"
	KindCreatePullRequest    Kind = "create-pull-request"
	KindAddIssueLabel        Kind = "add-issue-label"
	KindUpdateIssue          Kind = "update-issue"
	KindPushToBranch         Kind = "push-to-branch"
	KindCreateReviewComment  Kind = "create-pull-request-review-comment"
	KindCreateDiscussion     Kind = "create-discussion"
	KindMissingTool          Kind = "missing-tool"
	KindCreateSecurityReport Kind = "create-security-report"
	KindNoop                 Kind = "noop"
)
