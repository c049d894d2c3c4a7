package toolreport

import (
	"encoding/json"
	"path"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
)

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
