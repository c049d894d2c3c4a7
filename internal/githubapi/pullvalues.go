package githubapi

import "time"

// Pull is a pull request.
type Pull struct {
	ID           int64
	NodeID       string
	Number       int
	Title        string
	Body         string
	State        string // open, closed
	Draft        bool
	Merged       bool
	Locked       bool
	Author       Actor
	Head         PullRef
	Base         PullRef
	ChangedFiles int // only from GetPull, CreatePull and EditPull
	Labels       []string
	Reviewers    []string // logins, and teams as org/team, that were asked for a review and have not given it
	URL          string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// PullFilter restricts ListPulls.
type PullFilter struct {
	State string // open, closed or all; empty means all
	Head  string // owner:branch
	Base  string // branch
}

// NewPull is a pull request to open.
type NewPull struct {
	Title string
	Body  string
	Head  string // branch, or owner:branch of a fork
	Base  string // branch
	Draft bool
}

// PullEdit names the fields of a pull request to change; nil leaves a field as
// it is.
type PullEdit struct {
	Title *string
	Body  *string
}

// PullRef is one end of a pull request.
type PullRef struct {
	Ref    string // branch name
	SHA    string
	Repo   Repo // zero when the fork was deleted
	RepoID int64
}

// PullFile is a file that a pull request changes.
type PullFile struct {
	Path         string
	PreviousPath string // of a renamed file
	Status       string // added, removed, modified, renamed, copied, changed, unchanged
	Patch        string // hunks without file headers; empty for binary files and for those GitHub finds too large
	Additions    int
	Deletions    int
	Changes      int
	SHA          string // of the blob
}

// The events of a review. A review without one would stay a hidden draft, so
// CreateReview refuses an empty Event.
const (
	ReviewComment        = "COMMENT"
	ReviewApprove        = "APPROVE"
	ReviewRequestChanges = "REQUEST_CHANGES"
)

// The sides of a diff that a review comment may stand on.
const (
	SideLeft  = "LEFT"
	SideRight = "RIGHT"
)

// NewReview is a review to post. It is all or nothing: one comment whose
// anchor is not in the diff makes GitHub refuse the whole with a Validation
// error that does not say which one.
type NewReview struct {
	CommitID string // the head commit that the anchors were computed for
	Event    string
	Body     string
	Comments []DraftComment
}

// DraftComment is one comment of a NewReview.
type DraftComment struct {
	Path      string
	Body      string
	Line      int    // last line of the range
	Side      string // SideRight when empty
	StartLine int    // first line; 0 or Line for a single line
	StartSide string // Side when empty
}

// Review is a review that was posted.
type Review struct {
	ID          int64
	NodeID      string
	State       string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED, PENDING
	Body        string
	CommitID    string
	Author      Actor
	URL         string
	SubmittedAt time.Time
}

// DiffComment is a comment on a line or file of a pull request's diff.
type DiffComment struct {
	ID           int64
	NodeID       string
	ReviewID     int64
	InReplyTo    int64
	Path         string
	Body         string
	Line         int // 0 once the comment is outdated, and on whole files
	OriginalLine int
	Side         string
	StartLine    int // 0 for a single line
	StartSide    string
	SubjectType  string // line or file
	CommitID     string
	Author       Actor
	URL          string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// NewDiffComment is a single comment on a pull request's diff.
type NewDiffComment struct {
	CommitID  string
	Path      string
	Body      string
	OnFile    bool   // subject_type: file; the lines and sides are then ignored
	Line      int    // last line of the range
	Side      string // SideRight when empty
	StartLine int    // 0 or Line for a single line
	StartSide string // Side when empty
}
