package toolreport

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

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
