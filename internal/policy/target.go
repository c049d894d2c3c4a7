package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TargetRule says which issue, pull request or discussion items of a kind may
// act on. The zero value allows only the one that triggered the workflow.
type TargetRule struct {
	// Any lets the item choose ("*"); it must then name a number.
	Any bool
	// Number allows exactly this one, where it is not 0.
	Number int
}

// String returns the rule as configuration writes it.
func (r TargetRule) String() string {
	switch {
	case r.Any:
		return "*"
	case r.Number != 0:
		return strconv.Itoa(r.Number)
	}
	return "triggering"
}

// Target is what an approved item acts on. The zero Target belongs to kinds
// that make something new or act on the repository itself.
type Target struct {
	// Number is the issue's, pull request's or discussion's number.
	Number int
	// FromEvent is true when the event is about Number. Only then are IsPull and
	// IsDiscussion known: otherwise GitHub has to be asked.
	FromEvent            bool
	IsPull, IsDiscussion bool
}

// targetSpec is what the items of a kind can act on, and how they name it.
type targetSpec struct {
	field                   string // the item's field that holds a number; "" if it has none
	issue, pull, discussion bool
}

// targetSpecs are the kinds that act on something that exists.
var targetSpecs = map[safeoutput.Kind]targetSpec{
	safeoutput.KindAddIssueComment:     {field: "issue_number", issue: true, pull: true, discussion: true},
	safeoutput.KindAddIssueLabel:       {field: "issue_number", issue: true, pull: true},
	safeoutput.KindUpdateIssue:         {field: "issue_number", issue: true},
	safeoutput.KindCreateReviewComment: {pull: true},
	safeoutput.KindPushToBranch:        {field: "pull_request_number", pull: true},
}

// HasTarget reports whether items of a kind act on something that exists, and
// so whether a target can be configured; field is the name of the item's field
// that holds a number, "" if the kind has none.
func HasTarget(kind safeoutput.Kind) (field string, ok bool) {
	spec, ok := targetSpecs[kind]
	return spec.field, ok
}

// numberOf returns the number that an item names, 0 if none.
func numberOf(it safeoutput.Item) int {
	switch it := it.(type) {
	case *safeoutput.AddIssueComment:
		return it.IssueNumber
	case *safeoutput.AddIssueLabel:
		return it.IssueNumber
	case *safeoutput.UpdateIssue:
		return it.IssueNumber
	case *safeoutput.PushToBranch:
		return it.PullRequestNumber
	}
	return 0
}

// findTarget returns what an item acts on, or why it may not.
func findTarget(kc KindConfig, it safeoutput.Item, ev event.Event) (Target, *refusal) {
	spec, ok := targetSpecs[it.Kind()]
	if !ok {
		return Target{}, nil
	}
	asked := numberOf(it)
	if it.Kind() == safeoutput.KindPushToBranch && kc.Changes.Branch != "" {
		// The configured branch needs no pull request.
		if asked != 0 {
			return Target{}, refuse(RuleTarget, "'pull_request_number' is %d, but pushes go only to the configured branch %q", asked, kc.Changes.Branch)
		}
		return Target{}, nil
	}
	number, ref := kc.Target.number(spec, asked, ev)
	if ref != nil {
		return Target{}, ref
	}
	t := Target{Number: number}
	spec = spec.without(kc.Excludes)
	switch {
	case number == ev.Number:
		t.FromEvent, t.IsPull, t.IsDiscussion = true, ev.IsPull, ev.IsDiscussion
		ref = spec.check(it.Kind(), t)
	case kc.Excludes.Issues || kc.Excludes.Pulls:
		// A number that the event is not about is an issue's or a pull request's.
		// Only GitHub knows which, so both are refused.
		ref = refuse(RuleTargetKind, "whether #%d is an issue or a pull request is not known here, and %s is configured to act only on %s", number, it.Kind(), spec)
	}
	if ref != nil {
		return Target{}, ref
	}
	return t, nil
}

// without takes away what the owner excludes.
func (s targetSpec) without(x Exclusions) targetSpec {
	s.issue = s.issue && !x.Issues
	s.pull = s.pull && !x.Pulls
	s.discussion = s.discussion && !x.Discussions
	return s
}

// number applies the rule to the number that an item asked for, 0 for none.
func (r TargetRule) number(spec targetSpec, asked int, ev event.Event) (int, *refusal) {
	switch {
	case r.Number != 0:
		if asked != 0 && asked != r.Number {
			return 0, refuse(RuleTarget, "'%s' is %d, but the configuration allows only #%d (target: %d)", spec.field, asked, r.Number, r.Number)
		}
		return r.Number, nil
	case r.Any && asked != 0:
		return asked, nil
	case r.Any && spec.field != "":
		return 0, refuse(RuleTarget, "'%s' is missing: with target: \"*\" the item must name the number that it acts on", spec.field)
	case ev.Number == 0 && asked != 0:
		return 0, refuse(RuleNoContext, "'%s' is %d, but items may act only on what triggered the workflow, and %s; set target to %d or \"*\" to allow it", spec.field, asked, noContext(ev), asked)
	case ev.Number == 0:
		return 0, refuse(RuleNoContext, "there is nothing that the item could act on: %s; set target to a number, or let the workflow run on an event that has one", noContext(ev))
	case asked != 0 && asked != ev.Number:
		return 0, refuse(RuleTarget, "'%s' is %d, but items may act only on #%d, which triggered the workflow; set target to %d or \"*\" to allow it", spec.field, asked, ev.Number, asked)
	}
	return ev.Number, nil
}

// check refuses what the event is about if the kind cannot act on it.
func (s targetSpec) check(kind safeoutput.Kind, t Target) *refusal {
	what, ok := "an issue", s.issue
	switch {
	case t.IsDiscussion:
		what, ok = "a discussion", s.discussion
	case t.IsPull:
		what, ok = "a pull request", s.pull
	}
	if ok {
		return nil
	}
	return refuse(RuleTargetKind, "#%d is %s, and %s acts only on %s", t.Number, what, kind, s)
}

// String lists what the kind acts on.
func (s targetSpec) String() string {
	var names []string
	for _, n := range []struct {
		name string
		ok   bool
	}{{"issues", s.issue}, {"pull requests", s.pull}, {"discussions", s.discussion}} {
		if n.ok {
			names = append(names, n.name)
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, " and ")
}

// noContext describes why an event has nothing to act on.
func noContext(ev event.Event) string {
	const nothing = "is not about an issue, a pull request or a discussion"
	switch {
	case ev.Name == "":
		return "a run without an event " + nothing
	case ev.Notice != "":
		return ev.Notice
	}
	return fmt.Sprintf("the event %q %s", ev.Name, nothing)
}
