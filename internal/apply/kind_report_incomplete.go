package apply

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// reportIncompleteHandler applies report-incomplete: the item counts as failed, so that
// nobody takes an unfinished task for a finished one, and the texts of other items mention it
// (see incompleteNote). Where the owner wants it, there is one issue for all items of this kind.
var reportIncompleteHandler = reportHandler(agentReport{
	result: func(e *entry) Result {
		return e.result(Failed, CodeIncomplete, "the agent reports that it did not complete its task: %s", e.item.(*safeoutput.ReportIncomplete).Reason)
	},
	failed:  true,
	summary: "report in the job summary that the task was not completed",
	title:   "Tasks that agents did not complete",
	intro:   "An agent reported that it did not complete its task.",
	section: func(e *entry) string {
		it := e.item.(*safeoutput.ReportIncomplete)
		s := apart(it.Reason)
		if strings.TrimSpace(it.Details) != "" {
			s += "\n\n" + apart(it.Details)
		}
		return s
	},
})

// incompleteReason returns why the agent did not complete its task, in the words of the first
// item that reports this; "" where none does. Staged items count only in a dry run.
func incompleteReason(cfg Config, entries []*entry) string {
	for _, e := range entries {
		if it, ok := e.item.(*safeoutput.ReportIncomplete); ok && (!e.staged || cfg.DryRun) {
			return cfg.mask(it.Reason)
		}
	}
	return ""
}

// incompleteNote returns what stands above the texts of the other items if the agent reports that it
// did not complete its task; "" otherwise.
func (p *planner) incompleteNote() string {
	if p.cfg.incomplete == "" {
		return ""
	}
	return warning("The agent reports that it did not complete its task: ", p.cfg.incomplete)
}
