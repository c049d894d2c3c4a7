package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// reviewRun is the state of posting one pull request's comments.
type reviewRun struct {
	*reviewWork
	x        *executor
	op       *Operation
	results  []Result
	searched bool // the conversation was searched for comments of an earlier attempt
	fellBack bool // the comments were posted in the conversation instead, or that failed
	// draftLeft is a note about a pending review that was left; "" if there is none.
	draftLeft string
}

// execute updates comments that are there. It then posts the others as one review, and what did not
// fit into its body as comments.
func (w *reviewWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	r := &reviewRun{reviewWork: w, x: x, op: op}
	inline, file, body := w.inline, w.file, w.body
	r.showAgain(ctx)
	r.updateTexts(ctx)
	if !w.own && w.comments() > 0 && (w.partial || x.plan.config.Run.Again()) {
		if err := r.searchConversation(ctx); err != nil {
			r.giveUp(ctx, err, slices.Concat(inline, file, body))
		}
		inline, file, body = r.undone(inline), r.undone(file), r.undone(body)
	}
	if err := r.post(ctx, inline, file, body); err != nil {
		r.giveUp(ctx, err, slices.Concat(inline, file, body))
	}
	if r.draftLeft != "" {
		for i := range r.results {
			r.results[i].Notes = append(slices.Clone(r.results[i].Notes), r.draftLeft)
		}
	}
	return r.results
}

// pendingWaits are the waits for a pending review of the same account that is not ours to
// delete: another job's, which ends by itself, or a person's, which may stay for days.
var pendingWaits = []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second}

// post posts one review as soon as no other review of the account blocks it. If one still does after
// the last wait, it posts an agent's comments in the conversation instead, and returns an error for
// Airlock's own.
func (r *reviewRun) post(ctx context.Context, inline, file, body []*reviewComment) error {
	blocking := r.blocking
	waits := 0   // how often the review that blocks now was waited for
	changes := 0 // how often the blocking review was gone, or another had taken its place
	for {
		waited := waits == len(pendingWaits)
		if blocking != nil && changes < maxTries && r.dropAbandoned(ctx, *blocking, waits+changes == 0, waited) {
			blocking, waits, waited = nil, 0, false
			changes++
		}
		if len(inline)+len(file)+len(body) == 0 {
			return nil
		}
		if blocking == nil || waited {
			err := r.postOnce(ctx, inline, file, body)
			if !aboutPending(err) || waited && r.own {
				return err
			}
		}
		if waited {
			break
		}
		r.x.deps.log(fmt.Sprintf("waiting %v for another review of this account on #%d, which is not submitted yet and blocks new ones", pendingWaits[waits], r.number))
		if err := r.x.deps.Clock.Sleep(ctx, pendingWaits[waits]); err != nil {
			return err
		}
		waits++
		before := blocking
		var err error
		if blocking, err = r.lookAtReviews(ctx); err != nil {
			return err
		}
		isChanged := before != nil && (blocking == nil || blocking.ID != before.ID)
		if isChanged && changes < maxTries {
			// Another run that waited for the same may begin its review now: it is waited
			// for, too.
			waits = 0
			changes++
		}
		inline, file, body = r.undone(inline), r.undone(file), r.undone(body)
	}
	if blocking != nil && isDraft(*blocking) && r.draftLeft == "" {
		r.draftLeft = "a review of this account that another run of Airlock began and did not submit still blocks new ones; unless that run submits it, the next run deletes it"
	}
	r.lead = blockedLead + r.lead
	r.postComments(ctx, r.parts(inOrder(inline, file, body)), "because a pending review of the same account blocks new ones")
	return nil
}

// dropAbandoned deletes a pending review that Airlock began and abandoned. After the last wait
// (waited) it deletes any pending review of Airlock's. It reports whether the review no longer blocks:
// it was deleted now, or by somebody else, or had been submitted.
func (r *reviewRun) dropAbandoned(ctx context.Context, pending Object, atBeginning, waited bool) bool {
	if !isDraft(pending) || !waited && !r.abandoned(pending, atBeginning, r.x.deps.Clock.Now()) {
		return false
	}
	end, err := r.x.dropDraft(ctx, pending.NodeID)
	if err != nil {
		r.draftLeft = "a review that an earlier run of Airlock did not submit blocks others of this account, and could not be deleted: " + err.Error()
		r.x.deps.log(r.draftLeft)
		return false
	}
	r.draftLeft = ""
	if end == draftDeleted {
		r.x.deps.log("a review that an earlier run of Airlock did not submit was deleted")
	}
	return true
}

// blockedLead explains why comments on lines are in the conversation.
const blockedLead = "*These review comments are not on their lines, because this account has another review here that is not submitted yet, and GitHub accepts no second one.*\n\n"

// isDraft reports whether a pending review is one of Airlock's, not one of a person or another
// app, which is never deleted.
func isDraft(pending Object) bool {
	_, ours := markdown.LastLineMarker(pending.known.body)
	return ours
}

// abandoned reports whether no process will complete a pending review of Airlock's: it belongs to
// this very group and was there at the beginning, because an earlier attempt left it, or it was
// begun long before now.
func (w *reviewWork) abandoned(pending Object, atBeginning bool, now time.Time) bool {
	key, _ := markdown.LastLineMarker(pending.known.body)
	begun, known := draftBegun(pending.known.body)
	return atBeginning && key == w.draftKey() || known && begun.Add(draftLife).Before(now)
}

// lookAtReviews returns the account's pending review, nil if there is none. Comments that
// another run of the same job has posted meanwhile are adopted.
func (r *reviewRun) lookAtReviews(ctx context.Context) (pending *Object, err error) {
	own, err := r.ownReviews(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range own {
		if o.pending() {
			pending = &o
			continue
		}
		if r.adoptCarried(o, "another run of this job posted it already") {
			r.searched = false // the rest may be in the conversation by now
		}
	}
	return pending, r.searchConversation(ctx)
}

// adoptCarried adopts the comments that an object carries, except those that are done, and reports
// whether there were any.
func (r *reviewRun) adoptCarried(o Object, message string) (found bool) {
	carries, ok := members(o.key, r.group, r.size)
	if !ok {
		return false
	}
	for _, c := range slices.Concat(r.inline, r.file, r.body) {
		if carries(c.member) && !r.isDone(c) {
			res := c.e.result(Adopted, "", "%s", message)
			res.Object = &o
			r.results = append(r.results, res)
			found = true
		}
	}
	return found
}

// postOnce posts the comments as one request where that is possible. Comments on files, and
// comments that GitHub refuses, take a pending review.
func (r *reviewRun) postOnce(ctx context.Context, inline, file, body []*reviewComment) error {
	if len(file) > 0 {
		return r.postDraft(ctx, inline, file, body, nil)
	}
	parts := r.parts(body)
	err := r.review(ctx, inline, first(parts))
	switch {
	case err == nil:
		r.postRest(ctx, parts)
		return nil
	case !isRefused(err):
		return err
	case len(inline) == 0 || aboutReview(err):
		return r.refusedReview(ctx, err, inline, body)
	}
	left, lookErr := r.leftBehind(ctx, r.partKey(first(parts), inline))
	switch {
	case lookErr != nil:
		return lookErr
	case left != nil:
		return r.recordPosted(ctx, &postedReview{object: *left, taken: inline, body: body, doubtful: true})
	}
	return r.postDraft(ctx, inline, nil, body, err)
}

// refusedReview handles a refusal that is not about single comments: it posts them in the
// conversation. For Airlock's own it returns err: the conversation has a comment about the checks
// already.
func (r *reviewRun) refusedReview(ctx context.Context, err error, comments ...[]*reviewComment) error {
	if r.own {
		return err
	}
	r.postComments(ctx, r.parts(inOrder(comments...)), "because GitHub did not accept the review ("+reason(err)+")")
	return nil
}

// leftBehind returns the review with a key, nil if there is none: GitHub posts nothing of a
// review that it refuses, as a rule.
func (r *reviewRun) leftBehind(ctx context.Context, key string) (*Object, error) {
	own, err := r.ownReviews(ctx)
	if i := slices.IndexFunc(own, func(o Object) bool { return o.key == key }); err == nil && i >= 0 {
		return &own[i], nil
	}
	return nil, err
}

// ownReviews returns our own reviews of the pull request, among them the account's pending one.
func (r *reviewRun) ownReviews(ctx context.Context) ([]Object, error) {
	return ownObjects(ctx, r.x.deps.GitHub, r.x.repo, listID{what: listReviews, number: r.number}, r.x.plan.snap.viewer, r.x.since)
}

// postRest posts the parts that did not fit into the review's body.
func (r *reviewRun) postRest(ctx context.Context, parts []part) {
	r.postComments(ctx, parts[min(1, len(parts)):], "because the review's body was full")
}

// review posts one review in one request.
func (r *reviewRun) review(ctx context.Context, inline []*reviewComment, in part) error {
	v := r.newReview(inline, in)
	key := r.partKey(in, inline)
	obj, notes, err := r.x.create(ctx, &createWork{
		key: key, list: listID{what: listReviews, number: r.number}, what: "the review",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			got, err := gh.CreateReview(ctx, r.x.repo, r.number, v)
			return reviewObject(got, r.number), hasKey(got.Body, key), nil, err
		},
	}, entriesIn(slices.Concat(inline, in.ends)))
	if err != nil {
		return err
	}
	review := r.x.created[len(r.x.created)-1]
	r.carried(review, inline)
	r.doneIn(obj, inline, in, notes)
	return nil
}

// carried records the comments of a review that was created, to be reconciled.
func (r *reviewRun) carried(review creation, comments []*reviewComment) {
	list := listID{what: commentList(r.own), number: r.number}
	for _, c := range comments {
		r.x.created = append(r.x.created, creation{list: list, what: objReviewComment, key: c.e.key,
			entries: []*entry{c.e}, at: review.at, doubtful: review.doubtful})
	}
}

// doneIn records that a review carries comments on lines and files, and a part of the others
// in its body.
func (r *reviewRun) doneIn(review Object, comments []*reviewComment, in part, notes []string) {
	for _, c := range comments {
		if c.onFile {
			r.done(c, review, "commented on the file "+c.item.Path+", because "+c.why, notes)
			continue
		}
		r.done(c, review, "commented on "+c.location(), notes)
	}
	for _, c := range in.ends {
		r.done(c, review, fmt.Sprintf("added to the review's body with its place (%s), because %s", c.location(), c.why), notes)
	}
}

// postComments posts parts as comments in the conversation. because is the reason.
func (r *reviewRun) postComments(ctx context.Context, parts []part, because string) {
	for i, in := range parts {
		if err := r.comment(ctx, in, because); err != nil {
			var left []*reviewComment
			for _, p := range parts[i:] {
				left = append(left, p.ends...)
			}
			r.giveUp(ctx, err, left)
			return
		}
	}
}

// comment posts one part as a comment, unless an earlier attempt did.
func (r *reviewRun) comment(ctx context.Context, in part, because string) error {
	if err := r.searchConversation(ctx); err != nil {
		return err
	}
	if left := r.undone(in.ends); len(left) == 0 && len(in.ends) > 0 {
		return nil
	}
	post := commentWork(r.x.repo, listID{what: listComments, number: r.number}, r.partKey(in, nil), r.partBody(in, nil))
	obj, notes, err := r.x.create(ctx, post, entriesIn(in.ends))
	if err != nil {
		return err
	}
	for _, c := range in.ends {
		r.done(c, obj, fmt.Sprintf("posted as a comment with its place (%s), %s", c.location(), because), notes)
	}
	return nil
}

// done records that a comment was posted or changed.
func (r *reviewRun) done(c *reviewComment, obj Object, message string, notes []string) {
	res := c.e.result(Applied, "", "%s", message)
	res.Object, res.Notes = &obj, notes
	r.results = append(r.results, res)
}

func (r *reviewRun) isDone(c *reviewComment) bool {
	return slices.ContainsFunc(r.results, func(res Result) bool { return res.Index == c.e.index })
}

func (r *reviewRun) undone(comments []*reviewComment) []*reviewComment {
	return slices.DeleteFunc(slices.Clone(comments), r.isDone)
}

// inOrder merges lists of comments in the order of the group.
func inOrder(lists ...[]*reviewComment) []*reviewComment {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(x, y *reviewComment) int { return x.member - y.member })
	return all
}

func entriesIn(comments []*reviewComment) []*entry {
	out := make([]*entry, len(comments))
	for i, c := range comments {
		out[i] = c.e
	}
	return out
}

// commentEdit returns the request that replaces a review comment's text.
func (p *planner) commentEdit(id int64, body string) Request {
	return newRequest("PATCH", p.path(fmt.Sprintf("/pulls/comments/%d", id)), bodyJSON{body})
}

// showAgain shows the resolved comments whose reason has come back. The text, by which later
// runs recognise that a comment is resolved, is changed last.
func (r *reviewRun) showAgain(ctx context.Context) {
	for i, c := range r.reopen {
		err := r.x.idempotent(ctx, func(ctx context.Context) error {
			return r.x.deps.GitHub.UnminimizeComment(ctx, c.there.NodeID)
		})
		if err == nil {
			err = r.edit(ctx, c)
		}
		if !r.changed(ctx, err, r.reopen[i:], "the comment is shown again, because its reason has come back") {
			return
		}
	}
}

// updateTexts replaces the texts of comments that are out of date, for example because line
// numbers or the description of a rule have changed.
func (r *reviewRun) updateTexts(ctx context.Context) {
	for i, c := range r.update {
		if !r.changed(ctx, r.edit(ctx, c), r.update[i:], "the comment was updated") {
			return
		}
	}
}

// edit replaces the text of the comment that is there.
func (r *reviewRun) edit(ctx context.Context, c *reviewComment) error {
	return r.x.editReviewComment(ctx, c.there.ID, r.inlineBody(c))
}

// editReviewComment replaces the text of a review comment.
func (x *executor) editReviewComment(ctx context.Context, id int64, body string) error {
	_, err := idempotentAnswer(ctx, x, func(ctx context.Context) (githubapi.DiffComment, error) {
		return x.deps.GitHub.EditReviewComment(ctx, x.repo, id, body)
	})
	return err
}

// changed records how the change of the first comment ended, and reports whether the others
// may be tried.
func (r *reviewRun) changed(ctx context.Context, err error, left []*reviewComment, message string) bool {
	switch {
	case err == nil:
		r.done(left[0], *left[0].there, message, nil)
	case lacksPermission(err) || ctx.Err() != nil:
		r.giveUp(ctx, err, left)
		return false
	default:
		r.giveUp(ctx, err, left[:1])
	}
	return true
}

// searchConversation looks, once, for comments of an earlier attempt that carry some of the
// group. That is rare, so Observe does not do it.
func (r *reviewRun) searchConversation(ctx context.Context) error {
	if r.searched {
		return nil
	}
	own, err := ownObjects(ctx, r.x.deps.GitHub, r.x.repo, listID{what: listComments, number: r.number}, r.x.plan.snap.viewer, r.x.since)
	if err != nil {
		return err
	}
	r.searched = true
	for _, o := range own {
		r.adoptCarried(o, "an earlier attempt of this workflow run posted it as a comment already")
	}
	return nil
}

// giveUp records comments that could not be posted as refused, and keeps their texts. If GitHub
// gave the workflow run a token that may only read, giveUp first tries to post an agent's comments
// in the conversation.
func (r *reviewRun) giveUp(ctx context.Context, err error, left []*reviewComment) {
	left = r.undone(left)
	if len(left) == 0 {
		return
	}
	code, message := failure(err, r.op.Permissions)
	if readOnly := readOnlyRunOf(r.x.plan.ev); readOnly != nil && lacksPermission(err) && !r.fellBack && !r.own {
		r.fellBack = true
		r.postComments(ctx, r.parts(inOrder(left)), "because "+readOnly.reason)
		left = r.undone(left)
	}
	if len(left) > 0 {
		r.x.block(r.op, err, blockade{code, message})
	}
	for _, c := range left {
		res := r.x.refused(c.e, code, message)
		res.Fallback = c.e.fallback()
		r.results = append(r.results, res)
	}
}

// aboutReview reports whether a refusal is about the review itself, so that fewer comments
// would not help.
func aboutReview(err error) bool {
	text := refusalText(err)
	return strings.Contains(text, "commit") && strings.Contains(text, "not part of the pull request") ||
		strings.Contains(text, "commit_id") || aboutPending(err)
}

// isRefused reports whether GitHub refuses a review for another reason than that the account has a
// pending one.
func isRefused(err error) bool { return isKind(err, githubapi.Validation) && !aboutPending(err) }

// aboutPending reports whether GitHub refuses a review because the account has a pending one.
func aboutPending(err error) bool { return strings.Contains(refusalText(err), "pending review") }

// refusalText returns all that GitHub wrote about a refusal, in lower case; "" for another error.
func refusalText(err error) string {
	e, ok := errors.AsType[*githubapi.Error](err)
	if !ok || e.Kind != githubapi.Validation {
		return ""
	}
	text := strings.ToLower(e.Message)
	for _, f := range e.Fields {
		text += " " + strings.ToLower(f.Field+" "+f.Message)
	}
	return text
}
