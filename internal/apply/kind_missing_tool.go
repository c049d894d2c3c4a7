package apply

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// missingToolHandler applies missing-tool: a line in the report and, where the owner
// wants it, one issue for all of them.
var missingToolHandler = reportHandler(agentReport{
	result: func(e *entry) Result {
		it, who := e.item.(*safeoutput.MissingTool), "the agent"
		if e.own {
			who = "the checks"
		}
		return e.result(Applied, "", "%s lacked the tool %q: %s", who, it.Tool, it.Reason)
	},
	summary: "report a missing tool in the job summary",
	title:   "Tools that agents lacked",
	intro:   "An agent reported that it lacked what it needed for its task.",
	section: func(e *entry) string {
		it := e.item.(*safeoutput.MissingTool)
		s := "### " + markdown.CodeSpan(it.Tool) + "\n\n" + apart(it.Reason)
		if strings.TrimSpace(it.Alternatives) != "" {
			s += "\n\n" + labelled("What could help instead:", it.Alternatives)
		}
		return s
	},
})
