package apply

import (
	"cmp"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// missingDataHandler applies missing-data: a line in the report for each item and, where the owner
// wants it, one issue for all of them.
var missingDataHandler = reportHandler(agentReport{
	result: func(e *entry) Result {
		it := e.item.(*safeoutput.MissingData)
		message := "the agent lacked " + cmp.Or(it.DataType, "data")
		if it.Reason != "" {
			message += ": " + it.Reason
		}
		return e.result(Applied, "", "%s", message)
	},
	summary: "report missing data in the job summary",
	title:   "Data that agents lacked",
	intro:   "An agent reported that it lacked data that it needed for its task.",
	section: func(e *entry) string {
		it := e.item.(*safeoutput.MissingData)
		parts := []string{"### " + markdown.CodeSpan(cmp.Or(it.DataType, "data"))}
		if strings.TrimSpace(it.Reason) != "" {
			parts = append(parts, apart(it.Reason))
		}
		for _, p := range []struct{ label, text string }{{"What is known:", it.Context}, {"What could help instead:", it.Alternatives}} {
			if strings.TrimSpace(p.text) != "" {
				parts = append(parts, labelled(p.label, p.text))
			}
		}
		return strings.Join(parts, "\n\n")
	},
})
