package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// findingsOf returns a findings document of checkreport's tests, changed so that it is about the
// pull request of pullRequestFixture.
func findingsOf(t *testing.T, name string) string {
	t.Helper()
	return strings.NewReplacer("octo/app", "Codertocat/Hello-World", `"pull_request": 7`, `"pull_request": 2`,
		strings.Repeat("ab", 20), "ec26c3e57ca3a959ca5aad62de7213c562f8c821").Replace(readFile(t, filepath.Join(root, "internal", "checkreport", "testdata", name)))
}

// caller is a job as a reusable workflow or a matrix starts it.
type caller struct {
	env    []string
	inputs map[string]string
}

// callers returns pairs of jobs of one workflow run. The key says what distinguishes the two jobs;
// GITHUB_JOB and the workflow are the same for both.
func callers() map[string][2]caller {
	return map[string][2]caller{
		"the caller in the runner's id": {
			{[]string{"ACTIONS_ORCHESTRATION_ID=8f7c.api.gate.__default"}, nil}, {[]string{"ACTIONS_ORCHESTRATION_ID=8f7c.web.gate.__default"}, nil}},
		"the leg in the runner's id": {
			{[]string{"ACTIONS_ORCHESTRATION_ID=8f7c.gate.api"}, nil}, {[]string{"ACTIONS_ORCHESTRATION_ID=8f7c.gate.web"}, nil}},
		"the index": {
			{nil, map[string]string{"matrix-index": "0"}}, {nil, map[string]string{"matrix-index": "1"}}},
		"the job's name": {
			{[]string{"ACTIONS_ORCHESTRATION_ID="}, map[string]string{"check-run-id": "701"}}, {[]string{"ACTIONS_ORCHESTRATION_ID="}, map[string]string{"check-run-id": "702"}}},
		"the input name": {
			{[]string{"ACTIONS_ORCHESTRATION_ID="}, map[string]string{"name": "api"}}, {[]string{"ACTIONS_ORCHESTRATION_ID="}, map[string]string{"name": "web"}}},
	}
}

// TestEachCallReportsItsOwn lets two calls of a reusable workflow, or two legs of a matrix,
// report: the first fails, the second passes. The failure must remain visible
// everywhere. Where both are run again, that adds no comment.
func TestEachCallReportsItsOwn(t *testing.T) {
	t.Parallel()
	sideBySide(t, callers(), func(t *testing.T, name string, jobs [2]caller) {
		f := pullRequestFixture()
		f.Issues[1].Pull.Files = append(f.Issues[1].Pull.Files, githubtest.File{Path: "api/a.go", Status: "added", Patch: "@@ -0,0 +1,9 @@" + strings.Repeat("\n+new", 9)})
		for id, job := range map[int64]string{701: "api / gate", 702: "web / gate"} {
			f.Checks = append(f.Checks, &githubtest.Check{ID: id, Name: job, HeadSHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"})
		}
		s := server(t, f, githubtest.Options{})
		config := "checks:\n  report: {security-report: false}\nadd-issue-comment:\n"
		complete := name == "the caller in the runner's id"
		if complete { // an upload and a re-run take a while
			config = "checks:\nadd-issue-comment:\n"
		}
		report := func(call int, attempt string) {
			document := []string{"failing.json", "passing.json"}[call]
			ws := newWorkspace(t, map[string]string{"findings.json": findingsOf(t, document), "lines.ndjson": `{"type":"add-issue-comment","body":"The same words."}`})
			inputs := map[string]string{"mode": "apply", "output-file": "lines.ndjson", "config": config, "findings": "findings.json", "fail-on": "never"}
			for k, v := range jobs[call].inputs {
				inputs[k] = v
			}
			env := append(workflowEnv(s, "pull_request", "pull_request.opened.json"), "GITHUB_RUN_ATTEMPT="+attempt)
			res := run(t, ws.dir, ws.env(append(env, jobs[call].env...), inputs), "", "action")
			if res.code != 0 {
				t.Errorf("call %d ended with %d\n%s%s", call, res.code, res.stdout, res.stderr)
			}
		}
		report(0, "1")
		report(1, "1")
		conclusions := map[string]string{}
		for _, k := range s.State().Checks {
			if k.ID != 701 && k.ID != 702 {
				conclusions[k.Name] += k.Conclusion
			}
		}
		failed, passed := 0, 0
		for _, c := range conclusions {
			switch c {
			case "failure":
				failed++
			case "success":
				passed++
			}
		}
		if failed != 1 || passed != 1 {
			t.Errorf("the check runs are %v", conclusions)
		}
		pull := s.State().Issues[1]
		same, says := 0, ""
		for _, c := range pull.Comments {
			same += strings.Count(c.Body, "The same words.")
			says += c.Body
		}
		if same != 2 {
			t.Errorf("the agent's words are there %d times:\n%s", same, says)
		}
		if !strings.Contains(says, "failed") {
			t.Errorf("the comments do not say that a check failed:\n%s", says)
		}
		if len(pull.Pull.Comments) == 0 {
			t.Error("no finding is shown at its line")
		}
		for _, c := range pull.Pull.Comments {
			if c.Minimized != "" {
				t.Errorf("a finding is hidden as %s: %s", c.Minimized, c.Body)
			}
		}
		comments, uploads := len(pull.Comments), map[string]bool{}
		for _, u := range s.State().Uploads {
			uploads[string(u.SARIF)] = true
		}
		if !complete {
			return
		}
		if len(uploads) != 2 {
			t.Errorf("%d reports", len(uploads))
		}
		report(0, "2")
		report(1, "2")
		if n := len(s.State().Issues[1].Comments); n != comments {
			t.Errorf("after a re-run there are %d comments, not %d", n, comments)
		}
	})
}

// TestOneIdentityOfTwoCallsIsRefused gives two calls the same name, or leaves nothing that
// distinguishes them but ids that are new in each attempt. The second one writes nothing.
func TestOneIdentityOfTwoCallsIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    [2]string
		inputs [2]map[string]string
		says   string
	}{
		"one name": {[2]string{"ACTIONS_ORCHESTRATION_ID=8f7c.api.gate.__default", "ACTIONS_ORCHESTRATION_ID=8f7c.web.gate.__default"},
			[2]map[string]string{{"name": "checks"}, {"name": "checks"}}, `has the same name "checks" and wrote https://`},
		"nothing but ids": {[2]string{"ACTIONS_ORCHESTRATION_ID=", "ACTIONS_ORCHESTRATION_ID="},
			[2]map[string]string{{"check-run-id": "701"}, {"check-run-id": "702"}}, `has the same key "gate" and wrote https://`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			for call, code := range []int{0, 2} {
				ws := newWorkspace(t, map[string]string{"lines.ndjson": `{"type":"add-issue-comment","body":"The same words."}`})
				inputs := map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\n"}
				for k, v := range c.inputs[call] {
					inputs[k] = v
				}
				res := run(t, ws.dir, ws.env(append(workflowEnv(s, "pull_request", "pull_request.opened.json"), c.env[call]), inputs), "", "action")
				if res.code != code || code == 2 && (!strings.Contains(res.stdout, c.says) || !strings.Contains(readFile(t, ws.summary), `its own value of the input "name"`)) {
					t.Errorf("call %d ended with %d\n%s%s", call, res.code, res.stdout, res.stderr)
				}
			}
			if n := len(s.State().Issues[1].Comments); n != 1 {
				t.Errorf("%d comments", n)
			}
		})
	}
}

// TestRunsThatNothingDistinguishes starts several processes at once that nothing distinguishes: two
// runs on a later attempt and, on a runner without an ACTIONS_ORCHESTRATION_ID, two calls of a
// reusable workflow and the legs of a matrix without an index. In the end everything must be there
// once. If something was written twice meanwhile, a run must say so.
func TestRunsThatNothingDistinguishes(t *testing.T) {
	t.Parallel()
	type called struct {
		runs int
		env  []string
	}
	sideBySide(t, map[string]called{
		"two runs on a later attempt": {2, []string{"GITHUB_RUN_ATTEMPT=2"}},
		"two calls":                   {2, []string{"ACTIONS_ORCHESTRATION_ID="}},
		"legs of a matrix":            {3, []string{"ACTIONS_ORCHESTRATION_ID=", "GITHUB_JOB=test", "GITHUB_ACTION=__run"}},
	}, func(t *testing.T, _ string, c called) {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		dir := newWorkspace(t, map[string]string{"policy.yml": "add-issue-comment:\ncreate-issue:\n",
			"lines.ndjson": `{"type":"add-issue-comment","body":"Said once."}` + "\n" + `{"type":"create-issue","title":"Opened once","body":"Once."}`}).dir
		env := append(workflowEnv(s, "pull_request", "pull_request.opened.json"), c.env...)
		said := make(chan string)
		for range c.runs {
			go func() {
				res := run(t, dir, env, "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml", "--json")
				if res.code != 0 {
					t.Errorf("it ended with %d\n%s", res.code, res.stderr)
				}
				said <- res.stdout
			}()
		}
		all := ""
		for range c.runs {
			all += <-said
		}
		open := 0
		for _, i := range s.State().Issues {
			if i.Title == "Opened once" && i.State == "open" {
				open++
			}
		}
		if n := len(s.State().Issues[1].Comments); n != 1 || open != 1 {
			t.Errorf("%d comments and %d open issues\n%s", n, open, all)
		}
		created := 0
		for _, w := range s.Writes() {
			if w.Operation == "issues/create-comment" {
				created++
			}
		}
		if created > 1 && !strings.Contains(all, "it was written twice") {
			t.Errorf("no run says that something was written twice:\n%s", all)
		}
	})
}

// TestOutsideOfActionsEachRunIsItsOwn posts a nightly comment twice, from another CI or a terminal.
// If the CI names its run, a second attempt of the same run posts nothing more.
func TestOutsideOfActionsEachRunIsItsOwn(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	dir := newWorkspace(t, map[string]string{"lines.ndjson": `{"type":"add-issue-comment","body":"The nightly build is green."}`, "policy.yml": "add-issue-comment:\n"}).dir
	env := []string{"GITHUB_TOKEN=" + secret, "GITHUB_API_URL=" + s.APIURL(), "GITHUB_GRAPHQL_URL=" + s.APIURL() + "/graphql"}
	nightly := func(more ...string) {
		t.Helper()
		res := run(t, dir, append(env, more...), "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml", "--repo", "Codertocat/Hello-World",
			"--event", filepath.Join(root, "testdata", "events", "pull_request.opened.json"))
		if res.code != 0 {
			t.Errorf("it ended with %d\n%s", res.code, res.stderr)
		}
	}
	nightly()
	nightly()
	if n := len(s.State().Issues[1].Comments); n != 2 {
		t.Errorf("%d comments of two nights", n)
	}
	nightly("GITHUB_RUN_ID=7")
	nightly("GITHUB_RUN_ID=7")
	if n := len(s.State().Issues[1].Comments); n != 3 {
		t.Errorf("%d comments of three nights", n)
	}
}
