package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// reconcile looks once more at what was created. Of several objects with the same key it
// keeps the one with the lowest id, as any other run of the same job does, so that all runs
// end with the same one.
//
// It costs a wait and a listing of each list that was written to, so it is done only where a
// duplicate is possible: after a creation that was tried again, whose first try may have
// taken effect very late, and where the caller expects two runs at the same moment.
// Duplicates that Observe saw are removed without either.
func (x *executor) reconcile(ctx context.Context) {
	if x.deps.GitHub == nil || x.plan.config.DryRun {
		return
	}
	x.reconcileObserved(ctx)
	lists, last := x.unreconciled()
	if len(lists) == 0 || ctx.Err() != nil {
		return
	}
	if wait := last.Add(listLag).Sub(x.deps.Clock.Now()); wait > 0 {
		x.deps.log(fmt.Sprintf("waiting %v for GitHub's lists, to make sure that nothing was written twice", wait.Round(time.Second)))
		if x.deps.Clock.Sleep(ctx, wait) != nil {
			return
		}
	}
	for _, id := range lists {
		own, err := ownObjects(ctx, x.deps.GitHub, x.repo, id, x.plan.snap.viewer, x.since)
		if err != nil {
			x.deps.log(fmt.Sprintf("could not look for duplicates among the %s: %v", id.what, err))
			continue
		}
		families := map[string][]Object{}
		for _, o := range own {
			families[o.family()] = append(families[o.family()], o)
		}
		entries := map[string][]*entry{}
		var order []string
		for _, c := range x.created {
			if f := c.object.family(); c.list == id {
				if entries[f] == nil {
					order = append(order, f)
				}
				entries[f] = append(entries[f], c.entries...)
			}
		}
		for _, f := range order {
			x.keepLowest(ctx, families[f], entries[f])
		}
	}
}

// unreconciled returns the lists to look at, and when the last object was created.
func (x *executor) unreconciled() (lists []listID, last time.Time) {
	when := x.plan.config.Reconcile
	for _, c := range x.created {
		if when == ReconcileNever || when == ReconcileAuto && !c.doubtful {
			continue
		}
		if !slices.Contains(lists, c.list) {
			lists = append(lists, c.list)
		}
		if c.at.After(last) {
			last = c.at
		}
	}
	return lists, last
}

// reconcileObserved removes the duplicates among what Observe adopted.
func (x *executor) reconcileObserved(ctx context.Context) {
	for i := range x.plan.Operations {
		op := &x.plan.Operations[i]
		if op.Staged {
			continue
		}
		seen := map[string]bool{}
		for _, o := range op.Adopts {
			if seen[o.family()] {
				continue
			}
			seen[o.family()] = true
			same := slices.DeleteFunc(slices.Clone(op.Adopts), func(p Object) bool { return p.family() != o.family() })
			x.keepLowest(ctx, same, op.entries)
		}
	}
}

// family is what objects that may be duplicates of each other have in common: the type, and
// the key of the item or group.
func (o Object) family() string { return o.Type + " " + o.key[:min(len(o.key), keyLen)] }

// keepLowest keeps, of the objects of one family, those with the lowest ids that carry
// everything. It removes or closes the others, and notes that in the results of the entries
// that they carry.
//
// Check runs cannot be removed. GitHub itself shows only the newest of a name.
func (x *executor) keepLowest(ctx context.Context, family []Object, entries []*entry) {
	if len(family) > 0 && family[0].Type == objCheckRun {
		return
	}
	family = slices.Clone(family)
	slices.SortFunc(family, compareIDs)
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
		done, err := x.retire(ctx, o, kept[0])
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
			if r.Object.key == o.key {
				r.Object = &kept[0]
			}
			r.Notes = append(slices.Clone(r.Notes), note)
		}
	}
}

// covered reports whether kept, objects of its family, carry everything that o carries. The
// key of a single item's object is its family's; that of a group's object lists the members
// that it carries.
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

// retire removes an object, or closes what cannot be removed. It returns what was done. An
// object that is gone already is fine, because another run reconciles at the same time.
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
			_, err := gh.EditReview(ctx, x.repo, o.Number, o.ID, "*This review was posted twice. [It is here]("+kept.URL+").*")
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
