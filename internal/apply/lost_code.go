package apply

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// leadText returns the warnings above an item's text: that the agent did not complete its task,
// and that the changes which go with the text were not delivered.
func (p *planner) leadText() string {
	lead := p.incompleteNote()
	if p.lost != "" {
		lead += warning("The changes that go with this were not delivered: ", p.lost)
	}
	return lead
}

// warning returns a warning in Markdown, with the beginning of an explanation.
func warning(what, why string) string {
	return "> [!WARNING]\n> " + what + markdown.EscapeText(text.Truncate(text.OneLine(why), 300)) + "\n\n"
}

// lostIn returns why changes are not delivered, from the result of an item that carries
// code; "" where nothing is lost. A branch without its pull request is not lost.
func lostIn(r Result) string {
	lost := r.State == Failed || r.State == Denied || r.State == Skipped
	if !lost || r.Code == CodePullForbidden {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", r.Kind, r.State, r.Message)
}

// lostInPlan returns, like lostIn, why the changes of a group are not delivered, as far as the plan
// knows. Refused changes count as lost even if the plan opens an issue for them.
func (p *planner) lostInPlan(group []*entry) string {
	for _, e := range group {
		var r Result
		st := p.snap.code[e.index]
		switch {
		case e.decided != nil:
			r = *e.decided
		case st != nil && st.refusal != nil:
			r = e.result(st.refusal.state, st.refusal.code, "%s", st.refusal.message)
		}
		if lost := lostIn(r); lost != "" {
			return lost
		}
	}
	return ""
}

// holdBack skips the items of a group, whose texts would mention changes that were not delivered.
// It is for owners who want such texts held back.
func (p *planner) holdBack(group []*entry) Operation {
	for _, e := range group {
		e.decide(Skipped, CodeHeld, "held back, because the changes that go with it were not delivered: %s", p.lost)
	}
	return p.operation(group, fmt.Sprintf("nothing: %s is held back", group[0].kind))
}

// replan plans the remaining operations again, after changes that the plan had counted
// on turned out not to be delivered.
func (x *executor) replan(from int, lost string) {
	var left []*entry
	for _, op := range x.plan.Operations[from:] {
		for _, e := range op.entries {
			e.decided = nil
			left = append(left, e)
		}
	}
	cfg := x.plan.config
	cfg.LostCode = lost
	again := planEntries(cfg, x.plan.ev, left, x.plan.snap)
	for i := range again.Operations {
		again.Operations[i].Number = from + i + 1
	}
	x.plan.Operations = append(x.plan.Operations[:from:from], again.Operations...)
}
