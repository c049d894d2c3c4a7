package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

var acceptedOrigin = newOrigin(map[string]string{"README.md": "# Hello\n", "docs/old.md": "Old.\n"},
	map[string]string{"README.md": "# Hello, World\nUsage: more.\n", "docs/guide.md": "Guide\n", "test.sh": "test -f docs/guide.md && ! env | grep -q TOKEN\n"})

// newAccepted returns a pull request that closes an issue with this text, and its workspace.
func newAccepted(t *testing.T, body string) (hosted, workspace) {
	t.Helper()
	git := acceptedOrigin(t)
	f := pullRequestFixture()
	f.Issues[0].Body = body
	f.Issues[0].Author = githubtest.Account{Login: "reporter", ID: 7}
	f.Issues[0].Edits = []githubtest.Edit{{Field: "body", To: body, Editor: githubtest.Account{Login: "somebody", ID: 8}, At: time.Unix(1_700_000_000, 0)}}
	f.Issues[1].Pull.Closes = []int{1}
	h := hosted{git, server(t, f, githubtest.Options{Git: git}), git.SHA("changes")}
	ws := newWorkspace(t, nil)
	h.fill(t, ws.dir, "changes")
	openToOthers(ws.dir)
	return h, ws
}

const acceptConfig = "checks:\n  format-command: test -f README.md\n  lint-command: test -f README.md\n  skip-build: true\n  test-command: sh test.sh\nacceptance:\n"

const issueCriteria = "Please.\n\n## Acceptance criteria\n\n- [ ] `docs/guide.md` exists\n- [x] README.md contains \"Usage\"\n- [ ] check:tests\n<!-- - [ ] hidden.md -->\n\n## Notes\n\n- [ ] not one\n"

// verifyPull runs both jobs: the one that verifies and the one that reports. If the first job could
// not verify, or the test does not run as root, the second one does not run, and reporting is the
// zero result.
func verifyPull(t *testing.T, h hosted, ws workspace, config string, inputs map[string]string) (verifying, reporting result) {
	t.Helper()
	given := map[string]string{"mode": "verify", "config": config}
	for name, value := range inputs {
		given[name] = value
	}
	verifying = run(t, ws.dir, ws.env(h.env(t), given), "", "action")
	if verifying.code > 1 || os.Geteuid() != 0 {
		return verifying, result{}
	}
	reporting = run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "apply", "config": config, "verdict": ".airlock/verdict.json"}), "", "action")
	return verifying, reporting
}

// TestActionVerifies asserts that the criteria of the issue that the pull request closes are
// verified without the token, and that the verdict passes intake and policy to the pull request.
func TestActionVerifies(t *testing.T) {
	t.Parallel()
	for name, c := range shorttest.Some(2, map[string]struct {
		body, config, verdict, conclusion string
		summary                           []string
		comments                          int
	}{
		"passes": {issueCriteria, acceptConfig, "PASS", "success", []string{"## ✅ Airlock acceptance: PASS, 3 of 3 criteria verified", "last edited by somebody"}, 1},
		"fails": {"# Acceptance criteria\n- [ ] docs/missing.md\n- [ ] docs/guide.md\n", acceptConfig, "PARTIAL", "failure",
			[]string{"## ❌ Airlock acceptance: PARTIAL, 1 of 2", "There is no path docs/missing.md"}, 1},
		"a stranger's command": {"```acceptance\n- $ touch /tmp/canary-of-airlock\n- docs/guide.md\n```\n", acceptConfig, "BLOCKED", "failure", []string{"may run only commands that the owner allows"}, 1},
		"an allowed command":   {"```acceptance\n- $ sh test.sh\n```\n", acceptConfig + "  commands: [sh test.sh]\n", "PASS", "success", []string{"PASS, 1 of 1"}, 1},
		"a mention":            {"# Acceptance criteria\n- [ ] @octocat says <b>closes #1</b>\n", acceptConfig, "BLOCKED", "failure", nil, 1},
		"more than its line": {"# Acceptance criteria\n- [ ] docs/guide.md exists\n  - and is beautiful\n- unboxed\n", acceptConfig, "BLOCKED", "failure",
			[]string{"docs/guide.md exists and is beautiful", "of #1, list items without a box (- \\[ \\]) are not verified: 1."}, 1},
		"a broken block": {"```acceptance\nacceptance_criteria: {\n```\n", acceptConfig, "BLOCKED", "failure", []string{"cannot be read"}, 1},
		"none":           {"Nothing.", acceptConfig, "", "", []string{"no acceptance criteria"}, 0},
		"none, required": {"Nothing.", acceptConfig + "  require-criteria: true\n", "", "failure", []string{"They are required"}, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			h, ws := newAccepted(t, c.body)
			verifying, reporting := verifyPull(t, h, ws, c.config, nil)
			if c.verdict != "" && refusesToCheck(t, verifying) {
				return
			}
			if os.Geteuid() != 0 {
				return
			}
			want := 0
			if c.conclusion == "failure" {
				want = 1
			}
			if verifying.code != want || reporting.code != want {
				t.Errorf("exit codes %d and %d, want %d\n%s%s\n%s%s", verifying.code, reporting.code, want, verifying.stdout, verifying.stderr, reporting.stdout, reporting.stderr)
			}
			out := ws.outputs(t)
			if out["verdict"] != c.verdict || out["verdict-file"] != ".airlock/verdict.json" {
				t.Errorf("outputs: verdict %q in %q", out["verdict"], out["verdict-file"])
			}
			state := h.server.State()
			conclusion := ""
			for _, check := range state.Checks {
				conclusion += check.Conclusion
				if !strings.HasPrefix(check.Name, "Airlock acceptance") || check.HeadSHA != h.start {
					t.Errorf("check run %q at %s", check.Name, check.HeadSHA)
				}
			}
			if conclusion != c.conclusion || len(state.Issues[1].Comments) != c.comments {
				t.Errorf("check run %q, %d comments", conclusion, len(state.Issues[1].Comments))
			}
			texts := readFile(t, ws.summary)
			for _, comment := range state.Issues[1].Comments {
				texts += comment.Body
			}
			for _, want := range c.summary {
				if !strings.Contains(texts, want) {
					t.Errorf("the summary lacks %q:\n%s", want, texts)
				}
			}
			if strings.Contains(texts, "@octocat") || strings.Contains(texts, "<b>") || strings.Contains(texts, secret) {
				t.Errorf("something acts:\n%s", texts)
			}
			if _, err := os.Stat("/tmp/canary-of-airlock"); err == nil {
				t.Error("a stranger's command ran")
			}
			if name == "a broken block" && !strings.Contains(verifying.stdout, "\nunreadable: BLOCKED\n") { // nobody judged it, so it took no time
				t.Errorf("the log of a criterion that nobody judged:\n%s", verifying.stdout)
			}
		})
	}
}

// TestActionVerdictIsSuperseded asserts that, after a push, the verdict about the earlier commit is
// reported as a failure, in the same comment.
func TestActionVerdictIsSuperseded(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("only root verifies next to a token")
		return
	}
	h, ws := newAccepted(t, issueCriteria)
	if verifying, reporting := verifyPull(t, h, ws, acceptConfig, nil); verifying.code+reporting.code != 0 {
		t.Fatalf("%s%s%s", verifying.stdout, reporting.stdout, reporting.stderr)
	}
	// A push takes "Usage" out of the README; the job that reports still has the old verdict.
	h.git.Commit("changes", map[string]string{"README.md": "# Hello\n"}, "Forget")
	h.start = h.git.SHA("changes")
	res := run(t, ws.dir, ws.env(h.env(t, "GITHUB_RUN_ID=17459853299"), map[string]string{"mode": "apply", "config": acceptConfig, "verdict": ".airlock/verdict.json"}), "", "action")
	state := h.server.State()
	last := state.Checks[len(state.Checks)-1]
	if last.Conclusion != "failure" || last.HeadSHA != h.start || !strings.Contains(last.Title, "another commit was verified") {
		t.Errorf("%+v\n%s", last, res.stdout)
	}
	if comments := state.Issues[1].Comments; len(comments) != 1 || !strings.Contains(comments[0].Body, "### ❌ Airlock acceptance: another commit was verified") {
		t.Errorf("%d comments: %+v", len(comments), comments[0])
	}
}

// TestActionVerifiesRequest asserts that a request in the workflow, which the owner wrote, is
// verified instead of the issue's criteria, and that an invalid request is refused.
func TestActionVerifiesRequest(t *testing.T) {
	t.Parallel()
	h, ws := newAccepted(t, issueCriteria)
	request := `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"$ sh test.sh"}]}`
	verifying, reporting := verifyPull(t, h, ws, acceptConfig, map[string]string{"request": request})
	if refusesToCheck(t, verifying) {
		return
	}
	if verifying.code+reporting.code != 0 || ws.outputs(t)["verdict"] != "PASS" {
		t.Errorf("%s%s%s", verifying.stdout, verifying.stderr, reporting.stdout)
	}
	if evidence := readFile(t, filepath.Join(ws.dir, ".airlock/evidence/response.json")); !strings.Contains(evidence, `"PASS"`) {
		t.Error(evidence)
	}
	bad := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "verify", "request": `{"task_id":"t"}`}), "", "action")
	if bad.code != 2 || !strings.Contains(bad.stdout, "$.acceptance_criteria") {
		t.Errorf("exit code %d\n%s", bad.code, bad.stdout)
	}
}

// TestActionRefusesForgedVerdicts asserts that a verdict file is refused if it is malformed,
// contradicts itself or is about something else, because the pull request's code may have written
// it.
func TestActionRefusesForgedVerdicts(t *testing.T) {
	t.Parallel()
	response := `{"task_id":"t","verdict":"PASS","timestamp":"2026-01-01T00:00:00Z","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":"e"}]}`
	for name, c := range shorttest.Some(2, map[string]struct{ text, why string }{
		"another verdict":    {`{"version":1,"source":"issue","criteria":[{"id":"A","description":"d"}],"response":` + strings.Replace(response, `"status":"PASS"`, `"status":"FAIL"`, 1) + `}`, "FAIL follows"},
		"a missing result":   {`{"version":1,"source":"issue","criteria":[{"id":"A","description":"d"},{"id":"B","description":"d"}],"response":` + response + `}`, "2 criteria, and results for 1"},
		"two of one id":      {`{"version":1,"source":"issue","criteria":[{"id":"A","description":"d"},{"id":"A","description":"e"}],"response":` + strings.Replace(response, `"e"}]`, `"e"},{"criterion_id":"B","status":"PASS","evidence":"e"}]`, 1) + `}`, "the criterion 'A' twice"},
		"without criteria":   {`{"version":1,"source":"none","criteria":[],"response":` + response + `}`, "a verdict without criteria"},
		"another repository": {`{"version":1,"repository":"a/b","source":"issue","criteria":[{"id":"A","description":"d"}],"response":` + response + `}`, "it is about a/b"},
		"another number":     {`{"version":1,"pull_request":9,"source":"issue","criteria":[{"id":"A","description":"d"}],"response":` + response + `}`, "it is about pull request #9"},
		"no JSON":            {`{"version":1,`, "not JSON"},
		"twice":              {`{"version":1,"version":1,"source":"none","criteria":[]}`, "two members of one name"},
	}) {
		t.Run(name, func(t *testing.T) {
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"verdict.json": c.text})
			res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"mode": "apply", "config": "acceptance:\n", "verdict": "verdict.json"}), "", "action")
			if res.code != 2 || !strings.Contains(res.stdout, c.why) || len(s.Writes()) != 0 {
				t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
			}
		})
	}
}
