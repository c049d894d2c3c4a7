package checkreport

import (
	"encoding/json"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// SARIFCategory is the category under which code scanning keeps the security
// review's findings apart from others'.
const SARIFCategory = "airlock/security-review"

// SARIF returns the findings of the security review as a SARIF log, also those on
// lines that did not change: code scanning compares whole states. version is
// Airlock's own.
func (d *Document) SARIF(version string) (json.RawMessage, error) {
	findings := []finding.Finding{}
	for _, f := range d.Findings {
		if f.Check == phase.SecurityReview && f.Path != "" {
			findings = append(findings, f.plain())
		}
	}
	return sarif.Build(sarif.Tool{Name: sarif.OwnTool, Version: version, InformationURI: "https://github.com/agent-airlock/airlock"}, SARIFCategory, findings, d.rules())
}
