package apply

import (
	"context"
	"fmt"
	"slices"

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
