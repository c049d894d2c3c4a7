package report

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// unconfiguredWords says why nothing was written, and how to change that.
const unconfiguredWords = "There is no configuration, so nothing was written. Name the kinds that the agent may use"

// writeEnabling says what a repository's owner has to write for the plan to be
// carried out: the configuration, where there is none, and the permissions, where
// nothing was written or one was missing.
func (r *Report) writeEnabling(b *strings.Builder) {
	permissions := r.permissionsToGrant()
	if r.Unconfigured {
		b.WriteString("\n### How to enable it\n\n" + unconfiguredWords + " in the action's input `config`:\n\n" + markdown.Fence("yaml", r.kindsAsked()) + "\n")
		if permissions != "" {
			b.WriteString("\nand give the job what they need:\n\n" + markdown.Fence("yaml", permissions) + "\n")
		}
		return
	}
	if permissions != "" {
		b.WriteString("\n### Permissions\n\nThe job needs:\n\n" + markdown.Fence("yaml", permissions) + "\n")
	}
}

// kindsAsked is a configuration that enables what was asked for.
func (r *Report) kindsAsked() string {
	asked := map[safeoutput.Kind]bool{}
	for _, res := range r.Results {
		asked[res.Kind] = true
	}
	var b strings.Builder
	for _, spec := range safeoutput.Kinds() {
		switch {
		case !asked[spec.Kind], spec.Kind == safeoutput.KindNoop, spec.Kind == safeoutput.KindMissingTool: // these two need no permission
		case spec.Kind == safeoutput.KindUpdateIssue:
			b.WriteString(string(spec.Kind) + ":\n  status:\n  title:\n  body:\n")
		default:
			b.WriteString(string(spec.Kind) + ":\n")
		}
	}
	if b.Len() == 0 {
		return string(safeoutput.KindCreateIssue) + ":\n" + string(safeoutput.KindAddIssueComment) + ":\n"
	}
	return b.String()
}

// permissionsToGrant returns the permissions block that the plan needs, or "" if
// nothing hints that it is missing.
func (r *Report) permissionsToGrant() string {
	if r.plan == nil || len(r.plan.Permissions) == 0 || !r.DryRun && !r.lacksPermission() {
		return ""
	}
	return apply.PermissionsBlock(r.plan.Permissions)
}

func (r *Report) lacksPermission() bool {
	for _, res := range r.Results {
		if res.Code == apply.CodeNoPermission {
			return true
		}
	}
	return false
}
