package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TargetRule is which issue, pull request or discussion items of a kind may
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

// numberOf returns the number that an item names, 0 if none.
func numberOf(it safeoutput.Item, spec safeoutput.Spec) int {
	if n, ok := safeoutput.Field(it, spec.NumberField).(*int); ok {
		return *n
	}
	return 0
}

// findTarget returns what an item acts on, or why it may not.
func findTarget(kc KindConfig, it safeoutput.Item, ev event.Event) (Target, *refusal) {
	spec := safeoutput.SpecOf(it.Kind())
	if len(spec.ActsOn) == 0 {
		return Target{}, nil
	}
	asked := numberOf(it, spec)
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
	allowed := slices.DeleteFunc(slices.Clone(spec.ActsOn), func(t safeoutput.Target) bool { return slices.Contains(kc.Excludes, t) })
	switch {
	case number == ev.Number:
		t.FromEvent, t.IsPull, t.IsDiscussion = true, ev.IsPull, ev.IsDiscussion
		if !slices.Contains(allowed, t.Kind()) {
			ref = refuse(RuleTargetKind, "#%d is %s, and %s acts only on %s", number, withArticle(t.Kind()), spec.Kind, plurals(allowed))
		}
	case slices.Contains(kc.Excludes, safeoutput.Issue) || slices.Contains(kc.Excludes, safeoutput.PullRequest):
		// A number that the event is not about is an issue's or a pull request's.
		// Only GitHub knows which, so both are refused.
		ref = refuse(RuleTargetKind, "whether #%d is an issue or a pull request is not known here, and %s is configured to act only on %s", number, spec.Kind, plurals(allowed))
	}
	if ref != nil {
		return Target{}, ref
	}
	return t, nil
}

// Kind returns what the target is by the event; an issue if the event is not about it.
func (t Target) Kind() safeoutput.Target {
	switch {
	case t.IsDiscussion:
		return safeoutput.Discussion
	case t.IsPull:
		return safeoutput.PullRequest
	}
	return safeoutput.Issue
}

func withArticle(t safeoutput.Target) string {
	if t == safeoutput.Issue {
		return "an issue"
	}
	return "a " + string(t)
}

// plurals lists kinds of targets.
func plurals(kinds []safeoutput.Target) string {
	if len(kinds) == 0 {
		return "nothing"
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k) + "s"
	}
	return strings.Join(names, " and ")
}

// number applies the rule to the number that an item asked for, 0 for none.
func (r TargetRule) number(spec safeoutput.Spec, asked int, ev event.Event) (int, *refusal) {
	switch {
	case r.Number != 0:
		if asked != 0 && asked != r.Number {
			return 0, refuse(RuleTarget, "'%s' is %d, but the configuration allows only #%d (target: %d)", spec.NumberField, asked, r.Number, r.Number)
		}
		return r.Number, nil
	case r.Any && asked != 0:
		return asked, nil
	case r.Any && spec.NumberField != "":
		return 0, refuse(RuleTarget, "'%s' is missing: with target: \"*\" the item must name the number that it acts on", spec.NumberField)
	case ev.Number == 0 && asked != 0:
		return 0, refuse(RuleNoContext, "'%s' is %d, but items may act only on what triggered the workflow, and %s; set target to %d or \"*\" to allow it", spec.NumberField, asked, noContext(ev), asked)
	case ev.Number == 0:
		return 0, refuse(RuleNoContext, "there is nothing that the item could act on: %s; set target to a number, or let the workflow run on an event that has one", noContext(ev))
	case asked != 0 && asked != ev.Number:
		return 0, refuse(RuleTarget, "'%s' is %d, but items may act only on #%d, which triggered the workflow; set target to %d or \"*\" to allow it", spec.NumberField, asked, ev.Number, asked)
	}
	return ev.Number, nil
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
