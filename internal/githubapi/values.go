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
