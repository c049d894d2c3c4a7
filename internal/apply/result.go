package apply

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// State is the outcome of an item.
type State string

// The states. Staged does not count as skipped: it is what was asked for.
const (
	Applied State = "applied" // done now, or there was nothing to do (noop)
	Adopted State = "adopted" // it was there already
	Denied  State = "denied"  // Code is the rule
	Skipped State = "skipped" // Code is the reason
	Failed  State = "failed"  // Code is the kind of failure
	Staged  State = "staged"  // planned only
)

// The codes of results, in addition to those of githubapi's errors and of policy's rules.
const (
	CodeForkReadOnly       = "fork-read-only"       // the token cannot write, because the pull request comes from a fork
	CodeDependabotReadOnly = "dependabot-read-only" // the token cannot write, because Dependabot started the workflow run
	CodeOutsideDiff        = "outside-diff"         // the owner wants comments outside the diff left out
	CodeOwnLimit           = "own-limit"            // one of Airlock's own comments, beyond their limit
	CodeNotTicked          = "not-ticked"           // the list lacks the criteria that were verified, or has them more than once
	CodeOverwritten        = "overwritten"          // a text that somebody else wrote at the same moment is gone, and could not be put back
	CodeEditedMeanwhile    = "edited-meanwhile"     // somebody else changed it since the workflow run started
	CodeNoCodeScanning     = "no-code-scanning"     // it is switched off in the repository
	CodeNoPermission       = "permission"           // the token lacks a permission, or is not let in
	CodeLocked             = "locked"               // the conversation is locked
	CodeArchived           = "archived"             // the repository is read-only
	CodeFeatureDisabled    = "feature-disabled"     // a feature such as issues is switched off, or GitHub has blocked the repository
	CodeNoToken            = "no-token"             // there is no token to write with
	CodeCancelled          = "cancelled"            // the workflow run was cancelled before it was the item's turn
	CodeCategoryNotFound   = "category-not-found"   // the repository has no such discussion category
	CodeTooManyLabels      = "too-many-labels"      // the issue would have more than 100
	CodeNotTaken           = "not-taken"            // GitHub accepted the write, but reading back does not show it
	CodeRejected           = "sarif-rejected"       // code scanning could not process the upload
	CodeInvalid            = "invalid"              // it cannot be put into a request
	CodeTooLong            = "too-long"             // the text has no room for what is to be added
	CodeIsland             = "island"               // the markers around what is to be replaced are not one pair
	CodeSecret             = "secret"               // it contains what looks like a secret
	CodeNoClone            = "no-clone"             // the changes are not at hand
	CodeNoBase             = "no-base"              // it is not known what the changes were made from, or what they go onto
	CodeUnreadable         = "unreadable-changes"   // the changes cannot be read
	CodeNoChanges          = "no-changes"           // there are none
	CodeConflict           = "merge-conflict"       // the changes conflict with where they go
	CodeMoved              = "moved"                // somebody else changed the branch
	CodePushRefused        = "push-refused"         // GitHub did not accept the push
	CodePullForbidden      = "pull-forbidden"       // the token may not open pull requests; the branch is there
	CodeForkHead           = "fork-head"            // the branch is in a fork
	CodeClosed             = "closed"               // the pull request is closed
	CodeHeld               = "held"                 // held back, because changes that go with it were not delivered
	CodeIncomplete         = "incomplete"           // the agent reports that it did not complete its task
	CodeSameIdentity       = "same-identity"        // another job of the workflow run has the same identity
	CodeUnprocessed        = "unprocessed"          // of an applied upload: code scanning had not processed it in time
	CodeInternal           = "internal"             // a defect of Airlock
	CodeCrash              = "crash"                // Airlock itself failed while it worked on the item
)

// Result is the outcome of one item.
type Result struct {
	Index int             `json:"index"` // counts from 0 the items that the policy approved; -1 for one that it denied
	Line  int             `json:"line"`
	Kind  safeoutput.Kind `json:"kind"`
	State State           `json:"state"`
	Code  string          `json:"code,omitempty"`
	// Message describes what happened and what to do. It may contain the agent's words:
	// whoever shows it escapes it.
	Message string `json:"message,omitempty"`
	Key     string `json:"key,omitempty"`
	// Own is set where Airlock itself asked for the item.
	Own bool `json:"own,omitempty"`
	// Name is the name by which later workflow runs find an item of Airlock's own; "" for none.
	Name string `json:"-"`
	// Kept are the review comments that minimise-comments left visible, among those that it
	// names.
	Kept []Kept `json:"-"`
	// Object is what carries the item on GitHub.
	Object *Object `json:"object,omitempty"`
	// Labels are those that are on the issue now, for add-issue-label.
	Labels []string `json:"labels,omitempty"`
	// File is where the item was stored instead, as Files returned it.
	File string `json:"file,omitempty"`
	// Fallback is the item's text where it was not delivered, or may not have been, and has to be
	// shown by other means.
	Fallback *Fallback `json:"fallback,omitempty"`
	// Notes are what else a person should know: fields that were left alone, a duplicate
	// that was closed.
	Notes []string `json:"notes,omitempty"`
	// Cleaned and Repaired are what intake changed.
	Cleaned  []Cleaning `json:"cleaned,omitempty"`
	Repaired []Repair   `json:"repaired,omitempty"`
}

// Kept is a review comment of Airlock's own that is there and stays.
type Kept struct {
	Position int // in MinimiseComments.Keep
	URL      string
}

// Repair is one way in which the item's line was repaired.
type Repair struct {
	Kind  string `json:"kind"`
	Field string `json:"field,omitempty"`
	Count int    `json:"count"`
}

// Cleaning is one thing that was made inert or removed.
type Cleaning struct {
	Field  string `json:"field,omitempty"`
	Rule   string `json:"rule"`
	Detail string `json:"detail,omitempty"`
	Count  int    `json:"count"`
}

// Fallback is the text of an item that was not delivered, or may not have been.
type Fallback struct {
	// To is "annotation", at Path and Line, or "summary".
	To        string `json:"to"`
	Path      string `json:"path,omitempty"`
	StartLine int    `json:"start_line,omitempty"`
	Line      int    `json:"line,omitempty"`
	Title     string `json:"title,omitempty"`
	// Text is sanitized Markdown.
	Text string `json:"text"`
}

// The places that a Fallback is meant for.
const (
	ToAnnotation = "annotation"
	ToSummary    = "summary"
)

// describe returns where the text is shown.
func (f *Fallback) describe() string {
	if f.To == ToAnnotation {
		return "it is shown as an annotation and in the job summary instead"
	}
	return "its text is kept in the results and the job summary"
}

// DeniedResults turns policy's denials into results, so that all outcomes are reported
// alike.
func DeniedResults(denied []policy.Denied) []Result {
	out := make([]Result, len(denied))
	for i, d := range denied {
		out[i] = Result{Index: -1, Line: d.Line(), Kind: d.Item().Kind(), State: Denied, Own: d.Own(), Code: d.Rule, Message: d.Message}
	}
	return out
}

// CrashedResults returns the results of approved items if Airlock failed before any was planned.
func CrashedResults(approved []policy.Approved, err error) []Result {
	return undone(approved, 0, CodeCrash, err.Error())
}

// UndoneResults returns the results of items for which nothing could be planned. first is the
// index of the first of them.
func UndoneResults(approved []policy.Approved, first int, err error) []Result {
	code, message := failure(err, nil)
	return undone(approved, first, code, message)
}

func undone(approved []policy.Approved, first int, code, message string) []Result {
	out := make([]Result, len(approved))
	for i, a := range approved {
		e := &entry{index: first + i, line: a.Line(), kind: a.Item().Kind(), item: a.Item(), target: a.Target(), own: a.Origin() == policy.OriginAirlock, approved: a}
		out[i] = e.result(Failed, code, "nothing was done: %s", message)
		out[i].Fallback = e.fallback()
	}
	return out
}

// Count returns how many results are in each state.
func Count(results []Result) map[State]int {
	n := map[State]int{}
	for _, r := range results {
		n[r.State]++
	}
	return n
}

// failure turns an error of a request into a result's code and message. need is what the
// operation needs, for a refusal in which GitHub does not name a permission.
func failure(err error, need []Permission) (code, message string) {
	if doubt, ok := errors.AsType[*unsure](err); ok {
		return string(githubapi.Ambiguous), doubt.Error()
	}
	e, ok := errors.AsType[*githubapi.Error](err)
	if !ok {
		switch {
		case errors.Is(err, gitrepo.ErrUnreachable):
			return string(githubapi.Unreachable), err.Error()
		case errors.Is(err, gitrepo.ErrMissing):
			return CodeNoBase, err.Error() + "; if a branch moved just now, run the job again"
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return CodeCancelled, "the run was cancelled before this was done; run the job again, and it is done once"
		case crash.Is(err):
			return CodeCrash, err.Error()
		}
		return CodeInternal, err.Error()
	}
	if e.Kind != githubapi.Forbidden {
		return string(e.Kind), e.Error()
	}
	switch e.Feature {
	case githubapi.FeatureLocked:
		return CodeLocked, e.Error()
	case githubapi.FeatureArchived:
		return CodeArchived, e.Error()
	case githubapi.FeatureAccess:
		return CodeNoPermission, e.Error()
	case githubapi.FeatureCodeScanning:
		return CodeNoCodeScanning, e.Error()
	case "":
		if e.Permission == "" && len(need) > 0 {
			return CodeNoPermission, e.Error() + "; this needs " + joinPermissions(need)
		}
		return CodeNoPermission, e.Error()
	}
	return CodeFeatureDisabled, e.Error()
}

// lacksPermission reports whether GitHub refused a write because the token may not do it,
// so that the next write of the same sort would fail too.
func lacksPermission(err error) bool {
	e, ok := errors.AsType[*githubapi.Error](err)
	return ok && e.Kind == githubapi.Forbidden && e.Feature == ""
}

// reason returns GitHub's own explanation of a refusal.
func reason(err error) string {
	e, ok := errors.AsType[*githubapi.Error](err)
	if !ok {
		return err.Error()
	}
	words := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		words = append(words, strings.TrimSpace(f.Field+" "+cmp.Or(f.Message, f.Code)))
	}
	if len(words) == 0 {
		return e.Message
	}
	return strings.Join(words, "; ")
}

func isKind(err error, k githubapi.Kind) bool { return errors.Is(err, k) }

// feature returns the feature that an error of GitHub names, such as one that is switched off; "" for
// another error.
func feature(err error) string {
	if e, ok := errors.AsType[*githubapi.Error](err); ok {
		return e.Feature
	}
	return ""
}
