package safeoutput

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// Item is one safe output of one kind: a pointer to one of the types below or,
// for Airlock's own items, in internal.go.
type Item interface {
	// Kind returns the item's canonical kind.
	Kind() Kind
	// Texts returns every text of the item that people will read. Intake cleans
	// these and no others; a test asserts that none is missing.
	Texts() []Text
}

// TextMode is how a published text is displayed, and therefore how it is cleaned.
type TextMode int

// The modes of a text.
const (
	Body    TextMode = iota // Markdown, as cmark-gfm reads it
	Title                   // one line, shown as plain text with mentions live
	Label                   // a label's name
	Plain                   // raw text of one line, such as the name of a branch or a tool
	Commit                  // a commit's message: raw text
	Literal                 // shown as it is, without mentions or links
	Message                 // as Literal, but a text in SARIF, which may embed links
)

// Text is one text field of an item.
type Text struct {
	// Field is the field's name in JSON, with an index if it is a list: "labels[2]".
	Field string
	Mode  TextMode
	Value *string
}

// In each type below, Repo is the repository that the agent named, as owner/name or as its
// name alone; "" if it named none. Policy denies any other than the workflow run's, so an
// approved item has none.

// SameRepository reports whether name, which is owner/name or the name alone, names the repository
// whose owner/name is full. As on GitHub, the case of ASCII letters does not count.
func SameRepository(name, full string) bool {
	if !strings.Contains(name, "/") {
		_, full, _ = strings.Cut(full, "/")
	}
	// Other letters that fold to ASCII ones, such as the Kelvin sign, take more bytes.
	return len(name) == len(full) && strings.EqualFold(name, full)
}

// CreateIssue opens an issue.
type CreateIssue struct {
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels,omitempty"`
	Repo   string   `json:"repo,omitempty"`
}

// AddIssueComment comments on an issue, a pull request or a discussion.
type AddIssueComment struct {
	Body string `json:"body"`
	// IssueNumber, PullRequestNumber and DiscussionNumber name the target; at most one of
	// them is set, and none if the agent left the choice to the policy's target.
	IssueNumber       int    `json:"issue_number,omitempty"`
	PullRequestNumber int    `json:"pull_request_number,omitempty"`
	DiscussionNumber  int    `json:"discussion_number,omitempty"`
	Repo              string `json:"repo,omitempty"`
}

// CreatePullRequest opens a pull request with the agent's changes.
type CreatePullRequest struct {
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Branch string   `json:"branch,omitempty"`
	Base   string   `json:"base,omitempty"` // the item is denied unless this is the base that is used anyway
	Labels []string `json:"labels,omitempty"`
	Draft  *bool    `json:"draft,omitempty"`
	Repo   string   `json:"repo,omitempty"`
}

// AddIssueLabel adds labels to an issue or a pull request.
type AddIssueLabel struct {
	Labels            []string `json:"labels"`
	IssueNumber       int      `json:"issue_number,omitempty"`
	PullRequestNumber int      `json:"pull_request_number,omitempty"`
	Repo              string   `json:"repo,omitempty"`
}

// UpdateIssue changes at least one of an issue's status, title and body. A nil
// field does not change.
type UpdateIssue struct {
	Status      *string `json:"status,omitempty"` // "open" or "closed"
	Title       *string `json:"title,omitempty"`
	Body        *string `json:"body,omitempty"`
	Operation   string  `json:"operation,omitempty"` // what is done with Body; "" is the configured operation or, in an approved item, replace
	IssueNumber int     `json:"issue_number,omitempty"`
	Repo        string  `json:"repo,omitempty"`
}

// The operations of UpdateIssue: where its body goes.
const (
	OperationReplace       = "replace"
	OperationAppend        = "append"
	OperationPrepend       = "prepend"
	OperationReplaceIsland = "replace-island" // replaces only what the same job of the workflow wrote by this operation
)

// PushToBranch pushes the agent's changes to an existing branch.
type PushToBranch struct {
	Message           string `json:"message,omitempty"`
	PullRequestNumber int    `json:"pull_request_number,omitempty"`
	Branch            string `json:"branch,omitempty"` // the item is denied unless this is the branch of the pull request
	Repo              string `json:"repo,omitempty"`
}

// CreateReviewComment comments on lines of a pull request's diff.
type CreateReviewComment struct {
	Path string `json:"path"` // relative, slash-separated, without ".."
	Line int    `json:"line"`
	Body string `json:"body"`
	// StartLine is 0 for a comment on one line, otherwise at most Line.
	StartLine         int    `json:"start_line,omitempty"`
	Side              string `json:"side,omitempty"` // "LEFT", "RIGHT", or "" for the configured side
	PullRequestNumber int    `json:"pull_request_number,omitempty"`
	Repo              string `json:"repo,omitempty"`
}

// CreateDiscussion opens a discussion.
type CreateDiscussion struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	Category string `json:"category,omitempty"` // name, slug or node id
	Repo     string `json:"repo,omitempty"`
}

// MissingTool reports that the agent lacked a tool.
type MissingTool struct {
	Tool         string `json:"tool"`
	Reason       string `json:"reason"`
	Alternatives string `json:"alternatives,omitempty"`
}

// MissingData reports that the agent lacked data: DataType, Reason, or both are set.
type MissingData struct {
	DataType     string `json:"data_type,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Context      string `json:"context,omitempty"`
	Alternatives string `json:"alternatives,omitempty"`
}

// ReportIncomplete reports that the agent did not complete its task.
type ReportIncomplete struct {
	Reason  string `json:"reason"`
	Details string `json:"details,omitempty"`
}

// CreateSecurityReport is either a complete SARIF log or one finding: exactly one
// of SARIF and File is set.
type CreateSecurityReport struct {
	SARIF        json.RawMessage `json:"sarif,omitempty"` // always an object here; the string form is parsed on the way in
	Category     string          `json:"category,omitempty"`
	File         string          `json:"file,omitempty"`
	Line         int             `json:"line,omitempty"`
	Column       int             `json:"column,omitempty"`
	Severity     string          `json:"severity,omitempty"`
	Message      string          `json:"message,omitempty"`
	RuleIDSuffix string          `json:"ruleIdSuffix,omitempty"`
	Repo         string          `json:"repo,omitempty"`
}

// Noop reports that there was nothing to do.
type Noop struct {
	Message string `json:"message"`
}

// Kind implements Item.
func (*CreateIssue) Kind() Kind { return KindCreateIssue }

// Kind implements Item.
func (*AddIssueComment) Kind() Kind { return KindAddIssueComment }

// Kind implements Item.
func (*CreatePullRequest) Kind() Kind { return KindCreatePullRequest }

// Kind implements Item.
func (*AddIssueLabel) Kind() Kind { return KindAddIssueLabel }

// Kind implements Item.
func (*UpdateIssue) Kind() Kind { return KindUpdateIssue }

// Kind implements Item.
func (*PushToBranch) Kind() Kind { return KindPushToBranch }

// Kind implements Item.
func (*CreateReviewComment) Kind() Kind { return KindCreateReviewComment }

// Kind implements Item.
func (*CreateDiscussion) Kind() Kind { return KindCreateDiscussion }

// Kind implements Item.
func (*MissingTool) Kind() Kind { return KindMissingTool }

// Kind implements Item.
func (*MissingData) Kind() Kind { return KindMissingData }

// Kind implements Item.
func (*ReportIncomplete) Kind() Kind { return KindReportIncomplete }

// Kind implements Item.
func (*CreateSecurityReport) Kind() Kind { return KindCreateSecurityReport }

// Kind implements Item.
func (*Noop) Kind() Kind { return KindNoop }

// Texts implements Item.
func (i *CreateIssue) Texts() []Text {
	return append([]Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}}, labelTexts(i.Labels)...)
}

// Texts implements Item.
func (i *AddIssueComment) Texts() []Text { return []Text{{"body", Body, &i.Body}} }

// Texts implements Item.
func (i *CreatePullRequest) Texts() []Text {
	t := []Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}, {"branch", Plain, &i.Branch}}
	return append(t, labelTexts(i.Labels)...)
}

// Texts implements Item.
func (i *AddIssueLabel) Texts() []Text { return labelTexts(i.Labels) }

// Texts implements Item.
func (i *UpdateIssue) Texts() []Text {
	var t []Text
	if i.Title != nil {
		t = append(t, Text{"title", Title, i.Title})
	}
	if i.Body != nil {
		t = append(t, Text{"body", Body, i.Body})
	}
	return t
}

// Texts implements Item.
func (i *PushToBranch) Texts() []Text { return []Text{{"message", Commit, &i.Message}} }

// Texts implements Item.
func (i *CreateReviewComment) Texts() []Text { return []Text{{"body", Body, &i.Body}} }

// Texts implements Item.
func (i *CreateDiscussion) Texts() []Text {
	return []Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}, {"category", Plain, &i.Category}}
}

// Texts implements Item.
func (i *MissingTool) Texts() []Text {
	return []Text{{"tool", Plain, &i.Tool}, {"reason", Body, &i.Reason}, {"alternatives", Body, &i.Alternatives}}
}

// Texts implements Item.
func (i *MissingData) Texts() []Text {
	return []Text{{"data_type", Plain, &i.DataType}, {"reason", Body, &i.Reason}, {"context", Body, &i.Context}, {"alternatives", Body, &i.Alternatives}}
}

// Texts implements Item.
func (i *ReportIncomplete) Texts() []Text {
	return []Text{{"reason", Body, &i.Reason}, {"details", Body, &i.Details}}
}

// Texts implements Item. Texts inside SARIF are cleaned by package sarif.
func (i *CreateSecurityReport) Texts() []Text {
	return []Text{{"category", Plain, &i.Category}, {"message", Message, &i.Message}}
}

// Texts implements Item.
func (i *Noop) Texts() []Text { return []Text{{"message", Body, &i.Message}} }

func labelTexts(labels []string) []Text {
	t := make([]Text, len(labels))
	for n := range labels {
		t[n] = Text{LabelField(n), Label, &labels[n]}
	}
	return t
}

// labelFields are the field names of as many labels as an item can have, so that they
// are not allocated for each item.
var labelFields = sync.OnceValue(func() []string {
	names := make([]string, 100)
	for n := range names {
		names[n] = "labels[" + strconv.Itoa(n) + "]"
	}
	return names
})

// LabelField returns the name of the n-th label's field, counted from 0:
// "labels[2]".
func LabelField(n int) string {
	if names := labelFields(); n < len(names) {
		return names[n]
	}
	return "labels[" + strconv.Itoa(n) + "]"
}
