package apply

import (
	"fmt"
	"strconv"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// reviewHandler applies create-pull-request-review-comment: one review for all
// comments on one pull request.
func reviewHandler() handler {
	return handler{
		text: true,
		group: func(e *entry) string {
			if e.own { // an agent's comments and ours are two reviews, with limits of their own
				return "own " + strconv.Itoa(e.target.Number)
			}
			return strconv.Itoa(e.target.Number)
		},
		most: maxMembers,
		needs: func(n *needs, e *entry) {
			n.pulls.add(e.target.Number)
			n.diffs.add(e.target.Number)
			// In this order: a review is listed no later than its comments, so
			// where another run's comments are seen, its review is too.
			n.list(commentList(e.own), e.target.Number)
			n.list(listReviews, e.target.Number)
		},
		plan: planReview,
	}
}

// reviewComment is one comment on its way into a review.
type reviewComment struct {
	e      *entry
	member int // position in the group, for the marker
	item   *safeoutput.CreateReviewComment
	// why says why it is not inline.
	why string
	// there is the comment that is shown again, or whose text is renewed.
	there *Object
}

// reviewWork posts the comments of one pull request.
type reviewWork struct {
	cfg    Config
	repo   githubapi.Repo
	number int
	commit string
	lead   string // stands above the review's body
	footer string
	group  string // key
	size   int    // of the group
	own    bool   // Airlock's own comments: they stand on lines or nowhere
	// partial says that an earlier attempt posted a part of the group.
	partial bool
	reopen  []*reviewComment // of Airlock's own: settled once, and so again
	renew   []*reviewComment // of Airlock's own: there, with a text that is out of date
	inline  []*reviewComment
	file    []*reviewComment // as comments on the whole file
	body    []*reviewComment
}

func planReview(p *planner, group []*entry) Operation {
	number := group[0].target.Number
	op := p.operation(group, fmt.Sprintf("review pull request #%d", number))
	op.Target = fmt.Sprintf("pull request #%d", number)
	op.Permissions = write(permPulls)
	keys := make([]string, len(group))
	for i, e := range group {
		keys[i] = e.runKey
	}
	w := &reviewWork{cfg: p.cfg, repo: p.repo, number: number, group: groupKey("review", keys), size: len(group),
		own: group[0].own, lead: p.lead(), footer: p.cfg.footer(group[0].settings.Footer), commit: p.reviewedCommit(&op, number)}
	if w.own { // they do not go with an agent's changes
		w.lead, w.footer = "", p.cfg.ownFooter(group[0].settings.Footer)
	}
	if err := p.reviewReadError(number, w.own); err != nil {
		code, message := failure(err, op.Permissions)
		for _, e := range group {
			e.decide(Failed, code, "%s", message)
		}
		return op
	}
	for i, e := range group {
		c := &reviewComment{e: e, member: i, item: e.item.(*safeoutput.CreateReviewComment)}
		if !p.adoptComment(&op, w, c) {
			p.place(w, c)
		}
	}
	op.Summary = fmt.Sprintf("review pull request #%d with %s", number, text.Count(w.comments(), "comment"))
	if len(w.reopen) > 0 {
		op.Summary += fmt.Sprintf(" and show %s again", text.Count(len(w.reopen), "settled one"))
	}
	if len(w.renew) > 0 {
		op.Summary += fmt.Sprintf(" and bring %s up to date", text.Count(len(w.renew), "earlier one"))
	}
	if op.unanchored = p.snap.diff[number].anchors == nil && len(w.inline) > 0; op.unanchored {
		op.Notes = append(op.Notes, "whether the lines are in the diff is unchecked")
	}
	op.Requests = w.requests(p)
	op.work = w
	return op
}

// comments is how many comments are written.
func (w *reviewWork) comments() int { return len(w.inline) + len(w.file) + len(w.body) }

// reviewReadError returns why the review cannot be planned.
func (p *planner) reviewReadError(number int, own bool) error {
	if err := p.snap.pulls[number].err; err != nil {
		return err
	}
	if err := p.snap.lists[listID{what: listReviews, number: number}]; err != nil {
		return err
	}
	return p.snap.lists[listID{what: commentList(own), number: number}]
}

// askedCommit is the head of the event's own pull request when the workflow run
// started: what the agent looked at. It is "" where the event does not say.
func askedCommit(ev event.Event, number int) string {
	if ev.IsPull && ev.Number == number {
		return ev.Head.SHA
	}
	return ""
}

// reviewedCommit is the commit that the lines of the comments belong to: the one
// that the agent looked at, even if the pull request has moved on since.
func (p *planner) reviewedCommit(op *Operation, number int) string {
	asked, head := askedCommit(p.ev, number), p.snap.pulls[number].pull.Head.SHA
	switch {
	case asked == "" && head == "":
		return "<commit>"
	case asked == "":
		return head
	case head != "" && head != asked:
		op.Notes = append(op.Notes, fmt.Sprintf("the pull request has moved on from %.7s to %.7s since the workflow run started: the comments are placed on %.7s, which the agent saw, and GitHub marks as outdated those whose lines have changed", asked, head, asked))
	}
	return asked
}
