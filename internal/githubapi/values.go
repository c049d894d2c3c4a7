package githubapi

import "time"

// Actor is a user, a bot or an organization. Compare DatabaseID and never
// Login: REST writes "name[bot]" where GraphQL writes "name", and logins can
// be renamed. The zero Actor is an account that no longer exists.
type Actor struct {
	Login      string
	DatabaseID int64
}

// Repository is what GetRepo returns.
type Repository struct {
	ID             int64
	NodeID         string
	Repo           Repo // as GitHub spells it
	DefaultBranch  string
	Private        bool
	Archived       bool // read-only: every write is refused
	HasIssues      bool
	HasDiscussions bool
	URL            string // for people
	CloneURL       string
}

// Issue is an issue, or a pull request seen as one.
type Issue struct {
	ID          int64
	NodeID      string
	Number      int
	Title       string
	Body        string
	State       string // open, closed
	StateReason string // completed, not_planned, reopened, duplicate or empty
	Labels      []string
	Author      Actor
	IsPull      bool
	Locked      bool
	Comments    int
	URL         string // for people
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// NewIssue is an issue to create.
type NewIssue struct {
	Title  string
	Body   string
	Labels []string // labels that do not exist are created by GitHub
}

// IssueEdit names the fields of an issue to change; nil leaves a field as it is.
type IssueEdit struct {
	Title       *string
	Body        *string
	State       *string // open, closed
	StateReason *string // completed, not_planned, duplicate, reopened
}

// IssueFilter restricts ListIssues.
type IssueFilter struct {
	State  string    // open, closed or all; empty means all
	Since  time.Time // updated at or after; zero means no limit
	Labels []string  // all of them
}

// Edit is one change that somebody made to an issue or pull request.
type Edit struct {
	Field  string // EditTitle, EditBody or EditState
	Editor Actor
	At     time.Time
}

// The fields that an Edit names.
const (
	EditTitle = "title"
	EditBody  = "body"
	EditState = "state"
)

// Comment is a comment on an issue or in a pull request's conversation.
type Comment struct {
	ID        int64
	NodeID    string
	Body      string
	Author    Actor
	URL       string
	CreatedAt time.Time
	UpdatedAt time.Time
}

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
	WholeFile bool   // subject_type: file; the lines and sides are then ignored
	Line      int    // last line of the range
	Side      string // SideRight when empty
	StartLine int    // 0 or Line for a single line
	StartSide string // Side when empty
}

// DiscussionCategory is a place for discussions.
type DiscussionCategory struct {
	ID           string // node id
	RepositoryID string // node id, which NewDiscussion wants
	Name         string
	Slug         string
	Answerable   bool
}

// NewDiscussion is a discussion to create.
type NewDiscussion struct {
	RepositoryID string // node id: DiscussionCategory.RepositoryID or Repository.NodeID
	CategoryID   string // node id
	Title        string
	Body         string
}

// Discussion is a discussion of a repository.
type Discussion struct {
	ID         string // node id
	DatabaseID int64
	Number     int
	Title      string
	Body       string
	Category   DiscussionCategory
	Author     Actor
	Closed     bool
	Locked     bool
	URL        string
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// DiscussionComment is a top-level comment of a discussion.
type DiscussionComment struct {
	ID         string // node id
	DatabaseID int64
	Body       string
	Author     Actor
	URL        string
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// SARIFUpload is a SARIF file to hand to code scanning.
type SARIFUpload struct {
	CommitSHA   string    // 40 hexadecimal digits
	Ref         string    // refs/heads/..., refs/pull/N/merge, refs/pull/N/head
	SARIF       string    // base64 of gzip
	CheckoutURI string    // where the repository was checked out, or empty
	StartedAt   time.Time // zero: not sent
	ToolName    string    // only read by GitHub when the SARIF names no tool
}

// SARIFStatus says how far GitHub is with an upload.
type SARIFStatus struct {
	State  string   // SARIFPending, SARIFComplete or SARIFFailed
	Errors []string // of a failed one
}

// The states of a SARIF upload.
const (
	SARIFPending  = "pending"
	SARIFComplete = "complete"
	SARIFFailed   = "failed"
)
