package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// reviewHandler applies create-pull-request-review-comment: on each pull request, one review for an
// agent's comments, and one for Airlock's own.
var reviewHandler = handler{
	text: true,
	group: func(e *entry) string {
		if e.own { // an agent's comments and ours are two reviews, with limits of their own
			return "own " + strconv.Itoa(e.target.Number)
		}
		return strconv.Itoa(e.target.Number)
	},
	maxGroup: maxMembers,
	needs: func(n *needs, e *entry) {
		n.pulls.add(e.target.Number)
		n.diffs.add(e.target.Number)
		// Comments first: GitHub lists a review no later than its comments. So if another run's
		// comments are in the first list, their review is in the second.
		n.list(commentList(e.own), e.target.Number)
		n.list(listReviews, e.target.Number)
	},
	plan: planReview,
}

// maxInline is the largest number of inline comments in one review: 65 in one request
// exceeded GitHub's secondary limit, 30 is safe practice.
const maxInline = 30

// reviewComment is one comment on its way into a review.
type reviewComment struct {
	e      *entry
	member int // position in the group, for the marker
	item   *safeoutput.CreateReviewComment
	why    string  // why it is not inline
	onFile bool    // it is posted on its file
	there  *Object // the comment on GitHub, or what carries it; nil if it is not there yet
}

// reviewWork posts the comments of one pull request.
type reviewWork struct {
	cfg    Config
	number int
	commit string
	pullID string // the pull request's node id
	// blocking is the account's pending review, which is in the way of another; nil for none.
	blocking *Object
	lead     string // at the beginning of the review's body
	footer   string
	group    string           // the group's key
	size     int              // number of items in the group
	own      bool             // Airlock's own comments: they are posted on lines or not at all
	partial  bool             // an earlier attempt posted a part of an agent's group
	reopen   []*reviewComment // Airlock's own, resolved, whose reason has come back
	update   []*reviewComment // Airlock's own, with a text that is out of date
	inline   []*reviewComment
	file     []*reviewComment // comments that are posted on a file
	body     []*reviewComment
}

func planReview(p *planner, group []*entry) Operation {
	number := group[0].target.Number
	op := p.operation(group, fmt.Sprintf("review pull request #%d", number))
	op.Target = fmt.Sprintf("pull request #%d", number)
	op.Permissions = group[0].permissions()
	w := &reviewWork{cfg: p.cfg, number: number, group: reviewKey(group), size: len(group),
		own: group[0].own, lead: p.leadText(), footer: p.cfg.footer(group[0].settings.Footer), commit: p.reviewedCommit(&op, number)}
	if w.own { // the warnings of the lead are about an agent's work
		w.lead, w.footer = "", p.cfg.ownFooter(group[0].settings.Footer)
	}
	if err := p.reviewReadError(number, w.own); err != nil {
		op.failAll(err, "")
		for _, e := range group {
			e.decided.Fallback = e.fallback()
		}
		return op
	}
	w.pullID = p.snap.pulls[number].value.NodeID
	if o, ok := p.snap.pending[number]; ok {
		w.blocking = &o
	}
	for i, e := range group {
		c := &reviewComment{e: e, member: i, item: e.item.(*safeoutput.CreateReviewComment)}
		if !p.adoptComment(&op, w, c) {
			p.place(w, c)
		}
	}
	if n := w.comments(); n > 0 {
		op.Summary += " with " + text.Count(n, "comment")
	}
	if len(w.reopen) > 0 {
		op.Summary += fmt.Sprintf(" and show %s again", text.Count(len(w.reopen), "resolved one"))
	}
	if len(w.update) > 0 {
		op.Summary += fmt.Sprintf(" and update %s", text.Count(len(w.update), "earlier one"))
	}
	if op.unanchored = p.snap.diffs[number].anchors == nil && len(w.inline) > 0; op.unanchored {
		op.Notes = append(op.Notes, "whether the lines are in the diff is unchecked")
	}
	op.Requests = w.requests(p)
	op.work = w
	return op
}

// reviewKey returns the key of the review that carries the comments of a group.
func reviewKey(group []*entry) string {
	keys := make([]string, len(group))
	for i, e := range group {
		keys[i] = e.runKey
	}
	return groupKey("review", keys...)
}

// comments returns how many comments are posted.
func (w *reviewWork) comments() int { return len(w.inline) + len(w.file) + len(w.body) }

// commentList returns which list of review comments to read. For Airlock's own it is the list of
// all workflow runs, so that a finding that stays is posted only once.
func commentList(own bool) string {
	if own {
		return listAllReviewComments
	}
	return listReviewComments
}

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

// askedCommit returns the head of the event's own pull request when the workflow run started: what
// the agent looked at. It is "" where the event does not contain it.
func askedCommit(ev event.Event, number int) string {
	if ev.IsPull && ev.Number == number {
		return ev.Head.SHA
	}
	return ""
}

// reviewedCommit returns the commit that the lines of the comments belong to: the one that the
// agent looked at, even if the pull request has moved on since. If that is not known, it is the
// head, and without the pull request a word in its place.
func (p *planner) reviewedCommit(op *Operation, number int) string {
	asked, head := askedCommit(p.ev, number), p.snap.pulls[number].value.Head.SHA
	switch {
	case asked == "" && head == "":
		return "<commit>"
	case asked == "":
		return head
	case head != "" && head != asked:
		op.Notes = append(op.Notes, fmt.Sprintf("the pull request has moved on from %.7s to %.7s since the workflow run started: the comments are placed on %.7s, which the agent saw, and GitHub marks those whose lines have changed as outdated", asked, head, asked))
	}
	return asked
}

// adoptComment reports whether a comment is there already: by itself, or in the body of an
// object that carries some of the group. If it is there, adoptComment decides what becomes of it.
func (p *planner) adoptComment(op *Operation, w *reviewWork, c *reviewComment) bool {
	carriers := p.snap.found(c.e.key)
	for _, o := range p.snap.own[w.group] {
		if carries, ok := members(o.key, w.group, w.size); ok && carries(c.member) {
			carriers = append(carriers, o)
		}
	}
	if len(carriers) == 0 {
		return false
	}
	// The earlier attempt may have posted the rest in the conversation, but never Airlock's own.
	w.partial = !w.own
	for _, o := range carriers {
		if !slices.ContainsFunc(op.Adopts, o.same) {
			op.Adopts = append(op.Adopts, o)
		}
	}
	c.there = &carriers[0]
	switch k := c.there.known; {
	case k == nil:
		c.e.adopt(*c.there, "an earlier attempt of this workflow run posted it already")
	case k.resolved && !k.later(p.cfg.Run) && !c.e.approved.OverLimit():
		w.reopen = append(w.reopen, c)
	case w.own && !k.resolved && !k.later(p.cfg.Run) && !sameButMarker(k.body, w.inlineBody(c)):
		w.update = append(w.update, c)
	default:
		c.e.adopt(*c.there, "the comment is there already")
	}
	return true
}

// place decides where a comment goes.
func (p *planner) place(w *reviewWork, c *reviewComment) {
	if c.e.approved.OverLimit() {
		c.skipOverLimit()
		return
	}
	diff := p.snap.diffs[w.number]
	if diff.anchors != nil {
		if err := diff.anchors.Check(c.item.Path, changes.Side(c.item.Side), c.item.StartLine, c.item.Line); err != nil {
			c.why = err.Error()
			switch {
			case c.outside() == policy.OutsideDrop:
				r := c.dropped()
				c.e.decided = &r
			case c.outside() == policy.OutsideFile && diff.files[c.item.Path]:
				c.onFile = true
				w.file = append(w.file, c)
			default:
				w.body = append(w.body, c)
			}
			return
		}
	}
	switch {
	case len(w.inline) < maxInline:
		w.inline = append(w.inline, c)
	case w.own:
		c.skipOverLimit()
	default:
		c.why = fmt.Sprintf("a review carries at most %d inline comments", maxInline)
		w.body = append(w.body, c)
	}
}

// outside returns what the owner wants done with a comment whose lines are not in the diff.
func (c *reviewComment) outside() policy.OutsideDiff { return c.e.settings.Review.OutsideDiff }

// dropped returns the result of a comment that the owner wants left out.
func (c *reviewComment) dropped() Result {
	leaves := "the configuration leaves such comments out"
	if c.e.own {
		leaves = "it is shown as an annotation instead"
	}
	r := c.e.result(Skipped, CodeOutsideDiff, "%s; %s", c.why, leaves)
	r.Fallback = c.e.fallback()
	return r
}

// skipOverLimit decides a comment of Airlock's own beyond the limit. The summary of the
// checks contains it.
func (c *reviewComment) skipOverLimit() {
	c.e.decide(Skipped, CodeOwnLimit, "not posted: this workflow run has more comments on lines than its limit of review comments allows; the summary contains it")
}

// requests returns the writes that are expected to happen.
func (w *reviewWork) requests(p *planner) []Request {
	reqs := []Request{}
	for _, c := range w.reopen {
		reqs = append(reqs, graphQL("unminimizeComment", map[string]any{"subjectId": c.there.NodeID}), p.commentEdit(c.there.ID, w.inlineBody(c)))
	}
	for _, c := range w.update {
		reqs = append(reqs, p.commentEdit(c.there.ID, w.inlineBody(c)))
	}
	if w.comments() == 0 {
		return reqs
	}
	if w.blocking != nil && isDraft(*w.blocking) && w.abandoned(*w.blocking, true, time.Time{}) {
		reqs = append(reqs, graphQL("deletePullRequestReview", map[string]any{"pullRequestReviewId": w.blocking.NodeID}))
	}
	parts := w.parts(w.body)
	reviews := p.path(fmt.Sprintf("/pulls/%d/reviews", w.number))
	if len(w.file) == 0 {
		reqs = append(reqs, newRequest("POST", reviews, w.reviewJSON(w.inline, first(parts))))
	} else {
		reqs = append(reqs, w.draftRequests(reviews, first(parts))...)
	}
	for _, part := range parts[min(1, len(parts)):] {
		reqs = append(reqs, p.commentRequest(w.number, w.partBody(part, nil)))
	}
	return reqs
}

// draftRequests returns the writes of a review that carries comments on files.
func (w *reviewWork) draftRequests(reviews string, in part) []Request {
	reqs := []Request{newRequest("POST", reviews, struct {
		CommitID string `json:"commit_id,omitempty"`
		Body     string `json:"body"`
	}{w.commit, "<draft>"})}
	for _, comments := range [][]*reviewComment{w.inline, w.file} {
		for some := range slices.Chunk(comments, githubapi.MaxThreads) {
			reqs = append(reqs, newRequest("POST", "/graphql", struct {
				Mutation  string         `json:"mutation"`
				Variables map[string]any `json:"variables"`
			}{"addPullRequestReviewThread", githubapi.ThreadInputs(cmp.Or(w.pullID, "<pull request>"), "<review>", w.threads(some))}))
		}
	}
	return append(reqs, graphQL("submitPullRequestReview", map[string]any{"pullRequestReviewId": "<review>", "event": githubapi.ReviewComment,
		"body": w.partBody(in, slices.Concat(w.inline, w.file))}))
}

// first returns the first part, or an empty one.
func first(parts []part) part {
	if len(parts) == 0 {
		return part{}
	}
	return parts[0]
}

// reviewJSON returns the body of the review's request.
func (w *reviewWork) reviewJSON(inline []*reviewComment, in part) any {
	v := w.newReview(inline, in)
	type comment struct {
		Path      string `json:"path"`
		Body      string `json:"body"`
		StartSide string `json:"start_side,omitempty"`
		Side      string `json:"side"`
		StartLine int    `json:"start_line,omitempty"`
		Line      int    `json:"line"`
	}
	list := make([]comment, len(v.Comments))
	for i, d := range v.Comments {
		list[i] = comment{d.Path, d.Body, d.StartSide, d.Side, d.StartLine, d.Line}
	}
	return struct {
		CommitID string    `json:"commit_id,omitempty"`
		Body     string    `json:"body"`
		Event    string    `json:"event"`
		Comments []comment `json:"comments,omitempty"`
	}{v.CommitID, v.Body, v.Event, list}
}

// newReview returns a review with inline comments and one part of the body. The event is
// always COMMENT: an agent cannot approve anything, and nobody can request changes on a pull
// request of their own.
func (w *reviewWork) newReview(inline []*reviewComment, in part) githubapi.NewReview {
	v := githubapi.NewReview{CommitID: w.commit, Event: githubapi.ReviewComment, Body: w.partBody(in, inline)}
	for _, c := range inline {
		v.Comments = append(v.Comments, w.draftComment(c))
	}
	return v
}

// draftComment returns a comment on lines.
func (w *reviewWork) draftComment(c *reviewComment) githubapi.DraftComment {
	side := cmp.Or(c.item.Side, githubapi.SideRight)
	d := githubapi.DraftComment{Path: c.item.Path, Body: w.inlineBody(c), Line: c.item.Line, Side: side}
	if c.item.StartLine != 0 && c.item.StartLine != c.item.Line {
		d.StartLine, d.StartSide = c.item.StartLine, side
	}
	return d
}

// part is what one body contains of the comments that are not inline.
type part struct {
	text string
	// ends are the comments whose text ends in this part. The marker names these comments, so that
	// after a crash a comment is repeated instead of lost.
	ends []*reviewComment
}

// partMargin is the room that a part leaves for characters that cleaning the composed body may add.
const partMargin = 2000

// parts lays out comments as sections, in order, in as many bodies as it takes. No text is
// lost: a section that does not fit is continued in the next part.
func (w *reviewWork) parts(comments []*reviewComment) []part {
	room := maxBody - partMargin - markdown.UTF16Len(w.lead+w.footer) - 300 // the marker and blank lines
	var out []part
	var cur part
	var texts []string
	used := 0
	flush := func() {
		if len(texts) > 0 {
			cur.text = strings.Join(texts, "\n\n")
			out = append(out, cur)
		}
		cur, texts, used = part{}, nil, 0
	}
	for _, c := range comments {
		section := c.section()
		size := markdown.UTF16Len(section)
		if size > room-used {
			flush()
		}
		pieces := []string{section}
		if size > room {
			pieces = w.pieces(c, room)
		}
		for i, piece := range pieces {
			if i > 0 {
				flush()
			}
			texts = append(texts, piece)
			used += markdown.UTF16Len(piece) + 2
		}
		cur.ends = append(cur.ends, c)
	}
	flush()
	return out
}

// pieces divides a comment's section into pieces of at most room UTF-16 code units, all but the
// first with a heading of their own, and cleans them. A piece that becomes too long is divided
// again. For example, if a cut ends a code span, cleaning makes the former code inert, which takes
// room.
func (w *reviewWork) pieces(c *reviewComment, room int) []string {
	continued := c.heading() + " (continued)\n\n"
	for most := room - markdown.UTF16Len(continued); ; most /= 2 {
		pieces := split(c.section(), most)
		longest := 0
		for i, piece := range pieces {
			if i > 0 {
				piece = continued + piece
			}
			pieces[i], _ = w.cfg.Sanitizer.Body(closed(piece))
			longest = max(longest, markdown.UTF16Len(pieces[i]))
		}
		if longest <= room || most <= minRoom {
			return pieces
		}
	}
}

// section returns a comment's heading and, below it, its text.
func (c *reviewComment) section() string {
	return c.heading() + "\n\n" + apart(markdown.StripMarkers(c.item.Body))
}

// heading names the comment's file and lines.
func (c *reviewComment) heading() string {
	return "**" + markdown.CodeSpan(c.item.Path) + ", " + linesOf(c.item) + "**"
}

// location names the comment's file and lines in a message.
func (c *reviewComment) location() string { return c.item.Path + ", " + linesOf(c.item) }

// linesOf names the lines of a review comment.
func linesOf(it *safeoutput.CreateReviewComment) string {
	s := fmt.Sprintf("line %d", it.Line)
	if it.StartLine != 0 && it.StartLine != it.Line {
		s = fmt.Sprintf("lines %d to %d", it.StartLine, it.Line)
	}
	if it.Side == githubapi.SideLeft {
		s += " of the old version"
	}
	return s
}

// partBody composes the body of a review or comment that carries a part and, for a review,
// comments on lines and on files. The marker names all that it carries.
func (w *reviewWork) partBody(in part, placed []*reviewComment) string {
	body, _ := w.cfg.body(w.lead+in.text, w.footer, w.partKey(in, placed))
	return body
}

func (w *reviewWork) partKey(in part, placed []*reviewComment) string {
	carried := map[int]bool{}
	for _, c := range slices.Concat(in.ends, placed) {
		carried[c.member] = true
	}
	return membersKey(w.group, w.size, func(m int) bool { return carried[m] })
}

// inlineBody returns the text of a comment on lines.
func (w *reviewWork) inlineBody(c *reviewComment) string {
	body, _ := w.cfg.body(c.item.Body, "", c.e.marker(w.cfg.Run))
	return body
}

// fileBody returns the text of a comment on a file.
func (w *reviewWork) fileBody(c *reviewComment) string {
	lines := linesOf(c.item)
	body, _ := w.cfg.body("**"+strings.ToUpper(lines[:1])+lines[1:]+"**\n\n"+c.item.Body, "", c.e.key)
	return body
}
