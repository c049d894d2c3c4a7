package apply

import (
	"cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// Object is something on GitHub that Airlock created or changed.
type Object struct {
	// Type is issue, comment, review, review-comment, discussion, discussion-comment,
	// check-run, sarif, labels (those of the issue Number), pull-request, commit or branch.
	Type   string `json:"type"`
	ID     int64  `json:"id,omitempty"`
	NodeID string `json:"node_id,omitempty"`
	Number int    `json:"number,omitempty"`
	URL    string `json:"url,omitempty"`
	// Branch and SHA are what was pushed: the branch and its last commit. SHA is also the
	// commit of a check run.
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`

	key    string // from its marker or external id; "" for a pending review, and where none was read
	claim  string // which of the jobs with the same identity wrote it; "" if unknown
	closed bool   // set for a closed issue
	review int64  // id of a review comment's review
	known  *known // nil for an object that later attempts and workflow runs do not update
}

// known is the state of an object that later attempts and workflow runs may update.
type known struct {
	history
	body        string
	annotations int  // number of annotations of a check run
	answered    bool // set for a review comment that has replies
	pending     bool // set for a review that is not submitted yet
}

// pending reports whether the object is a review that is not submitted yet.
func (o Object) pending() bool { return o.known != nil && o.known.pending }

func (o Object) same(p Object) bool { return o.Type == p.Type && o.ID == p.ID && o.NodeID == p.NodeID }

func compareIDs(a, b Object) int { return cmp.Compare(a.ID, b.ID) }

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

// readKey takes an object's key, the claim of the job that wrote it and, for an object that is
// updated, its state, from its text and the markers there.
func (o *Object) readKey(body string) {
	if key, ok := markdown.LastLineMarker(body); ok {
		o.key, o.known = readMarker(key, body)
		o.claim = markdown.LastLineClaim(body)
	}
}

func issueObject(i githubapi.Issue) Object {
	return Object{Type: objIssue, ID: i.ID, NodeID: i.NodeID, Number: i.Number, URL: i.URL, closed: i.State == "closed"}
}

func commentObject(c githubapi.Comment, number int) Object {
	return Object{Type: objComment, ID: c.ID, NodeID: c.NodeID, Number: number, URL: c.URL}
}

func reviewObject(v githubapi.Review, number int) Object {
	return Object{Type: objReview, ID: v.ID, NodeID: v.NodeID, Number: number, URL: v.URL}
}

func diffCommentObject(c githubapi.DiffComment, number int) Object {
	return Object{Type: objReviewComment, ID: c.ID, NodeID: c.NodeID, Number: number, URL: c.URL, review: c.ReviewID}
}

func checkRunObject(k githubapi.CheckRun) Object {
	return Object{Type: objCheckRun, ID: k.ID, NodeID: k.NodeID, URL: k.URL, SHA: k.HeadSHA, known: &known{annotations: k.Annotations}}
}

func discussionObject(d githubapi.Discussion) Object {
	return Object{Type: objDiscussion, ID: d.DatabaseID, NodeID: d.ID, Number: d.Number, URL: d.URL}
}

func discussionCommentObject(c githubapi.DiscussionComment, number int) Object {
	return Object{Type: objDiscussionComment, ID: c.DatabaseID, NodeID: c.ID, Number: number, URL: c.URL}
}
