// Package event turns the webhook payload that started a workflow run into one
// Event: which repository, which issue, pull request or discussion, which
// commits.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// ErrNoRepository is returned when neither the payload nor the environment
// names the repository.
var ErrNoRepository = errors.New("the event names no repository: set GITHUB_REPOSITORY, or give the repository as owner/name (--repo)")

// subject is what an event is about, and so which member its payload must have.
type subject int

const (
	nothing subject = iota
	onPull
	onIssue
	onDiscussion
	onRun
)

func subjectOf(name string) (s subject, known bool) {
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		return onPull, true
	case "issues", "issue_comment":
		return onIssue, true
	case "discussion", "discussion_comment":
		return onDiscussion, true
	case "workflow_run":
		return onRun, true
	case "workflow_dispatch", "repository_dispatch", "schedule", "push":
		return nothing, true
	}
	return nothing, false
}

// Parse reads the payload of the named event. With an empty name it takes
// env.EventName, and without that it infers the name from the payload. An event
// it does not know is reduced to repository, SHA and ref, and Notice says so.
//
// The repository of the payload and that of the environment must agree: the
// token belongs to the one, the items would be aimed by the other.
func Parse(name string, data []byte, env Env) (Event, error) {
	if name == "" {
		name = env.EventName
	}
	if name == "" {
		name = InferName(data)
	}
	s, known := subjectOf(name)
	p, err := decode(data, known)
	if err != nil {
		return Event{}, err
	}
	ev := Event{Name: name, Action: p.Action, SHA: commit(env.SHA), Ref: env.Ref, Actor: env.Actor}
	if p.Sender != nil && p.Sender.Login != "" {
		ev.Actor = p.Sender.Login
	}
	if ev.Repo, err = repoOf(p.Repository, env); err != nil {
		return Event{}, err
	}
	switch s {
	case onPull:
		err = ev.fromPull(p)
	case onIssue:
		err = ev.fromIssue(p)
	case onDiscussion:
		err = ev.fromDiscussion(p)
	case onRun:
		err = ev.fromRun(p)
	default:
		ev.fromRest(p, known)
	}
	if err != nil {
		return Event{}, err
	}
	return ev, nil
}

// decode reads the payload's JSON and explains what is wrong with it. The
// members of an event that is not known may be of any type: those that do not
// fit are left out.
func decode(data []byte, known bool) (payload, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	var p payload
	switch {
	case len(trimmed) == 0:
		return p, errors.New("the event payload is empty: GITHUB_EVENT_PATH (or --event) must name the JSON file of a webhook event")
	case !utf8.Valid(data):
		return p, errors.New("the event payload is not text: it must be the JSON file of a webhook event")
	case trimmed[0] != '{':
		return p, errors.New("the event payload is not a JSON object: it must be the JSON file of a webhook event")
	}
	if err := json.Unmarshal(data, &p); err != nil {
		var syn *json.SyntaxError
		var typ *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syn):
			return p, fmt.Errorf("the event payload is not valid JSON, line %d: %w", line(data, syn.Offset), err)
		case errors.As(err, &typ) && !known:
			return p, nil
		case errors.As(err, &typ):
			return p, fmt.Errorf("the event payload is not that of a webhook event: %q cannot be a %s", typ.Field, typ.Value)
		}
		return p, fmt.Errorf("the event payload is not that of a webhook event: %w", err)
	}
	return p, nil
}

// line returns the number of the line that holds the byte before offset.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset-1, 0), int64(len(data)))], []byte("\n"))
}

func repoOf(r *repository, env Env) (Repo, error) {
	var fromEnv Repo
	if env.Repository != "" {
		var ok bool
		if fromEnv, ok = ParseRepo(env.Repository); !ok {
			return Repo{}, fmt.Errorf("GITHUB_REPOSITORY %q is not a repository: give it as owner/name", env.Repository)
		}
		fromEnv.ID, _ = strconv.ParseInt(env.RepositoryID, 10, 64)
	}
	if r == nil || r.FullName == "" {
		if env.Repository == "" {
			return Repo{}, ErrNoRepository
		}
		return fromEnv, nil
	}
	repo, ok := ParseRepo(r.FullName)
	if !ok {
		return Repo{}, fmt.Errorf("the event payload's repository %q is not a repository name", r.FullName)
	}
	repo.ID, repo.DefaultBranch, repo.Private = r.ID, r.DefaultBranch, r.Private
	if env.Repository == "" {
		return repo, nil
	}
	same := strings.EqualFold(repo.FullName(), fromEnv.FullName())
	if repo.ID != 0 && fromEnv.ID != 0 {
		same = repo.ID == fromEnv.ID // a repository may have been renamed since the event
	}
	if !same {
		return Repo{}, fmt.Errorf("the event payload is about %s, but this workflow run belongs to %s: give the payload of this repository's event, or unset GITHUB_REPOSITORY", repo.FullName(), fromEnv.FullName())
	}
	repo.Owner, repo.Name = fromEnv.Owner, fromEnv.Name
	if repo.ID == 0 {
		repo.ID = fromEnv.ID
	}
	return repo, nil
}

// commit returns sha, or "" for the all-zero id that stands for no commit.
func commit(sha string) string {
	if strings.Trim(sha, "0") == "" {
		return ""
	}
	return sha
}

// latest returns the latest of the times.
func latest(times ...time.Time) (t time.Time) {
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

func missing(name, member string) error {
	return fmt.Errorf("the payload of a %s event must have %q with a number: is this the payload of another event?", name, member)
}

func (ev *Event) fromPull(p payload) error {
	pr := p.PullRequest
	if pr == nil || pr.Number <= 0 {
		return missing(ev.Name, "pull_request")
	}
	ev.Number, ev.IsPull = pr.Number, true
	ev.Head, ev.Base = refOf(pr.Head), refOf(pr.Base)
	ev.Fork = ev.foreign(pr.Head.Repo)
	ev.setComment(p.Comment)
	switch {
	case p.Review != nil && !p.Review.SubmittedAt.IsZero():
		ev.Time = p.Review.SubmittedAt
	case p.Comment == nil:
		ev.Time = latest(pr.UpdatedAt, pr.CreatedAt)
	}
	if ev.SHA == "" {
		ev.SHA = ev.Head.SHA
	}
	if ev.Ref == "" {
		ev.Ref = "refs/pull/" + strconv.Itoa(pr.Number) + "/merge"
		if ev.Name == "pull_request_target" {
			ev.Ref = branch(ev.Base.Ref)
		}
	}
	return nil
}

func (ev *Event) fromIssue(p payload) error {
	if p.Issue == nil || p.Issue.Number <= 0 {
		return missing(ev.Name, "issue")
	}
	ev.Number, ev.IsPull = p.Issue.Number, p.Issue.PullRequest != nil
	ev.Time = latest(p.Issue.UpdatedAt, p.Issue.CreatedAt)
	ev.setComment(p.Comment)
	ev.onDefaultBranch()
	if ev.IsPull {
		ev.Notice = fmt.Sprintf("the %s event does not carry the commits of pull request #%d: they are read through the API", ev.Name, ev.Number)
	}
	return nil
}

func (ev *Event) fromDiscussion(p payload) error {
	if p.Discussion == nil || p.Discussion.Number <= 0 {
		return missing(ev.Name, "discussion")
	}
	ev.Number, ev.IsDiscussion = p.Discussion.Number, true
	ev.Time = latest(p.Discussion.UpdatedAt, p.Discussion.CreatedAt)
	ev.setComment(p.Comment)
	ev.onDefaultBranch()
	return nil
}

// fromRun reads a workflow_run event. GitHub lists the pull requests whose head
// is the run's commit, of every repository, and none for a fork: the event is
// about a pull request when exactly one of them is into this repository.
func (ev *Event) fromRun(p payload) error {
	w := p.WorkflowRun
	if w == nil {
		return missing(ev.Name, "workflow_run")
	}
	ev.Head = Ref{Ref: w.HeadBranch, SHA: commit(w.HeadSHA)}
	if w.HeadRepository != nil {
		ev.Head.Repo = w.HeadRepository.FullName
	}
	ev.Fork = ev.foreign(w.HeadRepository)
	ev.Time = latest(w.RunStartedAt, w.UpdatedAt)
	ev.onDefaultBranch()
	var here []pullRequest
	for _, pr := range w.PullRequests {
		if pr.Number > 0 && pr.Base.Repo != nil && pr.Base.Repo.ID == ev.Repo.ID {
			here = append(here, pr)
		}
	}
	switch len(here) {
	case 1:
		ev.Number, ev.IsPull = here[0].Number, true
		ev.Base = refOf(here[0].Base)
		ev.Base.Repo = ev.Repo.FullName()
	case 0:
		ev.Notice = "the workflow_run event carries no pull request of this repository (GitHub lists none for a fork): there is no triggering issue or pull request"
	default:
		ev.Notice = fmt.Sprintf("the workflow_run event carries %d pull requests: none of them is taken as the triggering one", len(here))
	}
	return nil
}

// fromRest reads the events that are about no issue, pull request or
// discussion, and those that Airlock does not know.
func (ev *Event) fromRest(p payload, known bool) {
	if ev.SHA == "" {
		ev.SHA = commit(p.After)
	}
	if ev.Ref == "" {
		ev.Ref = p.Ref
	}
	if ev.Ref == "" {
		ev.Ref = branch(p.Branch)
	}
	switch {
	case known:
		ev.Notice = fmt.Sprintf("a %s event is about no issue, pull request or discussion", ev.Name)
	case ev.Name == "":
		ev.Notice = "the event has no name (GITHUB_EVENT_NAME is not set) and its payload fits none: only repository, commit and ref are known"
	default:
		ev.Notice = fmt.Sprintf("airlock does not read %q events: only repository, commit and ref are known", ev.Name)
	}
	ev.onDefaultBranch()
}

// setComment takes over the comment that the event is about.
func (ev *Event) setComment(c *comment) {
	if c != nil {
		ev.CommentID = c.ID
		ev.Time = latest(c.CreatedAt, c.UpdatedAt)
	}
}

// onDefaultBranch fills in the ref of events that run on the default branch.
func (ev *Event) onDefaultBranch() {
	if ev.Ref == "" {
		ev.Ref = branch(ev.Repo.DefaultBranch)
	}
}

// foreign reports whether r is another repository than the event's, compared by
// id because names change hands. A deleted or unnamed one is foreign.
func (ev *Event) foreign(r *repository) bool {
	switch {
	case r == nil:
		return true
	case r.ID != 0 && ev.Repo.ID != 0:
		return r.ID != ev.Repo.ID
	default:
		return !strings.EqualFold(r.FullName, ev.Repo.FullName())
	}
}

func refOf(e endpoint) Ref {
	r := Ref{Ref: e.Ref, SHA: commit(e.SHA)}
	if e.Repo != nil {
		r.Repo = e.Repo.FullName
	}
	return r
}

// branch returns the full ref of a branch, "" for none.
func branch(name string) string {
	if name == "" || strings.HasPrefix(name, "refs/") {
		return name
	}
	return "refs/heads/" + name
}
