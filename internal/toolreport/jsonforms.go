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
	"github.com/agent-airlock/airlock/internal/text"
)

// jsonForm is a form of JSON values. A value is known by its members, whichever tool
// printed it.
type jsonForm struct {
	name    string
	members []string // that a value of the form has
	// read reads a value into the collector, and reports whether it has the form.
	read func(raw json.RawMessage, c *collector) bool
}

// jsonDocuments returns the forms of documents that are one object, or several after each
// other. The first form that fits is taken.
func jsonDocuments() []jsonForm {
	return []jsonForm{
		{"sarif", []string{"version", "runs"}, readSARIF},
		decoded[biomeLog]("biome", "diagnostics", "summary", "command"),
		{"rdjson", []string{"diagnostics"}, readRDJSON},
		decoded[gosecLog]("gosec", "Golang errors", "Issues"),
		decoded[banditLog]("bandit", "results", "metrics", "errors"),
		decoded[golangciLog]("golangci-lint", "Issues"),
		decoded[rubocopLog]("rubocop", "files", "summary"),
		decoded[jestLog]("jest", "numFailedTests", "testResults"),
		decoded[rspecLog]("rspec", "examples", "summary_line"),
		decoded[mochaLog]("mocha", "stats", "failures", "passes"),
		{"go vet", nil, readVet},
	}
}

// jsonLists returns the forms of documents that are a list, by the members of the first
// element. An empty list has none of them: it says only that some tool found nothing.
func jsonLists() []jsonForm {
	return []jsonForm{
		decoded[eslintLog]("eslint", "messages"),
		decoded[ruffLog]("ruff", "filename", "location"),
	}
}

// jsonLog is what a tool prints, decoded.
type jsonLog interface{ report(c *collector) }

// decoded returns the form of values that are decoded as a T.
func decoded[T jsonLog](name string, members ...string) jsonForm {
	return jsonForm{name, members, func(raw json.RawMessage, c *collector) bool {
		var log T
		if json.Unmarshal(raw, &log) != nil {
			return false
		}
		log.report(c)
		return true
	}}
}

// formOf returns the first form whose members an object has.
func formOf(forms []jsonForm, object map[string]json.RawMessage) (form jsonForm, ok bool) {
	i := slices.IndexFunc(forms, func(f jsonForm) bool {
		return !slices.ContainsFunc(f.members, func(m string) bool { return object[m] == nil })
	})
	if i < 0 {
		return jsonForm{}, false
	}
	return forms[i], true
}

// readJSON reads one JSON value and returns the name of its form, "" if that is not
// known.
func readJSON(raw json.RawMessage, c *collector) string {
	forms := jsonDocuments()
	var object map[string]json.RawMessage
	if raw[0] == '[' {
		forms = jsonLists()
		dec := json.NewDecoder(bytes.NewReader(raw))
		_, _ = dec.Token() // the opening bracket
		if dec.Decode(&object) != nil {
			return ""
		}
	} else if json.Unmarshal(raw, &object) != nil {
		return ""
	}
	if form, ok := formOf(forms, object); ok && form.read(raw, c) {
		return form.name
	}
	return ""
}

// eslintLog is what eslint --format json prints.
type eslintLog []struct {
	FilePath string
	Messages []struct {
		RuleID                           string
		Severity                         int
		Message                          string
		Fatal                            bool
		Line, Column, EndLine, EndColumn int
	}
}

func (log eslintLog) report(c *collector) {
	for _, file := range log {
		for _, m := range file.Messages {
			f := finding.Finding{Tool: "eslint", Rule: m.RuleID, Path: file.FilePath, Message: m.Message, Severity: finding.Medium,
				Range: finding.Range{StartLine: m.Line, StartColumn: m.Column, EndLine: m.EndLine, EndColumn: m.EndColumn}}
			if m.Severity >= 2 {
				f.Severity = finding.High
			}
			if m.Fatal {
				c.addUnparsed(f)
				continue
			}
			c.add(f)
		}
	}
}

// golangciLog is what golangci-lint prints as JSON.
type golangciLog struct {
	Issues []struct {
		FromLinter, Text, Severity string
		Pos                        struct {
			Filename     string
			Line, Column int
		}
		LineRange struct{ From, To int }
	}
}

func (log golangciLog) report(c *collector) {
	for _, i := range log.Issues {
		c.add(finding.Finding{
			Tool: "golangci-lint", Rule: i.FromLinter, Path: i.Pos.Filename, Message: withoutPlace(i.Text), Severity: severityNamed(i.Severity),
			Range: finding.Range{StartLine: i.Pos.Line, StartColumn: i.Pos.Column, EndLine: i.LineRange.To},
		})
	}
}

// withoutPlace removes the beginning of a compiler's message that golangci-lint quotes: the package,
// and the place, which the finding has already.
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

// rubocopLog is what rubocop --format json prints.
type rubocopLog struct {
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

func (log rubocopLog) report(c *collector) {
	for _, file := range log.Files {
		for _, o := range file.Offenses {
			add := c.add
			if o.Cop == "Lint/Syntax" {
				add = c.addUnparsed
			}
			add(finding.Finding{
				Tool: "rubocop", Rule: o.Cop, Path: file.Path, Message: strings.TrimPrefix(o.Message, o.Cop+": "), Severity: severityNamed(o.Severity),
				// LastColumn is the column of the last character; EndColumn is the one after it.
				Range: finding.Range{StartLine: o.Location.StartLine, StartColumn: o.Location.StartColumn, EndLine: o.Location.LastLine, EndColumn: o.Location.LastColumn + 1},
			})
		}
	}
}

// ruffLog is what ruff check --output-format=json prints.
type ruffLog []struct {
	Code              *string // null for a file that cannot be parsed
	Message, Filename string
	Location          rowColumn
	End               rowColumn `json:"end_location"`
}

type rowColumn struct{ Row, Column int }

func (log ruffLog) report(c *collector) {
	for _, d := range log {
		f := finding.Finding{Tool: "ruff", Path: d.Filename, Message: d.Message, Severity: finding.Medium,
			Range: finding.Range{StartLine: d.Location.Row, StartColumn: d.Location.Column, EndLine: d.End.Row, EndColumn: d.End.Column}}
		if d.Code != nil {
			f.Rule = *d.Code
		}
		if d.Code == nil || f.Rule == "invalid-syntax" {
			f.Severity = finding.High
			c.addUnparsed(f)
			continue
		}
		c.add(f)
	}
}

// readVet reads the object that go vet -json prints: packages with their analyzers, and for each
// analyzer its findings or an error. The form has no other mark, so only an object with a finding
// is taken for it.
func readVet(raw json.RawMessage, c *collector) bool {
	var packages map[string]map[string]json.RawMessage
	if json.Unmarshal(raw, &packages) != nil {
		return false
	}
	found := false
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		analyzers := packages[pkg]
		for _, name := range slices.Sorted(maps.Keys(analyzers)) {
			var list []struct{ Posn, End, Message string }
			if json.Unmarshal(analyzers[name], &list) != nil {
				continue
			}
			for _, d := range list {
				path, lines := position(d.Posn)
				if path == "" {
					continue
				}
				if _, end := position(d.End); end.StartLine > 0 {
					lines.EndLine, lines.EndColumn = end.StartLine, end.StartColumn
				}
				c.add(finding.Finding{Tool: "go vet", Rule: name, Path: path, Message: d.Message, Severity: finding.Medium, Range: lines})
				found = true
			}
		}
	}
	return found
}

// position reads "path:line:column". The path is "" if s has another form or no line number above 0.
// A column that is not a number is 0.
func position(s string) (string, finding.Range) {
	rest, column, ok := cutLastColon(s)
	path, line, hasLine := cutLastColon(rest)
	if !ok || !hasLine || atoi(line) == 0 {
		return "", finding.Range{}
	}
	return path, finding.Range{StartLine: atoi(line), StartColumn: atoi(column)}
}

func cutLastColon(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
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

func (r rdRange) lines() finding.Range {
	return finding.Range{StartLine: r.Start.Line, StartColumn: r.Start.Column, EndLine: r.End.Line, EndColumn: r.End.Column}
}

// readRDJSON reads an rdjson document.
func readRDJSON(raw json.RawMessage, c *collector) bool {
	var log struct {
		Source      struct{ Name string }
		Severity    any
		Diagnostics []rdDiagnostic
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		c.note("the output looks like rdjson, but is not valid: " + text.TruncateBytes(err.Error(), maxName))
		return false
	}
	for _, d := range log.Diagnostics {
		d.Source.Name = cmp.Or(d.Source.Name, log.Source.Name)
		if d.Severity == nil {
			d.Severity = log.Severity
		}
		d.report(c)
	}
	return true
}

func (d rdDiagnostic) report(c *collector) {
	f := finding.Finding{Tool: text.TruncateBytes(d.Source.Name, maxName), Rule: d.Code.Value, Message: d.Message, Path: d.Location.Path, Range: d.Location.Range.lines()}
	switch d.Severity { // a word, or its number in the same enumeration
	case "ERROR", 1.0:
		f.Severity = finding.High
	case "WARNING", 2.0:
		f.Severity = finding.Medium
	case "INFO", 3.0:
		f.Severity = finding.Low
	}
	// A suggestion can be used if it replaces complete lines.
	if len(d.Suggestions) > 0 {
		if s := d.Suggestions[0]; s.Range.Start.Line > 0 && s.Range.Start.Column <= 1 && s.Range.End.Column == 0 {
			f.Suggestion, f.Range = strings.TrimSuffix(s.Text, "\n"), s.Range.lines()
		}
	}
	c.add(f)
}

// gosecLog is what gosec -fmt=json prints.
type gosecLog struct {
	Errors map[string][]struct{ Error string } `json:"Golang errors"`
	Issues []struct {
		Severity, Confidence, Details, File string
		Line, Column                        string // "7", or "7-9" for several lines
		Rule                                string `json:"rule_id"`
		CWE                                 struct{ ID, URL string }
		NoSec                               bool
		Suppressions                        []json.RawMessage
	}
}

func (log gosecLog) report(c *collector) {
	for _, file := range slices.Sorted(maps.Keys(log.Errors)) {
		c.broken = true
		if file != "" && len(log.Errors[file]) > 0 {
			c.note(fmt.Sprintf("gosec could not read all of %s: %s", baseName(file), text.TruncateBytes(log.Errors[file][0].Error, maxName)))
		}
	}
	for _, i := range log.Issues {
		if i.NoSec || len(i.Suppressions) > 0 {
			continue
		}
		first, last, _ := strings.Cut(i.Line, "-")
		severity := securitySeverity(i.Severity)
		c.rule("gosec", finding.Rule{ID: i.Rule, Short: i.Details, Severity: severity, Precision: precisionNamed(i.Confidence), CWE: weaknessNumber(i.CWE.ID), HelpURI: i.CWE.URL})
		c.add(finding.Finding{Tool: "gosec", Rule: i.Rule, Message: i.Details, Path: i.File, Severity: severity,
			Range: finding.Range{StartLine: atoi(first), StartColumn: atoi(i.Column), EndLine: atoi(last)}})
	}
}

// banditLog is what bandit -f json prints.
type banditLog struct {
	Errors  []struct{ Filename, Reason string }
	Results []struct {
		Filename   string
		Severity   string           `json:"issue_severity"`
		Confidence string           `json:"issue_confidence"`
		Text       string           `json:"issue_text"`
		Line       int              `json:"line_number"`
		Column     *int             `json:"col_offset"` // from 0; only newer versions have it
		Rule       string           `json:"test_id"`
		Name       string           `json:"test_name"`
		More       string           `json:"more_info"`
		CWE        struct{ ID int } `json:"issue_cwe"`
	}
}

func (log banditLog) report(c *collector) {
	for _, e := range log.Errors {
		c.broken = true
		c.note(fmt.Sprintf("bandit could not read %s: %s", baseName(e.Filename), text.TruncateBytes(e.Reason, maxName)))
	}
	for _, r := range log.Results {
		f := finding.Finding{Tool: "bandit", Rule: r.Rule, Message: r.Text, Path: r.Filename, Severity: securitySeverity(r.Severity), Range: finding.Range{StartLine: r.Line}}
		if r.Column != nil {
			f.Range.StartColumn = *r.Column + 1
		}
		c.rule("bandit", finding.Rule{ID: r.Rule, Name: r.Name, HelpURI: r.More, CWE: weaknessNumber(strconv.Itoa(r.CWE.ID)), Severity: f.Severity, Precision: precisionNamed(r.Confidence)})
		c.add(f)
	}
}

// severityNamed reads the severity of a linter by its first letter.
func severityNamed(word string) finding.Severity {
	if word == "" {
		return finding.Medium
	}
	return severityOf(word[0], finding.Medium)
}

// securitySeverity reads the severity of a security tool.
func securitySeverity(word string) finding.Severity {
	if s := finding.Severity(strings.ToLower(word)); s.Rank() > 0 {
		return s
	}
	return finding.Medium
}

// precisionNamed reads the confidence of a security tool.
func precisionNamed(word string) finding.Precision {
	if p := finding.Precision(strings.ToLower(word)); p.Rank() > 0 {
		return p
	}
	return finding.PrecisionUnknown
}

// weaknessNumber returns a number of the Common Weakness Enumeration as a list, which is
// empty if there is none.
func weaknessNumber(id string) []int {
	if n := atoi(id); n > 0 {
		return []int{n}
	}
	return nil
}

// baseName returns a file's name without its directories, which may be those of another machine.
func baseName(file string) string {
	return text.TruncateBytes(file[strings.LastIndexAny(file, `/\`)+1:], maxName)
}
