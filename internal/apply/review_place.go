package apply

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/policy"
)

// adoptComment decides a comment that an earlier attempt posted: by itself, or
// in the body of something that carries some of the group.
func (p *planner) adoptComment(op *Operation, w *reviewWork, c *reviewComment) bool {
	own := p.snap.found(c.e.key)
	for _, o := range p.snap.own[w.group] {
		if carries, ok := members(o.key, w.group, w.size); ok && carries(c.member) {
			own = append(own, o)
		}
	}
	if len(own) == 0 {
		return false
	}
	w.partial = !w.own // ours are nowhere else
	for _, o := range own {
		if !slices.ContainsFunc(op.Adopts, o.same) {
			op.Adopts = append(op.Adopts, o)
		}
	}
	there := &own[0]
	switch k := there.known; {
	case k == nil:
		c.e.decide(Adopted, "", "an earlier attempt of this workflow run posted it already")
	case k.settled && !k.later(p.cfg.Run) && !c.e.approved.OverLimit():
		c.there = there
		w.reopen = append(w.reopen, c)
		return true
	case w.own && !k.settled && !k.later(p.cfg.Run) && !saysTheSame(k.body, w.inlineBody(c)):
		c.there = there
		w.renew = append(w.renew, c)
		return true
	default:
		c.e.decide(Adopted, "", "the comment is there already")
	}
	c.e.decided.Object = there
	return true
}

// place decides where a comment goes.
func (p *planner) place(w *reviewWork, c *reviewComment) {
	if c.e.approved.OverLimit() {
		r := c.overLimit()
		c.e.decided = &r
		return
	}
	limit := p.cfg.MaxInline
	if limit <= 0 {
		limit = DefaultMaxInline
	}
	d := p.snap.diff[w.number]
	if d.anchors != nil {
		if err := d.anchors.Check(c.item.Path, changes.Side(c.item.Side), c.item.StartLine, c.item.Line); err != nil {
			c.why = err.Error()
			switch {
			case c.outside() == policy.OutsideDrop:
				r := c.dropped()
				c.e.decided = &r
			case c.outside() == policy.OutsideFile && d.files[c.item.Path]:
				w.file = append(w.file, c)
			default:
				w.body = append(w.body, c)
			}
			return
		}
	}
	if len(w.inline) >= limit && w.own {
		r := c.overLimit()
		c.e.decided = &r
		return
	}
	if len(w.inline) >= limit {
		c.why = fmt.Sprintf("a review carries at most %d inline comments", limit)
		w.body = append(w.body, c)
		return
	}
	w.inline = append(w.inline, c)
}

// outside is what the owner wants done with a comment whose lines are not in the
// diff.
func (c *reviewComment) outside() policy.OutsideDiff { return c.e.settings.Review.OutsideDiff }

// dropped is the result of a comment that the owner wants left out.
func (c *reviewComment) dropped() Result {
	leaves := "the configuration leaves such comments out"
	if c.e.own {
		leaves = "it is shown as an annotation instead"
	}
	r := c.e.result(Skipped, CodeOutsideDiff, "%s; %s", c.why, leaves)
	r.Fallback = c.e.fallback()
	return r
}

// overLimit is the result of a comment of Airlock's own that is one too many. What
// it says stands in the summary of the checks.
func (c *reviewComment) overLimit() Result {
	return c.e.result(Skipped, CodeOwnLimit, "not posted: this workflow run has more to say about lines than its limit of review comments allows; the summary holds it")
}
