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
