package event

import (
	"encoding/json"
	"time"
)

// payload contains the members of all of GitHub's webhook payloads that Airlock
// reads. Members that an event lacks have their zero value.
type payload struct {
	common
	PullRequest   *pullRequest    `json:"pull_request"`
	Issue         *issue          `json:"issue"`
	Discussion    *discussion     `json:"discussion"`
	Comment       *comment        `json:"comment"`
	Review        *review         `json:"review"`
	WorkflowRun   *workflowRun    `json:"workflow_run"`
	Schedule      *string         `json:"schedule"`
	ClientPayload json.RawMessage `json:"client_payload"`
	WorkflowPath  any             `json:"workflow"` // an object, not a path, in workflow_run
}

// common contains the members that are read of an unknown event, too.
type common struct {
	Action     string      `json:"action"`
	Repository *repository `json:"repository"`
	Sender     *user       `json:"sender"`
	Ref        string      `json:"ref"`
	After      string      `json:"after"`
	Branch     string      `json:"branch"`
}

type repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
}

type user struct {
	Login string `json:"login"`
}

type pullRequest struct {
	Number    int       `json:"number"`
	Head      endpoint  `json:"head"`
	Base      endpoint  `json:"base"`
	Merged    bool      `json:"merged"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type endpoint struct {
	Ref  string      `json:"ref"`
	SHA  string      `json:"sha"`
	Repo *repository `json:"repo"`
}

type issue struct {
	Number      int       `json:"number"`
	PullRequest *struct{} `json:"pull_request"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

type discussion struct {
	Number    int       `json:"number"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type comment struct {
	ID        int64     `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type review struct {
	SubmittedAt time.Time `json:"submitted_at"`
}

type workflowRun struct {
	Event          string        `json:"event"`
	HeadBranch     string        `json:"head_branch"`
	HeadSHA        string        `json:"head_sha"`
	HeadRepository *repository   `json:"head_repository"`
	PullRequests   []pullRequest `json:"pull_requests"`
	RunStartedAt   time.Time     `json:"run_started_at"`
	UpdatedAt      time.Time     `json:"updated_at"`
}

// InferName guesses an event's name from the members of its payload. It returns
// "" if none fits, and "pull_request" for pull_request_target, whose payload has
// the same members.
func InferName(data []byte) string {
	var p payload
	if json.Unmarshal(data, &p) != nil {
		return ""
	}
	switch {
	case p.WorkflowRun != nil:
		return "workflow_run"
	case p.Discussion != nil && p.Comment != nil:
		return "discussion_comment"
	case p.Discussion != nil:
		return "discussion"
	case p.Issue != nil && p.Comment != nil:
		return "issue_comment"
	case p.Issue != nil:
		return "issues"
	case p.PullRequest != nil && p.Review != nil:
		return "pull_request_review"
	case p.PullRequest != nil && p.Comment != nil:
		return "pull_request_review_comment"
	case p.PullRequest != nil:
		return "pull_request"
	case p.After != "" && p.Ref != "":
		return "push"
	case p.ClientPayload != nil:
		return "repository_dispatch"
	case p.Schedule != nil:
		return "schedule"
	case p.WorkflowPath != nil && p.Ref != "":
		return "workflow_dispatch"
	}
	return ""
}
