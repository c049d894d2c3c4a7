package toolreport

import (
	"encoding/json"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// readVet reads go vet -json: packages, each with its analyzers, each with its
// findings or with an error.
func readVet(packages map[string]json.RawMessage, c *collector) string {
	form := ""
	for _, raw := range packages {
		var analyzers map[string]json.RawMessage
		if json.Unmarshal(raw, &analyzers) != nil {
			return ""
		}
		for name, raw := range analyzers {
			var list []struct{ Posn, End, Message string }
			if json.Unmarshal(raw, &list) != nil {
				continue
			}
			for _, d := range list {
				path, r := position(d.Posn)
				if path == "" {
					continue
				}
				if _, end := position(d.End); end.StartLine > 0 {
					r.EndLine, r.EndColumn = end.StartLine, end.StartColumn
				}
				c.add(finding.Finding{Tool: "go vet", Rule: name, Path: path, Message: d.Message, Severity: finding.Medium, Range: r})
				form = "go vet"
			}
		}
	}
	return form
}

// position reads "path:line:column".
func position(s string) (string, finding.Range) {
	rest, column, ok := cutLast(s, ":")
	path, line, ok2 := cutLast(rest, ":")
	if !ok || !ok2 || number(line) == 0 {
		return "", finding.Range{}
	}
	return path, finding.Range{StartLine: number(line), StartColumn: number(column)}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
