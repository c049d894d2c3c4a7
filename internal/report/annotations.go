package report

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
)

// Annotations returns one annotation for each item of an agent that was not done, for each
// different failure of Airlock's own items, and for each text of an agent that could only be shown
// this way. What the checks found has annotations of its own.
func (r *Report) Annotations() []action.Annotation {
	var out []action.Annotation
	for _, row := range r.notDone() {
		level := action.Warning
		if row.state == string(apply.Failed) {
			level = action.Error
		}
		title := "Airlock " + row.state + " " + cmp.Or(row.kind, "a line")
		if row.line > 0 {
			title += " (line " + itoa(row.line) + ")"
		}
		out = append(out, action.Annotation{Level: level, Title: r.safe(title), Message: strings.Join(row.reasons(), "; ")})
	}
	for _, row := range r.ownRows() {
		a := action.Annotation{Level: action.Error, Title: "Airlock could not report: " + r.safe(row.kind), Message: strings.Join(row.reasons(), "; ")}
		if row.state == string(apply.Failed) && !slices.Contains(out, a) { // the comments of one review fail together
			out = append(out, a)
		}
	}
	for _, res := range r.Results {
		if f := res.Fallback; f != nil && f.To == apply.ToAnnotation {
			out = append(out, action.Annotation{Level: action.Notice, Title: "Airlock: review comment", Message: r.safe(html.UnescapeString(f.Text)),
				File: f.Path, Line: cmp.Or(f.StartLine, f.Line), EndLine: f.Line})
		}
	}
	return out
}
