package event

import (
	"fmt"
	"strconv"
	"strings"
)

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
