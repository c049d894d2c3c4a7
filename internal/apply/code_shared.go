package apply

import (
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// sharedBranch is a branch of ours whose commits cannot be replaced: a rule forbids it, or others
// have committed to the branch, such as a fix or the merge of the button "Update branch".
type sharedBranch struct {
	own []githubapi.Commit // the commits that we made, the oldest first
	why string             // why they cannot be replaced, as the beginning of a sentence
}

// othersCommitted begins a sentence about a branch to which others have committed.
func othersCommitted(branch string, pull *githubapi.Pull) string {
	ofPull := ""
	if pull != nil {
		ofPull = fmt.Sprintf(" of pull request #%d", pull.Number)
	}
	return fmt.Sprintf("somebody else has committed to the branch %q%s", branch, ofPull)
}

// join puts one commit on top of a shared branch. That commit replaces the changes of our earlier
// commits by the new ones, and keeps other people's changes. If it would change nothing, nothing is
// pushed. If it conflicts with other people's changes, it is refused.
func (c *codePreparer) join(e *entry, st *codeState) error {
	change, err := c.replacement(e, st)
	if err != nil {
		return err
	}
	if change.Before == change.After {
		return c.leaveShared(e, st, change.After)
	}
	onTop := gitrepo.Series{Base: st.expect, Changes: []gitrepo.Change{change}}
	joined, err := c.code.Repo.Transplant(c.o.ctx, onTop, st.expect, c.style(e, st))
	if conflict, ok := errors.AsType[*gitrepo.Conflict](err); ok {
		return c.refuseJoin(st, conflict)
	}
	if err != nil {
		return err
	}
	if joined.Tip == st.expect {
		return c.leaveShared(e, st, change.After)
	}
	st.note(st.shared.why + ", so the changes were put on top of that as one commit")
	st.carried.Tip, st.carried.Commits, st.onto = joined.Tip, joined.Commits, st.expect
	return nil
}

// replacement returns the change from our own part of a shared branch to the new changes. Both
// sides are trees on st.onto, the commit that the branch began at, without other people's commits.
func (c *codePreparer) replacement(e *entry, st *codeState) (change gitrepo.Change, err error) {
	if change, err = c.summary(e, st.onto, st.carried.Commits); err != nil {
		return change, err
	}
	if len(st.carried.Commits) == 1 {
		only, err := c.code.Repo.Commit(c.o.ctx, st.tip())
		if err != nil {
			return change, err
		}
		change.Message = only.Message
	}
	change.Before, err = c.ownPart(e, st)
	return change, err
}

// refuseJoin refuses changes that conflict with what others committed to the branch, and keeps them
// as a patch.
func (c *codePreparer) refuseJoin(st *codeState, conflict *gitrepo.Conflict) error {
	ours, err := c.code.Repo.SeriesOf(c.o.ctx, st.onto, st.tip())
	if err != nil {
		return err
	}
	c.keepPatchOf(st, ours, false)
	st.refuse(Failed, CodeConflict, fmt.Sprintf("%s, and the new changes do not fit on top of that: %s; nothing was pushed, and the branch is as they left it; "+
		"let the agent work on that branch, or apply the patch to it by hand (git am --3way)", st.shared.why, conflict.Where()))
	return nil
}

// leaveShared leaves a shared branch as it is. A note gives the reason: the branch contains the
// changes already, or others have changed or reverted them there. lastTree is the tree after the
// changes.
func (c *codePreparer) leaveShared(e *entry, st *codeState, lastTree string) error {
	st.pushed, st.carried.Tip = true, st.expect
	began, err := c.code.Repo.Commit(c.o.ctx, st.onto)
	if err != nil {
		return err
	}
	asOneChange := gitrepo.Series{Base: st.onto, Changes: []gitrepo.Change{{Before: began.Tree, After: lastTree}}}
	again, err := c.code.Repo.Transplant(c.o.ctx, asOneChange, st.expect, c.style(e, st))
	_, conflicts := errors.AsType[*gitrepo.Conflict](err)
	switch {
	case err == nil && again.Tip == st.expect:
		st.note(fmt.Sprintf("the branch %q contains these changes already, so nothing was pushed", st.branch))
	case err == nil || conflicts:
		st.note(fmt.Sprintf("on the branch %q, others have changed or reverted what this workflow put there; apart from that, the branch contains the new changes, so nothing was pushed", st.branch))
	default:
		return err
	}
	return nil
}

// ownPart returns the tree that our own commits alone make of st.onto, the commit that the changes
// were put onto. If they do not fit there without other people's commits, it returns the tree of
// st.onto: nothing of the branch counts as ours then.
func (c *codePreparer) ownPart(e *entry, st *codeState) (tree string, err error) {
	ctx, repo := c.o.ctx, c.code.Repo
	runs := runsOf(st.shared.own)
	var ends []string
	for _, r := range runs {
		ends = append(ends, r.before, r.last)
	}
	if err := c.fetch(ends...); err != nil {
		return "", err
	}
	series := gitrepo.Series{Base: st.onto}
	for _, r := range runs {
		from, err := repo.Commit(ctx, r.before)
		if err != nil {
			return "", err
		}
		to, err := repo.Commit(ctx, r.last)
		if err != nil {
			return "", err
		}
		if from.Tree != to.Tree {
			series.Changes = append(series.Changes, gitrepo.Change{Before: from.Tree, After: to.Tree})
		}
	}
	transplanted, err := repo.Transplant(ctx, series, st.onto, c.style(e, st))
	if _, conflicts := errors.AsType[*gitrepo.Conflict](err); conflicts {
		transplanted.Tip, err = st.onto, nil
	}
	if err != nil {
		return "", err
	}
	tip, err := repo.Commit(ctx, transplanted.Tip)
	return tip.Tree, err
}

// commitRun is a sequence of our own commits in which each is the parent of the next. before is
// the parent of the first.
type commitRun struct{ before, last string }

// runsOf divides our own commits, the oldest first, into runs. It leaves out a commit that does not
// have exactly one parent, because we make no such commits.
func runsOf(own []githubapi.Commit) (runs []commitRun) {
	for _, commit := range own {
		if len(commit.Parents) != 1 {
			continue
		}
		if end := len(runs) - 1; end >= 0 && runs[end].last == commit.Parents[0] {
			runs[end].last = commit.SHA
			continue
		}
		runs = append(runs, commitRun{commit.Parents[0], commit.SHA})
	}
	return runs
}
