package apply

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/text"
)

// connect opens the repository that is fetched from and pushed to, at the address that GitHub
// itself gives (rule R6), never at one that the local clone names. It also stores the default
// branch.
func (c *codePreparer) connect() error {
	if c.o.deps.GitHub == nil || c.code.Connect == nil {
		return nil
	}
	info, err := c.o.deps.GitHub.GetRepo(c.o.ctx, c.o.repo)
	if err != nil {
		return err
	}
	c.o.s.defaultBranch = info.DefaultBranch
	c.o.s.remote, err = c.code.Connect(info.CloneURL)
	return err
}

// refuseAll refuses every item, because the repository cannot be opened.
func (c *codePreparer) refuseAll(err error) error {
	if fatal := c.o.fatal(err); fatal != nil {
		return fatal
	}
	for _, e := range c.o.need.code {
		code, message := failure(err, e.permissions())
		st := (&codeState{}).refuse(Failed, code, message)
		c.savePatch(st)
		st.mask(c.o.cfg)
		c.o.s.code[e.index] = st
	}
	return nil
}

// fetch fetches the commits that are not at hand, in one request. Without a remote it does nothing,
// and a step that needs the commits fails.
func (c *codePreparer) fetch(commits ...string) error {
	var missing []string
	for _, commit := range commits {
		if commit == "" {
			continue
		}
		exists, err := c.code.Repo.Has(c.o.ctx, commit)
		if err != nil {
			return err
		}
		if !exists {
			missing = append(missing, commit)
		}
	}
	if len(missing) == 0 || c.o.s.remote == nil {
		return nil
	}
	fetch := func() error {
		return c.o.deps.withinLimits(c.o.ctx, c.o.repo, "fetch commits", func() error { return c.code.Repo.Fetch(c.o.ctx, c.o.s.remote, missing, 1) })
	}
	err := fetch()
	for _, wait := range lookWaits {
		if !errors.Is(err, gitrepo.ErrUnreachable) || gitLimit(err) != nil || c.o.deps.Clock.Sleep(c.o.ctx, wait) != nil {
			break
		}
		err = fetch()
	}
	return err
}

// fetchBases fetches the commits that the changes may have been made from, as far as GitHub
// still has them. It reports whether the repository now has one that it did not have before.
func (c *codePreparer) fetchBases(st *codeState) (more bool) {
	for _, oid := range c.code.Bases {
		before, _ := c.code.Repo.Has(c.o.ctx, oid)
		if err := c.fetch(oid); err != nil {
			st.note(fmt.Sprintf("the commit %.7s could not be fetched: %v", oid, err))
			continue
		}
		after, _ := c.code.Repo.Has(c.o.ctx, oid)
		more = more || after && !before
	}
	return more
}

// saveWithheld saves the changes of the items that are denied for a secret in their texts.
func (c *codePreparer) saveWithheld() {
	if c.code.problem() != "" {
		return
	}
	for _, e := range c.o.withheld {
		st := &codeState{}
		c.savePatch(st)
		st.mask(c.o.cfg)
		c.o.s.code[e.index] = st
	}
}

// savePatch saves the changes of an item that cannot be pushed, for people to apply by
// hand. Changes that cannot be read are not saved.
func (c *codePreparer) savePatch(st *codeState) {
	probe := &codeState{onto: st.onto}
	if err := c.read(probe); err != nil || probe.refusal != nil || len(probe.series.Changes) == 0 {
		return
	}
	st.series = probe.series
	c.keepPatchOf(st, st.series, false)
}

// read reads the agent's changes, once for all items.
func (c *codePreparer) read(st *codeState) error {
	if c.series == nil {
		var bases []string
		if st.onto != "" {
			bases = []string{st.onto}
		}
		s, err := c.code.Series(c.o.ctx, bases)
		if errors.Is(err, agentchanges.ErrNoBase) && c.fetchBases(st) {
			s, err = c.code.Series(c.o.ctx, bases)
		}
		var conflict *gitrepo.Conflict
		switch {
		case errors.Is(err, agentchanges.ErrNoBase):
			st.refuse(Failed, CodeNoBase, err.Error())
			return nil
		case errors.As(err, &conflict):
			st.refuse(Failed, CodeConflict, fmt.Sprintf("the patch does not apply to the commit that it is assumed to be made from: %s; name the right one (changes-base)", conflict.Error()))
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

// leaveOut removes the changes of files that the owner excludes.
func (c *codePreparer) leaveOut(e *entry, st *codeState) error {
	excluded := e.settings.Changes.Excluded
	if len(excluded) == 0 {
		return nil
	}
	kept, left, err := c.code.Repo.Without(c.o.ctx, st.series, tree.Matcher(excluded))
	switch {
	case c.o.ctx.Err() != nil:
		return c.o.ctx.Err()
	case err != nil:
		st.refuse(Failed, CodeUnreadable, "the files that the configuration excludes (excluded-files) cannot be left out: "+err.Error())
		return nil
	}
	if st.series = kept; len(left) > 0 {
		st.note("left out, as excluded-files says: " + text.QuoteList(left))
	}
	return nil
}

// noChanges returns the message for an item without changes.
func (c *codePreparer) noChanges(st *codeState) string {
	if c.code.File != "" {
		return fmt.Sprintf("there are no changes: the file %q contains none", c.code.File)
	}
	return fmt.Sprintf("there are no changes: neither a commit nor an edited file since %s; the agent has to leave them in the workspace, or in a file that the input \"changes\" names", cmp.Or(fmt.Sprintf("%.7s", st.series.Base), "the base"))
}

// unchanged decides an item that changes nothing, as if-no-changes says.
func (c *codePreparer) unchanged(e *entry, st *codeState, message string) {
	switch e.settings.Changes.IfNoChanges {
	case policy.NoChangesIgnore:
		st.refuse(Applied, "", message+"; the configuration ignores that (if-no-changes)")
	case policy.NoChangesError:
		st.refuse(Failed, CodeNoChanges, message)
	default:
		st.refuse(Skipped, CodeNoChanges, message)
	}
}
