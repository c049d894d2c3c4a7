package policy

import (
	"cmp"
	"fmt"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// OwnSettings are what the owner allows Airlock's own items, which report the checks
// of a pull request. The zero value allows only reports of missing tools.
type OwnSettings struct {
	Comment        bool // one comment in the conversation, which later workflow runs update
	Review         bool // review comments on lines, and hiding those that are resolved
	CheckRun       bool
	SecurityReport bool
	// Loop allows what a fix loop says: comments that have a revision, and an issue about what
	// a person skipped.
	Loop bool
	// Tick allows ticking boxes of acceptance criteria that were verified.
	Tick bool
	// ReviewComments is how many review comments one run may have on lines: 0 means
	// DefaultOwnReviewComments. Those beyond it are not posted.
	ReviewComments int
	// Staged plans own items and applies none.
	Staged bool
}

// DefaultOwnReviewComments is how many review comments of Airlock's own a run has
// at most. More are noise; the summary has their content.
const DefaultOwnReviewComments = 20

// maxAnnotations is how many annotations a check run has at most: nobody reads more.
const maxAnnotations = 1000

func (s OwnSettings) reviewComments() int {
	return cmp.Or(max(s.ReviewComments, 0), DefaultOwnReviewComments)
}

// judgeOwn decides on one item of Airlock's own. OwnSettings apply to it instead of the
// settings of kinds. Of issues and pull requests, it acts only on the event's pull request
// or, if it ticks boxes, on the issue that it names.
func judgeOwn(cfg Config, ev event.Event, it safeoutput.Item) (Approved, *refusal) {
	kind := it.Kind()
	if allowed, setting := cfg.Own.allows(it); !allowed {
		switch {
		case kind == safeoutput.KindCreateIssue:
			return Approved{}, refuse(RuleOwnKind, "Airlock itself asks for the kind %s only in a fix loop", kind)
		case setting == "":
			return Approved{}, refuse(RuleOwnKind, "Airlock itself never asks for the kind %s", kind)
		}
		return Approved{}, refuse(RuleOwnKind, "the configuration switches %s off (%s)", kind, setting)
	}
	target, refused := ownTarget(it, ev)
	if refused != nil {
		return Approved{}, refused
	}
	v := Approved{target: target, origin: OriginAirlock, staged: cfg.Staged || !cfg.Configured() || cfg.Own.Staged,
		settings: KindConfig{Footer: &cfg.Footer, Review: ReviewSettings{OutsideDiff: OutsideDrop}}}
	v.item, v.notes = finishOwn(it)
	return v, nil
}

// allows reports whether an own item may leave. setting is the configuration that decides, or "" if
// none does.
func (s OwnSettings) allows(it safeoutput.Item) (allowed bool, setting string) {
	switch it.Kind() {
	case safeoutput.KindStickyComment:
		if c, ok := it.(*safeoutput.StickyComment); ok && c.Revision > 0 && s.Loop {
			return true, ""
		}
		return s.Comment, "checks: report: comment"
	case safeoutput.KindCreateIssue:
		return s.Loop, ""
	case safeoutput.KindCreateReviewComment, safeoutput.KindMinimiseComments:
		return s.Review, "checks: report: review-comments"
	case safeoutput.KindCheckRun:
		return s.CheckRun, "checks: report: check-run"
	case safeoutput.KindCreateSecurityReport:
		return s.SecurityReport, "checks: report: security-report"
	case safeoutput.KindTickBoxes:
		return s.Tick, "acceptance: tick"
	case safeoutput.KindMissingTool:
		return true, ""
	}
	return false, ""
}

// ownTarget returns the issue that an item names, or the event's pull request for the kinds
// that need one; the zero Target for the others.
func ownTarget(it safeoutput.Item, ev event.Event) (Target, *refusal) {
	if t, ok := it.(*safeoutput.TickBoxes); ok {
		return Target{Number: t.Issue}, nil
	}
	kind := it.Kind()
	switch kind {
	case safeoutput.KindStickyComment, safeoutput.KindCreateReviewComment, safeoutput.KindMinimiseComments:
	default:
		return Target{}, nil
	}
	if !ev.IsPull || ev.Number == 0 {
		why := cmp.Or(ev.Notice, fmt.Sprintf("the event %q is not about one", ev.Name))
		return Target{}, refuse(RuleNoContext, "there is no pull request that %s could act on: %s", kind, why)
	}
	return Target{Number: ev.Number, FromEvent: true, IsPull: true}, nil
}

// finishOwn returns a copy of an item, in its final form.
func finishOwn(it safeoutput.Item) (safeoutput.Item, []Note) {
	var n notes
	c := safeoutput.Clone(it)
	switch c := c.(type) {
	case *safeoutput.CreateReviewComment:
		c.Side = cmp.Or(c.Side, "RIGHT")
	case *safeoutput.CheckRun:
		if over := len(c.Annotations) - maxAnnotations; over > 0 {
			n.add(RuleAnnotations, "%s left out: a check run has at most %d", text.Count(over, "annotation"), maxAnnotations)
			c.Annotations = c.Annotations[:maxAnnotations]
		}
	}
	return c, n
}
