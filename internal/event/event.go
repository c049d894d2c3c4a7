// Package event turns the webhook payload that started a workflow run into one
// Event: which repository, which issue, pull request or discussion, which
// commits.
package event

import (
	"strings"
	"time"
)

// Event is what started the workflow run.
type Event struct {
	Name   string // "pull_request", "issue_comment", ...; "" when nobody said
	Action string // the payload's "action": "opened", "created", ...
	Repo   Repo
	// Number is the issue, pull request or discussion that the event is about;
	// 0 when there is none.
	Number       int
	IsPull       bool // Number is a pull request
	IsDiscussion bool // Number is a discussion
	// Head and Base are those of the pull request. They stay empty where the
	// payload does not hold them: a comment on a pull request arrives as
	// issue_comment, without them. For workflow_run, Head is the commit that run
	// was for, with or without a pull request.
	Head, Base Ref
	SHA, Ref   string // GITHUB_SHA and GITHUB_REF, or what the payload says
	// Fork reports that Head lies in another repository than Repo, or in one
	// that no longer exists. It says nothing while Head is empty.
	Fork bool
	// CommentID is the REST id of the comment or review comment that the event
	// is about; 0 when there is none.
	CommentID int64
	Actor     string // the login of who caused the event
	// Time is when the event happened; zero when the payload does not say.
	Time time.Time
	// Notice says in plain words what the payload lacks that an issue, pull
	// request or discussion event would have; "" when nothing is missing.
	Notice string
}

// Repo is the repository that the workflow run belongs to.
type Repo struct {
	ID            int64 // 0 when unknown
	Owner, Name   string
	DefaultBranch string // "" when unknown
	Private       bool
}

// FullName returns "owner/name", or "" for the zero Repo.
func (r Repo) FullName() string {
	if r.Owner == "" && r.Name == "" {
		return ""
	}
	return r.Owner + "/" + r.Name
}

// Ref is one end of a pull request.
type Ref struct {
	Ref  string // branch name, without refs/heads/
	SHA  string
	Repo string // "owner/name"; "" when the repository was deleted
}

// Env holds the environment variables that describe a workflow run, each field
// with the text of its variable, "" when unset.
type Env struct {
	EventName       string    // GITHUB_EVENT_NAME
	Repository      string    // GITHUB_REPOSITORY, "owner/name"
	RepositoryID    string    // GITHUB_REPOSITORY_ID
	SHA             string    // GITHUB_SHA
	Ref             string    // GITHUB_REF
	Actor           string    // GITHUB_ACTOR
	TriggeringActor string    // GITHUB_TRIGGERING_ACTOR
	RunID           string    // GITHUB_RUN_ID
	RunNumber       string    // GITHUB_RUN_NUMBER
	RunAttempt      string    // GITHUB_RUN_ATTEMPT
	WorkflowRef     string    // GITHUB_WORKFLOW_REF, "owner/name/.github/workflows/x.yml@refs/heads/main"
	Workflow        string    // GITHUB_WORKFLOW, the workflow's name
	Job             string    // GITHUB_JOB, the job's key
	Step            string    // GITHUB_ACTION, the step's id or a name the runner made
	MatrixIndex     string    // strategy.job-index, by an input of the action: the runner exports no variable for it
	ServerURL       string    // GITHUB_SERVER_URL
	StartedAt       time.Time // when the job started, as far as it is known
}

// ParseRepo reads "owner/name". It accepts only what GitHub accepts in the two
// names, so that they may stand in a URL as they are.
func ParseRepo(s string) (Repo, bool) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !validName(owner, 39) || !validName(name, 100) {
		return Repo{}, false
	}
	return Repo{Owner: owner, Name: name}, true
}

// validName reports whether s consists of letters, digits, '-', '_' and '.'
// and is not a path element with a meaning of its own.
func validName(s string, most int) bool {
	if s == "" || len(s) > most || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}
