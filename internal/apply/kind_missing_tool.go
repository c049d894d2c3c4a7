package apply

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// missingToolHandler applies missing-tool: a line in the report and, where the
// owner wants it, one issue for all of them.
func missingToolHandler() handler {
	return handler{
		group: func(e *entry) string {
			if e.settings.MissingTool.CreateIssue {
				return "issue"
			}
			return ""
		},
		needs: func(n *needs, e *entry) {
			if e.settings.MissingTool.CreateIssue {
				n.list(listIssues, 0)
			}
		},
		plan: planMissingTool,
	}
}

func planMissingTool(p *planner, group []*entry) Operation {
	kc := group[0].settings
	if !kc.MissingTool.CreateIssue {
		for _, e := range group {
			it := e.item.(*safeoutput.MissingTool)
			who := "the agent"
			if e.own {
				who = "the checks"
			}
			e.decide(Applied, "", "%s lacked the tool %q: %s", who, it.Tool, it.Reason)
		}
		return p.operation(group, "report a missing tool in the job summary")
	}
	keys := make([]string, len(group))
	rows := make([]string, len(group))
	for i, e := range group {
		keys[i] = e.key
		rows[i] = missingToolSection(e.item.(*safeoutput.MissingTool))
	}
	title := kc.TitlePrefix + "Tools that agents lacked"
	text := "An agent reported that it lacked what it needed for its task.\n\n" + strings.Join(rows, "\n\n")
	return p.issueOperation(group, groupKey("missing-tool", keys), title, text, kc.Labels, kc.Footer)
}

func missingToolSection(it *safeoutput.MissingTool) string {
	s := "### " + markdown.CodeSpan(it.Tool) + "\n\n" + closed(it.Reason)
	if strings.TrimSpace(it.Alternatives) != "" {
		s += "\n\n**What could help instead:** " + closed(it.Alternatives)
	}
	return s
}
