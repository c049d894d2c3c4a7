package toolreport

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
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
	Artifacts   []struct{ Location sarifPlace }
	Invocations []struct{ ExecutionSuccessful *bool }
	Results     []struct {
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
		tool := clip(run.Tool.Driver.Name, maxName)
		for i, r := range run.Tool.Driver.Rules {
			if _, twice := byID[r.ID]; !twice {
				byID[r.ID] = i
			}
			c.rule(tool, r.of())
		}
		for _, i := range run.Invocations {
			if i.ExecutionSuccessful != nil && !*i.ExecutionSuccessful {
				c.crashed = true
				c.note("the SARIF log says that its tool did not end well")
			}
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
			f := finding.Finding{Tool: tool, Rule: cmp.Or(id, rule.ID), Severity: levelOf(cmp.Or(res.Level, rule.DefaultConfiguration.Level, "warning"))}
			if s, ok := scored(rule.Properties.Score); ok && f.Severity != finding.None {
				f.Severity = s
			}
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
