package apply

import (
	"encoding/json"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// RuleReservedTool denies a report that poses as Airlock's own checks.
const RuleReservedTool = "reserved-tool"

// refuseReserved denies agents' logs that name the tool of Airlock's own checks: code
// scanning takes an upload as the whole state of its tool, so that one without results
// would close what the checks have found.
func refuseReserved(group []*entry) {
	for _, e := range pending(group) {
		it := e.item.(*safeoutput.CreateSecurityReport)
		if !e.own && namesTool(it.SARIF, sarif.OwnTool) {
			e.decide(Denied, RuleReservedTool, "the tool %q is that of Airlock's own checks: give the log the name of the tool that made it", sarif.OwnTool)
		}
	}
}

// namesTool reports whether a run of a log is of the tool.
func namesTool(log json.RawMessage, tool string) bool {
	var doc struct {
		Runs []struct {
			Tool struct{ Driver struct{ Name string } }
		}
	}
	if json.Unmarshal(log, &doc) != nil {
		return false // what is no log is refused elsewhere
	}
	for _, r := range doc.Runs {
		if strings.EqualFold(strings.TrimSpace(r.Tool.Driver.Name), tool) {
			return true
		}
	}
	return false
}
