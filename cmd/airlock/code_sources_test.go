package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCodeSources brings the same two commits of an agent to GitHub in every way
// in which a job can have them.
func TestCodeSources(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/docs/new.md b/docs/new.md\nnew file mode 100644\n--- /dev/null\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+Better.\n"
	elsewhere := func(s *codeStep) { s.args = append(s.args, "--dir", s.dir) } // no clone there
	for _, tt := range []struct {
		name  string
		setup func(*codeStep)
		want  []string // the commits' authors and subjects, the newest first
	}{
		{"commits of a detached HEAD", func(*codeStep) {}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"commits of a branch", func(s *codeStep) { git(s.t, s.work, "checkout", "--quiet", "-b", "mine") }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"shallow clone", func(s *codeStep) {
			git(s.t, s.work, "fetch", "--quiet", "--depth=3", "file://"+s.work, "HEAD")
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"uncommitted", func(s *codeStep) { git(s.t, s.work, "reset", "--quiet", "--mixed", s.start) }, []string{"github-actions[bot]: Mend the README"}},
		{"series", func(s *codeStep) {
			s.changes("agent.patch", git(s.t, s.work, "format-patch", "--stdout", s.start+".."))
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"series without a clone", func(s *codeStep) {
			elsewhere(s)
			s.changes("agent.patch", git(s.t, s.work, "format-patch", "--stdout", s.start+".."))
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"diff", func(s *codeStep) { s.changes("agent.diff", diff) }, []string{"github-actions[bot]: Mend the README"}},
		{"diff without a clone", func(s *codeStep) { elsewhere(s); s.changes("agent.diff", diff) }, []string{"github-actions[bot]: Mend the README"}},
		{"diff without a clone, on a base", func(s *codeStep) {
			elsewhere(s)
			s.changes("agent.diff", diff)
			s.args = append(s.args, "--changes-base", s.git.SHA("master"))
		}, []string{"github-actions[bot]: Mend the README"}},
		{"bundle", func(s *codeStep) { s.bundle() }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"bundle without a clone", func(s *codeStep) { elsewhere(s); s.bundle() }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newCodeStep(t, askedPull)
			s.agentCommits()
			tt.setup(s)
			assertSays(t, s.run(), 0, "create-pull-request", "/Codertocat/Hello-World/pull/3")
			pull := s.server.State().Issues[2].Pull
			branch := pull.Head.Ref
			got := strings.Split(s.git.Run("log", "--format=%an: %s", "master.."+branch), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("commits (-want +got):\n%s", diff)
			}
			if got := s.git.Run("diff", "--name-status", "master", branch); got != "A\tdocs/new.md" {
				t.Errorf("the pull request changes\n%s", got)
			}
			if got := s.git.Run("show", branch+":docs/new.md"); got != "Better." {
				t.Errorf("docs/new.md says %q", got)
			}
		})
	}
}

// agentCommits makes two commits in the workspace.
func (s *codeStep) agentCommits() {
	s.t.Helper()
	for _, c := range [][2]string{{"New.\n", "Add a file"}, {"Better.\n", "Improve it"}} {
		s.write(s.t, s.work, "docs/new.md", c[0])
		git(s.t, s.work, "add", "-A")
		git(s.t, s.work, "commit", "--quiet", "-m", c[1])
	}
}

// changes hands the agent's changes over as a file.
func (s *codeStep) changes(name, text string) {
	s.t.Helper()
	s.write(s.t, s.dir, name, text)
	s.args = append(s.args, "--changes", name)
}

// bundle hands the agent's commits over as a bundle.
func (s *codeStep) bundle() {
	s.t.Helper()
	git(s.t, s.work, "bundle", "create", "--quiet", filepath.Join(s.dir, "agent.bundle"), s.start+"..HEAD")
	s.args = append(s.args, "--changes", "agent.bundle")
}

// TestCodeDryRun plans the commits of a workspace without a token: nothing is
// written anywhere, not even below the workspace's .git.
func TestCodeDryRun(t *testing.T) {
	t.Parallel()
	s := newCodeStep(t, askedPull+askedPush)
	s.agentCommits()
	s.env = []string{"GITHUB_TOKEN="}
	before := snapshot(t, s.work)
	res := s.run("--dry-run")
	assertSays(t, res, 0, "open the pull request \"Mend the README\"", "PUSH refs/heads/airlock/", "PUSH refs/heads/changes", "contents: write")
	if diff := cmp.Diff(before, snapshot(t, s.work)); diff != "" {
		t.Errorf("the workspace has changed (-before +after):\n%s", diff)
	}
	if n := len(s.server.Requests()); n != 0 {
		t.Errorf("%d requests without a token", n)
	}
	var rep struct {
		Plan struct {
			Operations []struct {
				Requests []struct {
					Method, Path string
					Body         struct{ Commits []string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(res.stdout), &rep); err != nil {
		t.Fatal(err)
	}
	for i, op := range rep.Plan.Operations {
		if push := op.Requests[0]; push.Method != "PUSH" || len(push.Body.Commits) != 2 {
			t.Errorf("operation %d: %+v", i+1, push)
		}
	}
}

// snapshot lists every file below a directory with its content and time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] += " " + string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
