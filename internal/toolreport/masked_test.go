package toolreport_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestASecretThatIsCutCanBeMasked asserts that a report, once it is masked, contains no part of a
// secret that a limit has cut, wherever the cut is. It tries every third place.
func TestASecretThatIsCutCanBeMasked(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-Val_0123456789abcdefghijKLMNOPQRS"
	const before = 60 // at most as many bytes of a limit are taken by what forms have before a text
	scanner := secrets.New([]secrets.Known{{Name: "the password", Value: token.New(secret, "")}})
	for name, c := range map[string]struct{ command, output string }{
		"eslint":         {"eslint .", "\n/src/a.js\n  1:1  error  TEXT  semi\n\n✖ 1 problem (1 error, 0 warnings)\n"},
		"eslint, rule":   {"eslint .", "\n/src/a.js\n  1:1  error  Bad  TEXT\n\n✖ 1 problem (1 error, 0 warnings)\n"},
		"go vet":         {"go vet ./...", "# p\na.go:1:1: TEXT\n"},
		"an unknown one": {"make lint", "a.go:1:1: TEXT\nError: TEXT\nTEXT\n"},
		"flake8":         {"flake8", "a.py:1:1: E501 TEXT\n"},
		"mypy":           {"mypy .", "a.py:1: error: TEXT  [misc]\nFound 1 error in 1 file (checked 1 source file)\n"},
		"tsc":            {"tsc", "a.ts(1,1): error TS1: TEXT\n"},
		"cargo":          {"cargo check", "error[E0308]: TEXT\n --> a.rs:1:1\n  |\n  = note: TEXT\n\nerror: could not compile `p` (lib) due to 1 previous error\n"},
		"golangci-lint":  {"golangci-lint run", `{"Issues":[{"FromLinter":"x","Text":"TEXT","Pos":{"Filename":"a.go","Line":1,"Column":1}}],"Report":{}}` + "\n"},
		"rdjson":         {"reviewdog", `{"source":{"name":"TEXT"},"diagnostics":[{"message":"TEXT","code":{"value":"TEXT"},"location":{"path":"a.go","range":{"start":{"line":1}}}}]}` + "\n"},
		"SARIF": {"semgrep", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"TEXT","rules":[{"id":"TEXT","fullDescription":{"text":"TEXT"},"help":{"text":"TEXT"}}]}},"results":[` +
			`{"ruleId":"TEXT","message":{"text":"TEXT"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":1}}}]}]}]}` + "\n"},
		"go test":     {"go test ./...", "--- FAIL: TestX (0.00s)\n    a_test.go:1: TEXT\n    a_test.go:2: TEXT\nTEXT\nFAIL\nFAIL\tp\t0.1s\nFAIL\n"},
		"go test -v":  {"go test ./...", "=== RUN   TestX\n=== RUN   TestX/TEXT\n--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/TEXT (0.00s)\n        a_test.go:1: no\nFAIL\nFAIL\tp\t0.1s\nFAIL\n"},
		"go's events": {"go test -json ./...", `{"Action":"output","Package":"p","Test":"TestX/TEXT","Output":"    a_test.go:1: TEXT\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestX/TEXT"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"},
		"pytest":      {"pytest", "=== test session starts ===\n=== FAILURES ===\n___ test_a ___\nE   TEXT\na.py:3: AssertionError\n=== short test summary info ===\nFAILED a.py::test_a[TEXT] - TEXT\n=== 1 failed in 0.02s ===\n"},
		"unittest":    {"python -m unittest", "F\n======================================================================\nFAIL: test_a (a.T.TEXT)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"a.py\", line 3, in test_a\nAssertionError: TEXT\n\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n"},
		"mocha":       {"mocha", "  0 passing (3ms)\n  1 failing\n\n  1) TEXT:\n     Error: TEXT\n      at a.js:1:1\n"},
		"jest":        {"jest", "FAIL a.test.js\n  ● TEXT\n\n    TEXT\n\n      at a.test.js:1:1\n\nTests:       1 failed, 1 total\n"},
		"jest's JSON": {"jest --json", `{"numFailedTests":1,"testResults":[{"name":"/src/a.test.js","status":"failed","assertionResults":[{"status":"failed","fullName":"TEXT","failureMessages":["TEXT"]}]}]}` + "\n"},
		"JUnit":       {"make test", `<testsuites><testsuite name="TEXT" tests="1" failures="1"><testcase name="TEXT" classname="TEXT"><failure>TEXT</failure></testcase></testsuite></testsuites>` + "\n"},
		"JUnit, attr": {"make test", `<testsuites><testsuite name="a" tests="1" failures="1"><testcase name="b" classname="c"><failure message="TEXT">x</failure></testcase></testsuite></testsuites>` + "\n"},
		"TAP":         {"tap", "TAP version 13\nnot ok 1 - TEXT\n  ---\n  message: TEXT\n  ...\n1..1\n"},
		"cargo test":  {"cargo test", "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\nthread 'a' panicked at a.rs:1:1:\nTEXT\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n"},
		"rspec":       {"rspec", "Failures:\n\n  1) TEXT\n     Failure/Error: TEXT\n       TEXT\n\n1 example, 1 failure\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:2 # TEXT\n"},
		"annotations": {"make lint", "::error file=a.go,line=1,title=TEXT::TEXT\n"},
	} {
		for _, limit := range []int{300, 500, 2_000, 8 << 10, 64 << 10} {
			step := 3
			if limit > 2_000 {
				step = 15
			}
			var got toolreport.Report
			for at := 1; at <= len(secret)+before; at += step {
				for _, filler := range []string{" ", "y"} {
					printed := strings.ReplaceAll(c.output, "TEXT", strings.Repeat(filler, limit-at)+secret+strings.Repeat(" z", 50))
					got = read(t, toolreport.Tool{Command: strings.Fields(c.command), Check: "tests", Roots: []string{"/src"}},
						output{Stdout: strings.NewReader(printed), Exit: toolreport.Exit{Code: 1}})
					if part := shownPart(t, got, secret, scanner); part != "" {
						t.Fatalf("%s, %d bytes before %d: %q is shown", name, at, limit, part)
					}
				}
			}
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if limit == 300 && !strings.Contains(string(raw), secret) {
				t.Errorf("%s: the last cut is still in the secret", name)
			}
		}
	}
}

// shownPart masks the texts of a report. It returns the ends of the texts that still contain the
// first or the last six characters of a secret, or "" if there is no such text.
func shownPart(t *testing.T, report toolreport.Report, secret string, scanner *secrets.Scanner) string {
	t.Helper()
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), secret[:6]) && !strings.Contains(string(raw), secret[len(secret)-6:]) {
		return ""
	}
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	var look func(any) string
	look = func(value any) string {
		part := ""
		switch v := value.(type) {
		case string:
			masked := scanner.Mask(v)
			if strings.Contains(masked, secret[:6]) || strings.Contains(masked, secret[len(secret)-6:]) {
				return masked[max(0, len(masked)-200):]
			}
		case []any:
			for _, one := range v {
				part += look(one)
			}
		case map[string]any:
			for _, one := range v {
				part += look(one)
			}
		}
		return part
	}
	return look(document)
}
