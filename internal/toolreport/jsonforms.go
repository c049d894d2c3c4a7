package toolreport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// readGosec reads gosec -fmt=json.
func readGosec(raw json.RawMessage, c *collector) string {
	var log struct {
		Errors map[string][]struct{ Error string } `json:"Golang errors"`
		Issues []struct {
			Severity, Confidence, Details, File string
			Line, Column                        string // "7", or "7-9" for several lines
			Rule                                string `json:"rule_id"`
			CWE                                 *struct{ ID, URL string }
			NoSec                               bool
			Suppressions                        []json.RawMessage
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, file := range slices.Sorted(maps.Keys(log.Errors)) {
		c.broken = true
		if file != "" && len(log.Errors[file]) > 0 {
			c.note(fmt.Sprintf("gosec could not read %s whole: %s", base(file), clip(log.Errors[file][0].Error, maxName)))
		}
	}
	for _, i := range log.Issues {
		if i.NoSec || len(i.Suppressions) > 0 {
			continue
		}
		first, last, _ := strings.Cut(i.Line, "-")
		f := finding.Finding{Tool: "gosec", Rule: i.Rule, Message: i.Details, Path: i.File, Severity: graded(i.Severity)}
		f.Range = finding.Range{StartLine: number(first), StartColumn: number(i.Column), EndLine: number(last)}
		rule := finding.Rule{ID: i.Rule, Short: i.Details, Severity: f.Severity, Precision: precise(i.Confidence)}
		if i.CWE != nil {
			rule.CWE, rule.HelpURI = cwe(i.CWE.ID), i.CWE.URL
		}
		c.rule("gosec", rule)
		c.add(f)
	}
	return "gosec"
}

// readBandit reads bandit -f json.
func readBandit(raw json.RawMessage, c *collector) string {
	var log struct {
		Errors  []struct{ Filename, Reason string }
		Results []struct {
			Filename   string
			Severity   string           `json:"issue_severity"`
			Confidence string           `json:"issue_confidence"`
			Text       string           `json:"issue_text"`
			Line       int              `json:"line_number"`
			Column     *int             `json:"col_offset"` // from 0; newer versions tell it
			EndColumn  int              `json:"end_col_offset"`
			Rule       string           `json:"test_id"`
			Name       string           `json:"test_name"`
			More       string           `json:"more_info"`
			CWE        struct{ ID int } `json:"issue_cwe"`
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, e := range log.Errors {
		c.broken = true
		c.note(fmt.Sprintf("bandit could not read %s: %s", base(e.Filename), clip(e.Reason, maxName)))
	}
	for _, r := range log.Results {
		f := finding.Finding{Tool: "bandit", Rule: r.Rule, Message: r.Text, Path: r.Filename, Severity: graded(r.Severity), Range: finding.Range{StartLine: r.Line}}
		if r.Column != nil {
			f.Range.StartColumn = *r.Column + 1
		}
		c.rule("bandit", finding.Rule{ID: r.Rule, Name: r.Name, HelpURI: r.More, CWE: cwe(strconv.Itoa(r.CWE.ID)), Severity: f.Severity, Precision: precise(r.Confidence)})
		c.add(f)
	}
	return "bandit"
}

// readAstGrep reads a line of ast-grep scan --json=stream. A fix that stands for
// whole lines is a suggestion.
func readAstGrep(line []byte, c *collector) string {
	type place struct{ Line, Column int }
	type offsets struct{ Start, End int }
	var m struct {
		File, Message, Severity, Text, Lines string
		Rule                                 string `json:"ruleId"`
		Note                                 *string
		Range                                struct {
			ByteOffset offsets
			Start, End place
		}
		CharCount          struct{ Leading, Trailing int }
		Replacement        *string
		ReplacementOffsets offsets
	}
	if json.Unmarshal(line, &m) != nil {
		return ""
	}
	f := finding.Finding{Tool: "ast-grep", Rule: m.Rule, Message: m.Message, Path: m.File, Severity: levelOf(m.Severity)}
	f.Range = finding.Range{StartLine: m.Range.Start.Line + 1, StartColumn: m.Range.Start.Column + 1, EndLine: m.Range.End.Line + 1, EndColumn: m.Range.End.Column + 1}
	if m.Note != nil && *m.Note != "" {
		f.Message += "\n" + *m.Note
	}
	text := []rune(m.Lines)
	if before, after := m.CharCount.Leading, len(text)-m.CharCount.Trailing; m.Replacement != nil && m.ReplacementOffsets == m.Range.ByteOffset && before >= 0 && before <= after && after <= len(text) {
		f.Suggestion = string(text[:before]) + *m.Replacement + string(text[after:])
	}
	c.add(f)
	return "ast-grep"
}

// graded reads the severities of security tools.
func graded(word string) finding.Severity {
	switch s := finding.Severity(strings.ToLower(word)); s {
	case finding.Low, finding.Medium, finding.High, finding.Critical:
		return s
	}
	return finding.Medium
}

// precise reads their confidence.
func precise(word string) finding.Precision {
	if p := finding.Precision(strings.ToLower(word)); p.Rank() > 0 {
		return p
	}
	return finding.PrecisionUnknown
}

func cwe(id string) []int {
	if n := number(id); n > 0 {
		return []int{n}
	}
	return nil
}

// base is a file's name without its folders, which may be another machine's.
func base(file string) string {
	return clip(file[strings.LastIndexAny(file, `/\`)+1:], maxName)
}
