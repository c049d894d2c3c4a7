package toolreport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestSecurityForms reads what captures of security tools (internal/plugin/testdata)
// do not show.
func TestSecurityForms(t *testing.T) {
	const match = `{"text":"a","range":{"byteOffset":{"start":4,"end":5},"start":{"line":2,"column":4},"end":{"line":2,"column":5}},"file":"a.js","lines":"x = a;","charCount":{"leading":4,"trailing":1},"ruleId":"R","severity":"warning","note":null,"message":"m",`
	ast := finding.Finding{Tool: "ast-grep", Rule: "R", Severity: finding.Medium, Message: "m", Path: "a.js", Range: at(3, 5, 3, 6)}
	fixed := ast
	fixed.Suggestion = "x = b;"
	for name, c := range map[string]struct {
		printed string
		want    []finding.Finding
	}{
		"gosec: ignored, several lines, no weakness": {`{"Golang errors":{},"Issues":[
			{"severity":"HIGH","rule_id":"G1","details":"d","file":"/src/a.go","line":"3-5","column":"2","nosec":true},
			{"severity":"HIGH","rule_id":"G2","details":"d","file":"/src/a.go","line":"3","column":"2","suppressions":[{"kind":"inSource"}]},
			{"severity":"HIGH","rule_id":"G3","details":"d","file":"/src/a.go","line":"3-5","column":"2"},
			{"severity":"odd","rule_id":"G4","details":"d","file":"/elsewhere/a.go","line":"x","column":""}]}`,
			[]finding.Finding{{Tool: "gosec", Rule: "G3", Severity: finding.High, Message: "d", Path: "a.go", Range: at(3, 2, 5, 0)}}},
		"bandit: columns from 0": {`{"errors":[],"metrics":{},"results":[{"filename":"./a.py","issue_severity":"UNDEFINED","issue_text":"t","line_number":4,"col_offset":0,"end_col_offset":9,"test_id":"B1","issue_cwe":{"id":78,"link":"x"}}]}`,
			[]finding.Finding{{Tool: "bandit", Rule: "B1", Severity: finding.Medium, Message: "t", Path: "a.py", Range: at(4, 1, 0, 0)}}},
		"ast-grep: a fix of the match":       {match + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{fixed}},
		"ast-grep: a fix of more":            {match + `"replacement":"b","replacementOffsets":{"start":0,"end":6}}` + "\n", []finding.Finding{ast}},
		"ast-grep: counts that cannot be":    {strings.Replace(match, `"leading":4`, `"leading":40`, 1) + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{ast}},
		"ast-grep: counts that go backwards": {strings.Replace(match, `"trailing":1`, `"trailing":-9`, 1) + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{ast}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := toolreport.Read(toolreport.Tool{Called: "x", Roots: []string{"/src"}}, toolreport.Output{Stdout: strings.NewReader(c.printed)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Findings); diff != "" {
				t.Errorf("tool %q, notes %q (-want +got):\n%s", got.Tool, got.Notes, diff)
			}
		})
	}
}
