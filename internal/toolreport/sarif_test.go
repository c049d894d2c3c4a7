package toolreport_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestRulesOfSARIF asserts what is read about rules. Security tools describe their rules in
// several ways.
func TestRulesOfSARIF(t *testing.T) {
	t.Parallel()
	const log = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan","rules":[
		{"id":"tagged","name":"T","shortDescription":{"text":"Short."},"fullDescription":{"text":"Full."},"help":{"text":"plain","markdown":"**mend**"},"helpUri":"https://example.com/t",
		 "defaultConfiguration":{"level":"error"},"properties":{"tags":["security","CWE-78: OS command injection","external/cwe/cwe-088","OWASP-A03","CWE-0"],"precision":"very-high","security-severity":"9.8"}},
		{"id":"related","relationships":[{"target":{"id":"89","toolComponent":{"name":"CWE"}}},{"target":{"id":"7","toolComponent":{"name":"other"}}}],"properties":{"precision":"sure","security-severity":"x"}},
		{"id":"tagged"}]}},
		"results":[
		{"ruleId":"tagged","level":"note","message":{"text":"a"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":1}}}]},
		{"ruleId":"related","level":"note","message":{"text":"b"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":2}}}]}]}]}`
	got := read(t, toolreport.Tool{Called: "x"}, output{Stdout: strings.NewReader(log)})
	want := []toolreport.ToolRule{
		{Tool: "scan", Rule: finding.Rule{ID: "tagged", Name: "T", Short: "Short.", Full: "Full.", Help: "**mend**", HelpURI: "https://example.com/t", CWE: []int{78, 88}, Severity: finding.Critical, Precision: finding.PrecisionVeryHigh}},
		{Tool: "scan", Rule: finding.Rule{ID: "related", CWE: []int{89}, Severity: finding.Medium}},
	}
	if diff := cmp.Diff(want, got.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if len(got.Findings) != 2 || got.Findings[0].Severity != finding.Critical || got.Findings[1].Severity != finding.Low {
		t.Errorf("findings %+v", got.Findings)
	}
}

// TestScores checks that a security-severity becomes a severity by the bounds of code scanning. One
// that is not a score leaves the severity of the result's level, which is medium without a level.
func TestScores(t *testing.T) {
	t.Parallel()
	for score, want := range map[string]finding.Severity{
		`"0.1"`: finding.Low, `3.9`: finding.Low, `4`: finding.Medium, `"6.9"`: finding.Medium, `7.0`: finding.High, `8.9`: finding.High, `9`: finding.Critical, `"10.0"`: finding.Critical,
		`0`: finding.Medium, `11`: finding.Medium, `"NaN"`: finding.Medium, `null`: finding.Medium, `[]`: finding.Medium,
	} {
		log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"s","rules":[{"id":"r","properties":{"security-severity":` + score + `}}]}},"results":[{"ruleId":"r","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a"}}}]}]}]}`
		got := read(t, toolreport.Tool{Called: "x"}, output{Stdout: strings.NewReader(log)})
		if len(got.Findings) != 1 || got.Findings[0].Severity != want {
			t.Errorf("%s: %+v; want %s", score, got.Findings, want)
		}
	}
}

// TestPathsOfSARIF asserts that an absolute path is the same file however it is written, although
// the tool ran in a directory below the root, and that all other paths are relative to that directory.
func TestPathsOfSARIF(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"/home/src/lib/a.go": "lib/a.go", `\home\src\lib\a.go`: "lib/a.go", `/home\src/lib/a.go`: "lib/a.go", "%2Fhome/src/lib/a.go": "lib/a.go", "%5Chome%5Csrc%5Clib%5Ca.go": "lib/a.go", " /home/src/lib/a.go": "lib/a.go", "\n%2fhome/src/lib/a.go": "lib/a.go",
		"file:///home/src/lib/a.go": "lib/a.go", " FILE:/home/src/lib/a.go": "lib/a.go", "/github/workspace/lib/a.go": "lib/a.go", "%2F__w/x/x/lib/a.go": "lib/a.go",
		`C:\src\lib\a.go`: "lib/a.go", "C%3A/src/lib/a.go": "lib/a.go", "file:///C:/src/lib/a.go": "lib/a.go",
		"lib/a.go": "app/lib/a.go", " lib/a.go": "app/lib/a.go", `lib\a.go`: "app/lib/a.go", "lib/a:b.go": "app/lib/a:b.go", "a:b.go": "app/a:b.go", "lib/a%3Ab.go": "app/lib/a:b.go",
		"../lib/a.go": "lib/a.go", `..\lib\a.go`: "lib/a.go", "..%2Flib/a.go": "lib/a.go", "%2e%2e/lib/a.go": "lib/a.go", "x/../../lib/a.go": "lib/a.go", "./../a.go": "a.go", "../app/a.go": "app/a.go",
		`c:\src\lib\a.go`: "lib/a.go", "file:///c:/SRC/lib/a.go": "lib/a.go", "d:/a/x/x/lib/a.go": "lib/a.go", "%66ile:///home/src/a.go": "app/file:/home/src/a.go",
		"../../lib/a.go": "", `..\..\lib\a.go`: "", "../..": "", "..": "", ".": "", "": "", "x/..": "", "/HOME/src/lib/a.go": "", "https://example.com/a.go": "",
		"/etc/passwd": "", `\etc\passwd`: "", "%2Fetc/passwd": "", // outside the repository: the finding is left out
	} {
		quoted, err := json.Marshal(uri)
		if err != nil {
			t.Fatal(err)
		}
		log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"s"}},"results":[{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":` + string(quoted) + `}}}]}]}]}`
		got := read(t, toolreport.Tool{Called: "x", Roots: []string{"/home/src", `C:\src`}, Dir: "app"}, output{Stdout: strings.NewReader(log)})
		path := ""
		if len(got.Findings) > 0 {
			path = got.Findings[0].Path
		}
		if path != want {
			t.Errorf("%q: the path is %q, want %q", uri, path, want)
		}
	}
}
