package toolreport

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// sarifRun is what is read of a SARIF run.
type sarifRun struct {
	Tool struct {
		Driver struct {
			Name  string
			Rules []sarifRule
		}
	}
	Artifacts []struct{ Location sarifPlace }
	Results   []struct {
		RuleID    string
		RuleIndex *int
		Rule      struct{ ID string }
		Level     string
		Kind      string
		Message   sarifText
		Locations []struct {
			PhysicalLocation struct {
				ArtifactLocation sarifPlace
				Region           finding.Range
			}
		}
		Suppressions []json.RawMessage
	}
}

type sarifRule struct {
	ID                   string
	ShortDescription     sarifText
	MessageStrings       map[string]sarifText
	DefaultConfiguration struct{ Level string }
}

type sarifText struct {
	Text, ID  string
	Arguments []string
}

type sarifPlace struct {
	URI   string
	Index *int
}

// readSARIF reads a SARIF log. Results that report no problem, and those that
// are suppressed, are no findings.
func readSARIF(raw json.RawMessage, c *collector) string {
	if violations, err := sarif.Validate(raw); err != nil || len(violations) > 0 {
		if len(violations) > 0 {
			c.note("the output looks like SARIF, but is none: " + clip(violations[0].Message, maxName))
		}
		return ""
	}
	var log struct{ Runs []sarifRun }
	if err := json.Unmarshal(raw, &log); err != nil {
		c.note("the SARIF log cannot be read: " + clip(err.Error(), maxName))
		return ""
	}
	for _, run := range log.Runs {
		byID := map[string]int{}
		for i, r := range run.Tool.Driver.Rules {
			byID[r.ID] = i
		}
		for _, res := range run.Results {
			if res.Kind != "" && res.Kind != "fail" || len(res.Suppressions) > 0 {
				continue
			}
			var rule sarifRule
			id := cmp.Or(res.RuleID, res.Rule.ID)
			if i, ok := byID[id]; ok {
				rule = run.Tool.Driver.Rules[i]
			} else if res.RuleIndex != nil && *res.RuleIndex >= 0 && *res.RuleIndex < len(run.Tool.Driver.Rules) {
				rule = run.Tool.Driver.Rules[*res.RuleIndex]
			}
			f := finding.Finding{Tool: clip(run.Tool.Driver.Name, maxName), Rule: cmp.Or(id, rule.ID), Severity: levelOf(cmp.Or(res.Level, rule.DefaultConfiguration.Level, "warning"))}
			f.Message = cmp.Or(res.Message.Text, fill(rule.MessageStrings[res.Message.ID].Text, res.Message.Arguments), rule.ShortDescription.Text, f.Rule)
			if len(res.Locations) > 0 {
				at := res.Locations[0].PhysicalLocation
				place := at.ArtifactLocation
				if place.URI == "" && place.Index != nil && *place.Index >= 0 && *place.Index < len(run.Artifacts) {
					place = run.Artifacts[*place.Index].Location
				}
				f.Path, f.Range = c.uri(place.URI), at.Region
			}
			c.add(f)
		}
	}
	return "sarif"
}

// uri returns the path that a URI names, as a tool would print it; "" for one
// that names no file of the repository.
func (c *collector) uri(uri string) string {
	rel, err := sarif.RepoPath(uri, c.places.roots)
	if err != nil || rel == "" {
		return ""
	}
	if strings.HasPrefix(uri, "/") || strings.Contains(uri, ":") {
		// It was absolute: write it so that it is not taken to be below Dir.
		if len(c.places.roots) == 0 {
			return ""
		}
		return c.places.roots[0] + "/" + rel
	}
	return rel
}

// fill puts arguments in the places of {0}, {1}, …
func fill(text string, arguments []string) string {
	for i, a := range arguments {
		if i == 10 {
			break
		}
		text = strings.ReplaceAll(text, "{"+string(rune('0'+i))+"}", clip(a, maxName))
	}
	return text
}

func levelOf(level string) finding.Severity {
	switch strings.ToLower(level) {
	case "error":
		return finding.High
	case "warning":
		return finding.Medium
	case "none":
		return finding.None
	}
	return finding.Low
}

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

// readItem reads one safe output: those that are about a place are findings.
func readItem(kind string, fields map[string]json.RawMessage, c *collector) bool {
	spec, ok := safeoutput.Lookup(kind)
	if !ok {
		return false
	}
	item := spec.New()
	for name, raw := range fields {
		if name == "type" || string(raw) == "null" {
			continue
		}
		if err := safeoutput.Assign(item, safeoutput.CanonicalField(spec.Kind, name), raw); err != nil {
			c.note("a safe output has a wrong field: " + clip(err.Error(), maxName))
			return true
		}
	}
	switch it := item.(type) {
	case *safeoutput.CreateReviewComment:
		r := finding.Range{StartLine: it.Line}
		if it.StartLine > 0 && it.StartLine < it.Line {
			r = finding.Range{StartLine: it.StartLine, EndLine: it.Line}
		}
		c.add(finding.Finding{Path: it.Path, Range: r, Message: it.Body, Severity: finding.Medium})
	case *safeoutput.CreateSecurityReport:
		if len(it.SARIF) > 0 {
			readSARIF(unquoted(it.SARIF), c)
			break
		}
		f := sarif.AgentFinding(c.tool, it.File, it.Line, it.Column, it.Severity, it.Message, it.RuleIDSuffix)
		f.Path = path.Clean(it.File)
		c.add(f)
	case *safeoutput.MissingTool:
		c.note("missing tool: " + clip(it.Tool, maxName) + ": " + clip(it.Reason, maxName))
	}
	return true
}

// unquoted returns the log inside a SARIF field that is a string.
func unquoted(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return json.RawMessage(s)
	}
	return raw
}
