package main_test

import (
	"encoding/pem"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// everyKind enables all ten kinds, some with settings that change their requests.
const everyKind = `
create-issue:
  title-prefix: "[agent] "
  labels: [from-agent]
add-issue-comment:
create-pull-request:
add-issue-label:
update-issue:
  target: "1"
  status:
  title:
  body:
push-to-branch:
create-pull-request-review-comment:
create-discussion:
  category: general
missing-tool:
create-security-report:
  driver: Agent Review
`

// TestMainJob sends the real output of a real agentic workflow through the built
// binary to a GitHub that checks each request against GitHub's own description.
func TestMainJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "policy.yml")
	writeFile(t, config, everyKind)
	input := filepath.Join(root, "testdata", "outputs", "ok", "custom-engine.ndjson")

	collected := run(t, dir, nil, "", "collect", "--input", input, "--config", config, "--output", "agent-output.json")
	if collected.code != 0 {
		t.Fatalf("collect ended with %d:\n%s", collected.code, collected.stderr)
	}
	hosted := newHosted(t)
	s := hosted.server
	workspace := hosted.checkout(t, "changes")
	writeFile(t, filepath.Join(workspace, "docs/new.md"), "New.\n")
	args := []string{"apply", "--pace=0s", "--input", "agent-output.json", "--config", config, "--dir", workspace}
	applied := run(t, dir, hosted.env(t), "", args...)
	if applied.code != 0 {
		t.Errorf("apply ended with %d, want 0:\n%s", applied.code, applied.stderr)
	}
	assertStates(t, applied.stdout, map[string]string{
		"create-issue": "applied", "add-issue-comment": "applied", "add-issue-label": "applied", "update-issue": "applied",
		"create-pull-request": "applied", "push-to-branch": "applied",
		"create-pull-request-review-comment": "applied", "create-discussion": "applied",
		"missing-tool": "applied", "create-security-report": "applied",
	})
	assertWrites(t, s)
	assertState(t, s.State())
	if got := hosted.git.Run("show", "changes:docs/new.md"); got != "New." {
		t.Errorf("the pushed file says %q", got)
	}

	t.Run("again", func(t *testing.T) {
		s.ResetRequests()
		again := run(t, dir, hosted.env(t, "GITHUB_RUN_ATTEMPT=2"), "", args...)
		for _, w := range s.Writes() {
			if w.Operation != "code-scanning/upload-sarif" && w.Operation != "issues/update" {
				t.Errorf("a second run of the same step wrote again: %s %s", w.Method, w.Path)
			}
		}
		if again.code != 0 || !strings.Contains(again.stderr, "already there") {
			t.Errorf("exit code %d, and the summary does not say that items were there already:\n%s", again.code, again.stderr)
		}
	})
}

func assertStates(t *testing.T, stdout string, want map[string]string) {
	t.Helper()
	rep := parse[struct {
		Results []struct{ Kind, State, Code string }
	}](t, stdout)
	got := map[string]string{}
	for _, r := range rep.Results {
		got[r.Kind] = strings.TrimSpace(r.State + " " + r.Code)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// assertWrites asserts which write requests were sent, and in which order.
func assertWrites(t *testing.T, s *githubtest.Server) {
	t.Helper()
	type write struct{ operation, path string }
	var got []write
	for _, w := range s.Writes() {
		got = append(got, write{w.Operation, w.Path})
	}
	want := []write{
		{"git-http/receive-pack", "/Codertocat/Hello-World.git/git-receive-pack"},
		{"pulls/create", "/repos/Codertocat/Hello-World/pulls"},
		{"issues/add-labels", "/repos/Codertocat/Hello-World/issues/3/labels"},
		{"git-http/receive-pack", "/Codertocat/Hello-World.git/git-receive-pack"},
		{"issues/create", "/repos/Codertocat/Hello-World/issues"},
		{"issues/create-comment", "/repos/Codertocat/Hello-World/issues/2/comments"},
		{"issues/add-labels", "/repos/Codertocat/Hello-World/issues/2/labels"},
		{"issues/update", "/repos/Codertocat/Hello-World/issues/1"},
		{"graphql/CreateDiscussion", "/graphql"},
		{"pulls/create-review", "/repos/Codertocat/Hello-World/pulls/2/reviews"},
		{"code-scanning/upload-sarif", "/repos/Codertocat/Hello-World/code-scanning/sarifs"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(write{})); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// assertState asserts what people then see on GitHub.
func assertState(t *testing.T, f githubtest.Fixture) {
	t.Helper()
	var created *githubtest.Issue
	for _, i := range f.Issues {
		switch i.Number {
		case 1:
			if i.Title != "[UPDATED] Test Issue - Custom Engine Safe Output Test" || !strings.HasPrefix(i.Body, "# Updated Issue Body\n") {
				t.Errorf("issue 1 is %q, %q", i.Title, i.Body)
			}
		case 2:
			if diff := cmp.Diff([]string{"test-safe-outputs", "automation", "custom-engine"}, i.Labels); diff != "" {
				t.Errorf("labels of the pull request (-want +got):\n%s", diff)
			}
			if len(i.Comments) != 1 || !strings.HasPrefix(i.Comments[0].Body, "## Test Comment from Custom Engine\n") || !strings.Contains(i.Comments[0].Body, "✅ Safe output testing in progress...") {
				t.Errorf("comments of the pull request: %+v", i.Comments)
			}
			if len(i.Pull.Comments) != 1 || i.Pull.Comments[0].Path != "README.md" || !strings.HasPrefix(i.Pull.Comments[0].Body, "## Custom Engine Review Comment Test\n") {
				t.Errorf("review comments: %+v", i.Pull.Comments)
			}
		case 3:
			if i.Pull == nil || i.Title != "[Custom Engine Test] Test Pull Request - Custom Engine Safe Output" || !i.Pull.Draft || len(i.Labels) != 3 {
				t.Errorf("the new pull request: %+v, %+v", i, i.Pull)
			}
		default:
			created = i
		}
	}
	if created == nil {
		t.Fatal("no issue was created")
	}
	if want := "[agent] [Custom Engine Test] Test Issue Created by Custom Engine"; created.Title != want {
		t.Errorf("title %q, want %q", created.Title, want)
	}
	if diff := cmp.Diff([]string{"test-safe-outputs", "automation", "custom-engine", "from-agent"}, created.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if len(f.Discussions) != 1 || f.Discussions[0].Title != "[Custom Engine Test] Test Discussion - Custom Engine Safe Output" {
		t.Errorf("discussions: %+v", f.Discussions)
	}
	if len(f.Uploads) != 1 || !strings.Contains(string(f.Uploads[0].SARIF), `"Agent Review"`) || !strings.Contains(string(f.Uploads[0].SARIF), "primaryLocationLineHash") {
		t.Errorf("uploads: %+v", f.Uploads)
	}
}

// TestCertificates asserts that apply trusts a private authority in the file of --ca-file, and in
// that of SSL_CERT_FILE only with --trust-env. The file may be larger than a configuration may be.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, pullRequestFixture(), githubtest.Options{})
	ts := httptest.NewTLSServer(s)
	t.Cleanup(ts.Close)
	s.SetBaseURL(ts.URL)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ts.Certificate().Raw})
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"ca.pem":       strings.Repeat("# the bundle of an operating system\n", 40_000) + string(authority),
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n",
		"policy.yml":   "add-issue-comment:\n",
	})
	env := append(workflowEnv(nil, "pull_request", "pull_request.opened.json"), "GITHUB_API_URL="+s.APIURL())
	args := []string{"apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml"}
	if res := run(t, dir, append(env, "SSL_CERT_FILE=ca.pem"), "", args...); res.code != 3 || len(s.Writes()) != 0 {
		t.Errorf("the certificates of the environment were trusted without --trust-env: exit code %d\n%s", res.code, res.stderr)
	}
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{env, append(args, "--ca-file", "ca.pem")},
		{append(env, "SSL_CERT_FILE=ca.pem", "GITHUB_RUN_ID=2"), append(args, "--trust-env")},
	} {
		s.ResetRequests()
		if res := run(t, dir, c.env, "", c.args...); res.code != 0 || len(s.Writes()) != 1 {
			t.Errorf("airlock %v: exit code %d, %d writes\n%s", c.args, res.code, len(s.Writes()), res.stderr)
		}
	}
	if res := run(t, dir, env, "", append(args, "--ca-file", ".")...); res.code != 2 || !strings.Contains(res.stderr, "--ca-file: . is a directory") {
		t.Errorf("a directory: exit code %d\n%s", res.code, res.stderr)
	}
}
