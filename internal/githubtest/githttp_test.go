package githubtest_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// hosted returns a server with a git repository whose branch main has one commit.
func hosted(t *testing.T, change ...func(*githubtest.Fixture)) (*githubtest.Server, *githubtest.Git) {
	t.Helper()
	g := githubtest.NewGit(t)
	g.Commit("main", map[string]string{"README.md": "hello\n", "dir/a b.txt": "ä\n"}, "Begin")
	var f githubtest.Fixture
	for _, c := range change {
		c(&f)
	}
	s := githubtest.New(t, f, githubtest.Options{Git: g})
	s.Start(t)
	return s, g
}

// client is a git work tree and the token that git sends from it; "" for none.
type client struct {
	t     *testing.T
	dir   string
	token string
}

// clone makes a work tree from the server.
func clone(t *testing.T, s *githubtest.Server, token string) client {
	t.Helper()
	c := client{t: t, dir: filepath.Join(t.TempDir(), "work"), token: token}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.must("init", "--quiet", "--initial-branch=main")
	c.must("remote", "add", "origin", s.GitURL())
	c.must("fetch", "--quiet", "origin")
	c.must("reset", "--quiet", "--hard", "origin/main")
	return c
}

// git runs git in the work tree and returns what it prints.
func (c client) git(args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@x"}
	if c.token != "" {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + c.token))
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+basic)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must is git that must succeed.
func (c client) must(args ...string) string {
	c.t.Helper()
	out, err := c.git(args...)
	if err != nil {
		c.t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// commit makes a commit in the work tree and returns its id.
func (c client) commit(message string) string {
	c.t.Helper()
	c.must("commit", "--quiet", "--allow-empty", "-m", message)
	return c.must("rev-parse", "HEAD")
}

func operations(s *githubtest.Server) string {
	var ops []string
	for _, r := range s.Requests() {
		ops = append(ops, r.Operation)
	}
	return strings.Join(ops, " ")
}

func TestGitClientFetchesAndPushes(t *testing.T) {
	t.Parallel()
	s, g := hosted(t)
	c := clone(t, s, "t")
	if data, err := os.ReadFile(filepath.Join(c.dir, "dir", "a b.txt")); err != nil || string(data) != "ä\n" {
		t.Fatalf("fetched %q, %v", data, err)
	}
	s.ResetRequests()
	sha := c.commit("More")
	c.must("push", "origin", "HEAD:refs/heads/a/b")
	if got := g.SHA("a/b"); got != sha {
		t.Errorf("the branch is at %q, want %s", got, sha)
	}
	if ops := operations(s); ops != "git-http/refs-of-receive-pack git-http/receive-pack" {
		t.Errorf("requests: %s", ops)
	}
	writes := s.Writes()
	if len(writes) != 1 || !writes[0].Effect || writes[0].Account != "github-actions[bot]" {
		t.Errorf("writes: %+v", writes)
	}
	if s.ResetRequests(); c.must("ls-remote", "origin") == "" || operations(s) != "git-http/refs-of-upload-pack git-http/upload-pack" || len(s.Writes()) != 0 {
		t.Errorf("ls-remote: %s", operations(s))
	}

	// By its id, shallow, without the files' contents: as actions/checkout and
	// others fetch.
	other := client{t: t, dir: t.TempDir()}
	other.must("init", "--quiet")
	other.must("fetch", "--quiet", "--depth=1", "--filter=blob:none", s.GitURL(), sha)
	if got := other.must("rev-list", "--count", "FETCH_HEAD"); got != "1" {
		t.Errorf("a shallow fetch has %s commits", got)
	}

	// Not a fast-forward, then with force, then deleted.
	c.must("commit", "--quiet", "--amend", "--allow-empty", "-m", "Other")
	out, err := c.git("push", "origin", "HEAD:refs/heads/a/b")
	if err == nil || !strings.Contains(out, "fetch first") && !strings.Contains(out, "non-fast-forward") {
		t.Errorf("push: %v: %s", err, out)
	}
	c.must("push", "--force-with-lease=refs/heads/a/b:"+sha, "origin", "HEAD:refs/heads/a/b")
	c.must("push", "origin", ":refs/heads/a/b")
	if got := g.SHA("a/b"); got != "" {
		t.Errorf("the deleted branch is at %s", got)
	}
}

// TestGitClientRefused plays what GitHub refuses to git clients.
func TestGitClientRefused(t *testing.T) {
	t.Parallel()
	tokens := []githubtest.Token{{Secret: "write", Permissions: map[string]string{"contents": "write"}}, {Secret: "read", Permissions: map[string]string{"contents": "read"}},
		{Secret: "none", Permissions: map[string]string{"issues": "write"}}}
	for name, tt := range map[string]struct {
		token  string
		repo   githubtest.Repo
		fetch  string // part of what git says; "" for success
		push   string
		branch string
	}{
		"may write":          {token: "write"},
		"may read":           {token: "read", push: "remote: Permission to octo/repo.git denied to github-actions[bot]."},
		"anonymous":          {push: "could not read Username"},
		"no such token":      {token: "wrong", fetch: "could not read Username", push: "could not read Username"},
		"archived":           {token: "write", repo: githubtest.Repo{Archived: true}, push: "archived so it is read-only"},
		"private, anonymous": {repo: githubtest.Repo{Private: true}, fetch: "could not read Username", push: "could not read Username"},
		"private, not read":  {token: "none", repo: githubtest.Repo{Private: true}, fetch: "The requested URL returned error: 403", push: "error: 403"},
		"protected":          {token: "write", branch: "rel/1", repo: githubtest.Repo{Protected: []string{"rel/1"}}, push: "! [remote rejected] HEAD -> rel/1 (protected branch hook declined)"},
		"protected, reason":  {token: "write", branch: "rel/1", repo: githubtest.Repo{Protected: []string{"rel/1"}}, push: "remote: error: GH006: Protected branch update failed for refs/heads/rel/1."},
		"ruled":              {token: "write", branch: "main", repo: githubtest.Repo{Ruled: []string{"main"}}, push: "(push declined due to repository rule violations)"},
		"ruled, reason":      {token: "write", branch: "main", repo: githubtest.Repo{Ruled: []string{"main"}}, push: "remote: error: GH013: Repository rule violations found for refs/heads/main."},
		"pull request's ref": {token: "write", branch: "refs/pull/1/head", push: "deny updating a hidden ref"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := hosted(t, func(f *githubtest.Fixture) { f.Repo, f.Tokens = tt.repo, tokens })
			c := client{t: t, dir: t.TempDir(), token: tt.token}
			c.must("init", "--quiet")
			before := g.Run("for-each-ref")
			check := func(what, want, out string, err error) {
				t.Helper()
				if (err == nil) != (want == "") || !strings.Contains(out, want) {
					t.Errorf("%s: %v: %s", what, err, out)
				}
			}
			out, err := c.git("fetch", s.GitURL(), "main")
			check("fetch", tt.fetch, out, err)
			if err == nil {
				c.must("reset", "--quiet", "--hard", "FETCH_HEAD")
			}
			c.commit("x")
			branch := tt.branch
			if branch == "" {
				branch = "topic"
			}
			if !strings.HasPrefix(branch, "refs/") {
				branch = "refs/heads/" + branch
			}
			out, err = c.git("push", s.GitURL(), "HEAD:"+branch)
			check("push", tt.push, out, err)
			if tt.push != "" && g.Run("for-each-ref") != before {
				t.Errorf("refs: %s", g.Run("for-each-ref"))
			}
			for _, r := range s.Writes() {
				if r.Effect != (tt.push == "") {
					t.Errorf("recorded: %+v", r)
				}
			}
		})
	}
}

func TestGitFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  githubtest.Fault
		want   string
		effect bool
	}{
		"cut":         {githubtest.Fault{Cut: true}, "hung up", false},
		"cut after":   {githubtest.Fault{Cut: true, After: true}, "hung up", true},
		"cut in body": {githubtest.Fault{CutBody: true}, "", true},
		"500":         {githubtest.ServerError(500, false), "HTTP 500", false},
		"502 after":   {githubtest.ServerError(502, true), "HTTP 502", true},
		"403":         {githubtest.Fault{Status: 403}, "HTTP 403", false},
		"slow":        {githubtest.Fault{Delay: 1e6}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := hosted(t)
			c := clone(t, s, "t")
			sha := c.commit("x")
			s.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "git-http/receive-pack", Fault: tt.fault}}))
			s.ResetRequests()
			out, err := c.git("push", "origin", "HEAD:refs/heads/topic")
			if failed := name != "slow"; (err != nil) != failed || !strings.Contains(out, tt.want) {
				t.Errorf("push: %v: %s", err, out)
			}
			if got := g.SHA("topic") == sha; got != tt.effect {
				t.Errorf("effect %v, want %v", got, tt.effect)
			}
			if w := s.Writes()[0]; w.Effect != tt.effect {
				t.Errorf("recorded effect %v", w.Effect)
			}
			// The request for the refs can fail, too.
			s.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "git-http/refs-of-upload-pack", Fault: tt.fault}}))
			if _, err := c.git("fetch", "origin"); (err != nil) != (name != "slow") {
				t.Errorf("fetch: %v", err)
			}
		})
	}
}

// TestLatePush asserts that a push takes effect although its client has disconnected.
func TestLatePush(t *testing.T) {
	t.Parallel()
	g := githubtest.NewGit(t)
	g.Commit("main", map[string]string{"a": "1"}, "One")
	clock := githubtest.NewVirtualClock(time.Time{})
	s := githubtest.New(t, githubtest.Fixture{}, githubtest.Options{Git: g, Clock: clock,
		Fault: githubtest.Faults([]githubtest.FaultRule{{Operation: "git-http/receive-pack", Fault: githubtest.Fault{Late: time.Minute}}})})
	s.Start(t)
	c := clone(t, s, "t")
	sha := c.commit("x")
	if out, err := c.git("push", "origin", "HEAD:refs/heads/topic"); err == nil {
		t.Errorf("push: %s", out)
	}
	if got := g.SHA("topic"); got != "" {
		t.Errorf("it took effect at once: %s", got)
	}
	clock.Advance(time.Minute)
	if s.State(); g.SHA("topic") != sha {
		t.Errorf("the branch is at %q, want %s", g.SHA("topic"), sha)
	}
}

func TestGitHelpers(t *testing.T) {
	t.Parallel()
	make := func() *githubtest.Git {
		g := githubtest.NewGit(t)
		g.Commit("main", map[string]string{"a": "1", "b/c": "2", "b/d": "3"}, "One")
		g.SetBranch("topic", g.SHA("main"))
		g.CommitFiles("topic", []githubtest.GitFile{{Path: "run \"x\"\n\\", Mode: "100755", Data: "#!"}, {Path: "link", Mode: "120000", Data: "a"},
			{Path: "sub", Mode: "160000", Data: strings.Repeat("d", 40)}, {Path: "b", Mode: "0"}, {Path: "b", Data: "now a file"}}, "Two\n\nWhy")
		return g
	}
	g, again := make(), make()
	if g.SHA("topic") == "" || g.SHA("topic") != again.SHA("topic") {
		t.Errorf("ids differ: %s and %s", g.SHA("topic"), again.SHA("topic"))
	}
	want := "100644 a\n100644 b\n120000 link\n" + `100755 "run \"x\"\n\\"` + "\n160000 sub"
	if got := g.Run("ls-tree", "-r", "--format=%(objectmode) %(path)", "topic"); got != want {
		t.Errorf("files: %q", got)
	}
	if got := g.Run("log", "--format=%an %ae %at %B", "topic"); got != "Octo Cat octocat@example.com 1767323105 Two\n\nWhy\n\nOcto Cat octocat@example.com 1767323045 One\n" {
		t.Errorf("log: %q", got)
	}
	g.DeleteBranch("topic")
	if g.SHA("topic") != "" {
		t.Error("the branch is there still")
	}
	opened, err := githubtest.OpenGit(g.Dir())
	if err != nil || opened.SHA("main") != g.SHA("main") {
		t.Errorf("OpenGit: %v", err)
	}
	if _, err := githubtest.OpenGit(t.TempDir()); err == nil {
		t.Error("a directory that is not a repository was opened")
	}
}

// TestGitCredentialInTheURL asserts that a wrong token in a URL is refused, with the reason, and that
// the right one is taken.
func TestGitCredentialInTheURL(t *testing.T) {
	t.Parallel()
	s, g := hosted(t, func(f *githubtest.Fixture) { f.Tokens = []githubtest.Token{{Secret: "right"}} })
	u, err := url.Parse(s.GitURL())
	if err != nil || u.Path != "/octo/repo.git" || s.APIURL() != "http://"+u.Host {
		t.Fatalf("GitURL = %s", s.GitURL())
	}
	c := clone(t, s, "")
	u.User = url.UserPassword("x-access-token", "wrong")
	if out, err := c.git("push", u.String(), "main:topic"); err == nil || !strings.Contains(out, "remote: Invalid username or token.") || !strings.Contains(out, "Authentication failed") {
		t.Errorf("push: %v: %s", err, out)
	}
	u.User = url.UserPassword("anyone", "right")
	c.must("push", u.String(), "main:topic")
	if g.SHA("topic") != g.SHA("main") {
		t.Errorf("the branch is at %q", g.SHA("topic"))
	}
}
