package toolreport

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// ndjson reads streams of one JSON object a line, by their form. Other lines
// between them mean nothing.
type ndjson struct {
	c    *collector
	doc  *document // what is such a stream is no document
	form string
	gt   *goEvents
	cut  bool
	// unread counts the lines that begin like JSON and are none.
	unread int
}

func (n *ndjson) line(line string) {
	if !strings.HasPrefix(line, "{") || len(line) < 2 || n.form == "" && !strings.HasPrefix(line, `{"`) && !strings.HasPrefix(line, `{ "`) {
		return
	}
	if n.form == "go test" && n.gt.event([]byte(line)) {
		n.cut = false
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &fields) != nil {
		n.cut = n.cut || n.form != ""
		n.unread++
		return
	}
	form := n.object(line, fields)
	if form == "" {
		return
	}
	if n.form == "" {
		n.doc.drop()
	}
	n.form, n.cut = form, false
}

// object reads one object and returns its form's name, "" if it has none.
func (n *ndjson) object(line string, fields map[string]json.RawMessage) string {
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(fields[name], &s)
		return s
	}
	switch {
	case fields["Action"] != nil:
		if n.gt.event([]byte(line)) {
			return "go test"
		}
	case fields["reason"] != nil:
		if readCargo([]byte(line), text("reason"), n.c) {
			return "cargo"
		}
	case fields["message"] != nil && fields["location"] != nil:
		var d rdDiagnostic
		if json.Unmarshal([]byte(line), &d) == nil {
			n.c.addDiagnostic(d)
			return "rdjsonl"
		}
	case fields["type"] != nil:
		if readItem(text("type"), fields, n.c) {
			return "safe outputs"
		}
	case fields["file"] != nil && fields["range"] != nil && fields["ruleId"] != nil:
		return readAstGrep([]byte(line), n.c)
	case fields["file"] != nil && fields["line"] != nil && fields["code"] != nil && fields["message"] != nil:
		return readMypy([]byte(line), n.c)
	}
	return ""
}

func (n *ndjson) end() { n.gt.end() }

// readMypy reads a line of mypy --output=json.
func readMypy(line []byte, c *collector) string {
	var d struct {
		File, Message, Severity string
		Code                    *string
		Line, Column            int
	}
	if json.Unmarshal(line, &d) != nil {
		return ""
	}
	f := finding.Finding{Tool: "mypy", Path: d.File, Message: d.Message, Severity: levelOf(d.Severity)}
	c.broken = c.broken || isError(f)
	f.Range = finding.Range{StartLine: d.Line, StartColumn: d.Column + 1}
	if d.Code != nil {
		f.Rule = *d.Code
	}
	c.add(f)
	return "mypy"
}

// readCargo reads a message of cargo's --message-format=json. It is false for
// what is none.
func readCargo(line []byte, reason string, c *collector) bool {
	switch reason {
	case "compiler-artifact", "build-script-executed", "build-finished":
		return true
	case "compiler-message":
	default:
		return false
	}
	var m struct {
		Message struct {
			Message, Level string
			Code           *struct{ Code string }
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
	if json.Unmarshal(line, &m) != nil {
		return false
	}
	for _, s := range m.Message.Spans {
		if !s.Primary {
			continue
		}
		f := finding.Finding{Tool: "rustc", Path: s.File, Message: m.Message.Message, Severity: levelOf(m.Message.Level)}
		f.Range = finding.Range{StartLine: s.Line, StartColumn: s.Column, EndLine: s.LineEnd, EndColumn: s.ColumnEnd}
		if m.Message.Code != nil {
			f.Rule = m.Message.Code.Code
		}
		if strings.HasPrefix(f.Rule, "clippy::") {
			f.Tool = "clippy"
		}
		c.broken = c.broken || isError(f) && f.Tool == "rustc"
		c.add(f)
		break
	}
	return true
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
