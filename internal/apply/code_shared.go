package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// sharedBranch is a branch of ours whose commits cannot be replaced: because others have
// committed to it, a fix or the merge commit of the button "Update branch", or because a rule
// forbids it.
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

// join puts the changes on top of a shared branch. The changes are at hand as commits on the
// commit that the branch began at. What they differ in from our own commits on the branch,
// without those of others, is applied to the branch as one commit: so our part is replaced, and
// that of others stays. Where the branch contains all of it, nothing is pushed.
func (c *codePreparer) join(e *entry, st *codeState) error {
	ctx, repo := c.o.ctx, c.code.Repo
	before, err := c.ownPart(e, st)
	if err != nil {
		return err
	}
	change, err := c.summary(e, st.onto, st.carried.Commits)
	if err != nil {
		return err
	}
	if len(st.carried.Commits) == 1 {
		info, err := repo.Commit(ctx, st.tip())
		if err != nil {
			return err
		}
		change.Message = info.Message
	}
	change.Before = before
	top := gitrepo.Transplanted{Tip: st.expect}
	if change.Before != change.After {
		top, err = repo.Transplant(ctx, gitrepo.Series{Base: st.expect, Changes: []gitrepo.Change{change}}, st.expect, c.style(e, st))
	}
	conflict, conflicts := errors.AsType[*gitrepo.Conflict](err)
	switch {
	case conflicts:
		ours, err := repo.SeriesOf(ctx, st.onto, st.tip())
		if err != nil {
			return err
		}
		c.keepPatchOf(st, ours, false)
		st.refuse(Failed, CodeConflict, fmt.Sprintf("%s, and the new changes do not fit on top of that: %s; nothing was pushed, and the branch is as they left it; "+
			"let the agent work on that branch, or apply the patch to it by hand (git am --3way)", st.shared.why, conflict.Where()))
		return nil
	case err != nil:
		return err
	}
	if top.Tip == st.expect {
		st.pushed, st.carried.Tip = true, st.expect
		return c.noteShared(e, st, change.After)
	}
	st.note(st.shared.why + ", so the changes were put on top of that as one commit")
	st.carried.Tip, st.carried.Commits, st.onto = top.Tip, top.Commits, st.expect
	return nil
}

// noteShared adds the note about why nothing is pushed to a shared branch: it contains the
// changes, whose last tree is after, or others have reverted the same changes.
func (c *codePreparer) noteShared(e *entry, st *codeState, after string) error {
	base, err := c.code.Repo.Commit(c.o.ctx, st.onto)
	if err != nil {
		return err
	}
	asOneChange := gitrepo.Series{Base: st.onto, Changes: []gitrepo.Change{{Before: base.Tree, After: after}}}
	reapplied, err := c.code.Repo.Transplant(c.o.ctx, asOneChange, st.expect, c.style(e, st))
	_, conflicts := errors.AsType[*gitrepo.Conflict](err)
	switch {
	case err == nil && reapplied.Tip == st.expect:
		st.note(fmt.Sprintf("the branch %q contains these changes already, so nothing was pushed", st.branch))
	case err == nil || conflicts:
		st.note(fmt.Sprintf("others have changed or taken back on the branch %q what this workflow put there, and these changes are the same once more; so nothing was pushed", st.branch))
	default:
		return err
	}
	return nil
}

// ownPart returns the tree that the branch would have with our own commits alone, on the commit
// that the changes were put onto. Where they do not fit there without those of others, it is
// the tree of that commit, so that nothing of the branch counts as ours.
func (c *codePreparer) ownPart(e *entry, st *codeState) (tree string, err error) {
	ctx, repo := c.o.ctx, c.code.Repo
	var ends []string
	for _, r := range runsOf(st.shared.own) {
		ends = append(ends, r[0], r[1])
	}
	if err := c.fetch(ends...); err != nil && !errors.Is(err, gitrepo.ErrMissing) {
		return "", err
	}
	series := gitrepo.Series{Base: st.onto}
	for pair := range slices.Chunk(ends, 2) {
		from, err := repo.Commit(ctx, pair[0])
		if err != nil {
			return "", err
		}
		to, err := repo.Commit(ctx, pair[1])
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

// runsOf divides commits into runs that follow each other without one of somebody else's. It
// returns the commit before each run and its last one. A commit without exactly one parent is
// not one that we made like this, and is left out.
func runsOf(own []githubapi.Commit) (runs [][2]string) {
	for _, commit := range own {
		if len(commit.Parents) != 1 {
			continue
		}
		if last := len(runs) - 1; last >= 0 && runs[last][1] == commit.Parents[0] {
			runs[last][1] = commit.SHA
			continue
		}
		runs = append(runs, [2]string{commit.Parents[0], commit.SHA})
	}
	return runs
}
