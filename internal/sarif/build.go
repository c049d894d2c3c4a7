package sarif

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/owenrumney/go-sarif/v2/sarif"
)

// OwnTool is the tool name of Airlock's own security review. Other logs may not
// use it.
const OwnTool = "Airlock security review"

// Tool is what reported the findings of a SARIF run.
type Tool struct {
	Name, Version  string
	InformationURI string // may be empty
}

// fingerprintKey is the name under which a result has its finding's own fingerprint.
// Code scanning reads the line hash instead, which Prepare adds.
const fingerprintKey = "airlockFinding/v1"

// Build returns a SARIF log with one run of the findings. Rules looks up their rules; it may be
// nil. The same findings always give the same log: findings and rules are in the order of
// finding.Sort, and ids are the findings' own. It is an error if the tool has no name, or if a
// finding has no path, because code scanning cannot show such a finding.
func Build(tool Tool, category string, findings []finding.Finding, rules finding.Rules) (json.RawMessage, error) {
	if strings.TrimSpace(tool.Name) == "" {
		return nil, fmt.Errorf("sarif: the tool has no name")
	}
	sorted := slices.Clone(findings)
	finding.Sort(sorted)
	driver := sarif.NewVersionedDriver(tool.Name, cmp.Or(tool.Version, "0.0.0"))
	if tool.InformationURI != "" {
		driver.InformationURI = &tool.InformationURI
	}
	run := sarif.NewRun(sarif.Tool{Driver: driver}).WithColumnKind("utf16CodeUnits")
	if id := automationID(category); id != "" {
		run.AutomationDetails = sarif.NewRunAutomationDetails().WithID(id)
	}
	known := make(map[string]int)
	worst, said := worstByRule(sorted), messagesByRule(sorted)
	for i, f := range sorted {
		path, err := cleanPath(f.Path)
		if err != nil || strings.HasPrefix(f.Path, "/") {
			return nil, fmt.Errorf("sarif: finding %d of rule %q has no path in the repository: %q", i+1, f.Rule, f.Path)
		}
		id := ruleID(f)
		index, ok := known[id]
		if !ok {
			index = len(driver.Rules)
			known[id] = index
			driver.Rules = append(driver.Rules, buildRule(id, worst[id], said[id], f, rules))
		}
		run.Results = append(run.Results, buildResult(f, id, index, path))
	}
	report, err := sarif.New(sarif.Version210)
	if err != nil {
		return nil, fmt.Errorf("sarif: %w", err)
	}
	report.AddRun(run)
	var b bytes.Buffer
	if err := report.Write(&b); err != nil {
		return nil, fmt.Errorf("sarif: %w", err)
	}
	return b.Bytes(), nil
}

// AgentFinding returns a finding that an agent reports without a SARIF log.
// Severity is error, warning, info or note; column may be 0; rule, the kind of
// problem, may be empty.
func AgentFinding(tool, file string, line, column int, severity, message, rule string) finding.Finding {
	s := map[string]finding.Severity{"error": finding.High, "warning": finding.Medium, "info": finding.Low, "note": finding.Low}[severity]
	return finding.Finding{
		Tool:     tool,
		Rule:     rule,
		Severity: cmp.Or(s, finding.Medium),
		Message:  message,
		Path:     strings.TrimPrefix(file, "./"),
		Range:    finding.Range{StartLine: max(line, 1), StartColumn: column},
	}
}

// ruleID returns the id of a finding's rule. Findings without a rule have one
// rule for each severity, because code scanning reads the severity from the rule.
// The id does not contain a position: if it did, each run's alerts would be new.
func ruleID(f finding.Finding) string {
	return cmp.Or(strings.TrimSpace(f.Rule), "finding-"+cmp.Or(string(f.Severity), string(finding.None)))
}

// worstByRule returns the greatest severity of the findings of each rule.
func worstByRule(findings []finding.Finding) map[string]finding.Severity {
	worst := make(map[string]finding.Severity)
	for _, f := range findings {
		if id := ruleID(f); f.Severity.Rank() >= worst[id].Rank() {
			worst[id] = f.Severity
		}
	}
	return worst
}

// messagesByRule returns the first line of the messages of each rule's findings, "" where they differ
// in it.
func messagesByRule(findings []finding.Finding) map[string]string {
	said := make(map[string]string)
	for _, f := range findings {
		id := ruleID(f)
		message, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
		if first, known := said[id]; known && first != message {
			message = ""
		}
		said[id] = message
	}
	return said
}

// buildRule returns the rule of f. worst is the greatest severity of its findings, said the message
// that all of them have, and rules, which may be nil, looks up what is known about it. If rules is
// set but has no description of it, said describes it: code scanning lists alerts under the
// description, and a tool that does not describe its rules, such as Bandit, may give several of
// them the same name.
func buildRule(id string, worst finding.Severity, said string, f finding.Finding, rules finding.Rules) *sarif.ReportingDescriptor {
	var r finding.Rule
	if rules != nil && f.Rule != "" {
		r, _ = rules(f.Tool, f.Rule)
		r.Short = cmp.Or(r.Short, r.Full, said)
	}
	if worst.Rank() > r.Severity.Rank() { // code scanning takes the severity of a result from its rule
		r.Severity = worst
	}
	name, _ := limit(cmp.Or(r.Name, id), maxRuleName)
	short, _ := limit(cmp.Or(r.Short, name), maxDescription)
	full, _ := limit(cmp.Or(r.Full, short), maxDescription)
	help := sarif.NewMultiformatMessageString(cmp.Or(r.Help, full))
	if r.Help != "" {
		help = help.WithMarkdown(r.Help)
	}
	level := levelOf(r.Severity)
	rule := sarif.NewRule(id).WithName(name).
		WithShortDescription(sarif.NewMultiformatMessageString(short)).
		WithFullDescription(sarif.NewMultiformatMessageString(full)).
		WithHelp(help).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level))
	if r.HelpURI != "" {
		rule = rule.WithHelpURI(r.HelpURI)
	}
	rule.Properties = sarif.Properties{}
	tags := slices.Clone(r.Tags)
	if score := shownAs[r.Severity].score; score != "" {
		rule.Properties["security-severity"] = score
		if !slices.Contains(tags, "security") {
			tags = append([]string{"security"}, tags...)
		}
	}
	for _, n := range r.CWE {
		tags = append(tags, fmt.Sprintf("external/cwe/cwe-%03d", n))
	}
	if len(tags) > 0 {
		rule.Properties["tags"] = tags
	}
	if r.Precision != "" {
		rule.Properties["precision"] = string(r.Precision)
	}
	rule.Properties["problem.severity"] = level
	if level == "note" {
		rule.Properties["problem.severity"] = "recommendation"
	}
	return rule
}

// buildResult returns the result of a finding. The end of its range is left out if it is
// before the start.
func buildResult(f finding.Finding, id string, index int, path string) *sarif.Result {
	region := sarif.NewRegion().WithStartLine(max(f.Range.StartLine, 1))
	if f.Range.StartLine > 0 {
		if f.Range.StartColumn > 0 {
			region.WithStartColumn(f.Range.StartColumn)
		}
		if f.Range.EndLine >= f.Range.StartLine {
			region.WithEndLine(f.Range.EndLine)
			if f.Range.EndColumn > 0 && (f.Range.EndLine > f.Range.StartLine || f.Range.EndColumn >= f.Range.StartColumn) {
				region.WithEndColumn(f.Range.EndColumn)
			}
		}
	}
	message := cmp.Or(strings.TrimSpace(f.Message), id)
	if s := strings.TrimSpace(f.Suggestion); s != "" {
		message += "\n\nSuggestion: " + s
	}
	location := sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(encodePath(path))).WithRegion(region))
	result := sarif.NewRuleResult(id).WithRuleIndex(index).WithLevel(levelOf(f.Severity)).
		WithMessage(sarif.NewTextMessage(message)).WithLocations([]*sarif.Location{location})
	if f.Fingerprint != "" {
		result = result.WithPartialFingerPrints(map[string]any{fingerprintKey: f.Fingerprint})
	}
	return result
}

// shownAs has the SARIF level of a severity, and the number that code scanning shows as the severity.
var shownAs = map[finding.Severity]struct{ level, score string }{
	finding.Critical: {"error", "9.5"},
	finding.High:     {"error", "8.0"},
	finding.Medium:   {"warning", "5.5"},
	finding.Low:      {"note", "2.0"},
	finding.None:     {"note", ""},
}

// levelOf returns the SARIF level of a severity, "note" for an unknown one.
func levelOf(s finding.Severity) string { return cmp.Or(shownAs[s].level, "note") }
