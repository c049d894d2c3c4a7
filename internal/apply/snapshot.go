package apply

import (
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Snapshot is what Observe read. The zero Snapshot is that of a run without a
// token: nothing was read.
type Snapshot struct {
	connected bool
	viewer    githubapi.Actor
	// since is the earliest moment at which an object of this workflow run can
	// have been written.
	since time.Time
	// lists holds every list that was read, with the error where that failed.
	lists map[listID]error
	// own holds our own objects by the first keyLen digits of their marker's
	// key, those of the lowest id first.
	own        map[string][]Object
	labels     map[int]labelState
	issues     map[int]issueState
	pulls      map[int]pullState
	diff       map[int]diffState
	categories categoryState
	// discussions holds the node ids of the discussions that are commented on.
	discussions map[int]discussionState
	sources     map[string]string // text of files, by path
	// code holds the items that carry code, by the entry's index.
	code map[int]*codeState
	// remote is where code is pushed to, and defaultBranch the repository's; read
	// only where an item carries code.
	remote        *gitrepo.Remote
	defaultBranch string
	// secrets says by the entry's index which items hold a secret; nil where nobody
	// has looked yet.
	secrets   map[int]string
	unchecked []string
}

type labelState struct {
	names []string
	err   error
}

type issueState struct {
	issue githubapi.Issue
	edits []githubapi.Edit // by others
	since time.Time        // from when on edits were read
	err   error
}

type pullState struct {
	pull githubapi.Pull
	err  error
}

// diffState is a pull request's diff; anchors is nil where it is not known.
type diffState struct {
	anchors *changes.Anchors
	files   map[string]bool
	err     error
}

type categoryState struct {
	read bool
	all  []githubapi.DiscussionCategory
	err  error
}

type discussionState struct {
	id  string
	err error
}

// listID names a list of objects that may hold our own.
type listID struct {
	what   string
	number int // of the issue, pull request or discussion; 0 for the repository's
	// commit and name are those of check runs.
	commit, name string
}

// The lists. Of those of one workflow run only what is as new as it is read.
const (
	listIssues             = "issues"
	listComments           = "comments of an issue or pull request"
	listAllComments        = "comments of a pull request, of all workflow runs"
	listAllReviewComments  = "review comments, of all workflow runs"
	listReviews            = "reviews"
	listReviewComments     = "review comments"
	listDiscussions        = "discussions"
	listCheckRuns          = "check runs"
	listDiscussionComments = "comments of a discussion"
)

// The longest that an object of the same workflow run can be older than now.
const (
	firstAttemptAge = 24 * time.Hour      // the first attempt of a step on a hosted runner ends within a few hours
	reRunAge        = 66 * 24 * time.Hour // a workflow run lasts up to 35 days and can be run again for 30 days after it
	clockSkew       = 10 * time.Minute
)

// earliest returns from when on objects of this workflow run can exist. The
// event's time is GitHub's own; a local start time is of no use for a later
// attempt, which starts after what the first one wrote.
func earliest(run event.Run, ev event.Event, now time.Time) time.Time {
	switch {
	case !ev.Time.IsZero() && ev.Time.Before(now):
		return ev.Time.Add(-clockSkew)
	case run.Attempt > 1:
		return now.Add(-reRunAge)
	}
	return now.Add(-firstAttemptAge)
}

// started returns since when an edit by somebody else counts as made meanwhile.
func started(run event.Run, ev event.Event, now time.Time) time.Time {
	if !ev.Time.IsZero() {
		return ev.Time
	}
	if !run.StartedAt.IsZero() {
		return run.StartedAt
	}
	return now
}

// keep adds an object of ours.
func (s *Snapshot) keep(o Object) {
	if len(o.key) < keyLen {
		return
	}
	k := o.key[:keyLen]
	if slices.ContainsFunc(s.own[k], func(have Object) bool { return have.same(o) }) {
		return
	}
	s.own[k] = append(s.own[k], o)
	slices.SortStableFunc(s.own[k], compareIDs)
}

func (o Object) same(p Object) bool { return o.Type == p.Type && o.ID == p.ID && o.NodeID == p.NodeID }
