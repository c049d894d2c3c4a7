package main_test

import (
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// sample returns the payload of an event, about the repository of the jobs.
func (j *loopJobs) sample(name string) map[string]any {
	j.t.Helper()
	payload := sampleEvent(j.t, name)
	if payload["repository"] != nil {
		payload["repository"] = j.repository()
	}
	return payload
}

// TestActionLoopRequests counts the requests of a turn by the event that woke it. The configuration
// is in a file. Apart from comments and dispatches, there are at most six requests. On a schedule
// there is one more for the list of the open loops.
func TestActionLoopRequests(t *testing.T) {
	t.Parallel()
	const config = ".github/airlock.yml"
	read := []string{"graphql/FilesOnRefs"}
	record := []string{"git/create-tree", "git/create-commit", "graphql/UpdateRefs"}
	judge := []string{"git-http/refs-of-upload-pack", "git-http/upload-pack"}
	for name, c := range map[string]struct {
		event func(j *loopJobs) (event string, payload map[string]any, findings string)
		code  int
		want  []string
	}{
		"a user's push": {func(j *loopJobs) (string, map[string]any, string) {
			j.push(map[string]string{"main.go": "package main\n"})
			event, payload := j.pushedBy("Codertocat")
			return event, payload, j.findings()
		}, 0, slices.Concat(read, record)},
		"an App's push": {func(j *loopJobs) (string, map[string]any, string) {
			j.push(map[string]string{"main.go": "package main\n"})
			event, payload := j.pushedBy("fixer[bot]")
			return event, payload, j.findings()
		}, 0, slices.Concat(read, judge, record)},
		"closing": {func(j *loopJobs) (string, map[string]any, string) {
			j.server.Change(func(f *githubtest.Fixture) { f.Issues[1].State = "closed" })
			event, payload := j.pushedBy("Codertocat")
			payload["action"] = "closed"
			return event, payload, ""
		}, 0, slices.Concat(read, record)},
		"a decision": {func(j *loopJobs) (string, map[string]any, string) {
			event, payload := j.comment("Codertocat", 21031067, "/airlock abort")
			return event, payload, ""
		}, 0, slices.Concat(read, []string{"repos/get-collaborator-permission-level"}, record, []string{"reactions/create-for-issue-comment"})},
		"a decision after a push of unknown origin": {func(j *loopJobs) (string, map[string]any, string) {
			j.push(map[string]string{"main.go": "package main\n"})
			event, payload := j.comment("Codertocat", 21031067, "/airlock abort")
			return event, payload, ""
		}, 0, slices.Concat(read, []string{"repos/get-collaborator-permission-level"}, record, []string{"reactions/create-for-issue-comment"})},
		"a comment": {func(j *loopJobs) (string, map[string]any, string) {
			event, payload := j.comment("Codertocat", 21031067, "Thanks")
			return event, payload, ""
		}, 0, read},
		"a schedule without news": {func(j *loopJobs) (string, map[string]any, string) {
			return "schedule", j.sample("schedule.json"), ""
		}, 0, slices.Concat(read, read)},
		"a schedule after a push": {func(j *loopJobs) (string, map[string]any, string) {
			j.push(map[string]string{"main.go": "package main\n"})
			return "schedule", j.sample("schedule.json"), ""
		}, 0, slices.Concat(read, read, judge, record)},
		"a workflow run": {func(j *loopJobs) (string, map[string]any, string) {
			j.push(map[string]string{"main.go": "package main\n"})
			payload := j.sample("workflow_run.completed-fork.json")
			payload["workflow_run"].(map[string]any)["head_sha"] = j.git.SHA("changes")
			return "workflow_run", payload, j.findings()
		}, 0, slices.Concat([]string{"repos/get-content"}, read, record)},
		"an event that is not about a pull request": {func(j *loopJobs) (string, map[string]any, string) {
			return "push", j.sample("push.json"), ""
		}, 2, []string{"repos/get-content"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newLoopJobs(t)
			j.git.Commit("master", map[string]string{config: "push-to-branch:\n"}, "Configure")
			inputs := map[string]string{"loop-secret": loopSecret, "config-file": config}
			event, payload := j.pushedBy("Codertocat")
			if res, out := j.turn(1, event, payload, j.findings("README.md is not code"), inputs); out["loop-status"] != "AWAITING_FIX" {
				t.Fatalf("%q\n%s", out, res.stdout)
			}
			event, payload, findings := c.event(j)
			before := len(j.server.Requests())
			res, out := j.turn(2, event, payload, findings, inputs)
			if res.code != c.code {
				t.Errorf("exit code %d, want %d\n%s", res.code, c.code, res.stdout)
			}
			if got := readingAndRecording(j.server.Requests()[before:]); !slices.Equal(got, c.want) {
				t.Errorf("%d requests %q, want %q (%q)", len(got), got, c.want, out["loop-status"])
			}
		})
	}
}
