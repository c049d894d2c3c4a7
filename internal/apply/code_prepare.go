package apply

import (
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// coder prepares the items that carry code. It reads GitHub, fetches into the
// repository of our own, and makes the commits there; nothing leaves it.
type coder struct {
	o      *observer
	code   *Code
	series *gitrepo.Series // read once, for all items
	// given are the branches that items before get: they are not free any more.
	given []string
}

// code prepares every item that carries code: where it goes, what it changes
// there, and whether it may. Nothing is pushed that did not pass here.
func (o *observer) code() error {
	if len(o.need.code) == 0 {
		return nil
	}
	o.s.code = map[int]*codeState{}
	c := &coder{o: o, code: o.w.Code}
	if c.code != nil && c.code.Repo != nil {
		if err := c.connect(); err != nil {
			return c.unconnected(err)
		}
	}
	for _, e := range o.need.code {
		st := &codeState{stable: stableKey(o.cfg.Run, o.ev, e.kind, e.ordinal)}
		o.s.code[e.index] = st
		if c.code == nil || c.code.Repo == nil {
			st.refuse(Failed, CodeNoClone, "the changes are not at hand: check the repository out in this job (actions/checkout), or name the patch or bundle that holds them (changes)")
			continue
		}
		if err := c.prepare(e, st); err != nil {
			if fatal := o.fatal(err); fatal != nil {
				return fatal
			}
			code, message := failure(err, handlerPermissions(e.kind))
			st.refuse(Failed, code, message)
		}
		st.mask(o.cfg)
	}
	return nil
}

// handlerPermissions are what a kind that carries code needs.
func handlerPermissions(kind safeoutput.Kind) []Permission {
	if kind == safeoutput.KindCreatePullRequest {
		return append(write(permContents), write(permPulls)...)
	}
	return write(permContents)
}

// prepare fills in the state of one item. An error is one of GitHub's; what is
// wrong with the item or the changes is a refusal.
func (c *coder) prepare(e *entry, st *codeState) error {
	if err := c.place(e, st); err != nil {
		return err
	}
	if st.refusal != nil {
		c.spare(st)
		return nil
	}
	if err := c.fetch(st.onto); err != nil {
		return err
	}
	if err := c.read(st); err != nil || st.refusal != nil {
		return err
	}
	if len(st.series.Changes) == 0 {
		c.unchanged(e, st)
		return nil
	}
	if e.settings.Changes.StayOnBase {
		if err := c.stay(st); err != nil {
			return err
		}
	}
	return c.carry(e, st)
}

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
		st.note(fmt.Sprintf("%s holds %s of these changes already", c.where(st), counted(n, "commit")))
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

// spare keeps the changes of an item that has nowhere to go, for whoever takes them
// by hand. What cannot be read is not kept.
func (c *coder) spare(st *codeState) {
	if st.refusal.state != Skipped {
		return
	}
	probe := &codeState{onto: st.onto}
	if err := c.read(probe); err != nil || probe.refusal != nil || len(probe.series.Changes) == 0 {
		return
	}
	st.series = probe.series
	st.patch = c.seriesPatch(st)
}

// where names what the changes go onto.
func (c *coder) where(st *codeState) string {
	if st.base != "" {
		return fmt.Sprintf("the branch %q", st.base)
	}
	return fmt.Sprintf("the branch %q", st.branch)
}

// read reads the agent's changes, once for all items.
func (c *coder) read(st *codeState) error {
	if c.series == nil {
		var bases []string
		if st.onto != "" {
			bases = []string{st.onto}
		}
		s, err := c.code.Series(c.o.ctx, bases)
		if errors.Is(err, gitrepo.ErrNoBase) && c.fetchBases(st) {
			s, err = c.code.Series(c.o.ctx, bases)
		}
		var conflict *gitrepo.Conflict
		switch {
		case errors.Is(err, gitrepo.ErrNoBase):
			st.refuse(Failed, CodeNoBase, err.Error())
			return nil
		case errors.As(err, &conflict):
			st.refuse(Failed, CodeConflict, fmt.Sprintf("the patch does not fit the commit that it is taken to be made from: %s; name the right one (changes-base)", conflict.Error()))
			return nil
		case err != nil:
			if c.o.ctx.Err() != nil {
				return c.o.ctx.Err()
			}
			st.refuse(Failed, CodeUnreadable, "the changes cannot be read: "+err.Error())
			return nil
		}
		c.series = &s
	}
	st.series = *c.series
	for _, n := range st.series.Notes {
		st.note(n)
	}
	return nil
}

// unchanged decides an item that changes nothing as the owner wants it.
func (c *coder) unchanged(e *entry, st *codeState) {
	message := fmt.Sprintf("there are no changes: neither a commit nor an edited file since %s; the agent leaves them in the workspace, or in a file that the input changes names", short(st.series.Base))
	if c.code.File != "" {
		message = fmt.Sprintf("there are no changes: the file %q holds none", c.code.File)
	}
	switch e.settings.Changes.IfNoChanges {
	case policy.NoChangesIgnore:
		st.refuse(Applied, "", message+"; the configuration ignores that (if-no-changes)")
	case policy.NoChangesError:
		st.refuse(Failed, CodeNoChanges, message)
	default:
		st.refuse(Skipped, CodeNoChanges, message)
	}
	st.refusal.unchanged = true
}

// short shortens a commit's id for people.
func short(oid string) string {
	if oid == "" {
		return "the base"
	}
	return oid[:min(7, len(oid))]
}
