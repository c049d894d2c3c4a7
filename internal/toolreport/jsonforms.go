package toolreport

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// readJSON reads one JSON value by its form and returns the form's name.
func readJSON(raw json.RawMessage, c *collector) string {
	if len(raw) > 0 && raw[0] == '[' {
		return readJSONList(raw, c)
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return ""
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := keys[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("version", "runs"):
		return readSARIF(raw, c)
	case has("diagnostics"):
		return readRDJSON(raw, c)
	case has("Golang errors", "Issues"):
		return readGosec(raw, c)
	case has("results", "metrics", "errors"):
		return readBandit(raw, c)
	case has("Issues"):
		return readGolangci(raw, c)
	case has("files", "summary"):
		return readRubocop(raw, c)
	case has("numFailedTests", "testResults"):
		return readJest(raw, c)
	case has("examples", "summary_line"):
		return readRSpec(raw, c)
	case has("stats", "failures", "passes"):
		return readMocha(raw, c)
	case len(keys) == 0:
		return ""
	}
	return readVet(keys, c)
}

// readJSONList reads a list whose first element tells the form.
func readJSONList(raw json.RawMessage, c *collector) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // the opening bracket
	var first map[string]json.RawMessage
	if dec.Decode(&first) != nil {
		return "" // an empty list: nothing was found, by whichever tool
	}
	_, messages := first["messages"]
	_, filename := first["filename"]
	_, location := first["location"]
	switch {
	case messages:
		return readESLint(raw, c)
	case filename && location:
		return readRuff(raw, c)
	}
	return ""
}

func readESLint(raw json.RawMessage, c *collector) string {
	var files []struct {
		FilePath string
		Messages []struct {
			RuleID                           *string `json:"ruleId"`
			Severity                         int
			Message                          string
			Fatal                            bool
			Line, Column, EndLine, EndColumn int
		}
	}
	if json.Unmarshal(raw, &files) != nil {
		return ""
	}
	for _, file := range files {
		for _, m := range file.Messages {
			f := finding.Finding{Tool: "eslint", Path: file.FilePath, Message: m.Message, Severity: finding.Medium, Range: finding.Range{StartLine: m.Line, StartColumn: m.Column, EndLine: m.EndLine, EndColumn: m.EndColumn}}
			if m.RuleID != nil {
				f.Rule = *m.RuleID
			}
			c.broken = c.broken || m.Fatal
			if m.Severity >= 2 {
				f.Severity = finding.High
			}
			c.add(f)
		}
	}
	return "eslint"
}

func readGolangci(raw json.RawMessage, c *collector) string {
	var log struct {
		Issues []struct {
			FromLinter, Text, Severity string
			Pos                        struct {
				Filename     string
				Line, Column int
			}
			LineRange struct{ From, To int }
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, i := range log.Issues {
		f := finding.Finding{Tool: "golangci-lint", Rule: i.FromLinter, Path: i.Pos.Filename, Message: withoutPlace(i.Text), Severity: finding.Medium}
		if i.Severity != "" {
			f.Severity = severityOf(i.Severity[0], finding.Medium)
		}
		f.Range = finding.Range{StartLine: i.Pos.Line, StartColumn: i.Pos.Column, EndLine: i.LineRange.To}
		c.add(f)
	}
	return "golangci-lint"
}

// withoutPlace takes off what the compiler's own messages begin with there: the
// package, and the place once more.
func withoutPlace(text string) string {
	rest, ok := strings.CutPrefix(text, ": # ")
	if !ok {
		return text
	}
	_, rest, _ = strings.Cut(rest, "\n")
	if _, message, ok := strings.Cut(rest, ": "); ok {
		return message
	}
	return text
}

func readRubocop(raw json.RawMessage, c *collector) string {
	var log struct {
		Files []struct {
			Path     string
			Offenses []struct {
				Severity, Message string
				Cop               string `json:"cop_name"`
				Location          struct {
					StartLine   int `json:"start_line"`
					StartColumn int `json:"start_column"`
					LastLine    int `json:"last_line"`
					LastColumn  int `json:"last_column"`
				}
			}
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, file := range log.Files {
		for _, o := range file.Offenses {
			f := finding.Finding{Tool: "rubocop", Rule: o.Cop, Path: file.Path, Message: strings.TrimPrefix(o.Message, o.Cop+": ")}
			if o.Severity != "" {
				f.Severity = severityOf(o.Severity[0], finding.Medium)
			}
			c.broken = c.broken || o.Cop == "Lint/Syntax"
			// The last column is the last character's, not the one behind it.
			l := o.Location
			f.Range = finding.Range{StartLine: l.StartLine, StartColumn: l.StartColumn, EndLine: l.LastLine, EndColumn: l.LastColumn + 1}
			c.add(f)
		}
	}
	return "rubocop"
}

func readRuff(raw json.RawMessage, c *collector) string {
	type place struct{ Row, Column int }
	var list []struct {
		Code              *string
		Message, Filename string
		Location          place
		End               place `json:"end_location"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	for _, d := range list {
		f := finding.Finding{Tool: "ruff", Path: d.Filename, Message: d.Message, Severity: finding.Medium}
		if d.Code != nil {
			f.Rule = *d.Code
		}
		if d.Code == nil || f.Rule == "invalid-syntax" {
			f.Severity, c.broken = finding.High, true
		}
		f.Range = finding.Range{StartLine: d.Location.Row, StartColumn: d.Location.Column, EndLine: d.End.Row, EndColumn: d.End.Column}
		c.add(f)
	}
	return "ruff"
}
