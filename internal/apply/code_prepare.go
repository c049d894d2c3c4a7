package apply

import (
	"github.com/agent-airlock/airlock/internal/gitrepo"
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
