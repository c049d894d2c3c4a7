package toolreport

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
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
	Results     []sarifResult
}

type sarifResult struct {
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
	Suppressions sarifSuppressions
}

// sarifSuppressions are requests to suppress a result. A missing status means that the request is
// accepted.
type sarifSuppressions []struct{ Status string }

// suppress reports whether the result is suppressed: that needs a request, and every one is accepted.
func (s sarifSuppressions) suppress() bool {
	for _, request := range s {
		if request.Status == "underReview" || request.Status == "rejected" {
			return false
		}
	}
	return len(s) > 0
}

type sarifText struct {
	Text, ID  string
	Arguments []string
}

type sarifPlace struct {
	URI   string
	Index *int
}

// readSARIF reads a SARIF log. Results that report no problem, and those that are
// suppressed, are left out. It reports whether the log could be read.
func readSARIF(raw json.RawMessage, c *collector) bool {
	if violations, err := sarif.Validate(raw); err != nil || len(violations) > 0 {
		if len(violations) > 0 {
			c.note("the output looks like SARIF, but is not valid: " + text.TruncateBytes(violations[0].Message, maxName))
		}
		return false
	}
	if !jsontext.Value(raw).IsValid(jsontext.AllowInvalidUTF8(true)) {
		c.note("the SARIF log is not valid: an object in it has two members of one name")
		return false
	}
	var log struct{ Runs []sarifRun }
	if err := json.Unmarshal(raw, &log); err != nil {
		c.note("the SARIF log cannot be read: " + text.TruncateBytes(err.Error(), maxName))
		return false
	}
	for _, run := range log.Runs {
		run.report(c)
	}
	return true
}

func (run sarifRun) report(c *collector) {
	tool := text.TruncateBytes(run.Tool.Driver.Name, maxName)
	byID := map[string]sarifRule{}
	for _, r := range run.Tool.Driver.Rules {
		if _, twice := byID[r.ID]; !twice {
			byID[r.ID] = r
		}
		c.rule(tool, r.rule())
	}
	for _, i := range run.Invocations {
		if i.ExecutionSuccessful != nil && !*i.ExecutionSuccessful {
			c.crashed = true
			c.note("the SARIF log reports that its tool failed")
		}
	}
	for _, res := range run.Results {
		if res.Kind != "" && res.Kind != "fail" || res.Suppressions.suppress() {
			continue
		}
		id := cmp.Or(res.RuleID, res.Rule.ID)
		rule, ok := byID[id]
		if !ok {
			rule, _ = element(run.Tool.Driver.Rules, res.RuleIndex)
		}
		f := finding.Finding{Tool: tool, Rule: cmp.Or(id, rule.ID), Severity: levelOf(cmp.Or(res.Level, rule.DefaultConfiguration.Level, "warning"))}
		if s, ok := scored(rule.Properties.Score); ok && f.Severity != finding.None {
			f.Severity = s
		}
		f.Message = cmp.Or(res.Message.Text, res.Message.fill(rule.MessageStrings[res.Message.ID].Text), rule.ShortDescription.Text, f.Rule)
		if len(res.Locations) > 0 {
			location := res.Locations[0].PhysicalLocation
			uri := location.ArtifactLocation.URI
			if artifact, ok := element(run.Artifacts, location.ArtifactLocation.Index); ok && uri == "" {
				uri = artifact.Location.URI
			}
			f.Path, f.Range = c.uri(uri), location.Region
		}
		c.add(f)
	}
}

// element returns the element of a list at an index. ok is false if there is no index, or if the
// index is outside of the list, as it may be in a stranger's log.
func element[T any](list []T, index *int) (e T, ok bool) {
	if index == nil || *index < 0 || *index >= len(list) {
		return e, false
	}
	return list[*index], true
}

// uri returns the path that a URI names, as a tool would print it. It returns "" if the URI names no
// file, an absolute path outside of the repository, or one while no root is known.
func (c *collector) uri(uri string) string {
	file, isAbsolute, err := sarif.FilePath(uri)
	file = path.Clean(file)
	switch {
	case err != nil || file == ".":
		return ""
	case !isAbsolute:
		return file // relative to Dir, so that it may begin with ".."
	case len(c.places.roots) == 0:
		return ""
	}
	rel, err := sarif.RepoPath(uri, c.places.roots)
	if err != nil {
		return ""
	}
	return c.places.roots[0] + "/" + rel
}

// fill puts the message's first ten arguments in the places of {0}, {1}, … of a template.
func (t sarifText) fill(template string) string {
	var pairs []string
	for i, a := range t.Arguments[:min(len(t.Arguments), 10)] {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", text.TruncateBytes(a, maxName))
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

// levelOf reads a level as SARIF and compilers write it. All but error, warning and none are Low.
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

// rule returns what the log reports about the rule.
func (r sarifRule) rule() finding.Rule {
	rule := finding.Rule{
		ID: r.ID, Name: r.Name, Short: r.ShortDescription.Text, Full: r.FullDescription.Text, Help: cmp.Or(r.Help.Markdown, r.Help.Text), HelpURI: r.HelpURI,
		CWE: r.weaknesses(), Severity: levelOf(cmp.Or(r.DefaultConfiguration.Level, "warning")), Precision: precisionNamed(r.Properties.Precision),
	}
	if s, ok := scored(r.Properties.Score); ok {
		rule.Severity = s
	}
	return rule
}

// weakness is a number of the Common Weakness Enumeration as tags write it.
var weakness = lazyregexp.New(`(?i)^(?:external/cwe/)?cwe-0*([1-9][0-9]{0,4})\b`)

// weaknesses returns the rule's numbers of the Common Weakness Enumeration, from its
// tags and its relationships.
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

// scored reads a security-severity as code scanning does. ok is false without a valid one.
func scored(raw json.RawMessage) (severity finding.Severity, ok bool) {
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
