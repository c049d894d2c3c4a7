package apply

import (
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Snapshot is what Observe read. In the zero Snapshot nothing was read; a plan for it is that of a run
// without a token.
type Snapshot struct {
	connected bool
	viewer    ownAccount
	// since is the earliest moment at which an object of this workflow run can have been
	// written.
	since time.Time
	// lists contains every list that was read, with the error where that failed.
	lists map[listID]error
	// own contains our own objects by the first keyLen digits of their marker's key, the
	// lowest id first.
	own map[string][]Object
	// pending contains, by pull request, the account's review that is not submitted yet.
	pending     map[int]Object
	labels      map[int]answer[[]string] // labels of issues and pull requests, by number
	issues      map[int]answer[issueState]
	texts       map[int]answer[githubapi.IssueText]
	pulls       map[int]answer[githubapi.Pull]
	diffs       map[int]diffState // diffs of pull requests, by number
	categories  *answer[[]githubapi.DiscussionCategory]
	discussions map[int]answer[githubapi.Discussion]
	sources     map[string]answer[[]byte] // files by path
	// code contains the items that carry code, by the entry's index.
	code map[int]*codeState
	// remote is where code is pushed to, and defaultBranch the repository's. Both are read
	// only where an item carries code.
	remote        *gitrepo.Remote
	defaultBranch string
	// secrets describes, by the entry's index, the secret in an item; nil until the items
	// have been scanned.
	secrets map[int]string
	// unchecked says, for people, what could not be looked up.
	unchecked []string
}

// answer is what a read returned.
type answer[T any] struct {
	value T
	err   error
}

type issueState struct {
	issue githubapi.Issue
	edits []githubapi.Edit // edits by others
	since time.Time        // edits were read from then on
}

// diffState is a pull request's diff; the zero value where it is not known.
type diffState struct {
	anchors *changes.Anchors
	files   map[string]bool
}

// The greatest age that an object of this workflow run can have, by attempt, and how far clocks
// may differ.
const (
	firstAttemptAge = 24 * time.Hour      // the first attempt of a step on a hosted runner ends within a few hours
	reRunAge        = 66 * 24 * time.Hour // a workflow run lasts up to 35 days and can be run again for 30 days after it
	clockSkew       = 10 * time.Minute
)

// earliest returns the moment from which on objects of this workflow run can exist. The event's
// time is GitHub's own. Without one, or if it is after now, the moment is found from the greatest
// age, not from run.StartedAt: a later attempt starts after the first has written.
func earliest(run event.Run, ev event.Event, now time.Time) time.Time {
	switch {
	case !ev.Time.IsZero() && ev.Time.Before(now):
		return ev.Time.Add(-clockSkew)
	case run.Again():
		return now.Add(-reRunAge)
	}
	return now.Add(-firstAttemptAge)
}

// started returns the moment from which on an edit by somebody else counts as made while
// the workflow ran.
func started(run event.Run, ev event.Event, now time.Time) time.Time {
	if !ev.Time.IsZero() {
		return ev.Time
	}
	if !run.StartedAt.IsZero() {
		return run.StartedAt
	}
	return now
}

// add adds an object of ours, once. An object without a key is dropped, unless it is pending.
func (s *Snapshot) add(o Object) {
	if o.pending() {
		s.pending[o.Number] = o
		return
	}
	if len(o.key) < keyLen {
		return
	}
	k := o.key[:keyLen]
	if slices.ContainsFunc(s.own[k], o.same) {
		return
	}
	s.own[k] = append(s.own[k], o)
	slices.SortStableFunc(s.own[k], compareIDs)
}

// found returns our objects with exactly this key, the lowest id first.
func (s *Snapshot) found(key string) []Object {
	return slices.DeleteFunc(slices.Clone(s.own[key[:keyLen]]), func(o Object) bool { return o.key != key })
}
