package checkreport_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
)

// document returns a document in its JSON form, changed by replacing one text.
func document(t *testing.T, old, new string) string {
	t.Helper()
	var b bytes.Buffer
	if err := checkreport.New(failing()).Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, old) {
		t.Fatalf("the document has no %s", old)
	}
	return strings.Replace(text, old, new, 1)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new, want string }{
		{"another version", `"version": 1`, `"version": 2`, "$.version"},
		{"a path that leads out", `"path": "api/b.go"`, `"path": "api/../../b.go"`, "$.findings[0].path"},
		{"an absolute path", `"path": "api/b.go"`, `"path": "/etc/passwd"`, "$.findings[0].path"},
		{"a negative line", `"start_line": 3`, `"start_line": -3`, "$.findings[0].start_line"},
		{"an unknown severity", `"severity": "critical"`, `"severity": "awful"`, "severity"},
		{"an unknown check", `"check": "security_review"`, `"check": "karma"`, "check"},
		{"a fingerprint with markup", `"fingerprint": "`, `"fingerprint": "<!--`, "fingerprint"},
		{"a name that Go would read as another", `"findings": [`, `"Findings": [], "findings": [`, "Findings"},
		{"a name twice", `"findings": [`, `"findings": [], "findings": [`, "two members of one name: $.output.checks.code_review.findings"},
		{"a number in quotes", `"total_retries": 4`, `"total_retries": "4"`, "total_retries"},
		{"a number too large", `"start_line": 3`, `"start_line": 1e300`, "start_line"},
		{"not JSON", `{`, ``, "not JSON"},
		{"not UTF-8", `SQL`, "\xff", "not JSON in UTF-8"},
	}
	for _, c := range tests {
		_, err := checkreport.Read(strings.NewReader(document(t, c.old, c.new)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", c.name, err, c.want)
		}
	}
	if _, err := checkreport.Read(strings.NewReader(strings.Repeat(" ", checkreport.MaxBytes+1))); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a document that is too large: %v", err)
	}
}

// TestReadRefusesContradictions asserts that a document is refused if two of its parts contradict
// each other, so that the more favourable part is not believed.
func TestReadRefusesContradictions(t *testing.T) {
	t.Parallel()
	const allPass = `"status": "pass"`
	tests := []struct {
		name    string
		changes []string // pairs: what is replaced, everywhere, and by what
		want    string
	}{
		{"the result passes above checks that fail", []string{`"status": "fail",
    "execution_time_ms": 68000`, `"status": "pass",
    "execution_time_ms": 68000`}, `the status is "pass", and the check formatter failed`},
		{"all of the output passes, and the checks fail", []string{`"output": {`, `"output": ` + passOutput + `, "old": {`}, "$.checks[0]: formatter failed in api"},
		{"all checks pass, and a finding blocks", []string{`"status": "fail"`, allPass, `"issues": [
          "File a.go still has formatting issues after 3 retries"
        ]`, `"issues": []`, `"issues": [
          "a | b at api/a.go:6"
        ]`, `"issues": []`, `"vulnerabilities": [
          "db.Query gets SQL at api/b.go:3"
        ]`, `"vulnerabilities": []`, `"severity": "critical",
        "execution_time_ms"`, `"severity": "none",
        "execution_time_ms"`, `"critical_security_issue": true,`, ``, `"failing_count": 2`, `"failing_count": 0`, `"failures"`, `"old_failures"`}, "$.findings[0]: the finding made security_review fail"},
		{"a count of failures", []string{`"failing_count": 2,
        "retry_count"`, `"failing_count": 1,
        "retry_count"`}, "failing_count is 1, and the tests in $.checks have 2"},
		{"a sum of retries", []string{`"total_retries": 4`, `"total_retries": 5`}, "total_retries is 5"},
		{"retries of a check", []string{`"retry_count": 3,
      "execution_time_ms"`, `"retry_count": 2,
      "execution_time_ms"`}, "formatter has 3 retries, and those in $.checks are 2"},
		{"no critical issue", []string{`"critical_security_issue": true,`, ``}, "critical_security_issue does not agree"},
		{"a severity below that of a finding", []string{`"severity": "critical",
        "execution_time_ms"`, `"severity": "low",
        "execution_time_ms"`, `"critical_security_issue": true,`, ``}, "the finding is critical"},
		{"a skipped check that counts failures", []string{`"check": "build",`, `"check": "build", "failing_count": 1,`}, "build did not fail"},
	}
	for _, c := range tests {
		text := document(t, "", "")
		for i := 0; i < len(c.changes); i += 2 {
			if !strings.Contains(text, c.changes[i]) {
				t.Fatalf("%s: the document has no %s", c.name, c.changes[i])
			}
			text = strings.ReplaceAll(text, c.changes[i], c.changes[i+1])
		}
		_, err := checkreport.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), "it contradicts itself, so nothing in it counts") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", c.name, err, c.want)
		}
	}
	for _, in := range []checkreport.Input{failing(), passing()} {
		var b bytes.Buffer
		if err := checkreport.New(in).Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := checkreport.Read(&b); err != nil {
			t.Errorf("a document of Airlock's own: %v", err)
		}
	}
}

// passOutput is an output in which every check passes.
const passOutput = `{"status": "pass", "execution_time_ms": 1, "total_retries": 0, "checks": {
	"formatter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
	"linter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
	"build": {"status": "pass", "errors": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
	"tests": {"status": "pass", "failing_count": 0, "retry_count": 0, "command": "", "execution_time_ms": 1},
	"code_review": {"status": "pass", "findings": [], "severity": "none", "execution_time_ms": 1},
	"security_review": {"status": "pass", "vulnerabilities": [], "severity": "none", "execution_time_ms": 1}}}`

func TestReadTakesNewMembersAndMendsRanges(t *testing.T) {
	t.Parallel()
	d, err := checkreport.Read(strings.NewReader(document(t, `"version": 1`, `"version": 1, "mood": {"Good": [1]}`)))
	if err != nil || len(d.Findings) != 5 {
		t.Fatalf("%v %+v", err, d)
	}
	d, err = checkreport.Read(strings.NewReader(document(t, `"start_line": 2`, `"start_line": 0`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Tool == "gofmt" && (f.Suggestion != "" || f.EndLine != 0) {
			t.Errorf("a suggestion for no line is kept: %+v", f)
		}
	}
	d, err = checkreport.Read(strings.NewReader(document(t, `"end_line": 4`, `"end_line": 1`)))
	if err != nil || d.Findings[0].EndLine != 0 {
		t.Errorf("%v: a range that ends before it begins: %+v", err, d.Findings[0])
	}
}

// TestReadOfAPathThatNamesNoFile asserts that a path in the repository that can name no file is
// left out, and the document is read: the pull request's code may have written the path to suppress
// the report.
func TestReadOfAPathThatNamesNoFile(t *testing.T) {
	t.Parallel()
	for _, path := range []string{".", "./", "a" + strings.Repeat("ü", 4000)} {
		d, err := checkreport.Read(strings.NewReader(document(t, `"path": "api/b.go"`, `"path": "`+path+`"`)))
		if err != nil || d.Findings[0].Path != "" || d.Findings[0].StartLine != 0 {
			t.Fatalf("%.10s: %v", path, err)
		}
		if _, err := d.SARIF("v1"); err != nil {
			t.Errorf("%.10s: %v", path, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := checkreport.New(failing()).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := checkreport.Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		w := safeText(t)
		_, _, _ = d.Summary(w, 1<<20), d.Annotations(w), d.Outputs(w)
		_ = deliver(t, d.Deliver(allItems(t)), noAlerts, nil)
		if _, err := d.SARIF("v1"); err != nil {
			t.Error(err)
		}
	})
}
