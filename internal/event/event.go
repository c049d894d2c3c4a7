// Package event reads the webhook payload that started a workflow run: which
// repository, which issue, pull request or discussion, and which commits it is
// about.
package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Event is what started the workflow run.
type Event struct {
	Name   string // "pull_request", "issue_comment", ...; "" if unknown
	Action string // the payload's "action": "opened", "created", ...
	Repo   Repo
	// Number is that of the issue, pull request or discussion that the event is
	// about; 0 if there is none.
	Number       int
	IsPull       bool // Number is a pull request
	Merged       bool // Number is a pull request that is merged, as far as the payload says it
	IsDiscussion bool // Number is a discussion
	// Head and Base are those of the pull request. They are empty if the payload
	// does not contain them: a comment on a pull request is an issue_comment event,
	// without them. For workflow_run, Head is the commit of that run, with or
	// without a pull request.
	Head, Base Ref
	SHA, Ref   string // GITHUB_SHA and GITHUB_REF, otherwise those of the payload
	// Fork reports whether Head is in another repository than Repo, or in one that
	// no longer exists. It has no meaning if Head is empty.
	Fork bool
	// CommentID is the REST id of the comment or review comment that the event is
	// about; 0 if there is none.
	CommentID int64
	Actor     string    // the login of the user who caused the event
	Time      time.Time // when the event happened; zero if unknown
	// Notice is a sentence for people about what the payload lacks: an issue, pull request or
	// discussion, or the commits of the pull request; "" if nothing.
	Notice string
}

// Repo is the repository that the workflow run belongs to.
type Repo struct {
	ID            int64 // 0 if unknown
	Owner, Name   string
	DefaultBranch string // "" if unknown
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
	Repo string // "owner/name"; "" if the repository was deleted
}

// Env contains the environment variables that describe a workflow run; "" means
// unset.
type Env struct {
	EventName     string    // GITHUB_EVENT_NAME
	Repository    string    // GITHUB_REPOSITORY, "owner/name"
	RepositoryID  string    // GITHUB_REPOSITORY_ID
	SHA           string    // GITHUB_SHA
	Ref           string    // GITHUB_REF
	Actor         string    // GITHUB_ACTOR
	RunID         string    // GITHUB_RUN_ID
	RunNumber     string    // GITHUB_RUN_NUMBER
	RunAttempt    string    // GITHUB_RUN_ATTEMPT
	Environment   string    // RUNNER_ENVIRONMENT: github-hosted or self-hosted
	WorkflowRef   string    // GITHUB_WORKFLOW_REF, "owner/name/.github/workflows/x.yml@refs/heads/main"
	Workflow      string    // GITHUB_WORKFLOW, the workflow's name
	Job           string    // GITHUB_JOB, the job's key
	Step          string    // GITHUB_ACTION, the step's id or a name that the runner made
	MatrixIndex   string    // strategy.job-index, from an input of the action, as the runner exports no variable for it
	JobName       string    // the owner's name for the job, from an input of the action
	Orchestration string    // ACTIONS_ORCHESTRATION_ID, which is not documented
	CheckRunID    string    // job.check_run_id, from an input of the action
	Nonce         string    // distinguishes this process from others, outside of a workflow run
	ServerURL     string    // GITHUB_SERVER_URL
	StartedAt     time.Time // when the job started; zero if unknown
}

// ParseRepo reads "owner/name". It accepts only the characters that GitHub
// accepts, so that both names can be used in a URL as they are.
func ParseRepo(s string) (Repo, bool) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !validName(owner, 39) || !validName(name, 100) {
		return Repo{}, false
	}
	return Repo{Owner: owner, Name: name}, true
}

var nameForm = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// validName reports whether name has the form of an owner's or a repository's
// name of at most limit bytes. "." and ".." are path elements.
func validName(name string, limit int) bool {
	return nameForm.MatchString(name) && len(name) <= limit && name != "." && name != ".."
}

// ErrNoRepository is returned by Parse if neither the payload nor the environment
// names the repository.
var ErrNoRepository = errors.New("the event names no repository: set GITHUB_REPOSITORY, or give the repository as owner/name (--repo)")

// readerOf returns the method that reads the rest of the named event's payload,
// or nil if the event is unknown.
func readerOf(name string) func(*Event, payload) error {
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		return (*Event).readPull
	case "issues", "issue_comment":
		return (*Event).readIssue
	case "discussion", "discussion_comment":
		return (*Event).readDiscussion
	case "workflow_run":
		return (*Event).readWorkflowRun
	case "workflow_dispatch", "repository_dispatch", "schedule", "push":
		return (*Event).readOther
	}
	return nil
}

// Parse reads the payload of the named event. If name is empty, it is
// env.EventName; if that is empty, too, it is inferred from the payload. Of an
// unknown event only action, sender, repository, SHA and ref are read, and Notice
// says that the event is unknown.
//
// The repository of the payload and that of the environment must be the same, because the token is
// for the environment's repository, while the payload decides what the items change.
func Parse(name string, data []byte, env Env) (Event, error) {
	if name == "" {
		name = env.EventName
	}
	if name == "" {
		name = InferName(data)
	}
	read := readerOf(name)
	p, err := decode(data, read != nil)
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
	if read == nil {
		read = (*Event).readUnknown
	}
	if err := read(&ev, p); err != nil {
		return Event{}, err
	}
	return ev, nil
}

// decode reads the payload's JSON: of an unknown event only the common members, which are ignored
// if their types are not the expected ones.
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
	// If two members had one name, this would read one, and GitHub may mean the other.
	var twice *jsontext.SyntacticError
	if err := jsontext.NewDecoder(bytes.NewReader(data)).SkipValue(); errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &twice) {
		return p, fmt.Errorf("the event payload has two members %s, the second on line %d", twice.JSONPointer, line(data, twice.ByteOffset+1))
	}
	var into any = &p
	if !known {
		into = &p.common
	}
	if err := json.Unmarshal(data, into); err != nil {
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

// line returns the number of the line with the byte before offset.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset-1, 0), int64(len(data)))], []byte("\n"))
}

func repoOf(r *repository, env Env) (Repo, error) {
	var fromEnv Repo
	if env.Repository != "" {
		var ok bool
		if fromEnv, ok = ParseRepo(env.Repository); !ok {
			return Repo{}, fmt.Errorf("GITHUB_REPOSITORY %q is not a repository name: give it as owner/name", env.Repository)
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
	repo.ID, repo.DefaultBranch = r.ID, r.DefaultBranch
	if env.Repository == "" {
		return repo, nil
	}
	sameName := strings.EqualFold(repo.FullName(), fromEnv.FullName())
	same := sameName
	if repo.ID != 0 && fromEnv.ID != 0 {
		same = repo.ID == fromEnv.ID // a repository may have been renamed since the event
	}
	switch {
	case same:
	case sameName:
		return Repo{}, fmt.Errorf("the event payload is about %s with the id %d, but this workflow run belongs to %s with the id %d, which is another repository: give the payload of this repository's event, or unset GITHUB_REPOSITORY_ID", repo.FullName(), repo.ID, fromEnv.FullName(), fromEnv.ID)
	default:
		return Repo{}, fmt.Errorf("the event payload is about %s, but this workflow run belongs to %s: give the payload of this repository's event, or unset GITHUB_REPOSITORY", repo.FullName(), fromEnv.FullName())
	}
	repo.Owner, repo.Name = fromEnv.Owner, fromEnv.Name
	if repo.ID == 0 {
		repo.ID = fromEnv.ID
	}
	return repo, nil
}

// commit returns sha, or "" if it is all zeros, which means no commit.
func commit(sha string) string {
	if strings.Trim(sha, "0") == "" {
		return ""
	}
	return sha
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func missing(name, member string) error {
	return fmt.Errorf("the payload of a %s event must have %q with a number: is this the payload of another event?", name, member)
}

func (ev *Event) readPull(p payload) error {
	pr := p.PullRequest
	if pr == nil || pr.Number <= 0 {
		return missing(ev.Name, "pull_request")
	}
	ev.Number, ev.IsPull = pr.Number, true
	ev.Merged = pr.Merged
	ev.Head, ev.Base = refOf(pr.Head), refOf(pr.Base)
	ev.Fork = ev.isForeign(pr.Head.Repo)
	ev.setComment(p.Comment)
	switch {
	case p.Review != nil && !p.Review.SubmittedAt.IsZero():
		ev.Time = p.Review.SubmittedAt
	case p.Comment == nil:
		ev.Time = latest(pr.UpdatedAt, pr.CreatedAt)
	}
	ev.SHA = cmp.Or(ev.SHA, ev.Head.SHA)
	if ev.Ref == "" {
		ev.Ref = "refs/pull/" + strconv.Itoa(pr.Number) + "/merge"
		if ev.Name == "pull_request_target" {
			ev.Ref = branch(ev.Base.Ref)
		}
	}
	return nil
}

func (ev *Event) readIssue(p payload) error {
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

func (ev *Event) readDiscussion(p payload) error {
	if p.Discussion == nil || p.Discussion.Number <= 0 {
		return missing(ev.Name, "discussion")
	}
	ev.Number, ev.IsDiscussion = p.Discussion.Number, true
	ev.Time = latest(p.Discussion.UpdatedAt, p.Discussion.CreatedAt)
	ev.setComment(p.Comment)
	ev.onDefaultBranch()
	return nil
}

// readWorkflowRun reads a workflow_run event. GitHub lists the pull requests whose head
// is the run's commit, in whatever repository they are, but lists none for a fork. The
// event is about a pull request if exactly one of them is into this repository.
func (ev *Event) readWorkflowRun(p payload) error {
	run := p.WorkflowRun
	if run == nil {
		return errors.New(`the payload of a workflow_run event must have "workflow_run": is this the payload of another event?`)
	}
	ev.Head = refOf(endpoint{run.HeadBranch, run.HeadSHA, run.HeadRepository})
	ev.Fork = ev.isForeign(run.HeadRepository)
	ev.Time = latest(run.RunStartedAt, run.UpdatedAt)
	ev.onDefaultBranch()
	var here []pullRequest
	for _, pr := range run.PullRequests {
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
		ev.Notice = fmt.Sprintf("the workflow_run event carries %d pull requests, so that none of them is the triggering one", len(here))
	}
	return nil
}

// readOther reads an event that is not about an issue, pull request or discussion.
func (ev *Event) readOther(p payload) error {
	ev.SHA = cmp.Or(ev.SHA, commit(p.After))
	ev.Ref = cmp.Or(ev.Ref, p.Ref, branch(p.Branch))
	ev.onDefaultBranch()
	ev.Notice = fmt.Sprintf("a %s event is about no issue, pull request or discussion", ev.Name)
	return nil
}

func (ev *Event) readUnknown(p payload) error {
	err := ev.readOther(p)
	ev.Notice = fmt.Sprintf("airlock does not read %q events: only repository, commit and ref are known", ev.Name)
	if ev.Name == "" {
		ev.Notice = "the event has no name (GITHUB_EVENT_NAME is not set) and its payload fits none: only repository, commit and ref are known"
	}
	return err
}

// setComment sets the comment that the event is about, if there is one.
func (ev *Event) setComment(c *comment) {
	if c != nil {
		ev.CommentID = c.ID
		ev.Time = latest(c.CreatedAt, c.UpdatedAt)
	}
}

// onDefaultBranch sets the ref, if it is unknown, to the default branch.
func (ev *Event) onDefaultBranch() { ev.Ref = cmp.Or(ev.Ref, branch(ev.Repo.DefaultBranch)) }

// isForeign reports whether r is another repository than the event's. It
// compares ids, because a name can become another repository's, and names only if
// an id is unknown. A deleted repository is foreign.
func (ev *Event) isForeign(r *repository) bool {
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

// branch returns the full ref of a branch, which may be given in full already; "" if name is
// empty.
func branch(name string) string {
	if name == "" || strings.HasPrefix(name, "refs/") {
		return name
	}
	return "refs/heads/" + name
}
