package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// schedule plays the runs of a scheduled workflow on one repository.
type schedule struct {
	hosted
	t      *testing.T
	policy string
	runs   int
}

func newSchedule(t *testing.T) *schedule {
	t.Helper()
	return &schedule{hosted: newHosted(t), t: t, policy: "create-pull-request:\n"}
}

// pullLine is an agent's line that asks for a pull request; the branch may be "".
func pullLine(t *testing.T, title, branch string) string {
	t.Helper()
	fields := map[string]string{"type": "create_pull_request", "title": title, "body": "Because."}
	if branch != "" {
		fields["branch"] = branch
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// run is the next workflow run: its agent writes a file at the newest commit of master.
func (s *schedule) run(text, lines string, args ...string) result {
	s.t.Helper()
	s.runs++
	work, dir := s.checkout(s.t, "master"), s.t.TempDir()
	s.write(s.t, work, "docs/new.md", text)
	s.write(s.t, dir, "policy.yml", s.policy)
	s.write(s.t, dir, "lines.ndjson", lines)
	env := append(workflowEnv(s.server, "schedule", "schedule.json"), "GITHUB_SHA="+s.git.SHA("master"), "GITHUB_REF=refs/heads/master", fmt.Sprint("GITHUB_RUN_ID=", 9000+s.runs))
	return run(s.t, dir, env, "", append([]string{"apply", "--pace=0s", "--config", "policy.yml", "--input", "lines.ndjson", "--dir", work}, args...)...)
}

// opened lists the pull requests beyond the fixture's: number, title, branch and the file.
func (s *schedule) opened() (list []string) {
	for _, i := range s.server.State().Issues[2:] {
		list = append(list, fmt.Sprintf("#%d %s: %s", i.Number, i.Title, s.git.Run("show", i.Pull.Head.Ref+":docs/new.md")))
	}
	return list
}

// TestScheduledRunsKeepTheirPullRequests: a run about something else does not take over the
// pull request of an earlier run.
func TestScheduledRunsKeepTheirPullRequests(t *testing.T) {
	t.Parallel()
	s := newSchedule(t)
	for _, day := range [][2]string{{"monday", "Fix the login page"}, {"tuesday", "Upgrade the parser"}, {"wednesday", "fix the  Login page!"}} {
		assertSays(t, s.run(day[0]+"\n", pullLine(t, day[1], "")), 0)
	}
	if got := strings.Join(s.opened(), "\n"); got != "#3 fix the  Login page!: wednesday\n#4 Upgrade the parser: tuesday" {
		t.Errorf("the pull requests are\n%s", got)
	}
}
