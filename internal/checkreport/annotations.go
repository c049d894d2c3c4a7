package checkreport

import (
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Annotation is a finding as the runner or a check run shows it beside its line.
type Annotation struct {
	Severity           finding.Severity
	Title, Message     string
	Path               string // "" for none
	StartLine, EndLine int    // 0 for none
}

// Annotations returns the findings that count, the most severe first, in plain
// text; where none explains why a check failed, its first problem.
func (d *Document) Annotations(words Words) []Annotation {
	var out []Annotation
	said := map[phase.Check]bool{}
	for _, f := range d.distinct() {
		title := name(f.Check)
		said[f.Check] = true
		for _, check := range f.also {
			title += ", " + name(check)
			said[check] = true
		}
		if f.Rule != "" {
			title += ": " + words.Line(f.Rule)
		}
		out = append(out, Annotation{Severity: f.Severity, Title: title, Message: words.Line(f.Message), Path: f.Path, StartLine: f.StartLine, EndLine: max(f.StartLine, f.EndLine)})
	}
	_, all := failed(d.rows())
	for _, r := range all {
		if !said[r.check] && len(r.problems) > 0 {
			out = append(out, Annotation{Severity: finding.High, Title: name(r.check) + " failed", Message: words.Line(cut(r.problems[0], 1000))})
		}
	}
	return out
}
