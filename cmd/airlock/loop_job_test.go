package main_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// loopSecret signs the logs of loops in tests.
const loopSecret = "correct horse battery"

// loopJobs are jobs that take turns of the fix loop of pull request #2, whose branch is changes.
type loopJobs struct {
	hosted
	t        testing.TB
	comments int
}

func newLoopJobs(t testing.TB) *loopJobs {
	h := newHosted(t)
	h.server.Change(func(f *githubtest.Fixture) {
		f.Repo.Permissions = map[string]string{"Codertocat": "write"}
		f.Repo.Collaborators = []githubtest.Account{{Login: "Codertocat", ID: 21031067}}
	})
	return &loopJobs{hosted: h, t: t}
}

// push puts a commit on the pull request and returns it.
func (j *loopJobs) push(files map[string]string) string {
	return j.git.Commit("changes", files, "Mend")
}

// findings returns the document of checks at the head whose build failed with these errors, or passed
// if there are none.
func (j *loopJobs) findings(errors ...string) string {
	j.t.Helper()
	status := "pass"
	if len(errors) > 0 {
		status = "fail"
	}
	list := jsonText(j.t, append([]string{}, errors...))
	return fmt.Sprintf(`{"version":1,"repository":"Codertocat/Hello-World","pull_request":2,"head_sha":%q,"output":{"status":%q,"execution_time_ms":1,"total_retries":0,"checks":{`+
		`"formatter":{"status":"pass","issues":[],"retry_count":0,"command":"","execution_time_ms":0},"linter":{"status":"pass","issues":[],"retry_count":0,"command":"","execution_time_ms":0},`+
		`"build":{"status":%q,"errors":%s,"retry_count":0,"command":"make","execution_time_ms":0},"tests":{"status":"pass","failing_count":0,"retry_count":0,"command":"","execution_time_ms":0},`+
		`"code_review":{"status":"pass","findings":[],"severity":"none","execution_time_ms":0},"security_review":{"status":"pass","vulnerabilities":[],"severity":"none","execution_time_ms":0}}},`+
		`"checks":[],"findings":[],"rules":[],"suppressed":[],"skipped_files":[],"missing_tools":[],"notes":[]}`, j.git.SHA("changes"), status, status, list)
}

// pushedBy returns the event of a push to the pull request.
func (j *loopJobs) pushedBy(login string) (name string, payload map[string]any) {
	j.t.Helper()
	payload = parse[map[string]any](j.t, j.event(j.t))
	payload["action"] = "synchronize"
	payload["sender"].(map[string]any)["login"] = login
	payload["pull_request"].(map[string]any)["head"].(map[string]any)["sha"] = j.git.SHA("changes")
	return "pull_request", payload
}

// comment writes a comment of a user on the pull request, and returns the event.
func (j *loopJobs) comment(login string, id int64, text string) (name string, payload map[string]any) {
	j.t.Helper()
	j.comments++
	number := int64(800_000 + j.comments)
	now := time.Now().UTC().Truncate(time.Second)
	j.server.Change(func(f *githubtest.Fixture) {
		f.Issues[1].Comments = append(f.Issues[1].Comments, &githubtest.Comment{ID: number, Body: text, Author: githubtest.Account{Login: login, ID: id}, CreatedAt: now, UpdatedAt: now})
	})
	payload = j.sample("issue_comment.created-pull-request.json")
	payload["issue"].(map[string]any)["number"] = 2
	payload["comment"].(map[string]any)["id"] = number
	payload["sender"].(map[string]any)["login"] = login
	return "issue_comment", payload
}

// repository returns the repository in the form in which payloads describe it.
func (j *loopJobs) repository() any {
	j.t.Helper()
	return parse[map[string]any](j.t, j.event(j.t))["repository"]
}

// loopJob is one run of a job.
type loopJob struct {
	workspace
	environ []string
}

// job prepares the nth run of a job. findings is the document of an earlier job, or "".
func (j *loopJobs) job(n int, event string, payload map[string]any, findings string, inputs map[string]string) loopJob {
	j.t.Helper()
	files := map[string]string{}
	all := map[string]string{"mode": "loop"}
	if findings != "" {
		files["findings.json"], all["findings"] = findings, "findings.json"
	}
	for name, value := range inputs {
		all[name] = value
	}
	path := writeFile(j.t, filepath.Join(j.t.TempDir(), "event.json"), jsonText(j.t, payload))
	ws := newWorkspace(j.t, files)
	env := append(workflowEnv(j.server, event, "pull_request.opened.json"), "GITHUB_EVENT_PATH="+path, "GITHUB_SHA="+j.git.SHA("changes"), fmt.Sprintf("GITHUB_RUN_ID=%d", 17459853211+n))
	return loopJob{ws, ws.env(env, all)}
}

// verify runs the job that verifies the acceptance criteria at the head, and returns its verdict
// document. ok is false if the job refuses, because it cannot separate itself from the code of the
// checks.
func (j *loopJobs) verify(t *testing.T, n int, config string) (verdict string, ok bool) {
	t.Helper()
	event, payload := j.pushedBy("Codertocat")
	job := j.job(n, event, payload, "", map[string]string{"mode": "verify", "config": config, "fail-on": "never"})
	j.fill(t, job.dir, "changes")
	openToOthers(job.dir)
	res := run(t, job.dir, job.environ, "", "action")
	if refusesToCheck(t, res) {
		return "", false
	}
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s", res.code, res.stdout)
	}
	return readFile(t, filepath.Join(job.dir, ".airlock", "verdict.json")), true
}

// turn runs a job to its end.
func (j *loopJobs) turn(n int, event string, payload map[string]any, findings string, inputs map[string]string) (result, map[string]string) {
	j.t.Helper()
	turn := j.job(n, event, payload, findings, inputs)
	res := run(j.t, turn.dir, turn.environ, "", "action")
	return res, turn.outputs(j.t)
}

// dispatched returns the payloads of the repository_dispatch events that the server took.
func (j *loopJobs) dispatched() (list []map[string]any) {
	for _, r := range j.server.Requests() {
		if r.Operation == "repos/create-dispatch-event" && r.Effect {
			payload, _ := r.JSON("client_payload").(map[string]any)
			list = append(list, payload)
		}
	}
	return list
}

// TestActionLoopHoldsAnAgentsPushAgainstTheRules has an agent push a change that the owner does not
// allow. This push does not count as a fix, the next request says why, and later pushes are judged
// together with it.
func TestActionLoopHoldsAnAgentsPushAgainstTheRules(t *testing.T) {
	t.Parallel()
	j := newLoopJobs(t)
	inputs := map[string]string{"loop-secret": loopSecret, "loop-dispatch": "airlock-fix"}
	turn := func(n int, by string, errors ...string) map[string]string {
		t.Helper()
		event, payload := j.pushedBy(by)
		res, out := j.turn(n, event, payload, j.findings(errors...), inputs)
		if res.code != 0 {
			t.Fatalf("exit code %d\n%s", res.code, res.stdout)
		}
		return out
	}
	turn(1, "Codertocat", "README.md is not code")
	const agent = "fixer[bot]"
	j.push(map[string]string{"main.go": "package main\n", ".github/workflows/evil.yml": "on: push\n"})
	if out := turn(2, agent); out["loop-status"] != "AWAITING_FIX" || !strings.Contains(out["fix-request"], "FIXREQ-2-2") || !strings.Contains(out["fix-request"], "protected-files") {
		t.Errorf("%q", out)
	}
	j.push(map[string]string{"main.go": "package main // again\n"}) // the workflow is still there
	if out := turn(3, agent); out["loop-status"] != "ESCALATED" {   // nothing was resolved in three iterations
		t.Errorf("%q", out)
	}
	if got := j.dispatched(); len(got) != 2 || !strings.Contains(got[1]["request"].(string), "Your last change was refused: protected-files: ") {
		t.Errorf("asked for %v", got)
	}
	event, payload := j.comment("Codertocat", 21031067, "/airlock extend 1")
	if res, out := j.turn(4, event, payload, "", inputs); out["loop-status"] != "AWAITING_FIX" {
		t.Fatalf("%q\n%s", out, res.stdout)
	}
	j.git.Run("update-ref", "refs/heads/changes", j.git.Run("rev-parse", "changes~2"))
	j.push(map[string]string{"main.go": "package main // at last\n"})
	if out := turn(5, agent); out["loop-outcome"] != "success" {
		t.Errorf("%q", out)
	}
}

// readingAndRecording returns the operations of a turn's requests, without those that inform people
// and agents.
func readingAndRecording(requests []githubtest.Request) (operations []string) {
	deliveries := []string{"issues/create-comment", "issues/update-comment", "issues/list-comments", "repos/create-dispatch-event", "graphql/Viewer", "graphql/MinimizeComment"}
	for _, r := range requests {
		if !slices.Contains(deliveries, r.Operation) {
			operations = append(operations, r.Operation)
		}
	}
	return operations
}

// TestActionLoopReadsItsConfigurationWithTheLog asserts that a turn that judges an agent's push
// makes six requests, apart from those that inform people and agents, even if the configuration is
// in a file. The rules of this file apply. A long file takes one more request. A file that is
// missing or not valid stops the turn.
func TestActionLoopReadsItsConfigurationWithTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		more  []string // requests after the first
		code  int
		want  string
	}{
		"a file":         {map[string]string{".github/airlock.yml": "push-to-branch:\n  max-patch-files: 1\n"}, nil, 0, "max-patch-files"},
		"no rule":        {map[string]string{".github/airlock.yml": "push-to-branch:\n"}, nil, 0, "README.md is not code"},
		"nothing":        {map[string]string{"other": ""}, nil, 2, "there is no such file on the base commit"},
		"not text":       {map[string]string{".github/airlock.yml": "push-to-branch:\xff\n"}, nil, 2, ".github/airlock.yml"},
		"not understood": {map[string]string{".github/airlock.yml": "push-to-branch: [\n"}, nil, 2, ".github/airlock.yml:"},
		"long":           {map[string]string{".github/airlock.yml": "push-to-branch:\n  max-patch-files: 1\n" + strings.Repeat("# a comment\n", 50_000)}, []string{"repos/get-content"}, 0, "max-patch-files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newLoopJobs(t)
			j.git.Commit("master", c.files, "Configure")
			inputs := map[string]string{"loop-secret": loopSecret}
			event, payload := j.pushedBy("Codertocat")
			if res, _ := j.turn(1, event, payload, j.findings("README.md is not code"), inputs); res.code != 0 {
				t.Fatalf("exit code %d\n%s", res.code, res.stdout)
			}
			j.push(map[string]string{"main.go": "package main\n", "other.go": "package main\n"})
			event, payload = j.pushedBy("fixer[bot]")
			inputs["config-file"] = ".github/airlock.yml"
			before := len(j.server.Requests())
			res, out := j.turn(2, event, payload, j.findings("README.md is not code"), inputs)
			if res.code != c.code || !strings.Contains(res.stdout+out["fix-request"], c.want) {
				t.Errorf("exit code %d, want %d and %q\n%s\n%q", res.code, c.code, c.want, res.stdout, out)
			}
			got := readingAndRecording(j.server.Requests()[before:])
			want := slices.Concat([]string{"graphql/FilesOnRefs"}, c.more, []string{"git-http/refs-of-upload-pack", "git-http/upload-pack", "git/create-tree", "git/create-commit", "graphql/UpdateRefs"})
			if c.code == 0 && !slices.Equal(got, want) {
				t.Errorf("requests %q, want %q", got, want)
			}
		})
	}
}

// TestActionLoopOnAPush asserts that an event without a pull request is a mistake of the workflow.
func TestActionLoopOnAPush(t *testing.T) {
	t.Parallel()
	j := newLoopJobs(t)
	payload := map[string]any{"ref": "refs/heads/main", "before": strings.Repeat("0", 40), "after": j.git.SHA("main"), "repository": j.repository(), "commits": []any{}, "head_commit": nil}
	if res, _ := j.turn(1, "push", payload, "", nil); res.code != 2 || !strings.Contains(res.stdout, `the event "push" is not about a pull request`) {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
}

// TestActionLoopNeedsASignedLogForAnAgent refuses an App's push into a loop whose log it could
// forge.
func TestActionLoopNeedsASignedLogForAnAgent(t *testing.T) {
	t.Parallel()
	j := newLoopJobs(t)
	event, payload := j.pushedBy("Codertocat")
	if res, _ := j.turn(1, event, payload, j.findings("README.md is not code"), nil); res.code != 0 {
		t.Fatalf("exit code %d\n%s", res.code, res.stdout)
	}
	j.push(map[string]string{"main.go": "package main\n"})
	event, payload = j.pushedBy("fixer[bot]")
	res, _ := j.turn(2, event, payload, j.findings(), nil)
	if res.code != 3 || !strings.Contains(res.stdout, "give the step the input loop-secret") || !strings.Contains(res.stdout, "git push origin :refs/airlock/loops/2-1") {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
}
