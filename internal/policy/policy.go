// Package policy is the second door: it lets out only the items that the
// repository's owner allows, each with its final text, labels and target.
package policy

import (
	"cmp"
	"fmt"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Origin is who asked for an item. It is never read from a file.
type Origin int

// The origins.
const (
	OriginAgent   Origin = iota // a line that an agent wrote
	OriginAirlock               // made by Airlock itself, from checks and loops; with limits of its own
)

// Approved is an item that may leave. Only Judge makes one.
type Approved struct {
	accepted intake.Accepted
	item     safeoutput.Item
	target   Target
	origin   Origin
	staged   bool
	settings KindConfig
	notes    []Note
	over     bool
}

// Item returns the item in its final form: title prefix, labels, category, side
// and draft as the owner sets them, within GitHub's limits. Callers must not
// change it.
func (a Approved) Item() safeoutput.Item { return a.item }

// Target returns what the item acts on.
func (a Approved) Target() Target { return a.target }

// Origin returns who asked for the item.
func (a Approved) Origin() Origin { return a.origin }

// Staged reports whether the item is only planned.
func (a Approved) Staged() bool { return a.staged }

// Settings returns the owner's settings for the item's kind, Footer always set.
func (a Approved) Settings() KindConfig { return a.settings }

// OverLimit reports whether an item of Airlock's own is beyond the limit of its
// kind: nothing new is made for it, and what exists already stays.
func (a Approved) OverLimit() bool { return a.over }

// Notes returns what policy changed about the item.
func (a Approved) Notes() []Note { return a.notes }

// Accepted returns the item as the first door accepted it.
func (a Approved) Accepted() intake.Accepted { return a.accepted }

// Line returns the number of the item's line in the agent's file.
func (a Approved) Line() int { return a.accepted.Line() }

// Judge decides on each item, in order, by the configuration and the event alone.
// Every item ends in exactly one of the two lists.
func Judge(cfg Config, ev event.Event, items []intake.Accepted) (approved []Approved, denied []Denied) {
	ownReviews := 0 // an agent's are counted by the first door
	for _, acc := range items {
		judge := judgeItem
		if acc.Own() {
			judge = judgeOwn
		}
		judged, refused := judge(cfg, ev, acc.Item())
		if refused != nil {
			denied = append(denied, Denied{acc, refused.rule, refused.message})
			continue
		}
		judged.accepted = acc
		if acc.Own() && acc.Item().Kind() == safeoutput.KindCreateReviewComment {
			ownReviews++
			judged.over = ownReviews > cfg.Own.reviewComments()
		}
		approved = append(approved, judged)
	}
	return approved, denied
}

// JudgeWithoutEvent reports whether an agent's item is denied whatever the event is, and why. If it
// is not, changed is what the rules change about the item, which is the same for every event. It
// judges the item under the event that is the most favourable to it.
func JudgeWithoutEvent(cfg Config, acc intake.Accepted) (changed []Note, denied Denied, isDenied bool) {
	changed, refused := judgeWithoutEvent(cfg, acc.Item())
	if refused == nil {
		return changed, Denied{}, false
	}
	return nil, Denied{acc, refused.rule, refused.message}, true
}

func judgeWithoutEvent(cfg Config, it safeoutput.Item) (changed []Note, refused *refusal) {
	settings, refused := kindOf(cfg, it.Kind())
	if refused == nil {
		_, refused = findTarget(settings, it, mostFavourable(settings, it))
	}
	if refused == nil {
		_, changed, refused = finish(settings, it)
	}
	return changed, refused
}

// mostFavourable returns the event that suits an item best: if the item is denied its target under
// this event, it is denied under every other. The event is about the number that the item or the
// configuration names, or else about number 1. The item may say whether the number is that of an
// issue, a pull request or a discussion. Otherwise it counts as the first of these that the item
// may act on.
func mostFavourable(kc KindConfig, it safeoutput.Item) event.Event {
	spec := safeoutput.SpecOf(it.Kind())
	asked := namedBy(it, spec)
	kind := asked.field.Means
	if may := mayActOn(kc, spec); kind == safeoutput.NoTarget && len(may) > 0 {
		kind = may[0]
	}
	return event.Event{Number: cmp.Or(asked.number, kc.Target.Number, 1), IsPull: kind == safeoutput.PullRequest, IsDiscussion: kind == safeoutput.Discussion}
}

// kindOf returns the owner's settings of a kind, or the refusal of every item of it.
func kindOf(cfg Config, kind safeoutput.Kind) (KindConfig, *refusal) {
	settings, ok := cfg.Kind(kind)
	if !ok {
		return settings, refuse(RuleKindNotEnabled, "%s is not enabled; to allow it add \"%s:\" to the configuration", kind, kind)
	}
	return settings, nil
}

// judgeItem decides on one item of an agent's.
func judgeItem(cfg Config, ev event.Event, it safeoutput.Item) (Approved, *refusal) {
	kind := it.Kind()
	settings, refused := kindOf(cfg, kind)
	if refused != nil {
		return Approved{}, refused
	}
	target, refused := findTarget(settings, it, ev)
	if refused == nil {
		refused = checkRepository(it, ev)
	}
	if refused != nil {
		return Approved{}, refused
	}
	final, changed, refused := finish(settings, it)
	if refused != nil {
		return Approved{}, refused
	}
	if settings.Footer == nil {
		settings.Footer = &cfg.Footer
	}
	return Approved{
		item: final, target: target, origin: OriginAgent,
		staged: cfg.StagedKind(kind), settings: settings, notes: changed,
	}, nil
}

// The rules, by the names that reports have for them. Package tree has those about files.
const (
	RuleKindNotEnabled  = "kind-not-enabled"  // the configuration does not list the kind
	RuleTarget          = "target"            // the number is not one that the target allows
	RuleNoContext       = "no-context"        // the event is not about anything that the item could act on
	RuleTargetKind      = "target-kind"       // the kind cannot act on such a target, or the item claims that it is of another type
	RuleRepository      = "repository"        // the item names another repository than the workflow run's
	RuleAllowedLabels   = "allowed-labels"    // a label is not on the list
	RuleMaxLabels       = "max-labels"        // more labels than an item may ask for
	RuleFieldNotEnabled = "field-not-enabled" // update-issue names a field that is not enabled
	RuleTitleLength     = "title-length"      // a title was cut to make room for the prefix
	RuleCategory        = "category"          // the owner's category replaced the item's
	RuleDraft           = "draft"             // the owner's draft setting replaced the item's
	RuleBranch          = "branch"            // the owner's branch, or prefix of branches, changed the item's
	RuleOwnKind         = "own-kind"          // the configuration does not allow Airlock's own items of the kind
	RuleAnnotations     = "annotations"       // annotations beyond the limit of a check run
	RuleAllowedBranches = "allowed-branches"  // the item names no branch, or one that is not on the list
)

// Denied is an item that the first door accepted but that may not leave, and the rule that stopped
// it. Message is one line: what was asked for and what would be allowed. It may quote the agent, so
// whoever shows it escapes it.
type Denied struct {
	intake.Accepted
	Rule, Message string
}

// Note is something that a rule changed about an item that was let out, such as labels that it left
// out. A title's prefix, the owner's labels, and defaults for what the item does not say are added
// without one.
type Note struct{ Rule, Message string }

// refusal is a rule's reason to deny an item.
type refusal struct{ rule, message string }

func refuse(rule, format string, args ...any) *refusal {
	return &refusal{rule, fmt.Sprintf(format, args...)}
}
