package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
)

// reviewRun is the state of posting one pull request's comments.
type reviewRun struct {
	*reviewWork
	x        *executor
	op       *Operation
	results  []Result
	searched bool // the conversation was searched for comments of an earlier attempt
	fellBack bool // the comments were posted in the conversation instead, or that failed
}

// execute posts the comments on files, then the review, then what did not fit into its body
// as comments. When GitHub refuses the review, it is divided until the comments that GitHub
// does not accept are known; those go into a body.
func (w *reviewWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	r := &reviewRun{reviewWork: w, x: x, op: op}
	inline, file, body := w.inline, w.file, w.body
	r.showAgain(ctx)
	r.updateTexts(ctx)
	if !w.own && (w.partial || x.plan.config.Run.Attempt > 1) {
		inline, file, body = r.notPosted(ctx, inline), r.notPosted(ctx, file), r.notPosted(ctx, body)
	}
	refused, err := r.postFiles(ctx, file)
	if err == nil {
		body = inOrder(body, refused)
		err = r.postReview(ctx, inline, body)
	}
	if err != nil {
		r.giveUp(ctx, err, slices.Concat(inline, file, body))
	}
	return r.results
}

// postFiles posts comments on files, and returns those that GitHub refuses. An error leaves
// the rest undone.
func (r *reviewRun) postFiles(ctx context.Context, file []*reviewComment) (refused []*reviewComment, err error) {
	for _, c := range file {
		d := githubapi.NewDiffComment{CommitID: r.commit, Path: c.item.Path, Body: r.fileBody(c), OnFile: true}
		obj, notes, err := r.x.create(ctx, &createWork{
			key: c.e.key, list: listID{what: listReviewComments, number: r.number}, what: "the comment",
			do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
				got, err := gh.CreateReviewComment(ctx, r.x.repo, r.number, d)
				return diffCommentObject(got, r.number), nil, err
			},
		}, []*entry{c.e})
		switch {
		case isKind(err, githubapi.Validation):
			refused = append(refused, c)
		case err != nil:
			return refused, err
		default:
			r.done(c, obj, "commented on the file "+c.item.Path+", because "+c.why, notes)
		}
	}
	return refused, nil
}

// postReview posts inline comments and body sections. After a refusal it bisects.
func (r *reviewRun) postReview(ctx context.Context, inline, body []*reviewComment) error {
	if len(inline)+len(body) == 0 {
		return nil
	}
	parts := r.parts(body)
	err := r.review(ctx, inline, first(parts))
	switch {
	case err == nil:
		r.postComments(ctx, parts[min(1, len(parts)):], "because the review's body was full")
		return nil
	case !isKind(err, githubapi.Validation):
		return err
	case r.own && aboutReview(err):
		return err // the comment of the checks contains them already
	case len(inline) == 0 || aboutReview(err):
		// GitHub does not accept the review as such: the conversation remains.
		r.postComments(ctx, r.parts(inOrder(inline, body)), "because GitHub did not accept the review ("+reason(err)+")")
		return nil
	}
	bad, stop := bisect(inline, func(some []*reviewComment) error { return r.review(ctx, some, part{}) },
		func(err error) bool { return isKind(err, githubapi.Validation) })
	if stop != nil {
		return stop
	}
	for _, c := range bad {
		c.why = "GitHub did not accept its lines (" + reason(err) + ")"
	}
	toBody, err := r.outsideDiff(ctx, bad)
	if err != nil {
		return err
	}
	return r.postReview(ctx, nil, inOrder(toBody, body))
}

// outsideDiff handles comments whose lines only GitHub found to be outside the diff as the
// owner wants, and returns those that belong into a body.
func (r *reviewRun) outsideDiff(ctx context.Context, bad []*reviewComment) (toBody []*reviewComment, err error) {
	var file []*reviewComment
	for _, c := range bad {
		switch c.outside() {
		case policy.OutsideDrop:
			r.results = append(r.results, c.dropped())
		case policy.OutsideFile:
			file = append(file, c)
		default:
			toBody = append(toBody, c)
		}
	}
	refused, err := r.postFiles(ctx, file)
	return inOrder(toBody, refused), err
}

// review posts one review.
func (r *reviewRun) review(ctx context.Context, inline []*reviewComment, in part) error {
	v := r.newReview(inline, in)
	obj, notes, err := r.x.create(ctx, &createWork{
		key: r.partKey(in, inline), list: listID{what: listReviews, number: r.number}, what: "the review",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			got, err := gh.CreateReview(ctx, r.x.repo, r.number, v)
			return reviewObject(got, r.number), nil, err
		},
	}, entriesIn(slices.Concat(inline, in.ends)))
	if err != nil {
		return err
	}
	review, list := r.x.created[len(r.x.created)-1], listID{what: commentList(r.own), number: r.number}
	for _, c := range inline {
		r.x.created = append(r.x.created, creation{list: list, object: Object{Type: objReviewComment, key: c.e.key},
			entries: []*entry{c.e}, at: review.at, doubtful: review.doubtful})
		r.done(c, obj, "commented on "+c.place(), notes)
	}
	for _, c := range in.ends {
		r.done(c, obj, fmt.Sprintf("added to the review's body with its place (%s), because %s", c.place(), c.why), notes)
	}
	return nil
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
		r.done(c, obj, fmt.Sprintf("posted as a comment with its place (%s), %s", c.place(), because), notes)
	}
	return nil
}

// done records that a comment was posted.
func (r *reviewRun) done(c *reviewComment, obj Object, message string, notes []string) {
	res := c.e.result(Applied, "", "%s", message)
	res.Object, res.Notes = &obj, notes
	r.results = append(r.results, res)
}

func (r *reviewRun) isDone(c *reviewComment) bool {
	return slices.ContainsFunc(r.results, func(res Result) bool { return res.Index == c.e.index })
}

func (r *reviewRun) undone(comments []*reviewComment) []*reviewComment {
	var left []*reviewComment
	for _, c := range comments {
		if !r.isDone(c) {
			left = append(left, c)
		}
	}
	return left
}

// inOrder merges comments in the order of the group.
func inOrder(a, b []*reviewComment) []*reviewComment {
	all := slices.Concat(a, b)
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

// commentEdit is the request that replaces a review comment's text.
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

// notPosted returns the comments that no earlier comment in the conversation carries.
func (r *reviewRun) notPosted(ctx context.Context, comments []*reviewComment) []*reviewComment {
	if len(comments) == 0 {
		return nil
	}
	if err := r.searchConversation(ctx); err != nil {
		r.giveUp(ctx, err, r.undone(comments))
	}
	return r.undone(comments)
}

// searchConversation looks, once, for comments of an earlier attempt that carry some of the
// group. That is rare, so Observe does not do it.
func (r *reviewRun) searchConversation(ctx context.Context) error {
	if r.searched {
		return nil
	}
	r.searched = true
	own, err := ownObjects(ctx, r.x.deps.GitHub, r.x.repo, listID{what: listComments, number: r.number}, r.x.plan.snap.viewer, r.x.since)
	if err != nil {
		return err
	}
	for _, o := range own {
		carries, ok := members(o.key, r.group, r.size)
		if !ok {
			continue
		}
		for _, c := range slices.Concat(r.inline, r.file, r.body) {
			if carries(c.member) && !r.isDone(c) {
				res := c.e.result(Adopted, "", "an earlier attempt of this workflow run posted it as a comment already")
				res.Object = &o
				r.results = append(r.results, res)
			}
		}
	}
	return nil
}

// giveUp ends the comments that could not be posted: for a fork it tries the conversation,
// otherwise they fail, and their texts are kept.
func (r *reviewRun) giveUp(ctx context.Context, err error, left []*reviewComment) {
	left = r.undone(left)
	if len(left) == 0 {
		return
	}
	code, message := failure(err, r.op.Permissions)
	if readOnlyFork(r.x.plan.ev) && lacksPermission(err) && !r.fellBack && !r.own {
		r.fellBack = true
		r.postComments(ctx, r.parts(inOrder(left, nil)), "because "+forkReason)
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
	var e *githubapi.Error
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, f := range e.Fields {
		text += " " + strings.ToLower(f.Field+" "+f.Message)
	}
	return strings.Contains(text, "commit") && strings.Contains(text, "not part of the pull request") ||
		strings.Contains(text, "commit_id") || strings.Contains(text, "pending review")
}

// reason is GitHub's own explanation of a refusal.
func reason(err error) string {
	var e *githubapi.Error
	if !errors.As(err, &e) {
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

// bisect finds the items that try refuses, where try accepts several items all together or
// not at all and has refused all of them already. It tries halves, in order, and halves of
// what is refused, down to single items. What try accepts is done; bad are the items that are
// refused by themselves. An error other than a refusal ends it.
//
// With one bad item among n it takes about 2·log2(n) tries.
func bisect[T any](items []T, try func([]T) error, refused func(error) bool) (bad []T, err error) {
	if len(items) == 1 {
		return items, nil
	}
	todo := halves(nil, items)
	for len(todo) > 0 {
		last := len(todo) - 1
		part := todo[last]
		todo = todo[:last]
		err := try(part)
		switch {
		case err == nil:
		case !refused(err):
			return bad, err
		case len(part) == 1:
			bad = append(bad, part[0])
		default:
			todo = halves(todo, part)
		}
	}
	return bad, nil
}

// halves pushes both halves of two or more items, the first on top.
func halves[T any](todo [][]T, items []T) [][]T {
	mid := (len(items) + 1) / 2
	return append(todo, items[mid:], items[:mid])
}
