package toolreport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

func span(line, column, endLine, endColumn int) finding.Range {
	return finding.Range{StartLine: line, StartColumn: column, EndLine: endLine, EndColumn: endColumn}
}

// TestFormsFromAnything asserts which findings are read from the forms that any command may print, and
// from forms of single tools that the captures in testdata do not have. Reports sort findings by path
// and line.
func TestFormsFromAnything(t *testing.T) {
	t.Parallel()
	const ruffText = "src/app.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n"
	for name, c := range map[string]struct {
		command, stdout string
		tool            string
		want            []finding.Finding
	}{
		"sarif": {"anything", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan","rules":[{"id":"R1","defaultConfiguration":{"level":"error"},"messageStrings":{"m":{"text":"bad {0} {1}"}}}]}},
			"artifacts":[{"location":{"uri":"lib/b.go"}}],
			"results":[
			 {"ruleId":"R1","message":{"text":"no"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a%20b.go"},"region":{"startLine":3,"startColumn":2,"endLine":3,"endColumn":9}}}]},
			 {"ruleId":"R1","level":"note","message":{"id":"m","arguments":["{1}","luck"]},"locations":[{"physicalLocation":{"artifactLocation":{"index":0},"region":{"startLine":7}}}]},
			 {"ruleId":"R1","message":{"text":"suppressed"},"suppressions":[{"kind":"inSource"}],"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]},
			 {"ruleId":"R1","message":{"text":"accepted"},"suppressions":[{"kind":"external","status":"accepted"}],"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]},
			 {"ruleId":"R1","message":{"text":"rejected"},"suppressions":[{"kind":"inSource"},{"kind":"external","status":"rejected"}],"locations":[{"physicalLocation":{"artifactLocation":{"uri":"z.go"}}}]},
			 {"ruleId":"R1","message":{"text":"reviewed"},"suppressions":[{"kind":"external","status":"underReview"}],"locations":[{"physicalLocation":{"artifactLocation":{"uri":"z.go"},"region":{"startLine":2}}}]},
			 {"ruleId":"R1","message":{"text":"outside"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///etc/passwd"}}}]}]}]}`, "sarif",
			[]finding.Finding{
				{Tool: "scan", Rule: "R1", Severity: finding.Low, Message: "bad {1} luck", Path: "lib/b.go", Range: span(7, 0, 0, 0)},
				{Tool: "scan", Rule: "R1", Severity: finding.High, Message: "no", Path: "src/a b.go", Range: span(3, 2, 3, 9)},
				{Tool: "scan", Rule: "R1", Severity: finding.High, Message: "rejected", Path: "z.go"},
				{Tool: "scan", Rule: "R1", Severity: finding.High, Message: "reviewed", Path: "z.go", Range: span(2, 0, 0, 0)},
			}},
		"rdjson": {"anything", `{"source":{"name":"lint"},"severity":"WARNING","diagnostics":[
			{"message":"long","location":{"path":"/src/a.go","range":{"start":{"line":2,"column":4},"end":{"line":2,"column":9}}},"code":{"value":"L1"}},
			{"message":"whole lines","severity":"ERROR","location":{"path":"a.go","range":{"start":{"line":5}}},"suggestions":[{"range":{"start":{"line":5,"column":1},"end":{"line":6}},"text":"x\ny"}]}]}`, "rdjson",
			[]finding.Finding{
				{Tool: "lint", Rule: "L1", Severity: finding.Medium, Message: "long", Path: "a.go", Range: span(2, 4, 2, 9)},
				{Tool: "lint", Severity: finding.High, Message: "whole lines", Path: "a.go", Range: span(5, 1, 6, 0), Suggestion: "x\ny"},
			}},
		"rdjsonl": {"npx thing", "starting\n" + `{"message":"one","location":{"path":"a.go","range":{"start":{"line":1}}},"severity":"INFO"}` + "\n" +
			`{"message":"two","location":{"path":"b.go"},"source":{"name":"t"},"severity":1}` + "\n", "rdjsonl",
			[]finding.Finding{
				{Tool: "thing", Severity: finding.Low, Message: "one", Path: "a.go", Range: span(1, 0, 0, 0)},
				{Tool: "t", Severity: finding.High, Message: "two", Path: "b.go"},
			}},
		"safe outputs": {"reviewer", `{"type":"create-pull-request-review-comment","path":"a.go","line":"4","start_line":2,"body":"Odd."}` + "\n" +
			`{"type":"create_code_scanning_alert","file":"b.go","line":9,"severity":"error","message":"Injection","ruleIdSuffix":"sql"}` + "\n" +
			`{"type":"noop","message":"done"}` + "\n", "safe outputs",
			[]finding.Finding{
				{Tool: "reviewer", Severity: finding.Medium, Message: "Odd.", Path: "a.go", Range: span(2, 0, 4, 0)},
				{Tool: "reviewer", Rule: "sql", Severity: finding.High, Message: "Injection", Path: "b.go", Range: span(9, 0, 0, 0)},
			}},
		"checkstyle XML of another tool": {"npm run x", `<?xml version="1.0"?><checkstyle version="4.3"><file name="/src/a.js"><error line="1" column="2" severity="warning" message="Tabs &amp; blanks" source="eslint.rules.tabs" /></file></checkstyle>`, "checkstyle",
			[]finding.Finding{{Tool: "checkstyle", Rule: "tabs", Severity: finding.Medium, Message: "Tabs & blanks", Path: "a.js", Range: span(1, 2, 0, 0)}}},
		"ruff": {"ruff check .", ruffText, "ruff",
			[]finding.Finding{{Tool: "ruff", Rule: "F401", Severity: finding.Medium, Message: "`os` imported but unused", Path: "src/app.py", Range: span(1, 8, 0, 0)}}},
		"ruff, in full": {"ruff check .", "F401 [*] `os` imported but unused\n --> src/a b.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove unused import: `os`\n\ninvalid-syntax: Expected an expression\n   --> b.py:12:3\n    |\n\nFound 2 errors.\n", "ruff",
			[]finding.Finding{
				{Tool: "ruff", Rule: "invalid-syntax", Severity: finding.High, Message: "Expected an expression", Path: "b.py", Range: span(12, 3, 0, 0)},
				{Tool: "ruff", Rule: "F401", Severity: finding.Medium, Message: "`os` imported but unused", Path: "src/a b.py", Range: span(1, 8, 0, 0)},
			}},
		"ruff format": {"ruff format --check .", "unformatted: File would be reformatted\n --> a.py:3:1\n  |\n3 | x=1\n\nWould reformat: b.py\n2 files would be reformatted, 1 file already formatted\n", "ruff",
			[]finding.Finding{
				{Tool: "ruff", Severity: finding.Low, Message: toolreport.Unformatted, Path: "a.py"},
				{Tool: "ruff", Severity: finding.Low, Message: toolreport.Unformatted, Path: "b.py"},
			}},
		"an unformatted file with another finding": {"biome ci .", "::error title=lint/x,file=a.js,line=1,endLine=1,col=2,endColumn=3::bad\n::error title=format,file=a.js,line=1,endLine=9,col=1,endColumn=1::File content differs\n", "biome",
			[]finding.Finding{
				{Tool: "biome", Severity: finding.Low, Message: toolreport.Unformatted, Path: "a.js"},
				{Tool: "biome", Rule: "lint/x", Severity: finding.High, Message: "bad", Path: "a.js", Range: span(1, 2, 1, 3)},
			}},
		"ruff JSON": {"ruff check --output-format=json .", `[{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/src/app.py","fix":null,"location":{"column":8,"row":1},"message":"unused","noqa_row":1,"url":"https://docs.astral.sh/"}]`, "ruff",
			[]finding.Finding{{Tool: "ruff", Rule: "F401", Severity: finding.Medium, Message: "unused", Path: "app.py", Range: span(1, 8, 1, 10)}}},
		"mypy JSON": {"mypy -O json .", `{"file": "app.py", "line": 6, "column": 11, "message": "Incompatible", "hint": null, "code": "return-value", "severity": "error"}` + "\n", "mypy",
			[]finding.Finding{{Tool: "mypy", Rule: "return-value", Severity: finding.High, Message: "Incompatible", Path: "app.py", Range: span(6, 12, 0, 0)}}},
		"oxlint without a rule": {"oxlint --format=github", "::error file=a.js,line=1,endLine=1,col=2,endColumn=3::bad\n", "oxlint",
			[]finding.Finding{{Tool: "oxlint", Severity: finding.High, Message: "bad", Path: "a.js", Range: span(1, 2, 1, 3)}}},
		"checkstyle by Maven": {"mvn checkstyle:check", "[WARN] src/main/java/App.java:[3,5] (naming) MethodName: Name 'Run' must match pattern.\n[INFO] BUILD FAILURE\n", "maven",
			[]finding.Finding{{Tool: "maven", Rule: "MethodName", Severity: finding.Medium, Message: "Name 'Run' must match pattern.", Path: "src/main/java/App.java", Range: span(3, 5, 0, 0)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, toolreport.Tool{Command: strings.Fields(c.command), Roots: []string{"/src"}},
				output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: 1}})
			if diff := cmp.Diff(c.want, got.Findings); diff != "" || got.Tool != c.tool {
				t.Errorf("tool %q, notes %v\n%s", got.Tool, got.Notes, diff)
			}
			if !got.Explained {
				t.Error("not explained")
			}
		})
	}
}

// TestTypeErrorsInEveryForm checks that a report is marked as broken if code cannot be compiled, in
// each form besides plain text in which golangci-lint and go vet print their findings.
func TestTypeErrorsInEveryForm(t *testing.T) {
	t.Parallel()
	const place = `"locations":[{"physicalLocation":{"artifactLocation":{"uri":"b.go"},"region":{"startLine":3}}}]`
	for name, c := range map[string]struct{ command, stdout, stderr string }{
		"golangci-lint's JSON":  {"golangci-lint run", `{"Issues":[{"FromLinter":"typecheck","Text":": # example.com/x/b\nb/b.go:3:23: undefined: y","Pos":{"Filename":"b.go","Line":3}}]}`, ""},
		"golangci-lint's SARIF": {"golangci-lint run", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"golangci-lint"}},"results":[{"ruleId":"typecheck","message":{"text":"undefined: y"},` + place + `}]}]}`, ""},
		"golangci-lint's XML":   {"golangci-lint run", `<checkstyle version="5.0"><file name="b.go"><error column="1" line="3" message="undefined: y" severity="error" source="typecheck"></error></file></checkstyle>`, ""},
		"with go vet's JSON":    {"go vet -json ./...", "# example.com/x/v\n" + `{"example.com/x/v":{"printf":[{"posn":"/src/v.go:5:24","message":"odd"}]}}`, "# example.com/x/b\nvet: ./b.go:3:1: undefined: y\n"},
	} {
		got := read(t, toolreport.Tool{Command: []string{c.command}, Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(c.stdout), Stderr: strings.NewReader(c.stderr), Exit: toolreport.Exit{Code: 1}})
		if f := got.Findings; !got.Broken || len(f) == 0 || f[0].Path != "b.go" || f[0].Range.StartLine != 3 || f[0].Message != "undefined: y" {
			t.Errorf("%s: broken %v, %+v", name, got.Broken, f)
		}
	}
}

func TestBrokenDocumentsAreReported(t *testing.T) {
	t.Parallel()
	long := `[{"filePath":"/src/a.js","messages":[{"line":1,"message":"` + strings.Repeat("x", 20_000)
	for name, c := range map[string]struct{ command, stdout, note string }{
		"cut off":       {"npx eslint -f json .", long, "is incomplete"},
		"invalid SARIF": {"scan", `{"version":"2.1.0","runs":[{"results":[]}]}`, "looks like SARIF"},
		"wrong field":   {"scan", `{"type":"create-pull-request-review-comment","path":"a.go","line":"none","body":"x"}`, "wrong field"},
	} {
		got := read(t, toolreport.Tool{Command: strings.Fields(c.command), Roots: []string{"/src"}},
			output{Stdout: strings.NewReader(c.stdout), Exit: toolreport.Exit{Code: 1}})
		if got.Explained || len(got.Findings) > 0 || !strings.Contains(strings.Join(got.Notes, "\n"), c.note) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSecurityForms asserts what is read from forms of output that the captures of security tools
// (internal/plugin/testdata) do not have.
func TestSecurityForms(t *testing.T) {
	t.Parallel()
	const match = `{"text":"a","range":{"byteOffset":{"start":4,"end":5},"start":{"line":2,"column":4},"end":{"line":2,"column":5}},"file":"a.js","lines":"x = a;","charCount":{"leading":4,"trailing":1},"ruleId":"R","severity":"warning","note":null,"message":"m",`
	ast := finding.Finding{Tool: "ast-grep", Rule: "R", Severity: finding.Medium, Message: "m", Path: "a.js", Range: span(3, 5, 3, 6)}
	fixed := ast
	fixed.Suggestion = "x = b;"
	for name, c := range map[string]struct {
		printed string
		want    []finding.Finding
	}{
		"gosec: ignored, several lines, no weakness, outside": {`{"Golang errors":{},"Issues":[
			{"severity":"HIGH","rule_id":"G1","details":"d","file":"/src/a.go","line":"3-5","column":"2","nosec":true},
			{"severity":"HIGH","rule_id":"G2","details":"d","file":"/src/a.go","line":"3","column":"2","suppressions":[{"kind":"inSource"}]},
			{"severity":"HIGH","rule_id":"G3","details":"d","file":"/src/a.go","line":"3-5","column":"2"},
			{"severity":"odd","rule_id":"G4","details":"d","file":"/elsewhere/a.go","line":"x","column":""}]}`,
			[]finding.Finding{{Tool: "gosec", Rule: "G3", Severity: finding.High, Message: "d", Path: "a.go", Range: span(3, 2, 5, 0)}}},
		"bandit: columns from 0": {`{"errors":[],"metrics":{},"results":[{"filename":"./a.py","issue_severity":"UNDEFINED","issue_text":"t","line_number":4,"col_offset":0,"end_col_offset":9,"test_id":"B1","issue_cwe":{"id":78,"link":"x"}}]}`,
			[]finding.Finding{{Tool: "bandit", Rule: "B1", Severity: finding.Medium, Message: "t", Path: "a.py", Range: span(4, 1, 0, 0)}}},
		"ast-grep: a fix of the match":        {match + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{fixed}},
		"ast-grep: a fix of more":             {match + `"replacement":"b","replacementOffsets":{"start":0,"end":6}}` + "\n", []finding.Finding{ast}},
		"ast-grep: counts that are too large": {strings.Replace(match, `"leading":4`, `"leading":40`, 1) + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{ast}},
		"ast-grep: counts that go backwards":  {strings.Replace(match, `"trailing":1`, `"trailing":-9`, 1) + `"replacement":"b","replacementOffsets":{"start":4,"end":5}}` + "\n", []finding.Finding{ast}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, toolreport.Tool{Called: "x", Roots: []string{"/src"}}, output{Stdout: strings.NewReader(c.printed)})
			if diff := cmp.Diff(c.want, got.Findings); diff != "" {
				t.Errorf("tool %q, notes %q (-want +got):\n%s", got.Tool, got.Notes, diff)
			}
		})
	}
}
