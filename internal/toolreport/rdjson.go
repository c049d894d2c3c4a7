package toolreport

import (
	"cmp"
	"encoding/json"

	"github.com/agent-airlock/airlock/internal/finding"
)

// rdDiagnostic is one diagnostic of reviewdog's format.
type rdDiagnostic struct {
	Message  string
	Severity any
	Source   struct{ Name string }
	Code     struct{ Value string }
	Location struct {
		Path  string
		Range rdRange
	}
	Suggestions []struct {
		Range rdRange
		Text  string
	}
}

type rdRange struct {
	Start, End struct{ Line, Column int }
}

func (r rdRange) of() finding.Range {
	return finding.Range{StartLine: r.Start.Line, StartColumn: r.Start.Column, EndLine: r.End.Line, EndColumn: r.End.Column}
}

// readRDJSON reads a whole rdjson document.
func readRDJSON(raw json.RawMessage, c *collector) string {
	var log struct {
		Source      struct{ Name string }
		Severity    any
		Diagnostics []rdDiagnostic
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		c.note("the output looks like rdjson, but is none: " + clip(err.Error(), maxName))
		return ""
	}
	for _, d := range log.Diagnostics {
		d.Source.Name = cmp.Or(d.Source.Name, log.Source.Name)
		if d.Severity == nil {
			d.Severity = log.Severity
		}
		c.addDiagnostic(d)
	}
	return "rdjson"
}

func (c *collector) addDiagnostic(d rdDiagnostic) {
	f := finding.Finding{Tool: clip(d.Source.Name, maxName), Rule: d.Code.Value, Message: d.Message, Path: d.Location.Path, Range: d.Location.Range.of()}
	switch s, _ := d.Severity.(string); s {
	case "ERROR":
		f.Severity = finding.High
	case "WARNING":
		f.Severity = finding.Medium
	case "INFO":
		f.Severity = finding.Low
	}
	if n, ok := d.Severity.(float64); ok && n >= 1 && n <= 3 { // the numbers of the same enumeration
		f.Severity = []finding.Severity{finding.High, finding.Medium, finding.Low}[int(n)-1]
	}
	// A suggestion is of use where it replaces whole lines.
	if len(d.Suggestions) > 0 {
		if s := d.Suggestions[0]; s.Range.Start.Line > 0 && s.Range.Start.Column <= 1 && s.Range.End.Column == 0 {
			f.Suggestion, f.Range = s.Text, s.Range.of()
		}
	}
	c.add(f)
}
