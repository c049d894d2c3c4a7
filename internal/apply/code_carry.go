package apply

import (
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// stay puts the changes onto the very commit that they were made from, if the base
// branch has it. Another commit would bring along what nobody has judged: those of
// a fork in the merge commit of its pull request, or those of an agent that names
// one of its own as the base of its patch.
func (c *coder) stay(st *codeState) error {
	if c.o.w.GitHub == nil || st.series.Base == st.onto {
		st.onto = st.series.Base
		return nil
	}
	cmp, err := c.o.w.GitHub.Compare(c.o.ctx, c.o.repo, st.onto, st.series.Base)
	if err != nil && !isKind(err, githubapi.NotFound) {
		return err
	}
	if err != nil || cmp.MergeBase != st.series.Base {
		st.note(fmt.Sprintf("the commit %.7s, which the changes were made from, is not on the branch %q: they were put onto where that is, in spite of rebase: false", st.series.Base, st.base))
		return nil
	}
	st.onto = st.series.Base
	return nil
}

// carry puts the changes onto where they go, and holds the result against the
// rules.
func (c *coder) carry(e *entry, st *codeState) error {
	ctx, repo := c.o.ctx, c.code.Repo
	if st.onto == "" {
		st.onto = st.series.Base // without a token: as if nothing had moved
	}
	if st.onto == "" {
		st.refuse(Failed, CodeNoBase, "the commit that the changes were made from is not known; name it (changes-base)")
		return nil
	}
	var err error
	st.carried, err = repo.Transplant(ctx, st.series, st.onto, c.style(e, st))
	var conflict *gitrepo.Conflict
	switch {
	case errors.As(err, &conflict):
		st.patch = c.seriesPatch(st)
		st.refuse(Failed, CodeConflict, fmt.Sprintf("the changes do not fit %s any more: %s; let the agent work on the present commit, or apply the patch by hand (git am --3way)", c.where(st), conflict.Error()))
		return nil
	case err != nil:
		return err
	}
	if st.carried.Moved {
		st.note(fmt.Sprintf("the changes were made from %.7s and put onto %s, which is at %.7s", st.series.Base, c.where(st), st.onto))
	}
	if n := len(st.carried.Dropped); n > 0 {
		st.note(fmt.Sprintf("%s holds %s of these changes already", c.where(st), text.Count(n, "commit")))
	}
	if st.tip() == st.onto {
		st.refuse(Adopted, "", c.where(st)+" holds these changes already").refusal.unchanged = true
		return nil
	}
	if st.changes, err = repo.TreeChanges(ctx, st.onto, st.tip()); err != nil {
		return err
	}
	if err := c.judge(e, st); err != nil || st.refusal != nil {
		return err
	}
	return c.same(st)
}

// same recognises a branch of an earlier run that holds the very same files: there
// is nothing to push, and no reason to make anybody look again.
func (c *coder) same(st *codeState) error {
	if st.expect == "" || st.expect == st.onto {
		return nil
	}
	is, err := c.code.Repo.Commit(c.o.ctx, st.expect)
	if err != nil {
		return err
	}
	wanted, err := c.code.Repo.Commit(c.o.ctx, st.tip())
	if err != nil {
		return err
	}
	if is.Tree == wanted.Tree {
		st.pushed, st.carried.Tip = true, st.expect
		st.note(fmt.Sprintf("the branch %q holds the same files already, so nothing was pushed", st.branch))
	}
	return nil
}

// where names what the changes go onto.
func (c *coder) where(st *codeState) string {
	if st.base != "" {
		return fmt.Sprintf("the branch %q", st.base)
	}
	return fmt.Sprintf("the branch %q", st.branch)
}
