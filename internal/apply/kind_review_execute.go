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
	x       *executor
	op      *Operation
	results []Result
	// listed says that the conversation was searched for earlier comments.
	listed bool
	// stepped says that the comments went one step down already.
	stepped bool
}

// execute posts the comments on whole files, then the review, then what did not
// fit into its body as comments. When GitHub refuses the review, it is divided
// until the comments that GitHub does not take are known; those go into a body.
func (w *reviewWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	r := &reviewRun{reviewWork: w, x: x, op: op}
	inline, file, body := w.inline, w.file, w.body
	r.showAgain(ctx)
	r.renewTexts(ctx)
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

// postFiles posts comments on whole files. Those that GitHub refuses are
// returned; an error leaves the rest undone.
func (r *reviewRun) postFiles(ctx context.Context, file []*reviewComment) (refused []*reviewComment, err error) {
	for _, c := range file {
		d := githubapi.NewDiffComment{CommitID: r.commit, Path: c.item.Path, Body: r.fileBody(c), OnFile: true}
		obj, _, notes, err := r.x.create(ctx, &createWork{
			key: c.e.key, list: listID{what: listReviewComments, number: r.number}, what: "the comment",
			do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
				got, err := gh.CreateReviewComment(ctx, r.repo, r.number, d)
				return diffCommentObject(got, r.number), nil, err
			},
		}, []*entry{c.e})
		switch {
		case isKind(err, githubapi.Validation):
			refused = append(refused, c)
		case err != nil:
			return refused, err
		default:
			r.done(c, obj, "commented on the file "+c.item.Path+" as a whole, since "+c.why, notes)
		}
	}
	return refused, nil
}

// postReview posts inline comments and body sections, and bisects on a refusal.
func (r *reviewRun) postReview(ctx context.Context, inline, body []*reviewComment) error {
	if len(inline)+len(body) == 0 {
		return nil
	}
	parts := r.parts(body)
	err := r.review(ctx, inline, first(parts))
	switch {
	case err == nil:
		return r.postComments(ctx, parts[min(1, len(parts)):], "since the review's body was full")
	case !isKind(err, githubapi.Validation):
		return err
	case r.own && aboutTheWhole(err):
		return err // what they say stands in the comment of the checks already
	case len(inline) == 0 || aboutTheWhole(err):
		// The review as such is not taken: the conversation is what remains.
		return r.postComments(ctx, r.parts(inOrder(inline, body)), "since GitHub did not take the review ("+reason(err)+")")
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

// outsideDiff does with comments whose lines only GitHub found to be outside the
// diff what the owner wants, and returns those that belong into a body.
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
	carried := slices.Concat(inline, in.ends)
	obj, _, notes, err := r.x.create(ctx, &createWork{
		key: r.partKey(in, inline), list: listID{what: listReviews, number: r.number}, what: "the review",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			got, err := gh.CreateReview(ctx, r.repo, r.number, v)
			return reviewObject(got, r.number), nil, err
		},
	}, entriesIn(carried))
	if err != nil {
		return err
	}
	review, list := r.x.made[len(r.x.made)-1], &listID{what: commentList(r.own), number: r.number}
	for _, c := range inline {
		r.x.made = append(r.x.made, creation{list: list, object: Object{Type: objReviewComment, key: c.e.key},
			entries: []*entry{c.e}, at: review.at, doubtful: review.doubtful})
		r.done(c, obj, fmt.Sprintf("commented on %s, %s", c.item.Path, c.lines()), notes)
	}
	for _, c := range in.ends {
		r.done(c, obj, fmt.Sprintf("put into the review's body with its place (%s, %s), since %s", c.item.Path, c.lines(), c.why), notes)
	}
	return nil
}

// postComments posts parts as comments in the conversation.
func (r *reviewRun) postComments(ctx context.Context, parts []part, since string) error {
	for i, in := range parts {
		if err := r.comment(ctx, in, since); err != nil {
			var left []*reviewComment
			for _, p := range parts[i:] {
				left = append(left, p.ends...)
			}
			r.giveUp(ctx, err, left)
			return nil
		}
	}
	return nil
}

// comment posts one part as a comment, unless an earlier attempt did.
func (r *reviewRun) comment(ctx context.Context, in part, since string) error {
	if err := r.searchConversation(ctx); err != nil {
		return err
	}
	if left := r.undone(in.ends); len(left) == 0 && len(in.ends) > 0 {
		return nil
	}
	body := r.partBody(in, nil)
	obj, _, notes, err := r.x.create(ctx, &createWork{
		key: r.partKey(in, nil), list: listID{what: listComments, number: r.number}, what: "the comment",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			got, err := gh.CreateIssueComment(ctx, r.repo, r.number, body)
			return commentObject(got, r.number), nil, err
		},
	}, entriesIn(in.ends))
	if err != nil {
		return err
	}
	for _, c := range in.ends {
		r.done(c, obj, fmt.Sprintf("posted as a comment with its place (%s, %s), %s", c.item.Path, c.lines(), since), notes)
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

// commentList is where review comments are looked for: ours in all workflow runs,
// so that a finding is told once as long as it is there.
func commentList(own bool) string {
	if own {
		return listAllReviewComments
	}
	return listReviewComments
}

// commentEdit is the request that replaces a review comment's text.
func (p *planner) commentEdit(id int64, body string) Request {
	return newRequest("PATCH", p.path(fmt.Sprintf("/pulls/comments/%d", id)), struct {
		Body string `json:"body"`
	}{body})
}

// showAgain shows the settled comments whose reason has come back. The text, which
// says that a comment is settled, is changed last: what is cut short is done again.
func (r *reviewRun) showAgain(ctx context.Context) {
	for i, c := range r.reopen {
		err := r.x.idempotent(ctx, func(ctx context.Context) error {
			return r.x.deps.GitHub.UnminimizeComment(ctx, c.there.NodeID)
		})
		if err == nil {
			err = r.edit(ctx, c)
		}
		if !r.changed(ctx, err, r.reopen[i:], "the comment is shown again, since what it says is so again") {
			return
		}
	}
}

// renewTexts replaces what comments say that are there, where the numbers in it or
// what is known of the rule have changed. Whoever reads one reads the present.
func (r *reviewRun) renewTexts(ctx context.Context) {
	for i, c := range r.renew {
		if !r.changed(ctx, r.edit(ctx, c), r.renew[i:], "the comment was brought up to date") {
			return
		}
	}
}

// edit replaces the text of the comment that is there.
func (r *reviewRun) edit(ctx context.Context, c *reviewComment) error {
	return r.x.idempotent(ctx, func(ctx context.Context) error {
		_, err := r.x.deps.GitHub.EditReviewComment(ctx, r.repo, c.there.ID, r.inlineBody(c))
		return err
	})
}

// changed records how the change of the first of the comments ended, and reports
// whether the others may be tried.
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

// notPosted returns the comments that no earlier comment in the conversation
// carries.
func (r *reviewRun) notPosted(ctx context.Context, comments []*reviewComment) []*reviewComment {
	if len(comments) == 0 {
		return nil
	}
	if err := r.searchConversation(ctx); err != nil {
		r.giveUp(ctx, err, r.undone(comments))
	}
	return r.undone(comments)
}

// searchConversation looks, once, for comments of an earlier attempt that carry
// some of the group. That is rare, so Observe does not do it.
func (r *reviewRun) searchConversation(ctx context.Context) error {
	if r.listed {
		return nil
	}
	r.listed = true
	own, err := ownObjects(ctx, r.x.deps.GitHub, r.repo, listID{what: listComments, number: r.number}, r.x.plan.snap.viewer, r.x.since)
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

// giveUp ends the comments that could not be posted: for a fork by the next
// step down, else as failures that keep the text.
func (r *reviewRun) giveUp(ctx context.Context, err error, left []*reviewComment) {
	left = r.undone(left)
	if len(left) == 0 {
		return
	}
	code, message := failure(err, r.op.Permissions)
	fork := r.x.readOnlyFork() && lacksPermission(err)
	if fork && !r.stepped && !r.own {
		r.stepped = true
		parts := r.parts(inOrder(left, nil))
		if r.postComments(ctx, parts, "since "+forkReason) == nil {
			left = r.undone(left)
		}
	}
	if len(left) > 0 {
		r.x.remember(r.op, err, code, message)
	}
	for _, c := range left {
		res := r.x.refused(c.e, code, message)
		res.Fallback = c.e.fallback()
		r.results = append(r.results, res)
	}
}

// aboutTheWhole reports whether a refusal is about the review itself, so that
// fewer comments would not help.
func aboutTheWhole(err error) bool {
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

// reason is GitHub's own words for a refusal.
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

// bisect finds out which items try refuses when it takes some of them only all
// or nothing. items as a whole was refused already. It tries halves, in order,
// and halves of what is refused, down to single items: what try accepts is done,
// bad are the items that are refused by themselves. An error that is no refusal
// ends it.
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

// halves pushes both halves of items, the first on top.
func halves[T any](todo [][]T, items []T) [][]T {
	mid := (len(items) + 1) / 2
	if mid < len(items) {
		todo = append(todo, items[mid:])
	}
	return append(todo, items[:mid])
}
