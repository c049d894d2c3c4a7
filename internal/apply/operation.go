package apply

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// PlanVersion is the version of the plan document's form.
const PlanVersion = 1

// Plan is the document of what would be done, in the order in which it would be
// done. Its JSON form is stable: members are added, never renamed. Whoever
// prints it does so without escaping HTML, so that bodies stay readable.
type Plan struct {
	Version    int    `json:"version"`
	Repository string `json:"repository"` // owner/name
	Event      string `json:"event"`
	// DryRun says that nothing of this plan is written.
	DryRun bool `json:"dry_run"`
	// Permissions are what the token needs for everything that is not staged;
	// for a dry run, for everything.
	Permissions []Permission `json:"permissions"`
	// Unchecked says in plain words what could not be looked at when the plan
	// was made, so that reality may differ from it.
	Unchecked  []string    `json:"unchecked,omitempty"`
	Operations []Operation `json:"operations"`

	entries []*entry
	lost    string // why changes are not delivered that texts go with
	snap    *Snapshot
	config  Config
	ev      event.Event
}

// Operation is one step of a plan: what one or more items of one kind lead to.
type Operation struct {
	// Number counts from 1 in the order of execution.
	Number int             `json:"number"`
	Kind   safeoutput.Kind `json:"kind"`
	// Summary says in one line what is done, in plain text. It may hold the
	// agent's words: whoever shows it escapes it.
	Summary string `json:"summary"`
	// Target is what is acted on: "issue #12", "pull request #7", "repository".
	Target string   `json:"target"`
	Staged bool     `json:"staged,omitempty"`
	Items  []Member `json:"items"`
	// Requests are the writes, in order, exactly as they are sent. An operation
	// whose items are all adopted or skipped has none.
	Requests []Request `json:"requests"`
	// Permissions are what the token needs for this operation.
	Permissions []Permission `json:"permissions,omitempty"`
	// Adopts are the objects that carry the operation's key already.
	Adopts []Object `json:"adopts,omitempty"`
	// Notes say what a reader should know: unchecked anchors, labels that will
	// be created, text that was cut.
	Notes []string `json:"notes,omitempty"`

	work    work
	entries []*entry
	// unanchored says that the lines of review comments could not be checked.
	unanchored bool
}

// Member is one item of an operation.
type Member struct {
	// Index counts the approved items from 0.
	Index int `json:"index"`
	// Line is the item's line in the agent's file.
	Line int             `json:"line"`
	Kind safeoutput.Kind `json:"kind"`
	Key  string          `json:"key"`
	// Outcome is what is expected: apply, adopted, skipped, denied or failed.
	Outcome string `json:"outcome"`
	// Code and Reason say why the outcome is not apply.
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// outcomeApply is the expected outcome of an item that will be written.
const outcomeApply = "apply"

// Request is one write request. Values that are only known once something else
// was done stand in angle brackets, such as "<commit>".
type Request struct {
	// Method is that of HTTP, or PUSH for a push by git.
	Method string `json:"method"`
	// Path is below the API's address, "/graphql" for GraphQL; of a push, the ref.
	Path string          `json:"path"`
	Body json.RawMessage `json:"body,omitempty"`
}

// newRequest makes a Request. The values come from our own types, which always
// have a JSON form.
func newRequest(method, path string, body any) Request {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as it is sent, and readable
	r := Request{Method: method, Path: path}
	if enc.Encode(body) == nil {
		r.Body = bytes.TrimSpace(b.Bytes())
	}
	return r
}

// work is what an operation does. Each kind has its own type.
type work interface {
	// execute writes, and returns one result for each entry of the operation
	// that was not decided by the plan.
	execute(ctx context.Context, x *executor, op *Operation) []Result
}

// Object is something on GitHub that Airlock made.
type Object struct {
	// Type is issue, comment, review, review-comment, discussion,
	// discussion-comment, check-run, sarif, labels (those of the issue Number), pull-request,
	// commit or branch.
	Type   string `json:"type"`
	ID     int64  `json:"id,omitempty"`
	NodeID string `json:"node_id,omitempty"`
	Number int    `json:"number,omitempty"`
	URL    string `json:"url,omitempty"`
	// Branch and SHA are what was pushed: the branch and its last commit; SHA is
	// also the commit of a check run.
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`

	key    string // of the marker
	closed bool   // of an issue: a double that was closed already
	known  *known // of what later attempts or workflow runs go on with, else nil
}

// The types of objects.
const (
	objIssue             = "issue"
	objComment           = "comment"
	objReview            = "review"
	objReviewComment     = "review-comment"
	objDiscussion        = "discussion"
	objDiscussionComment = "discussion-comment"
	objCheckRun          = "check-run"
	objSARIF             = "sarif"
	objLabels            = "labels"
	objPull              = "pull-request"
	objCommit            = "commit"
	objBranch            = "branch"
)
