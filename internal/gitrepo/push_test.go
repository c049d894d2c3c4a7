//go:build unix

package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestPush(t *testing.T) {
	t.Parallel()
	s, c, one, two, three, aside := published(t)
	r, m := c.Open(), s.remote()
	for _, tt := range []struct {
		name string
		push gitrepo.PushRequest
		kind gitrepo.PushErrorKind // 0: done
		at   string                // where the branch is afterwards
	}{
		{"a branch that is there", gitrepo.PushRequest{Tip: three, Branch: "main"}, gitrepo.PushMoved, two},
		{"a branch that is elsewhere", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: one}, gitrepo.PushMoved, two},
		{"a branch that is not there", gitrepo.PushRequest{Tip: three, Branch: "new", Expect: two}, gitrepo.PushMoved, ""},
		{"create", gitrepo.PushRequest{Tip: three, Branch: "new"}, 0, three},
		{"create again", gitrepo.PushRequest{Tip: three, Branch: "new"}, 0, three},
		{"move", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}, 0, three},
		{"move again", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}, 0, three},
		{"replace what is elsewhere", gitrepo.PushRequest{Tip: aside, Branch: "new", Expect: two, Replace: true}, gitrepo.PushMoved, three},
		{"replace", gitrepo.PushRequest{Tip: aside, Branch: "new", Expect: three, Replace: true}, 0, aside},
	} {
		err := r.Push(t.Context(), m, tt.push)
		var failed *gitrepo.PushError
		if tt.kind == 0 && err != nil || tt.kind != 0 && (!errors.As(err, &failed) || failed.Kind != tt.kind) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if at := s.head(tt.push.Branch); at != tt.at {
			t.Errorf("%s: the branch is at %q, want %q", tt.name, at, tt.at)
		}
	}
	if tags := s.Git("for-each-ref", "refs/tags"); tags != "" {
		t.Errorf("tags were pushed: %s", tags)
	}
}

func TestPushTakesNoCommitsAway(t *testing.T) {
	t.Parallel()
	s, c, one, two, _, aside := published(t)
	r := c.Open()
	for _, tip := range []string{aside, one} {
		err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: tip, Branch: "main", Expect: two})
		if err == nil || !strings.Contains(err.Error(), "does not follow") {
			t.Errorf(`err = %v, want one with "does not follow"`, err)
		}
	}
	if asked := s.requests(); s.head("main") != two || len(asked) > 0 {
		t.Errorf("main is at %s, and the server was asked %v", s.head("main"), asked)
	}
}

func TestPushBelievesNoForgedHistory(t *testing.T) {
	t.Parallel()
	s, c, _, two, three, aside := published(t)
	c.forge(aside, c.loose(three)) // which follows two
	err := c.Open().Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: aside, Branch: "main", Expect: two})
	if !errors.Is(err, gitrepo.ErrForged) || s.head("main") != two {
		t.Errorf("err = %v, main is at %s", err, s.head("main"))
	}
}

func TestPushOfWhatWasTransplanted(t *testing.T) {
	t.Parallel()
	s, c, one, two, _, aside := published(t)
	r := c.Open()
	got, err := r.Transplant(t.Context(), c.series(one, aside), two, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: got.Tip, Branch: "main", Expect: two}); err != nil {
		t.Fatal(err)
	}
	if files := s.Git("ls-tree", "-r", "--name-only", "main"); s.head("main") != got.Tip || files != "f\ng" {
		t.Errorf("main is at %s with %q", s.head("main"), files)
	}
}

func TestFromAPatchToABranchWithoutAClone(t *testing.T) {
	t.Parallel()
	s, _, _, two, _, _ := published(t)
	r := gittest.Open(t, nil)
	if err := r.Fetch(t.Context(), s.remote(), []string{two}, 1); err != nil {
		t.Fatal(err)
	}
	patch := "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+zwei\n"
	series, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: []byte(patch), Bases: []string{two}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Transplant(t.Context(), series, two, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: got.Tip, Branch: "main", Expect: two}); err != nil {
		t.Fatal(err)
	}
	if at, text := s.head("main"), s.Git("show", "main:f"); at != got.Tip || text != "zwei" {
		t.Errorf("main is at %s with %q", at, text)
	}
	if _, err := r.MergeBase(t.Context(), two, got.Tip); err != nil {
		t.Error(err)
	}
}

func TestPushOfHostileNames(t *testing.T) {
	t.Parallel()
	s, c, one, _, _, _ := published(t)
	r := c.Open()
	for _, branch := range []string{"a;touch${IFS}x", "$(touch${IFS}x)", "`x`", "a'b\"c", "+a", "a%2fb", "ü/ö", "a&&b|c>d"} {
		if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: one, Branch: branch}); err != nil {
			t.Errorf("%q: %v", branch, err)
		}
		if refs := s.Git("for-each-ref", "--format=%(objectname) %(refname)") + "\n"; !strings.Contains(refs, one+" refs/heads/"+branch+"\n") {
			t.Errorf("%q: the server has %s", branch, refs)
		}
	}
	asked := len(s.requests())
	for _, p := range []gitrepo.PushRequest{
		{Tip: one, Branch: "-x"}, {Tip: one, Branch: "--upload-pack=touch x"}, {Tip: one, Branch: "@"}, {Tip: one, Branch: "a:b"}, {Tip: one, Branch: "a b"}, {Tip: one, Branch: ""},
		{Tip: "HEAD", Branch: "x"}, {Tip: "", Branch: "main"}, {Tip: one, Branch: "x", Expect: "main"}, {Tip: "--all", Branch: "x"},
		{Tip: strings.Repeat("0", 40), Branch: "main"},
	} {
		if err := r.Push(t.Context(), s.remote(), p); err == nil {
			t.Errorf("%+v was pushed", p)
		}
	}
	if more := s.requests()[asked:]; len(more) > 0 {
		t.Errorf("the server was asked %v", more)
	}
}

func TestPushErrors(t *testing.T) {
	t.Parallel()
	respond := func(method string, f func(w http.ResponseWriter)) func(*gitServer) {
		return func(s *gitServer) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == method {
					_, _ = io.Copy(io.Discard, r.Body)
					f(w)
				}
				return r.Method == method
			}
		}
	}
	status := func(code int, text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, text, code) }
	}
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for name, tt := range shorttest.Some(2, map[string]struct {
		server func(*gitServer)
		kind   gitrepo.PushErrorKind
		perm   string
		words  []string
	}{
		"a protected branch": {
			server: func(s *gitServer) {
				s.hook("pre-receive", "echo 'error: GH006: Protected branch update failed for refs/heads/x.'\nprintf '\\033[31mAt least 1 approving\\rreview\\n'\nexit 1\n")
			},
			kind: gitrepo.PushRefused, words: []string{"GH006", "pre-receive hook declined", "Protected branch update failed", "At least 1 approving; review"},
		},
		"a rule": {
			server: func(s *gitServer) {
				s.hook("pre-receive", "echo 'error: GH013: Repository rule violations found'; echo ' - GITHUB PUSH PROTECTION'; exit 1\n")
			},
			kind: gitrepo.PushRefused, words: []string{"GH013", "GITHUB PUSH PROTECTION"},
		},
		"a workflow": {
			server: func(s *gitServer) {
				s.hook("update", "echo 'refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission'; exit 1\n")
			},
			kind: gitrepo.PushForbidden, perm: "workflows: write", words: []string{".github/workflows/x.yml"},
		},
		"another push at the same time": {
			server: func(s *gitServer) { s.hook("pre-receive", "git rev-parse main >refs/heads/x\n") },
			kind:   gitrepo.PushMoved,
		},
		"a directory in the way": {
			server: func(s *gitServer) {
				s.hook("pre-receive", "mkdir refs/heads/x && git rev-parse main >refs/heads/x/y\n")
			},
			kind: gitrepo.PushRefused,
		},
		"no permission": {
			server: respond("GET", status(403, "Permission to o/r.git denied to github-actions[bot].")),
			kind:   gitrepo.PushForbidden, perm: "contents: write", words: []string{"denied to github-actions[bot]"},
		},
		"no permission to send": {server: respond("POST", status(403, "no")), kind: gitrepo.PushForbidden, perm: "contents: write"},
		"no repository":         {server: respond("GET", status(404, "Repository not found.")), kind: gitrepo.PushForbidden, perm: "contents: write", words: []string{"Repository not found"}},
		"502 before":            {server: respond("GET", status(502, "")), kind: gitrepo.PushUnreachable},
		"nonsense before": {
			server: respond("GET", func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>Sign in</html>") }),
			kind:   gitrepo.PushUnreachable, words: []string{"the server does not answer as a git server does"},
		},
		"too fast":       {server: respond("GET", status(429, "")), kind: gitrepo.PushLimited, words: []string{"429"}},
		"blocked":        {server: respond("GET", status(451, "Repository unavailable due to DMCA takedown.")), kind: gitrepo.PushRefused, words: []string{"DMCA"}},
		"cut before":     {server: respond("GET", cut), kind: gitrepo.PushUnreachable},
		"cut after":      {server: respond("POST", cut), kind: gitrepo.PushAmbiguous},
		"500 after":      {server: respond("POST", status(500, "")), kind: gitrepo.PushAmbiguous},
		"nonsense after": {server: respond("POST", func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }), kind: gitrepo.PushAmbiguous},
		"too large":      {server: respond("POST", status(413, "")), kind: gitrepo.PushRefused},
		"down":           {server: func(s *gitServer) { s.Server.Close() }, kind: gitrepo.PushUnreachable},
		"an answer with the token": {
			server: respond("GET", status(403, "you sent "+secret+" and eC1hY2Nlc3MtdG9rZW46Z2hzX1Rlc3QwMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5vcHFyc3R1dg==")),
			kind:   gitrepo.PushForbidden, perm: "contents: write", words: []string{"you sent *** and ***"},
		},
		"a long answer": {
			server: func(s *gitServer) {
				s.hook("pre-receive", "yes 'error: GH006: no, no, no' | head -c 20000000; exit 1\n")
			},
			kind: gitrepo.PushRefused, words: []string{"GH006", "no, no, no"},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, _, _, three, _ := published(t)
			m := s.remote()
			tt.server(s)
			err := c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: "x"})
			var failed *gitrepo.PushError
			if !errors.As(err, &failed) || failed.Kind != tt.kind || failed.Permission != tt.perm || failed.Branch != "x" {
				t.Fatalf("err = %#v: %v, want %s with the permission %q", err, err, tt.kind, tt.perm)
			}
			for _, w := range append(tt.words, `"x"`, tt.kind.String()) {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("err = %v, want one with %q", err, w)
				}
			}
			// Git may also print a line about its credential storage lock, which is not about the push.
			if text := err.Error(); strings.ContainsAny(text, "\n\r\x1b") || len(text) > 1000 || strings.Contains(text, "storage lock") {
				t.Errorf("err is not a short line: %q", text)
			}
		})
	}
}

func TestPushWithAWrongToken(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	for name, m := range map[string]*gitrepo.Remote{"wrong": s.remoteWith("ghs_wrong"), "none": s.remoteWith("")} {
		err := c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: "x"})
		var failed *gitrepo.PushError
		if !errors.As(err, &failed) || failed.Kind != gitrepo.PushForbidden || strings.Contains(err.Error(), "ghs_wrong") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked %s", r.URL)
	}))
	defer elsewhere.Close()
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL+r.URL.String(), http.StatusTemporaryRedirect)
		return true
	}
	err := c.Open().Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: three, Branch: "x"})
	var failed *gitrepo.PushError
	if !errors.As(err, &failed) || failed.Kind != gitrepo.PushUnreachable {
		t.Errorf("err = %v, want a PushError of the kind PushUnreachable", err)
	}
	if err := c.Open().Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, 1); err == nil {
		t.Error("a redirection was followed")
	}
}

func TestPushToAServerThatHangs(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "POST" {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		}
		return r.Method == "POST"
	}
	err := c.Open().Push(ctx, s.remote(), gitrepo.PushRequest{Tip: three, Branch: "x"})
	var failed *gitrepo.PushError
	if !errors.As(err, &failed) || failed.Kind != gitrepo.PushAmbiguous || !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want a PushError of the kind PushAmbiguous that is context.Canceled", err)
	}
}

// TestPushKeepsTheTokenToItself asserts that while git runs, no process shows the token, and that
// then and afterwards no file of ours contains it.
func TestPushKeepsTheTokenToItself(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	r := c.Open()
	var looked atomic.Int64
	s.before = func(w http.ResponseWriter, req *http.Request) bool {
		for _, pattern := range []string{"/proc/[0-9]*/cmdline", "/proc/[0-9]*/environ"} {
			files, _ := filepath.Glob(pattern)
			for _, f := range files {
				if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), secret) {
					t.Errorf("%s contains the token: %q", f, data)
				}
				looked.Add(1)
			}
		}
		assertNoSecret(t, filepath.Dir(r.GitDir()))
		return false
	}
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: three, Branch: "x"}); err != nil {
		t.Fatal(err)
	}
	if looked.Load() == 0 && exists("/proc/self") {
		t.Error("nothing was looked at")
	}
	assertNoSecret(t, filepath.Dir(r.GitDir()))
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func assertNoSecret(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // git removes files of its own meanwhile
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), secret) {
			t.Errorf("%s contains the token", path)
		}
		return nil
	})
	if err != nil {
		t.Error(fmt.Errorf("looking at our files: %w", err))
	}
}

// TestCheckRefAgreesWithGit compares the rules of package branchname with git's own, on names
// that are made at random of pieces to which the rules apply.
func TestCheckRefAgreesWithGit(t *testing.T) {
	t.Parallel()
	r := newClone(t).Open()
	pieces := []string{"a", "b", "main", "/", ".", "..", ".lock", "@", "{", "@{", "-", "~", "^", ":", "?", "*", "[", "\\", " ", "\t", "\x7f", "ü", "$(id)", ";", "refs/", "lock", "x.", "'", "%2f"}
	random := rand.New(rand.NewPCG(1, 2))
	for range shorttest.Count(400, 4) {
		name := ""
		for range 1 + random.IntN(5) {
			name += pieces[random.IntN(len(pieces))]
		}
		if name == "@" {
			continue // git takes it below refs/heads, and GitHub's clients take it for HEAD
		}
		out, err := r.Run(t.Context(), gitrepo.Call{MaxExit: gitrepo.AnyExit, Limit: 1 << 10}, "check-ref-format", "refs/heads/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if err := branchname.CheckRef(name); (err == nil) != (out.ExitCode == 0) {
			t.Errorf("%q: git ends with %d, and we say %v", name, out.ExitCode, err)
		}
	}
}
