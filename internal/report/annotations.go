package report

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
)

// Level is an annotation's severity.
type Level string

// The levels of the runner's commands.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Notice  Level = "notice"
)

// Annotation is one line that the runner shows next to the job or a file.
type Annotation struct {
	Level              Level
	Title, Message     string
	Path               string // "" for none
	StartLine, EndLine int    // 0 for none
}

// Annotations returns one annotation for everything that was not done, and for each text of an
// agent that could only be shown this way. What the checks found has annotations of its own.
func (r *Report) Annotations() []Annotation {
	var out []Annotation
	for _, row := range r.notDone() {
		level := Warning
		if row.state == string(apply.Failed) {
			level = Error
		}
		title := "Airlock " + row.state + " " + cmp.Or(row.kind, "a line")
		if row.line > 0 {
			title += " (line " + itoa(row.line) + ")"
		}
		out = append(out, Annotation{Level: level, Title: r.safe(title), Message: strings.Join(row.reasons(), "; ")})
	}
	for _, row := range r.ownRows() {
		a := Annotation{Level: Error, Title: "Airlock could not report: " + r.safe(row.kind), Message: strings.Join(row.reasons(), "; ")}
		if row.state == string(apply.Failed) && !slices.Contains(out, a) { // the comments of one review fail together
			out = append(out, a)
		}
	}
	for _, res := range r.Results {
		if f := res.Fallback; f != nil && f.To == apply.ToAnnotation {
			out = append(out, Annotation{Level: Notice, Title: "Airlock: review comment", Message: r.safe(html.UnescapeString(f.Text)),
				Path: f.Path, StartLine: f.StartLine, EndLine: f.Line})
		}
	}
	return out
}
