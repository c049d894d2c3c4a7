package report

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// writePermissions says what to grant, where the plan needs it and did not have
// it: a dry run, or failures for want of a permission.
func (r *Report) writePermissions(b *strings.Builder) {
	if block := r.PermissionsToGrant(); block != "" {
		b.WriteString("\n### Permissions\n\nThe job needs:\n\n" + markdown.Fence("yaml", block) + "\n")
	}
}

// PermissionsToGrant returns the permissions block that the plan needs, or "" if
// nothing hints that it is missing.
func (r *Report) PermissionsToGrant() string {
	if r.plan == nil || len(r.plan.Permissions) == 0 {
		return ""
	}
	if !r.DryRun && r.Counts.Staged == 0 && !r.lacksPermission() {
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

// writeEarlier lists what the collecting job refused: its own summary may be on
// another page.
func (r *Report) writeEarlier(b *strings.Builder) {
	if len(r.Earlier) == 0 {
		return
	}
	b.WriteString("\n<details><summary>Refused when the lines were collected (" + itoa(len(r.Earlier)) + ")</summary>\n\n")
	for _, e := range r.Earlier[:min(len(r.Earlier), maxRows)] {
		b.WriteString("- " + text(r.words(e)) + "\n")
	}
	if more := len(r.Earlier) - maxRows; more > 0 {
		b.WriteString("- … and " + itoa(more) + " more\n")
	}
	b.WriteString("\n</details>\n")
}

// writeFallbacks shows the texts that GitHub did not take, so that none is lost.
// They are sanitized Markdown already.
func (r *Report) writeFallbacks(b *strings.Builder) {
	first := true
	for _, res := range r.Results {
		f := res.Fallback
		if f == nil {
			continue
		}
		if first {
			b.WriteString("\n### Not delivered, shown here instead\n")
			first = false
		}
		title := f.Title
		if f.Path != "" {
			title = f.Path + ":" + itoa(f.Line)
		}
		if title == "" {
			title = string(res.Kind)
		}
		b.WriteString("\n#### " + text(r.words(title)) + "\n\n" + strings.TrimRight(f.Text, "\n") + markdown.CloseOpen(f.Text) + "\n")
	}
}

// PlainBlock shows plain text, such as an error, in Markdown exactly as it is.
func PlainBlock(s string) string { return markdown.Fence("text", s) + "\n" }
