package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TargetRule limits what the items of a kind may act on: which issue, pull request or
// discussion. The zero value allows only the one that triggered the workflow.
type TargetRule struct {
	// Any lets the item choose ("*"); it must then name a number.
	Any bool
	// Number is the only number that the rule allows, if it is not 0.
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
// that make something new or act on the repository itself, and to pushes to a configured branch.
type Target struct {
	// Number is the issue's, pull request's or discussion's number.
	Number int
	// FromEvent is true when the event is about Number. Claimed is true when only the item says
	// what Number is, by the name of the field; a claim has to be checked. If both are false,
	// IsPull and IsDiscussion are not known: GitHub has to be asked.
	FromEvent, Claimed   bool
	IsPull, IsDiscussion bool
}

// named is the target that an item names: a number, 0 for none, and the field that has it.
type named struct {
	number int
	field  safeoutput.NumberField
}

// namedBy returns the target that an item names. Intake leaves at most one field that names
// it.
func namedBy(it safeoutput.Item, spec safeoutput.Spec) named {
	for _, f := range spec.NumberFields {
		if n, ok := safeoutput.Field(it, f.Name).(*int); ok && *n != 0 {
			return named{*n, f}
		}
	}
	return named{}
}

// findTarget returns what an item acts on, or why it may not.
func findTarget(kc KindConfig, it safeoutput.Item, ev event.Event) (Target, *refusal) {
	spec := safeoutput.SpecOf(it.Kind())
	if len(spec.ActsOn) == 0 {
		return Target{}, nil
	}
	asked := namedBy(it, spec)
	if kc.hasOwnBranch(spec) {
		// The configured branch needs no pull request.
		if asked.number != 0 {
			return Target{}, refuse(RuleTarget, "'%s' is %d, but pushes go only to the configured branch %q", asked.field.Name, asked.number, kc.Changes.Branch)
		}
		return Target{}, nil
	}
	number, refused := kc.number(spec, asked, ev)
	if refused != nil {
		return Target{}, refused
	}
	t := Target{Number: number}
	allowed := mayActOn(kc, spec)
	means := asked.field.Means
	switch {
	case number == ev.Number:
		t.FromEvent, t.IsPull, t.IsDiscussion = true, ev.IsPull, ev.IsDiscussion
		if means != safeoutput.NoTarget && means != t.Kind() {
			return Target{}, refuse(RuleTargetKind, "'%s' is %d, but #%d is %s", asked.field.Name, number, number, withArticle(t.Kind()))
		}
	case means != safeoutput.NoTarget:
		t.Claimed, t.IsPull, t.IsDiscussion = true, means == safeoutput.PullRequest, means == safeoutput.Discussion
	case kc.asksForKind():
		// A number that the event is not about is an issue's or a pull request's.
		// Only GitHub knows which, so both are refused.
		return Target{}, refuse(RuleTargetKind, "whether #%d is an issue or a pull request is not known here, and %s is configured to act only on %s", number, spec.Kind, plurals(allowed))
	}
	if (t.FromEvent || t.Claimed) && !slices.Contains(allowed, t.Kind()) {
		return Target{}, refuse(RuleTargetKind, "#%d is %s, and %s acts only on %s", number, withArticle(t.Kind()), spec.Kind, plurals(allowed))
	}
	return t, nil
}

// hasOwnBranch reports whether items of a kind are pushed to a branch that the owner has named.
func (kc KindConfig) hasOwnBranch(spec safeoutput.Spec) bool {
	return spec.Kind == safeoutput.KindPushToBranch && kc.Changes.Branch != ""
}

// asksForKind reports whether an item may act on a number only if it is known whether the number is
// an issue's or a pull request's.
func (kc KindConfig) asksForKind() bool {
	return slices.Contains(kc.Excludes, safeoutput.Issue) || slices.Contains(kc.Excludes, safeoutput.PullRequest)
}

// MustName reports whether an item of a kind has to name what it acts on if the event is not about
// that, and returns the fields by which it may do so. There are none if no such item can pass.
func MustName(kc KindConfig, spec safeoutput.Spec) (fields []safeoutput.NumberField, must bool) {
	isChosen := kc.Target.Any || kc.Target.Number != 0 && kc.asksForKind()
	if !isChosen || len(spec.ActsOn) == 0 || kc.hasOwnBranch(spec) {
		return nil, false
	}
	allowed := mayActOn(kc, spec)
	for _, f := range spec.NumberFields {
		if f.Means == safeoutput.NoTarget && !kc.asksForKind() || slices.Contains(allowed, f.Means) {
			fields = append(fields, f)
		}
	}
	return fields, true
}

// mayActOn returns the kinds of targets that the configuration leaves to a kind.
func mayActOn(kc KindConfig, spec safeoutput.Spec) []safeoutput.Target {
	return slices.DeleteFunc(slices.Clone(spec.ActsOn), func(t safeoutput.Target) bool { return slices.Contains(kc.Excludes, t) })
}

// checkRepository refuses an item that names another repository than the event's.
func checkRepository(it safeoutput.Item, ev event.Event) *refusal {
	repo, ok := safeoutput.Field(it, "repo").(*string)
	if own := ev.Repo.FullName(); ok && *repo != "" && !safeoutput.SameRepository(*repo, own) {
		return refuse(RuleRepository, "'repo' is %q, but items act only on %s, the repository of this workflow run", *repo, own)
	}
	return nil
}

// Kind returns what the target is by the event or by the item; an issue if neither says it.
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

// number applies the rule for targets to the one that an item names.
func (kc KindConfig) number(spec safeoutput.Spec, asked named, ev event.Event) (int, *refusal) {
	r, number, field := kc.Target, asked.number, asked.field.Name
	switch {
	case r.Number != 0:
		if number != 0 && number != r.Number {
			return 0, refuse(RuleTarget, "'%s' is %d, but the configuration allows only #%d (target: %d)", field, number, r.Number, r.Number)
		}
		return r.Number, nil
	case r.Any && number != 0:
		return number, nil
	case r.Any:
		fields, _ := MustName(kc, spec)
		fields = append(fields, spec.NumberFields...)
		return 0, refuse(RuleTarget, "'%s' is missing: with target: \"*\" the item must name the number that it acts on", fields[0].Name)
	case ev.Number == 0 && number != 0:
		return 0, refuse(RuleNoContext, "'%s' is %d, but items may act only on what triggered the workflow, and %s; set target to %d or \"*\" to allow it", field, number, noContext(ev), number)
	case ev.Number == 0:
		return 0, refuse(RuleNoContext, "there is nothing that the item could act on: %s; set target to a number, or let the workflow run on an event that has one", noContext(ev))
	case number != 0 && number != ev.Number:
		return 0, refuse(RuleTarget, "'%s' is %d, but items may act only on #%d, which triggered the workflow; set target to %d or \"*\" to allow it", field, number, ev.Number, number)
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
