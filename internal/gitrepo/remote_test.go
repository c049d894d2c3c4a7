//go:build unix

package gitrepo_test

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

func TestNewRemote(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]gitrepo.RemoteOptions{
		"GitHub":            {URL: "https://github.com/o/r.git", Token: token.New(secret, "https://api.github.com")},
		"a server":          {URL: "https://git.example.com:8443/o/r", Token: token.New(secret, "https://git.example.com:8443/api/v3")},
		"a tenant":          {URL: "https://t.ghe.com/o/r", Token: token.New(secret, "https://api.t.ghe.com")},
		"upper case":        {URL: "https://GitHub.com/o/r", Token: token.New(secret, "https://api.github.com")},
		"no token":          {URL: "https://example.com/o/r"},
		"a proxy":           {URL: "https://example.com/o/r", Proxy: "http://user:pass@proxy:3128"},
		"loopback in tests": {URL: "http://127.0.0.1:80/o/r", AllowLoopback: true},
	} {
		if m, err := gitrepo.NewRemote(opt); err != nil || m.String() != opt.URL {
			t.Errorf("%s: %v, %v, want %s", name, m, err, opt.URL)
		}
	}
	for name, opt := range map[string]gitrepo.RemoteOptions{
		"nothing":              {},
		"http":                 {URL: "http://github.com/o/r"},
		"loopback":             {URL: "http://127.0.0.1/o/r"},
		"http elsewhere":       {URL: "http://10.0.0.1/o/r", AllowLoopback: true},
		"a name for loopback":  {URL: "http://localhost/o/r", AllowLoopback: true},
		"a file":               {URL: "file:///etc"},
		"a path":               {URL: "/etc"},
		"ext":                  {URL: "ext::sh -c touch% x"},
		"ext with host":        {URL: "ext::https://github.com/o/r"},
		"an option":            {URL: "--upload-pack=touch x"},
		"ssh":                  {URL: "ssh://git@github.com/o/r"},
		"scp":                  {URL: "git@github.com:o/r"},
		"a user":               {URL: "https://pass-word@github.com/o/r"},
		"a password":           {URL: "https://u:pass-word@github.com/o/r"},
		"a broken password":    {URL: "https://u:pass-word%zz@github.com/o/r"},
		"a query":              {URL: "https://github.com/o/r?x=y"},
		"a fragment":           {URL: "https://github.com/o/r#x"},
		"no path":              {URL: "https://github.com/"},
		"a space":              {URL: "https://github.com/o r"},
		"a line":               {URL: "https://github.com/o\nr"},
		"a backslash":          {URL: `https://github.com\@evil.example/o/r`},
		"a token of elsewhere": {URL: "https://evil.example/o/r", Token: token.New(secret, "https://api.github.com")},
		"a similar host":       {URL: "https://github.com.evil.example/o/r", Token: token.New(secret, "https://api.github.com")},
		"another port":         {URL: "https://github.com:444/o/r", Token: token.New(secret, "https://api.github.com")},
		"a token of nowhere":   {URL: "https://github.com/o/r", Token: token.New(secret, "nonsense")},
		"a proxy program":      {URL: "https://github.com/o/r", Proxy: "ext::x"},
		"a proxy in two lines": {URL: "https://github.com/o/r", Proxy: "http://u:pass-word@p\n[core]\n\tsshCommand = x"},
	} {
		m, err := gitrepo.NewRemote(opt)
		if err == nil {
			t.Errorf("%s: %v", name, m)
		} else if text := err.Error(); strings.Contains(text, "pass-word") || strings.Contains(text, secret) {
			t.Errorf("%s: the error contains a secret: %v", name, err)
		}
	}
}

func TestRemotePrintsNoSecret(t *testing.T) {
	t.Parallel()
	m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: "https://github.com/o/r", Token: token.New(secret, "https://api.github.com")})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", m, m, *m, m); strings.Contains(text, secret) {
		t.Errorf("the remote prints as %s", text)
	}
}

func TestHTTPSTrustsTheGivenCertificatesOnly(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	secure := httptest.NewTLSServer(s.Config.Handler)
	defer secure.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	for trusted, ok := range map[string]bool{ca: true, "": false} {
		m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: secure.URL + "/o/r.git", Token: token.New(secret, secure.URL), CAPEM: []byte(trusted)})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: "x"})
		var failed *gitrepo.PushError
		if ok && err != nil || !ok && (!errors.As(err, &failed) || failed.Kind != gitrepo.PushUnreachable || !strings.Contains(err.Error(), "certificate")) {
			t.Errorf("with %q: %v", trusted, err)
		}
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s, c, _, _, three, _ := published(t)
	var through atomic.Int64
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL = r.In.URL }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		if r.Header.Get("Proxy-Authorization") == "" {
			w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
			http.Error(w, "", http.StatusProxyAuthRequired)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("user", "pass-word%")
	opt := gitrepo.RemoteOptions{URL: s.repoURL(), Token: token.New(secret, s.URL), AllowLoopback: true, Proxy: address.String()}
	push := func(branch string) error {
		m, err := gitrepo.NewRemote(opt)
		if err != nil {
			t.Fatal(err)
		}
		return c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: branch})
	}
	if err := push("x"); err != nil || through.Load() == 0 {
		t.Errorf("%d requests went through the proxy: %v", through.Load(), err)
	}
	used := through.Load()
	opt.NoProxy = "127.0.0.1"
	if err := push("y"); err != nil || through.Load() != used {
		t.Errorf("%d requests went through the proxy: %v", through.Load()-used, err)
	}
	opt.NoProxy = ""
	proxy.Close()
	if err := push("z"); err == nil || strings.Contains(err.Error(), "pass-word") {
		t.Errorf("without the proxy: %v", err)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s, _, one, two, _, _ := published(t)
	c := newClone(t)
	c.Commit("unrelated")
	for name, tt := range map[string]struct {
		depth   int
		history bool
		private bool
	}{"one commit": {1, false, true}, "two": {2, true, false}, "all": {0, true, true}} {
		t.Run(name, func(t *testing.T) {
			s.private = tt.private
			r := c.Open()
			if err := r.Fetch(t.Context(), s.remote(), []string{two, two}, tt.depth); err != nil {
				t.Fatal(err)
			}
			if has, err := r.Has(t.Context(), one); has != tt.history || err != nil {
				t.Errorf("the parent is there: %v, %v", has, err)
			}
			if data, err := r.File(t.Context(), two, "f", 10); string(data) != "2\n" || err != nil {
				t.Errorf("the file is %q, %v", data, err)
			}
			if refs := lookInto(t, c, r).GitFed("", "--git-dir="+r.GitDir(), "for-each-ref"); refs != "" {
				t.Errorf("refs were made: %s", refs)
			}
			asked := len(s.requests())
			if err := r.Fetch(t.Context(), s.remote(), []string{two}, tt.depth); err != nil || len(s.requests()) != asked {
				t.Errorf("it asks again: %v, %v", s.requests()[asked:], err)
			}
			if tt.depth != 1 {
				return
			}
			if err := r.Fetch(t.Context(), s.remote(), []string{two}, 0); err != nil {
				t.Fatal(err)
			}
			if base, err := r.MergeBase(t.Context(), one, two); base != one || err != nil {
				t.Errorf("after all of it: %s, %v", base, err)
			}
		})
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	s, c, _, two, _, _ := published(t)
	r := c.Open()
	if err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, 1); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a missing commit: %v", err)
	}
	for _, bad := range []string{"main", "--upload-pack=touch x", two[:7], "refs/heads/main:refs/heads/x", ""} {
		if err := r.Fetch(t.Context(), s.remote(), []string{bad}, 1); err == nil {
			t.Errorf("%q was fetched", bad)
		}
	}
	if err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, -1); err == nil || errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a negative depth is taken: %v", err)
	}
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "\x1b[31mno "+secret, http.StatusForbidden)
		return true
	}
	err := r.Fetch(t.Context(), s.remote(), []string{strings.Repeat("1", 40)}, 1)
	if err == nil || strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "403") {
		t.Errorf(`err = %v, want one line with "403" and without the secret`, err)
	}
}

func TestFetchChecksWhatItGets(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	newBare(t, filepath.Join(root, "o", "r.git"))
	s := serve(t, root)
	blob := strings.TrimSpace(s.GitFed("x", "hash-object", "-w", "--stdin"))
	tree := s.Mktree("100644 blob " + blob + "\tf\n")
	outer := strings.TrimSpace(s.GitFed("040000 tree "+tree+"\t.git\n", "mktree"))
	evil := s.Git("commit-tree", "-m", "x", outer)
	s.Git("update-ref", "refs/heads/main", evil)
	c := newClone(t)
	c.Commit("unrelated")
	r := c.Open()
	if err := r.Fetch(t.Context(), s.remote(), []string{evil}, 1); err == nil || !strings.Contains(err.Error(), ".git") {
		t.Errorf(`err = %v, want one with ".git"`, err)
	}
	if has, err := r.Has(t.Context(), evil); has || err != nil {
		t.Errorf("the commit is there: %v, %v", has, err)
	}
}

// TestFetchDoesNotAskTheClone asserts that Fetch does not tell the server about the commits of the
// clone's refs. Git would have to run in the clone to list them, and nobody else may know them.
func TestFetchDoesNotAskTheClone(t *testing.T) {
	t.Parallel()
	s, _, _, two, _, _ := published(t)
	c := newClone(t)
	private := c.Commit("known here only")
	var sent bytes.Buffer
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("Content-Encoding") == "gzip" {
			plain, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return false
			}
			if body, err = io.ReadAll(plain); err != nil {
				t.Error(err)
			}
		}
		sent.Write(body)
		return false
	}
	if err := c.Open().Fetch(t.Context(), s.remote(), []string{two}, 0); err != nil {
		t.Fatal(err)
	}
	s.Server.Close() // and wait for its answers
	if text := sent.String(); !strings.Contains(text, two) || strings.Contains(text, private) {
		t.Errorf("the server was sent %q", text)
	}
}

func TestNothingOfTheCloneRuns(t *testing.T) {
	t.Parallel()
	s, c, _, two, three, _ := published(t)
	other := newClone(t)
	other.Commit("so that there are refs to advertise")
	canary := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$@\" >>"+canary+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Arm(evil)
	r := c.Open()
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}); err != nil {
		t.Error(err)
	}
	other.Arm(evil)
	if err := other.Open().Fetch(t.Context(), s.remote(), []string{two}, 1); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the clone ran:\n%s", data)
	}
}
