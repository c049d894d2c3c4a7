package apply

import (
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// connect opens the repository that is fetched from and pushed to. Its address is
// GitHub's own word (rule R6), never the clone's.
func (c *coder) connect() error {
	if c.o.w.GitHub == nil || c.code.Connect == nil {
		return nil
	}
	info, err := c.o.w.GitHub.GetRepo(c.o.ctx, c.o.repo)
	if err != nil {
		return err
	}
	c.o.s.defaultBranch = info.DefaultBranch
	c.o.s.remote, err = c.code.Connect(info.CloneURL)
	return err
}

// unconnected decides every item where the repository cannot be got at.
func (c *coder) unconnected(err error) error {
	if fatal := c.o.fatal(err); fatal != nil {
		return fatal
	}
	for _, e := range c.o.need.code {
		code, message := failure(err, handlerPermissions(e.kind))
		c.o.s.code[e.index] = (&codeState{}).refuse(Failed, code, message)
	}
	return nil
}

// fetch gets commits that are not there. Without a remote, nothing is got: what
// needs them says so.
func (c *coder) fetch(commits ...string) error {
	var missing []string
	for _, oid := range commits {
		if oid == "" {
			continue
		}
		ok, err := c.code.Repo.Has(c.o.ctx, oid)
		if err != nil {
			return err
		}
		if !ok {
			missing = append(missing, oid)
		}
	}
	if len(missing) == 0 || c.o.s.remote == nil {
		return nil
	}
	get := func() error { return c.code.Repo.Fetch(c.o.ctx, c.o.s.remote, missing, 1) }
	err := get()
	for _, wait := range lookWaits() {
		if !errors.Is(err, gitrepo.ErrUnreachable) || c.o.w.Clock.Sleep(c.o.ctx, wait) != nil {
			break
		}
		err = get()
	}
	return err
}

// fetchBases gets the commits that the changes may have been made from, as far as
// GitHub still hands them out. It reports whether one is there that was not.
func (c *coder) fetchBases(st *codeState) (more bool) {
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
