package toolreport

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
)

// biomeLog is what biome --reporter=json prints. It gives a place in bytes, with the file's text,
// or in newer versions in lines and columns.
type biomeLog struct {
	Summary     struct{ DiagnosticsNotPrinted int }
	Diagnostics []struct {
		Severity, Category, Description string
		Message                         json.RawMessage // a text, or its parts
		Location                        struct {
			Path       json.RawMessage // a text, or an object with the text
			Start, End struct{ Line, Column int }
			Span       []int
			SourceCode string
		}
	}
}

func (log biomeLog) report(c *collector) {
	c.omitted += max(log.Summary.DiagnosticsNotPrinted, 0)
	for _, d := range log.Diagnostics {
		var path, message string
		if json.Unmarshal(d.Location.Path, &path) != nil {
			var object struct{ File string }
			_ = json.Unmarshal(d.Location.Path, &object) // a diagnostic may have no file
			path = object.File
		}
		if json.Unmarshal(d.Message, &message) != nil {
			message = d.Description
		}
		f := finding.Finding{Tool: "biome", Path: path, Rule: d.Category, Message: message, Severity: levelOf(d.Severity)}
		f.Range = finding.Range{StartLine: d.Location.Start.Line, StartColumn: d.Location.Start.Column, EndLine: d.Location.End.Line, EndColumn: d.Location.End.Column}
		if span := d.Location.Span; len(span) == 2 && 0 <= span[0] && span[0] <= span[1] && span[1] <= len(d.Location.SourceCode) {
			f.Range.StartLine, f.Range.StartColumn = positionAt(d.Location.SourceCode[:span[0]])
			f.Range.EndLine, f.Range.EndColumn = positionAt(d.Location.SourceCode[:span[1]])
		}
		switch d.Category {
		case "format":
			c.add(unformatted(path))
		case "parse":
			f.Rule = ""
			c.addUnparsed(f)
		default:
			c.add(f)
		}
	}
}

// positionAt returns the line and the column after a text.
func positionAt(before string) (line, column int) {
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
