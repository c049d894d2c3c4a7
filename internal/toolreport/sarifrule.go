package toolreport

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

type sarifRule struct {
	ID, Name             string
	ShortDescription     sarifText
	FullDescription      sarifText
	Help                 struct{ Text, Markdown string }
	HelpURI              string
	MessageStrings       map[string]sarifText
	DefaultConfiguration struct{ Level string }
	Properties           struct {
		Tags      []string
		Precision string
		Score     json.RawMessage `json:"security-severity"` // a number, or a text with one
	}
	Relationships []struct {
		Target struct {
			ID            string
			ToolComponent struct{ Name string }
		}
	}
}

// of returns what the log says of the rule.
func (r sarifRule) of() finding.Rule {
	out := finding.Rule{
		ID: r.ID, Name: r.Name, Short: r.ShortDescription.Text, Full: r.FullDescription.Text, Help: cmp.Or(r.Help.Markdown, r.Help.Text), HelpURI: r.HelpURI,
		CWE: r.weaknesses(), Severity: levelOf(cmp.Or(r.DefaultConfiguration.Level, "warning")),
	}
	if s, ok := scored(r.Properties.Score); ok {
		out.Severity = s
	}
	if p := finding.Precision(strings.ToLower(r.Properties.Precision)); p.Rank() > 0 {
		out.Precision = p
	}
	return out
}

// weakness is a number of the Common Weakness Enumeration as tags write it.
var weakness = regexp.MustCompile(`(?i)^(?:external/cwe/)?cwe-0*([1-9][0-9]{0,4})\b`)

// weaknesses returns the rule's numbers of the Common Weakness Enumeration, by its
// tags and by what it is related to.
func (r sarifRule) weaknesses() []int {
	var all []int
	add := func(digits string) {
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && len(all) < 20 && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	for _, tag := range r.Properties.Tags {
		if m := weakness.FindStringSubmatch(tag); m != nil {
			add(m[1])
		}
	}
	for _, rel := range r.Relationships {
		if strings.EqualFold(rel.Target.ToolComponent.Name, "CWE") {
			add(strings.TrimPrefix(strings.ToUpper(rel.Target.ID), "CWE-"))
		}
	}
	return all
}

// scored reads a security-severity as code scanning does.
func scored(raw json.RawMessage) (finding.Severity, bool) {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	switch {
	case err != nil || !(n > 0 && n <= 10): // NaN too
		return "", false
	case n >= 9:
		return finding.Critical, true
	case n >= 7:
		return finding.High, true
	case n >= 4:
		return finding.Medium, true
	}
	return finding.Low, true
}
