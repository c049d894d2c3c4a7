package apply

import (
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// handler is how the items of one kind are planned.
type handler struct {
	// text is set for the kinds whose texts may describe code that came with them, as comments do. If
	// that code is lost, such a text gets a note, or is held back.
	text bool
	// group returns the name of the group of items that an item is applied with. If group is nil or
	// returns "", the item is applied alone.
	group func(e *entry) string
	// maxGroup is the largest size of a group; 0 means no limit.
	maxGroup int
	// needs adds the reads that planning an item takes; nil for none.
	needs func(n *needs, e *entry)
	// plan turns one group of items into an operation.
	plan func(p *planner, group []*entry) Operation
}

// handlers has the handler of each kind.
var handlers = map[safeoutput.Kind]handler{
	safeoutput.KindCreateIssue:          createIssueHandler,
	safeoutput.KindAddIssueComment:      commentHandler,
	safeoutput.KindAddIssueLabel:        labelHandler,
	safeoutput.KindUpdateIssue:          updateIssueHandler,
	safeoutput.KindCreateReviewComment:  reviewHandler,
	safeoutput.KindCreateDiscussion:     discussionHandler,
	safeoutput.KindMissingTool:          missingToolHandler,
	safeoutput.KindMissingData:          missingDataHandler,
	safeoutput.KindReportIncomplete:     reportIncompleteHandler,
	safeoutput.KindCreateSecurityReport: securityHandler,
	safeoutput.KindNoop:                 noopHandler,
	safeoutput.KindCreatePullRequest:    pullHandler,
	safeoutput.KindPushToBranch:         pushHandler,
	safeoutput.KindMinimiseComments:     minimiseHandler,
	safeoutput.KindCheckRun:             checkRunHandler,
	safeoutput.KindStickyComment:        stickyHandler,
	safeoutput.KindTickBoxes:            tickHandler,
}

// needs is what Observe reads for the approved items, each thing once.
type needs struct {
	ev          event.Event
	lists       set[listID]
	labels      set[int] // issues and pull requests whose labels are needed
	issues      set[int]
	texts       set[int] // issues whose texts are needed with their versions
	pulls       set[int]
	diffs       set[int] // pull requests whose diffs are needed
	discussions set[int] // discussions whose node ids are needed
	reports     []*entry // security reports, which need hashes of their files' lines
	categories  bool
	code        []*entry // items that carry code, whose changes are read
}

// set contains values in the order in which they were added, each once.
type set[T comparable] struct {
	all  []T
	seen map[T]bool
}

func (s *set[T]) add(value T) {
	if s.seen[value] {
		return
	}
	if s.seen == nil {
		s.seen = map[T]bool{}
	}
	s.seen[value] = true
	s.all = append(s.all, value)
}

// list adds a list of objects that may contain our own.
func (n *needs) list(what string, number int) { n.lists.add(listID{what: what, number: number}) }

// needsOf collects what the items need.
func needsOf(ev event.Event, entries []*entry) *needs {
	n := &needs{ev: ev}
	for _, e := range entries {
		if add := handlers[e.kind].needs; add != nil {
			add(n, e)
		}
		if e.target.Claimed && e.target.IsPull {
			n.pulls.add(e.target.Number)
		}
	}
	return n
}
