package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// reconcile looks again at what was created. Of several objects with the same key it
// keeps the first in the order of compareDoubles, as any other run of the same job does, so that
// all runs end with the same one.
//
// It costs a wait and up to three requests, so it is done only where a duplicate is possible: after
// a creation that was tried again, whose first try may have taken effect very late, and where
// another run may be at work at the same moment. Duplicates that Observe saw are removed without
// waiting and without these requests.
func (x *executor) reconcile(ctx context.Context) {
	if x.deps.GitHub == nil || x.plan.config.DryRun {
		return
	}
	x.reconcileObserved(ctx)
	lists, last := x.unreconciled()
	if len(lists) == 0 || ctx.Err() != nil {
		return
	}
	if wait := last.Add(x.lookWait()).Sub(x.deps.Clock.Now()); wait > 0 {
		x.deps.log(fmt.Sprintf("waiting %v for GitHub's lists, to make sure that nothing was written twice", wait.Round(time.Second)))
		if x.deps.Clock.Sleep(ctx, wait) != nil {
			return
		}
	}
	found := x.writtenLately(ctx, lists)
	var created []Object
	entries := map[string][]*entry{}
	for _, c := range x.created {
		o := Object{Type: c.what, key: c.key}
		created, entries[o.family()] = append(created, o), append(entries[o.family()], c.entries...)
	}
	x.keepOneOfEach(ctx, created, found, entries)
}

// lookWait returns how long after the last creation the lists are read. It is listLag if a creation
// was tried again, because its object may appear late, and on a later attempt, because the
// cancelled one before it is often still at work. Otherwise it is FirstLook (if set), which may be
// shorter: two jobs with one identity rarely write in the same seconds, and a long wait would delay
// every first attempt.
func (x *executor) lookWait() time.Duration {
	doubtful := slices.ContainsFunc(x.created, func(c creation) bool { return c.doubtful })
	if x.plan.config.Run.Again() || doubtful {
		return listLag
	}
	return cmp.Or(x.plan.config.FirstLook, listLag)
}

// writtenLately returns our own objects that were added to lists lately. It sends at most three
// requests, unless the repository is so busy that a list takes more than one page: one for issues,
// one for the comments on issues and pull requests, however many of these there are, and one for
// everything else.
func (x *executor) writtenLately(ctx context.Context, lists []listID) (there []Object) {
	var alone []listID
	var q githubapi.RecentQuery
	conversations := map[int]bool{}
	for _, id := range lists {
		switch id.what {
		case listComments:
			conversations[id.number] = true
		case listReviews:
			q.Pulls = append(q.Pulls, id.number)
		case listReviewComments: // come with their reviews
		case listDiscussions:
			q.Discussions = true
		case listDiscussionComments:
			q.InDiscussions = append(q.InDiscussions, id.number)
		default:
			alone = append(alone, id)
		}
	}
	if len(conversations) == 1 {
		for number := range conversations {
			alone = append(alone, listID{what: listComments, number: number})
		}
	}
	problem := func(what string, err error) {
		if err != nil {
			x.deps.log(fmt.Sprintf("could not look for duplicates among the %s: %v", what, err))
		}
	}
	for _, id := range alone {
		own, err := ownObjects(ctx, x.deps.GitHub, x.repo, id, x.plan.snap.viewer, x.recent())
		there = append(there, own...)
		problem(id.what, err)
	}
	if len(conversations) > 1 {
		own := ownList{viewer: x.plan.snap.viewer}
		err := each(x.deps.GitHub.ListComments(ctx, x.repo, x.recent()), func(c githubapi.Comment) {
			if conversations[c.Number] {
				own.add(c.Author, c.Body, commentObject(c, c.Number))
			}
		})
		there = append(there, own.found...)
		problem(listComments, err)
	}
	if len(q.Pulls)+len(q.InDiscussions) > 0 || q.Discussions {
		found, err := x.deps.GitHub.Recent(ctx, x.repo, q)
		there = append(there, ownRecent(found, x.plan.snap.viewer)...)
		problem("reviews and discussions", err)
	}
	return there
}

// othersAtWork reports whether another run of the same job may work at the same moment: an
// attempt that is not dead yet, a job that cannot be distinguished from this one, or the same
// one on another runner.
func (x *executor) othersAtWork() bool {
	return x.plan.config.Run.Again() || x.plan.config.Run.Shared || x.plan.config.Run.SelfHosted
}

// recentSpan is how long before this execution a run that still works may have written something,
// with room for the difference between GitHub's clock and ours.
const recentSpan = 3 * time.Hour

// recent returns the moment from which on objects may have been written by a run that works
// at the same moment. Observe has seen the older ones.
func (x *executor) recent() time.Time {
	from := x.begun.Add(-recentSpan)
	if from.Before(x.since) {
		return x.since
	}
	return from
}

// unreconciled returns the lists to look at, and when the last object that may have a duplicate was
// created. If review comments were written, these are all lists in which another run may have put
// them. The list of reviews comes after that of their comments.
func (x *executor) unreconciled() (lists []listID, last time.Time) {
	var found set[listID]
	for _, c := range x.created {
		if !c.doubtful && !x.othersAtWork() {
			continue
		}
		switch n := c.list.number; c.list.what {
		case listReviews, listReviewComments, listAllReviewComments:
			found.add(listID{what: listReviewComments, number: n})
			found.add(listID{what: listReviews, number: n})
			found.add(listID{what: listComments, number: n})
		case listAllComments:
			found.add(listID{what: listComments, number: n})
		case listEarlierIssues:
			found.add(listID{what: listIssues})
		case listCheckRuns: // a second one cannot be removed
		default:
			found.add(c.list)
		}
		if c.at.After(last) {
			last = c.at
		}
	}
	return found.all, last
}

// reconcileObserved removes the duplicates among the objects that the plan adopts.
func (x *executor) reconcileObserved(ctx context.Context) {
	for i := range x.plan.Operations {
		op := &x.plan.Operations[i]
		if op.Staged || len(op.Adopts) == 0 {
			continue
		}
		entries := map[string][]*entry{}
		for _, o := range op.Adopts {
			entries[o.family()] = op.entries
		}
		x.keepOneOfEach(ctx, op.Adopts, op.Adopts, entries)
	}
}

// keepOneOfEach removes duplicates among the objects in found: those of the same family as an object
// in wanted, and review comments that are in two places. It notes what it removed in the results of
// the entries, which the caller gives by family.
func (x *executor) keepOneOfEach(ctx context.Context, wanted, found []Object, entries map[string][]*entry) {
	families := map[string][]Object{}
	for _, o := range found {
		families[o.family()] = append(families[o.family()], o)
	}
	done := map[string]bool{}
	for _, o := range wanted {
		if f := o.family(); !done[f] {
			done[f] = true
			x.keepLowest(ctx, families[f], entries[f])
		}
	}
	for i := range x.plan.Operations {
		op := &x.plan.Operations[i]
		if op.Kind != safeoutput.KindCreateReviewComment || op.Staged || op.entries[0].own {
			continue // Airlock's own are in one place
		}
		work, _ := op.work.(*reviewWork)
		if g := (commentGroup{reviewKey(op.entries), op.entries, work}); slices.ContainsFunc(wanted, g.has) {
			x.keepOnePlace(ctx, g, found)
		}
	}
}

// family returns what o has in common with its possible duplicates: the type, and the key of the
// item or group. Objects that carry parts of one group are one family, whether they are reviews or
// comments in the conversation.
func (o Object) family() string {
	what := o.Type
	if len(o.key) > keyLen && len(o.key) != stableLen {
		what = "group"
	}
	return what + " " + o.key[:min(len(o.key), keyLen)]
}

// compareDoubles orders the objects of a family: what comes first stays. Reviews come before
// comments, because ids of different types are not comparable. Otherwise the lowest id is first.
func compareDoubles(a, b Object) int {
	return cmp.Or(trueFirst(a.Type == objReview, b.Type == objReview), compareIDs(a, b))
}

// trueFirst compares two values of a bool for an order in which true comes first.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// keepLowest keeps, of the objects of one family, those that come first and together carry
// everything. It removes or closes the others, and notes that in the results of the entries
// that they carry. It leaves alone what is closed or answered, and everything else if the first one
// is closed.
//
// Check runs cannot be removed. GitHub itself shows only the newest of a name.
func (x *executor) keepLowest(ctx context.Context, family []Object, entries []*entry) {
	if len(family) > 0 && family[0].Type == objCheckRun {
		return
	}
	family = slices.DeleteFunc(slices.Clone(family), Object.carriesNothing)
	slices.SortFunc(family, compareDoubles)
	family = slices.CompactFunc(family, Object.same)
	var kept []Object
	for _, o := range family {
		if !covered(o, kept) {
			kept = append(kept, o)
			continue
		}
		if o.closed || kept[0].closed || o.known != nil && o.known.answered || ctx.Err() != nil {
			continue // closed already, answered, or chosen by somebody who closed the first
		}
		x.remove(ctx, o, kept[0], entries)
	}
}

// remove retires a duplicate of kept, and notes that in the results of the entries that it
// carries. If another job with the same identity wrote kept, these results become failures.
func (x *executor) remove(ctx context.Context, o, kept Object, entries []*entry) {
	done, err := x.retire(ctx, o, kept)
	note := "it was written twice: " + done
	if err != nil {
		note = fmt.Sprintf("it was written twice, and the second (%s) could not be removed: %v", o.URL, err)
	}
	x.deps.log(note)
	for _, e := range entries {
		r := x.results[e.index]
		if r == nil || r.Object == nil || r.Object.key != o.key && e.key != o.key {
			continue
		}
		if run := x.plan.config.Run; run.Claim != "" && o.claim == run.Claim && run.ClaimedByOther(kept.claim) {
			r.State, r.Code, r.Message = Failed, CodeSameIdentity, (&ClaimedError{run, kept.URL}).Error()
		}
		if r.Object.key == o.key {
			r.Object = &kept
		}
		r.Notes = append(slices.Clone(r.Notes), note)
	}
}

// carriesNothing reports whether an object of a group carries none of its items: a review
// that was retired.
func (o Object) carriesNothing() bool {
	return len(o.key) > keyLen && len(o.key) != stableLen && strings.Trim(o.key[keyLen:], "0") == ""
}

// covered reports whether kept, objects of its family, carry everything that o carries. A single
// item's object has only the key of its family, or a stable key. The key of a group's object also
// lists the members that it carries.
func covered(o Object, kept []Object) bool {
	if len(kept) == 0 {
		return false
	}
	for i := keyLen; i < len(o.key); i++ {
		left := hexDigit(o.key[i])
		for _, k := range kept {
			if i < len(k.key) {
				left &^= hexDigit(k.key[i])
			}
		}
		if left != 0 {
			return false
		}
	}
	return true
}

// retire removes an object, closes an issue, or replaces a review's text by a link to kept, because
// these two cannot be removed. It returns what was done. An object that is gone already is fine,
// because another run reconciles at the same time.
func (x *executor) retire(ctx context.Context, o, kept Object) (done string, err error) {
	gh := x.deps.GitHub
	var do func(context.Context) error
	switch o.Type {
	case objIssue:
		done = fmt.Sprintf("the second, #%d, was closed", o.Number)
		do = func(ctx context.Context) error {
			closed, reason := "closed", "not_planned"
			_, err := gh.EditIssue(ctx, x.repo, o.Number, githubapi.IssueEdit{State: &closed, StateReason: &reason})
			return err
		}
	case objComment:
		done = "the second comment was removed"
		do = func(ctx context.Context) error { return gh.DeleteIssueComment(ctx, x.repo, o.ID) }
	case objReviewComment:
		done = "the second comment was removed"
		do = func(ctx context.Context) error { return gh.DeleteReviewComment(ctx, x.repo, o.ID) }
	case objDiscussion:
		done = fmt.Sprintf("the second, #%d, was removed", o.Number)
		do = func(ctx context.Context) error { return gh.DeleteDiscussion(ctx, o.NodeID) }
	case objDiscussionComment:
		done = "the second comment was removed"
		do = func(ctx context.Context) error { return gh.DeleteDiscussionComment(ctx, o.NodeID) }
	case objReview: // a submitted review cannot be removed
		done = "the text of the second review was replaced by a link to the first"
		do = func(ctx context.Context) error {
			_, err := gh.EditReview(ctx, x.repo, o.Number, o.ID, "*This review was posted twice. [It is here]("+kept.URL+").*\n\n"+
				markdown.Marker(o.key[:keyLen]+strings.Repeat("0", len(o.key)-keyLen)))
			return err
		}
	default:
		return "", nil
	}
	if err := x.idempotent(ctx, do); err != nil && !isKind(err, githubapi.NotFound) {
		return done, err
	}
	return done, nil
}
