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
	"github.com/agent-airlock/airlock/internal/policy"
)

// postedReview is a review that is posted in steps: begun, filled with comments, and submitted.
type postedReview struct {
	object   Object
	taken    []*reviewComment // on lines and on files
	body     []*reviewComment // in its body
	dropped  []*reviewComment // left out: as the owner wants, or Airlock's own that GitHub lost
	complete bool             // all comments are in it, as far as GitHub takes them
	doubtful bool             // it may have been begun more than once
	// late are the comments of a body that GitHub did not accept, and refusal is why.
	late    []*reviewComment
	refusal error
}

// postDraft posts one review that GitHub would not take in one request: it makes a pending
// review, adds the comments, moves those that GitHub does not take, and submits it. refusal is
// why GitHub did not take it in one request; nil where that was not tried.
//
// Until a pending review is submitted, nobody sees it or is notified of it. So after a failure
// postDraft deletes it. If it is gone, because somebody else deleted it, postDraft makes it again.
func (r *reviewRun) postDraft(ctx context.Context, inline, file, body []*reviewComment, refusal error) error {
	for try := 1; ; try++ {
		draft, doubtful, err := r.startDraft(ctx)
		switch {
		case isRefused(err):
			return r.refusedReview(ctx, err, inline, file, body)
		case err != nil && doubtful:
			r.draftLeft = "whether a review that is not submitted was left is not known; the next run deletes it"
			return err
		case err != nil:
			return err
		}
		v := &postedReview{object: draft, body: body, doubtful: doubtful || try > 1}
		err = r.completeDraft(ctx, v, inline, file, refusal)
		switch {
		case err == nil:
			return r.recordPosted(ctx, v)
		case isRefused(err):
			return r.refusedReview(ctx, err, inline, file, body)
		case !isKind(err, githubapi.NotFound) || try == maxTries || ctx.Err() != nil:
			return err
		}
		r.x.deps.log("the pending review is gone; beginning anew")
	}
}

// completeDraft adds the comments to a pending review and submits it, without its body where GitHub
// does not accept that. After a failure it deletes the review.
func (r *reviewRun) completeDraft(ctx context.Context, v *postedReview, inline, file []*reviewComment, refusal error) error {
	err := r.fillDraft(ctx, v, inline, file, refusal)
	if err == nil {
		v.complete = true
		err = r.submitDraft(ctx, v)
	}
	if isKind(err, githubapi.Validation) && len(v.body) > 0 {
		v.late, v.refusal, v.body = v.body, err, nil
		err = r.submitDraft(ctx, v)
	}
	if err != nil {
		err = r.undoDraft(ctx, v, err)
	}
	return err
}

// undoDraft deletes a pending review that could not be submitted because of err, and returns what
// is known then: nil if it was complete and submitted after all.
func (r *reviewRun) undoDraft(ctx context.Context, v *postedReview, err error) error {
	end, dropErr := r.x.dropDraft(ctx, v.object.NodeID)
	switch {
	case dropErr != nil:
		r.draftLeft = "a review that is not submitted was left, which only this account sees; the next run deletes it"
		r.x.deps.log(fmt.Sprintf("a review that could not be submitted could not be deleted either; the next run deletes it: %v", dropErr))
	case end == draftSubmitted && v.complete:
		return nil
	case end == draftSubmitted:
		return &githubapi.Error{Kind: githubapi.Ambiguous, Op: "review the pull request", Repo: r.x.repo, Message: "somebody else submitted the review before it was complete"}
	case end == draftDeleted:
		return nothingHappened(err)
	}
	return err
}

// nothingHappened returns err without the doubt of an ambiguous failure: what may have been done
// was undone since.
func nothingHappened(err error) error {
	e, ok := errors.AsType[*githubapi.Error](err)
	if !ok || !isKind(err, githubapi.Ambiguous) {
		return err
	}
	certain := *e
	certain.Kind = githubapi.Unreachable
	if e.Status >= 200 && e.Status < 300 {
		certain.Kind = githubapi.Malformed
	}
	return &certain
}

// draftKey returns the key of a pending review of this group: one that carries nothing yet.
func (w *reviewWork) draftKey() string {
	return membersKey(w.group, w.size, func(int) bool { return false })
}

// draftLife is how long a review may be pending until it counts as abandoned: making it takes
// seconds, or minutes where GitHub slows the requests down. The run that it belongs to makes it
// again if it is still at work.
const draftLife = 15 * time.Minute

// The text of a pending review names the time at which it was begun, which distinguishes it from
// that of another run of the same job.
const draftStart, draftEnd = "Airlock began this review at ", " and has not submitted it yet."

// draftBody returns the text of a pending review.
func (w *reviewWork) draftBody(begun time.Time) string {
	return draftStart + begun.UTC().Format(time.RFC3339Nano) + draftEnd + "\n\n" + markdown.Marker(w.draftKey())
}

// draftBegun returns when a pending review of Airlock's was begun.
func draftBegun(body string) (begun time.Time, ok bool) {
	rest, _ := strings.CutPrefix(body, draftStart)
	stamp, _, _ := strings.Cut(rest, draftEnd)
	begun, err := time.Parse(time.RFC3339Nano, stamp)
	return begun, err == nil
}

// startDraft makes a pending review without comments. doubtful reports whether GitHub may have made
// one more.
func (r *reviewRun) startDraft(ctx context.Context) (draft Object, doubtful bool, err error) {
	body := r.draftBody(r.x.deps.Clock.Now())
	tries := 0
	_, err = r.x.once(ctx, func(ctx context.Context) error {
		tries++
		got, err := r.x.deps.GitHub.StartReview(ctx, r.x.repo, r.number, r.commit, body)
		draft = reviewObject(got, r.number)
		return err
	}, func(ctx context.Context) (bool, error) {
		own, err := r.ownReviews(ctx)
		i := slices.IndexFunc(own, func(o Object) bool { return o.pending() && sameText(o.known.body, body) })
		if i >= 0 {
			draft = own[i]
		}
		return i >= 0, err
	})
	return draft, tries > 1 || isKind(err, githubapi.Ambiguous), err
}

// fillDraft adds the comments to a pending review. What GitHub does not take goes where the
// owner wants it: onto the file, into the body, or nowhere.
func (r *reviewRun) fillDraft(ctx context.Context, v *postedReview, inline, file []*reviewComment, refusal error) error {
	refused, err := r.addThreads(ctx, v, inline)
	if err != nil {
		return err
	}
	for _, c := range refused {
		c.why = "GitHub did not accept its lines"
		if refusal != nil {
			c.why += " (" + reason(refusal) + ")"
		}
		switch c.outside() {
		case policy.OutsideDrop:
			v.dropped = append(v.dropped, c)
		case policy.OutsideFile:
			file = inOrder(file, []*reviewComment{c})
		default:
			v.body = inOrder(v.body, []*reviewComment{c})
		}
	}
	for _, c := range file {
		c.onFile = true
	}
	refused, err = r.addThreads(ctx, v, file)
	v.body = inOrder(v.body, notOnFile(refused))
	return err
}

// notOnFile marks comments as ones that are not posted on their files.
func notOnFile(comments []*reviewComment) []*reviewComment {
	for _, c := range comments {
		c.onFile = false
	}
	return comments
}

// moveToBody moves to the body what GitHub took and does not show. Airlock's own comments are posted
// on lines or not at all, so they are dropped.
func (v *postedReview) moveToBody(lost []*reviewComment) {
	v.taken = slices.DeleteFunc(slices.Clone(v.taken), func(c *reviewComment) bool { return slices.Contains(lost, c) })
	for _, c := range notOnFile(lost) {
		c.why = "GitHub lost the comment"
		if c.e.own {
			v.dropped = append(v.dropped, c)
		} else {
			v.body = inOrder(v.body, []*reviewComment{c})
		}
	}
}

// addThreads adds comments to a pending review and returns those that GitHub does not take.
// GitHub's answer is not enough: a comment may be there although GitHub did not say that it took
// it, and a comment that it took may be lost. So addThreads reads the review back. It moves what is
// lost to the body.
func (r *reviewRun) addThreads(ctx context.Context, v *postedReview, comments []*reviewComment) (refused []*reviewComment, err error) {
	var said, lost []*reviewComment
	for some := range slices.Chunk(comments, githubapi.MaxThreads) {
		took, err := r.addSome(ctx, v.object, some)
		if err != nil {
			return nil, err
		}
		said = append(said, took...)
	}
	missing, err := r.notIn(ctx, v.object, comments, said)
	if err != nil {
		return nil, err
	}
	for _, c := range comments {
		switch {
		case !slices.Contains(missing, c):
			v.taken = append(v.taken, c)
		case slices.Contains(said, c):
			lost = append(lost, c)
		default:
			refused = append(refused, c)
		}
	}
	v.moveToBody(lost)
	return refused, nil
}

// addSome adds comments to a pending review, at most githubapi.MaxThreads, and returns those that
// GitHub says it took. After an ambiguous failure, those that are in the review count as taken, and
// the others are sent again.
func (r *reviewRun) addSome(ctx context.Context, review Object, comments []*reviewComment) (said []*reviewComment, err error) {
	for try := 1; len(comments) > 0; try++ {
		var taken []bool
		err := r.x.write(ctx, func(ctx context.Context) (err error) {
			taken, err = r.x.deps.GitHub.AddReviewThreads(ctx, r.x.repo, r.pullID, review.NodeID, r.threads(comments))
			return err
		})
		if isKind(err, githubapi.Validation) { // GitHub does not accept the request as such
			return said, nil
		}
		if err == nil {
			for i, c := range comments {
				if taken[i] {
					said = append(said, c)
				}
			}
			return said, nil
		}
		if !isKind(err, githubapi.Ambiguous) || try == maxTries {
			return nil, err
		}
		left, err := r.notIn(ctx, review, comments, comments)
		if err != nil {
			return nil, err
		}
		for _, c := range comments {
			if !slices.Contains(left, c) {
				said = append(said, c)
			}
		}
		comments = left
	}
	return said, nil
}

// notIn returns the comments that a review does not have. First it waits until the expected ones
// are there, but not longer than GitHub takes to show a write.
func (r *reviewRun) notIn(ctx context.Context, review Object, comments, expected []*reviewComment) (missing []*reviewComment, err error) {
	if len(comments) == 0 {
		return nil, nil
	}
	look := func(ctx context.Context) (isSettled bool, _ error) {
		var posted map[string]bool
		if posted, err = r.keysIn(ctx, review); err != nil {
			return isKind(err, githubapi.NotFound), err // a review that is gone does not come back
		}
		missing = slices.DeleteFunc(slices.Clone(comments), func(c *reviewComment) bool { return posted[c.e.key] })
		return !slices.ContainsFunc(expected, func(c *reviewComment) bool { return !posted[c.e.key] }), nil
	}
	if isSettled, _ := look(ctx); !isSettled {
		r.x.tookEffect(ctx, look)
	}
	return missing, err
}

// keysIn returns the keys of the comments that a review has.
func (r *reviewRun) keysIn(ctx context.Context, review Object) (map[string]bool, error) {
	draft, err := r.x.deps.GitHub.ReadDraft(ctx, r.x.repo, review.NodeID)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, body := range draft.Comments {
		if marker, ok := markdown.LastLineMarker(body); ok {
			key, _ := readMarker(marker, body)
			keys[key] = true
		}
	}
	return keys, nil
}

// threads returns comments as they are added to a pending review.
func (w *reviewWork) threads(comments []*reviewComment) []githubapi.NewThread {
	out := make([]githubapi.NewThread, len(comments))
	for i, c := range comments {
		if c.onFile {
			out[i] = githubapi.NewThread{DraftComment: githubapi.DraftComment{Path: c.item.Path, Body: w.fileBody(c)}, OnFile: true}
			continue
		}
		out[i] = githubapi.NewThread{DraftComment: w.draftComment(c)}
	}
	return out
}

// submitDraft publishes a pending review with what its body carries. One in which nothing is
// left is deleted instead.
func (r *reviewRun) submitDraft(ctx context.Context, v *postedReview) error {
	if len(v.taken)+len(v.body) == 0 {
		_, err := r.x.dropDraft(ctx, v.object.NodeID)
		return err
	}
	in := first(r.parts(v.body))
	body := r.partBody(in, v.taken)
	for try := 1; ; try++ {
		err := r.x.write(ctx, func(ctx context.Context) error {
			return r.x.deps.GitHub.SubmitReview(ctx, r.x.repo, v.object.NodeID, githubapi.ReviewComment, body)
		})
		// At a later try, a refusal can mean that the try before submitted the review.
		mayBeSubmitted := isKind(err, githubapi.Ambiguous) || try > 1 && isKind(err, githubapi.Validation)
		if !mayBeSubmitted {
			return err
		}
		var gone error
		found, sure := r.x.tookEffect(ctx, func(ctx context.Context) (bool, error) {
			draft, err := r.x.deps.GitHub.ReadDraft(ctx, r.x.repo, v.object.NodeID)
			gone = nil
			if isKind(err, githubapi.NotFound) {
				// Nobody deletes a submitted review: if it was submitted, the list shows it.
				gone = err
				posted, err := r.leftBehind(ctx, r.partKey(in, v.taken))
				return posted != nil, err
			}
			return err == nil && draft.State != githubapi.ReviewPending, err
		})
		switch {
		case found:
			return nil
		case gone != nil && sure:
			return gone
		case !sure || try == maxTries:
			return err
		}
	}
}

// addToBody writes the first of the parts into the body of a review that was submitted.
func (r *reviewRun) addToBody(ctx context.Context, v *postedReview, parts []part) error {
	_, err := idempotentAnswer(ctx, r.x, func(ctx context.Context) (githubapi.Review, error) {
		return r.x.deps.GitHub.EditReview(ctx, r.x.repo, r.number, v.object.ID, r.partBody(first(parts), v.taken))
	})
	return err
}

// recordPosted records what a posted review carries. Comments that GitHub lost on the way are added
// to its body.
func (r *reviewRun) recordPosted(ctx context.Context, v *postedReview) error {
	lost, err := r.notIn(ctx, v.object, v.taken, v.taken)
	if err != nil { // it was submitted nevertheless
		r.x.deps.log(fmt.Sprintf("whether GitHub kept every comment of the review could not be read: %v", err))
		lost = nil
	}
	v.moveToBody(lost)
	for _, c := range v.dropped {
		r.results = append(r.results, c.dropped())
	}
	if len(v.taken)+len(v.body) > 0 {
		r.recordReview(ctx, v, lost)
	}
	return r.postLate(ctx, v)
}

// recordReview records a review that was posted with comments in it.
func (r *reviewRun) recordReview(ctx context.Context, v *postedReview, lost []*reviewComment) {
	parts := r.parts(v.body)
	v.object.key = r.partKey(first(parts), v.taken)
	review := creation{list: listID{what: listReviews, number: r.number}, what: objReview, key: v.object.key,
		entries: entriesIn(slices.Concat(v.taken, first(parts).ends)), at: r.x.deps.Clock.Now(), doubtful: v.doubtful}
	r.x.created = append(r.x.created, review)
	r.carried(review, v.taken)
	if len(lost) > 0 && len(parts) > 0 {
		if err := r.addToBody(ctx, v, parts); err != nil {
			r.giveUp(ctx, err, lost)
			parts[0].ends = r.undone(parts[0].ends)
		}
	}
	r.doneIn(v.object, v.taken, first(parts), nil)
	r.postRest(ctx, parts)
}

// postLate delivers the comments of a body that GitHub did not accept. Where it can, it edits the
// review that was submitted without them, which notifies nobody again; otherwise it posts them in
// the conversation.
func (r *reviewRun) postLate(ctx context.Context, v *postedReview) error {
	if len(v.late) == 0 {
		return nil
	}
	parts := r.parts(inOrder(v.body, v.late))
	err := v.refusal
	if len(v.taken) > 0 && len(parts) == 1 {
		err = r.addToBody(ctx, v, parts)
	}
	if isKind(err, githubapi.Ambiguous) {
		return err // it may be there
	}
	if err == nil {
		r.doneIn(v.object, nil, part{ends: v.late}, nil)
		return nil
	}
	r.postComments(ctx, r.parts(v.late), "because GitHub did not accept the review's body ("+reason(v.refusal)+")")
	return nil
}

// draftFate is what became of a pending review that was to be deleted.
type draftFate int

const (
	draftDeleted   draftFate = iota + 1
	draftGone                // somebody else deleted it
	draftSubmitted           // it had been submitted before
)

// dropDraft deletes a pending review, also where ctx has just ended: left behind, it would
// block every later review of the account.
func (x *executor) dropDraft(ctx context.Context, nodeID string) (draftFate, error) {
	remove := func(ctx context.Context) error {
		return x.deps.GitHub.DeletePendingReview(ctx, x.repo, nodeID)
	}
	var err error
	if ctx.Err() == nil {
		err = x.idempotent(ctx, remove)
	} else {
		longer, done := inFlight(ctx, lookGrace)
		defer done()
		err = remove(longer)
	}
	switch {
	case err == nil:
		return draftDeleted, nil
	case isKind(err, githubapi.NotFound) && isKind(err, githubapi.Ambiguous):
		return draftDeleted, nil // by the first try
	case isKind(err, githubapi.NotFound):
		return draftGone, nil
	case strings.Contains(refusalText(err), "non-pending"):
		return draftSubmitted, nil
	}
	return 0, err
}
