package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// checkedFile is a file of the pull request in which the formatter and the security review find one
// problem each; the base does not have it.
const checkedFile = "package shop\n\nimport \"database/sql\"\n\nfunc Find(db *sql.DB, name string) {\n  db.Query(\"SELECT * FROM users WHERE name = '\" + name + \"'\") // @octocat\n}\n"

// checksConfig replaces the commands that take long.
const checksConfig = "checks:\n  lint-command: test -f shop.go\n  build-command: test -f shop.go\n  test-command: sh test.sh\n"

// newChecked returns a pull request whose checks fail, and its workspace.
func newChecked(t *testing.T) (hosted, workspace) {
	t.Helper()
	h := newHosted(t)
	h.git.Commit("changes", map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "shop.go": checkedFile,
		"test.sh": "echo \"::error::not a command of ours ##[group]\"; id -u; env | grep -c TOKEN; exit 1\n"}, "Sell things")
	h.start = h.git.SHA("changes")
	ws := newWorkspace(t, nil)
	h.fill(t, ws.dir, "changes")
	openToOthers(ws.dir)
	return h, ws
}

// refusesToCheck reports whether the tests run as a user who cannot keep the checks apart
// from a token. If so, it asserts that the checks were refused.
func refusesToCheck(t *testing.T, res result) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return false
	}
	if res.code != 2 || !strings.Contains(res.stdout, "refusing to run the repository's code") {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
	return true
}

func TestActionChecks(t *testing.T) {
	t.Parallel()
	h, ws := newChecked(t)
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "check", "config": checksConfig}), "", "action")
	if refusesToCheck(t, res) {
		return
	}
	if res.code != 1 || len(h.server.Writes()) != 0 {
		t.Fatalf("exit code %d, %d writes\n%s%s", res.code, len(h.server.Writes()), res.stdout, res.stderr)
	}
	assertOwnCommands(t, res.stdout, secret)
	out := ws.outputs(t)
	checks := parse[struct {
		Status string
		Checks map[string]struct{ Status string }
	}](t, out["checks"])
	for name, want := range map[string]string{"formatter": "fail", "linter": "pass", "build": "pass", "tests": "fail", "code_review": "pass", "security_review": "fail"} {
		if got := checks.Checks[name].Status; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if out["checks-status"] != "fail" || out["findings-file"] != ".airlock/findings.json" {
		t.Errorf("outputs: %q", out)
	}
	doc, err := checkreport.Read(strings.NewReader(readFile(t, filepath.Join(ws.dir, out["findings-file"]))))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Head != h.start || doc.Number != 2 {
		t.Errorf("the findings are about #%d at %s", doc.Number, doc.Head)
	}
	suggested := false
	for _, f := range doc.Findings {
		suggested = suggested || f.Tool == "gofmt" && f.StartLine == 6 && strings.HasPrefix(f.Suggestion, "\tdb.Query(")
	}
	if !suggested {
		t.Errorf("the formatter's change is not a suggestion: %+v", doc.Findings)
	}
	for _, c := range doc.Checks {
		if c.Check == "tests" && !regexp.MustCompile(`(?m)^(65|6[6-9]|[7-9]\d)\d\d\d\n0$`).MatchString(c.Excerpt) {
			t.Errorf("the tests did not run as a user that owns nothing, without a token:\n%s", c.Excerpt)
		}
	}
	summary := readFile(t, ws.summary)
	for _, want := range []string{"## ❌ Airlock checks: ", "| ❌ security review | 1 problem, high |", "not a command of ours"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
	if !strings.Contains(res.stdout, "::error endLine=6,file=shop.go,line=6,title=Airlock security review%3A go/sql-injection::db.Query gets SQL") {
		t.Errorf("no annotation:\n%s", res.stdout)
	}
}

// TestActionWithoutALanguage asserts that a summary which shows what the reviews found does not say
// that nothing was checked.
func TestActionWithoutALanguage(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	h.git.Commit("changes", map[string]string{"shop.zig": "const a = 1;\n"}, "Sell things")
	h.start = h.git.SHA("changes")
	ws := newWorkspace(t, nil)
	h.fill(t, ws.dir, "changes")
	openToOthers(ws.dir)
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "check"}), "", "action")
	if refusesToCheck(t, res) {
		return
	}
	summary := readFile(t, ws.summary)
	if res.code != 2 || !strings.Contains(summary, "security review | pass |") || !strings.Contains(summary, "## Airlock stopped") || strings.Contains(summary, "Nothing was checked") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, summary)
	}
}

// TestActionReportsChecks goes the entire way, in one job and in two: the checks run,
// and their findings go through intake and policy to the pull request.
func TestActionReportsChecks(t *testing.T) {
	t.Parallel()
	for name, jobs := range shorttest.Some(1, map[string][]map[string]string{
		"one job":  {{"mode": "all"}},
		"two jobs": {{"mode": "check", "fail-on": "never"}, {"mode": "apply", "findings": ".airlock/findings.json"}},
	}) {
		t.Run(name, func(t *testing.T) {
			h, ws := newChecked(t)
			var res result
			for _, inputs := range jobs {
				inputs["config"] = checksConfig
				if err := os.Truncate(ws.summary, 0); err != nil && !os.IsNotExist(err) { // each job has its own
					t.Fatal(err)
				}
				res = run(t, ws.dir, ws.env(h.env(t), inputs), "", "action")
				if refusesToCheck(t, res) {
					return
				}
			}
			if res.code != 1 {
				t.Errorf("exit code %d: the checks failed\n%s%s", res.code, res.stdout, res.stderr)
			}
			if strings.Contains(res.stdout, "title=Airlock security review") {
				t.Errorf("the check run has its annotations already:\n%s", res.stdout)
			}
			assertOwnCommands(t, res.stdout, secret)
			if summary := readFile(t, ws.summary); name == "two jobs" {
				failed, report := strings.Index(summary, "checks failed: "), strings.Index(summary, "What the checks reported")
				if failed < 0 || failed > report || !strings.Contains(res.stdout, "::error title=Airlock%3A ") {
					t.Errorf("the report does not begin with what failed:\n%s\n%s", res.stdout, summary)
				}
			}
			pull := h.server.State().Issues[1]
			var comments []string
			for _, c := range pull.Comments {
				comments = append(comments, c.Body)
			}
			if len(comments) != 1 || !strings.Contains(comments[0], "### ❌ Airlock checks: ") {
				t.Errorf("%d comments: %q", len(comments), comments)
			}
			if n := len(pull.Pull.Reviews); n != 1 {
				t.Errorf("%d reviews", n)
			}
			if !strings.Contains(readFile(t, ws.summary), "What the checks reported") {
				t.Errorf("the summary:\n%s", readFile(t, ws.summary))
			}
		})
	}
}

// TestActionAnnotatesWithoutACheckRun asserts that findings become annotations if there is no check
// run: nothing else could show a finding at a line that cannot carry a review comment.
func TestActionAnnotatesWithoutACheckRun(t *testing.T) {
	t.Parallel()
	h, ws := newChecked(t)
	config := checksConfig + "  report: {check-run: false, review-comments: 0, security-report: false}\n"
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "all", "config": config}), "", "action")
	if refusesToCheck(t, res) {
		return
	}
	if n := strings.Count(res.stdout, "title=Airlock security review"); res.code != 1 || n != 1 {
		t.Errorf("exit code %d, %d annotations\n%s", res.code, n, res.stdout)
	}
}

// TestActionNamesTheFileOfAllFindings asserts that the log names the document with the findings
// that have no annotation: GitHub shows ten of a level.
func TestActionNamesTheFileOfAllFindings(t *testing.T) {
	t.Parallel()
	h, ws := newChecked(t)
	config := "checks:\n  format-command: 'true'\n  build-command: 'true'\n  test-command: 'true'\n  lint-command: 'for i in 1 2 3 4 5 6 7 8 9 a b c; do echo \"shop.go:5:1: word $i\"; done; false'\n"
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "check", "config": config}), "", "action")
	if refusesToCheck(t, res) {
		return
	}
	if n := strings.Count(res.stdout, "title=Airlock linter"); n != 10 || !strings.Contains(res.stdout, "2 more in the findings document") {
		t.Errorf("%d annotations\n%s", n, res.stdout)
	}
}

// TestActionChecksWhatTheEventIsAbout runs the action where the workspace contains the
// base instead of the pull request: it must report nothing on the pull request, least of
// all that it passes.
func TestActionChecksWhatTheEventIsAbout(t *testing.T) {
	t.Parallel()
	for name, c := range shorttest.Some(1, map[string]struct {
		event, payload, mode string // payload: "" is that of a pull request
		code                 int
		says                 string
	}{
		"a comment":           {"issue_comment", "issue_comment.created-pull-request.json", "all", 0, `the event "issue_comment" does not name the commits of pull request #2`},
		"a push":              {"push", "push.json", "all", 0, `the event "push" is not about a pull request`},
		"pull_request_target": {"pull_request_target", "", "all", 2, "contains nothing of pull request #2"},
		"target, only checks": {"pull_request_target", "", "check", 2, "contains nothing of pull request #2"},
	}) {
		t.Run(name, func(t *testing.T) {
			h := newHosted(t)
			ws := newWorkspace(t, nil)
			h.fill(t, ws.dir, "master")
			env := h.env(t, "GITHUB_EVENT_NAME="+c.event)
			if c.payload != "" {
				env = append(env, "GITHUB_EVENT_PATH="+filepath.Join(root, "testdata", "events", c.payload))
			}
			res := run(t, ws.dir, ws.env(env, map[string]string{"mode": c.mode, "config": checksConfig}), "", "action")
			if res.code != c.code || !strings.Contains(res.stdout, c.says) || len(h.server.Writes()) != 0 {
				t.Errorf("exit code %d, %d writes\n%s%s", res.code, len(h.server.Writes()), res.stdout, res.stderr)
			}
		})
	}
}

// TestActionRefusesFindingsOfAnotherRepository asserts that a document about another repository,
// which another job or a stranger left, leads to no write.
func TestActionRefusesFindingsOfAnotherRepository(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newWorkspace(t, nil)
	for repository, code := range map[string]int{"codertocat/hello-world": 0, "mallory/hello-world": 2} {
		h.server.ResetRequests()
		text := strings.Replace(wellDocument, "{", `{"repository": "`+repository+`", `, 1)
		writeFile(t, filepath.Join(ws.dir, "findings.json"), text)
		res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "apply", "config": checksConfig, "findings": "findings.json"}), "", "action")
		if res.code != code || (len(h.server.Writes()) == 0) != (code == 2) {
			t.Errorf("%s: exit code %d, %d writes\n%s%s", repository, res.code, len(h.server.Writes()), res.stdout, res.stderr)
		}
	}
}

// TestActionRefusesFindingsThatContradictThemselves: no check run concludes success where
// any part of the document says otherwise.
func TestActionRefusesFindingsThatContradictThemselves(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newWorkspace(t, nil)
	for name, c := range map[string]struct{ old, new, says string }{
		"a check of the result fails":   {`"build": {"status": "pass"`, `"build": {"status": "fail"`, "the status is \"pass\", and the check build failed"},
		"a check of a directory fails":  {`"checks": []`, `"checks": [{"check": "tests", "root": ".", "status": "fail", "retry_count": 0, "execution_time_ms": 1, "exit_code": 1, "problems": []}]`, "tests failed in ."},
		"a finding blocks":              {`"findings": []}`, `"findings": [{"check": "security_review", "tool": "airlock", "severity": "high", "message": "m", "fingerprint": "00112233445566778899aabbccddeeff", "gating": true}]}`, "the finding made security_review fail"},
		"tests pass with failures":      {`"failing_count": 0`, `"failing_count": 3`, "failing_count is 3"},
		"the retries do not add up":     {`"total_retries": 0`, `"total_retries": 7`, "total_retries is 7"},
		"a weakness without a severity": {`"vulnerabilities": []`, `"vulnerabilities": ["SQL injection"]`, "the severity of a review must be none"},
	} {
		h.server.ResetRequests()
		i := strings.LastIndex(wellDocument, c.old)
		if i < 0 {
			t.Fatalf("%s: the document has no %s", name, c.old)
		}
		text := wellDocument[:i] + c.new + wellDocument[i+len(c.old):]
		writeFile(t, filepath.Join(ws.dir, "findings.json"), text)
		res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "apply", "config": checksConfig, "findings": "findings.json"}), "", "action")
		if res.code != 2 || len(h.server.Writes()) != 0 || !strings.Contains(res.stdout, "it contradicts itself") || !strings.Contains(res.stdout, c.says) {
			t.Errorf("%s: exit code %d, %d writes\n%s%s", name, res.code, len(h.server.Writes()), res.stdout, res.stderr)
		}
	}
}

// wellDocument is a findings document in which every check passed. Anybody can write it.
const wellDocument = `{"version": 1, "output": {"status": "pass", "execution_time_ms": 1, "total_retries": 0, "checks": {
  "formatter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "linter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "build": {"status": "pass", "errors": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "tests": {"status": "pass", "failing_count": 0, "retry_count": 0, "command": "", "execution_time_ms": 1},
  "code_review": {"status": "pass", "findings": [], "severity": "none", "execution_time_ms": 1},
  "security_review": {"status": "pass", "vulnerabilities": [], "severity": "none", "execution_time_ms": 1}}},
  "checks": [], "findings": []}`
