package sarif

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/google/go-cmp/cmp"
)

// tree decodes a log for comparing.
func tree(t *testing.T, raw []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return o
}

// lookup follows a slash-separated path, in which numbers are the indexes of elements.
func lookup(t *testing.T, v any, path string) any {
	t.Helper()
	for step := range strings.SplitSeq(path, "/") {
		switch node := v.(type) {
		case object:
			v = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(node) {
				t.Fatalf("%s: there is no element %s", path, step)
			}
			v = node[i]
		default:
			t.Fatalf("%s: nothing at %s", path, step)
		}
	}
	return v
}

func wantAt(t *testing.T, v any, path string, want any) {
	t.Helper()
	if diff := cmp.Diff(want, lookup(t, v, path)); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// wantValid asserts that a log is SARIF.
func wantValid(t *testing.T, raw []byte) {
	t.Helper()
	found, err := Validate(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Errorf("not valid: %s: %s", v.Path, v.Message)
	}
}

func sampleFindings() []finding.Finding {
	return []finding.Finding{
		{Tool: "t", Rule: "sql-injection", Severity: finding.Critical, Message: "Tainted query", Path: "db/query one.go", Range: finding.Range{StartLine: 3, StartColumn: 5, EndLine: 4, EndColumn: 9}, Fingerprint: "abc", Suggestion: "Use a placeholder."},
		{Tool: "t", Rule: "weak-hash", Severity: finding.Medium, Message: "MD5", Path: "db/hash.go", Range: finding.Range{StartLine: 1}},
		{Tool: "t", Severity: finding.Low, Message: "Odd", Path: "a.go"},
		{Tool: "t", Rule: "weak-hash", Severity: finding.Low, Message: "SHA-1", Path: "db/hash.go", Range: finding.Range{StartLine: 2, EndLine: 1, StartColumn: 4}},
	}
}

func sampleRules(_, rule string) (finding.Rule, bool) {
	if rule != "sql-injection" {
		return finding.Rule{}, false
	}
	return finding.Rule{ID: rule, Name: "SQL injection", Short: "Short.", Full: "Full.", Help: "Use **placeholders**.", HelpURI: "https://github.com/x",
		CWE: []int{89}, Severity: finding.High, Precision: finding.PrecisionHigh, Tags: []string{"sql"}}, true
}

func TestBuild(t *testing.T) {
	raw, err := Build(Tool{Name: "airlock", Version: "1.2.3", InformationURI: "https://github.com/agent-airlock/airlock"}, "checks", sampleFindings(), sampleRules)
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, raw)
	log := tree(t, raw)
	run := lookup(t, log, "runs/0")
	wantAt(t, run, "automationDetails/id", "checks/")
	wantAt(t, run, "tool/driver/version", "1.2.3")
	// The results are sorted by path and line, and the rules by their first result.
	wantAt(t, run, "results/0/ruleId", "finding-low")
	wantAt(t, run, "results/1/level", "warning")
	wantAt(t, run, "results/2/level", "note")
	wantAt(t, run, "results/2/locations/0/physicalLocation/region", object{"startLine": 2.0, "startColumn": 4.0})
	wantAt(t, run, "results/3/ruleIndex", 2.0)
	wantAt(t, run, "results/3/message/text", "Tainted query\n\nSuggestion: Use a placeholder.")
	wantAt(t, run, "results/3/partialFingerprints", object{fingerprintKey: "abc"})
	wantAt(t, run, "results/3/locations/0/physicalLocation", object{
		"artifactLocation": object{"uri": "db/query%20one.go"},
		"region":           object{"startLine": 3.0, "startColumn": 5.0, "endLine": 4.0, "endColumn": 9.0},
	})
	wantAt(t, run, "tool/driver/rules/2", object{
		"id": "sql-injection", "name": "SQL injection", "helpUri": "https://github.com/x",
		"shortDescription": object{"text": "Short."}, "fullDescription": object{"text": "Full."},
		"help":                 object{"text": "Use **placeholders**.", "markdown": "Use **placeholders**."},
		"defaultConfiguration": object{"level": "error"},
		"properties": object{"security-severity": "9.5", "precision": "high", "problem.severity": "error",
			"tags": []any{"security", "sql", "external/cwe/cwe-089"}},
	})
	// A rule's severity is that of its worst finding, also for rules/2 above, whose own is lower.
	wantAt(t, run, "tool/driver/rules/1/properties/security-severity", "5.5")
}

func TestBuildIsIndependentOfOrder(t *testing.T) {
	findings := sampleFindings()
	want, err := Build(Tool{Name: "airlock"}, "", findings, nil)
	if err != nil {
		t.Fatal(err)
	}
	findings[0], findings[3] = findings[3], findings[0]
	got, err := Build(Tool{Name: "airlock"}, "", findings, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the log depends on the order of the findings")
	}
	if strings.Contains(string(got), "automationDetails") {
		t.Error("an empty category has an id")
	}
}

// TestBuildDescribesRulesWithoutDescription asserts that rules of which only a name is known, which may
// be that of several, are described by what all their findings say, and that no text exceeds the limits
// of code scanning.
func TestBuildDescribesRulesWithoutDescription(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	rules := func(_, id string) (finding.Rule, bool) {
		return finding.Rule{ID: id, Name: map[string]string{"B301": "blacklist", "B322": "blacklist", "R1": long}[id]}, id != "unknown"
	}
	var findings []finding.Finding
	for _, f := range [][2]string{{"B301", "Pickle is unsafe.\nSee the manual."}, {"B301", "Pickle is unsafe.\nIn this file, too."}, {"B322", "input evaluates."}, {"R1", long}, {"R2", "a"}, {"R2", "b"}, {"unknown", "Odd."}, {"", "One."}} {
		findings = append(findings, finding.Finding{Tool: "t", Rule: f[0], Message: f[1], Path: "a.py", Severity: finding.High, Range: finding.Range{StartLine: len(findings) + 1}})
	}
	raw, err := Build(Tool{Name: "airlock"}, "", findings, rules)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for _, r := range lookup(t, tree(t, raw), "runs/0/tool/driver/rules").([]any) {
		rule := r.(object)
		described[stringMember(rule, "id")] = stringMember(child(rule, "shortDescription"), "text")
		if name := stringMember(rule, "name"); utf8.RuneCountInString(name) > maxRuleName || utf8.RuneCountInString(stringMember(child(rule, "fullDescription"), "text")) > maxDescription {
			t.Errorf("a text of %s is too long", rule["id"])
		}
	}
	want := map[string]string{"B301": "Pickle is unsafe.", "B322": "input evaluates.", "R1": strings.Repeat("ü", maxDescription-1) + "…", "R2": "R2", "unknown": "Odd.", "finding-high": "finding-high"}
	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
}

func TestBuildWithoutFindings(t *testing.T) {
	raw, err := Build(Tool{Name: "airlock"}, "x/", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, raw)
	wantAt(t, tree(t, raw), "runs/0/results", []any{})
}

func TestBuildErrors(t *testing.T) {
	if _, err := Build(Tool{}, "", nil, nil); err == nil {
		t.Error("a tool without a name is accepted")
	}
	for _, path := range []string{"", ".", "../x", "a/../../x", "/etc/passwd"} {
		_, err := Build(Tool{Name: "t"}, "", []finding.Finding{{Path: path, Rule: "r"}}, nil)
		if err == nil || !strings.Contains(err.Error(), `rule "r"`) {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

func TestAgentFinding(t *testing.T) {
	got := AgentFinding("agent", "./README.md", 1, 0, "note", "Test.", "suffix")
	want := finding.Finding{Tool: "agent", Rule: "suffix", Severity: finding.Low, Message: "Test.", Path: "README.md", Range: finding.Range{StartLine: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for severity, want := range map[string]finding.Severity{"error": finding.High, "warning": finding.Medium, "info": finding.Low, "odd": finding.Medium} {
		if got := AgentFinding("a", "x", 0, 0, severity, "m", ""); got.Severity != want || got.Range.StartLine != 1 {
			t.Errorf("%s: %+v", severity, got)
		}
	}
}
