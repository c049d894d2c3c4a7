package apply

import "github.com/agent-airlock/airlock/internal/safeoutput"

// noopHandler applies noop: its message is reported, and nothing is written.
var noopHandler = handler{plan: func(p *planner, group []*entry) Operation {
	for _, e := range group {
		e.decide(Applied, "", "%s", e.item.(*safeoutput.Noop).Message)
	}
	return p.operation(group, "nothing: the agent reported that there was nothing to do")
}}
