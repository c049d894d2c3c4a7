package toolreport

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/text"
)

// ndjson reads streams of one JSON object a line, by their form. Other lines between
// them are left out.
type ndjson struct {
	c      *collector
	doc    *document // dropped once the stream turns out to be one of objects
	form   string
	events *goEvents
	cut    bool // the last line that begins like JSON is cut off
	unread int  // lines that begin like JSON and are not
}

// forms returns the forms of an object of a stream. The first form that fits is taken.
func (n *ndjson) forms() []jsonForm {
	return []jsonForm{
		{"go test", []string{"Action"}, func(line json.RawMessage, _ *collector) bool { return n.events.event(line) }},
		{"cargo", []string{"reason"}, readCargo},
		decoded[rdDiagnostic]("rdjsonl", "message", "location"),
		{"safe outputs", []string{"type"}, readItem},
		decoded[astGrepMatch]("ast-grep", "file", "range", "ruleId"),
		decoded[mypyMessage]("mypy", "file", "line", "code", "message"),
	}
}

func (n *ndjson) line(line string) {
	if !strings.HasPrefix(line, "{") || len(line) < 2 {
		return
	}
	hasMember := strings.HasPrefix(line, `{"`) || strings.HasPrefix(line, `{ "`)
	if n.form == "" && !hasMember {
		return
	}
	if n.form == "go test" && n.events.event([]byte(line)) {
		n.cut = false
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &object) != nil {
		n.cut = n.cut || n.form != ""
		n.unread++
		return
	}
	form, ok := formOf(n.forms(), object)
	if !ok || !form.read([]byte(line), n.c) {
		return
	}
	if n.form == "" {
		n.doc.drop()
	}
	n.form, n.cut = form.name, false
}

func (n *ndjson) end() { n.events.end() }

// mypyMessage is a line of mypy --output=json.
type mypyMessage struct {
	File, Message, Severity, Code string
	Line, Column                  int // the column counts from 0
}

func (m mypyMessage) report(c *collector) {
	f := finding.Finding{Tool: "mypy", Rule: m.Code, Path: m.File, Message: m.Message, Severity: levelOf(m.Severity),
		Range: finding.Range{StartLine: m.Line, StartColumn: m.Column + 1}}
	c.broken = c.broken || isError(f)
	c.add(f)
}

// readCargo reads a message of cargo's --message-format=json.
func readCargo(line json.RawMessage, c *collector) bool {
	var m struct {
		Reason  string
		Message struct {
			Message, Level string
			Code           struct{ Code string }
			Spans          []struct {
				File      string `json:"file_name"`
				Line      int    `json:"line_start"`
				LineEnd   int    `json:"line_end"`
				Column    int    `json:"column_start"`
				ColumnEnd int    `json:"column_end"`
				Primary   bool   `json:"is_primary"`
			}
		}
	}
	err := json.Unmarshal(line, &m)
	switch m.Reason {
	case "compiler-artifact", "build-script-executed", "build-finished":
		return true
	case "compiler-message":
	default:
		return false
	}
	if err != nil {
		return false
	}
	for _, s := range m.Message.Spans {
		if s.Primary {
			c.addRust(finding.Finding{
				Path: s.File, Rule: m.Message.Code.Code, Message: m.Message.Message, Severity: levelOf(m.Message.Level),
				Range: finding.Range{StartLine: s.Line, StartColumn: s.Column, EndLine: s.LineEnd, EndColumn: s.ColumnEnd},
			})
			break
		}
	}
	return true
}

// astGrepMatch is a line of ast-grep scan --json=stream. A fix that replaces exactly the match
// becomes a suggestion for its lines.
type astGrepMatch struct {
	File, Message, Severity, Lines string
	Rule                           string `json:"ruleId"`
	Note                           string
	Range                          struct {
		ByteOffset byteOffsets
		Start, End struct{ Line, Column int }
	}
	CharCount          struct{ Leading, Trailing int }
	Replacement        *string
	ReplacementOffsets byteOffsets
}

type byteOffsets struct{ Start, End int }

func (m astGrepMatch) report(c *collector) {
	f := finding.Finding{Tool: "ast-grep", Rule: m.Rule, Message: m.Message, Path: m.File, Severity: levelOf(m.Severity)}
	f.Range = finding.Range{StartLine: m.Range.Start.Line + 1, StartColumn: m.Range.Start.Column + 1, EndLine: m.Range.End.Line + 1, EndColumn: m.Range.End.Column + 1}
	if m.Note != "" {
		f.Message += "\n" + m.Note
	}
	text := []rune(m.Lines)
	before, after := m.CharCount.Leading, len(text)-m.CharCount.Trailing
	if m.Replacement != nil && m.ReplacementOffsets == m.Range.ByteOffset && before >= 0 && before <= after && after <= len(text) {
		f.Suggestion = strings.TrimSuffix(string(text[:before])+*m.Replacement+string(text[after:]), "\n")
	}
	c.add(f)
}

// readItem reads one safe output. If it is about a place, it becomes a finding.
func readItem(line json.RawMessage, c *collector) bool {
	var fields map[string]json.RawMessage
	var kind string
	if json.Unmarshal(line, &fields) != nil || json.Unmarshal(fields["type"], &kind) != nil {
		return false
	}
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
			c.note("a safe output has a wrong field: " + text.TruncateBytes(err.Error(), maxName))
			return true
		}
	}
	switch it := item.(type) {
	case *safeoutput.CreateReviewComment:
		lines := finding.Range{StartLine: it.Line}
		if it.StartLine > 0 && it.StartLine < it.Line {
			lines = finding.Range{StartLine: it.StartLine, EndLine: it.Line}
		}
		c.add(finding.Finding{Path: it.Path, Range: lines, Message: it.Body, Severity: finding.Medium})
	case *safeoutput.CreateSecurityReport:
		if len(it.SARIF) > 0 {
			log := it.SARIF
			var quoted string
			if json.Unmarshal(log, &quoted) == nil { // the log is inside a string
				log = json.RawMessage(quoted)
			}
			readSARIF(log, c)
			break
		}
		f := sarif.AgentFinding(c.tool, it.File, it.Line, it.Column, it.Severity, it.Message, it.RuleIDSuffix)
		f.Path = path.Clean(it.File)
		c.add(f)
	case *safeoutput.MissingTool:
		c.note("missing tool: " + text.TruncateBytes(it.Tool, maxName) + ": " + text.TruncateBytes(it.Reason, maxName))
	}
	return true
}
