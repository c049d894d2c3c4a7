//go:build unix

package gitrepo_test

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

const secret = "ghs_Test0123456789abcdefghijklmnopqrstuv"

// gitServer serves a bare repository by git's own program. Pushing needs the
// secret.
type gitServer struct {
	clone // the bare repository
	*httptest.Server
	private bool // fetching needs the secret too
	// before may answer a request itself, or look at it.
	before func(w http.ResponseWriter, r *http.Request) (done bool)

	mu    sync.Mutex
	asked []string // methods and paths
}

func newServer(t *testing.T) *gitServer {
	t.Helper()
	root := t.TempDir()
	s := &gitServer{clone: clone{t, filepath.Join(root, "o", "r.git")}}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("init", "-q", "--bare", "-b", "main")
	s.git("config", "http.receivepack", "true")
	backend := &cgi.Handler{
		Path: filepath.Join(s.git("--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root, "PATH=" + gitrepo.DefaultPath},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		_, password, _ := r.BasicAuth()
		pushing := strings.Contains(r.URL.Path+r.URL.RawQuery, "git-receive-pack")
		if (pushing || s.private) && password != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "Who are you?", http.StatusUnauthorized)
			return
		}
		if s.before == nil || !s.before(w, r) {
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Server.Close)
	return s
}

// requests returns the methods and paths that were asked for.
func (s *gitServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// repoURL is where the repository is.
func (s *gitServer) repoURL() string { return s.URL + "/o/r.git" }

// remote returns the repository as gitrepo reaches it.
func (s *gitServer) remote() *gitrepo.Remote { return s.remoteWith(secret) }

func (s *gitServer) remoteWith(secret string) *gitrepo.Remote {
	s.t.Helper()
	m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: s.repoURL(), Token: token.New(secret, s.URL), AllowLoopback: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// at returns the commit that a branch is at, "" without one.
func (s *gitServer) at(branch string) string {
	s.t.Helper()
	return s.git("for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
}

// hook writes a hook of the server.
func (s *gitServer) hook(name, script string) {
	s.t.Helper()
	s.write("hooks/"+name, "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(s.dir, "hooks", name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// published is a server whose branch main has the first two of three commits,
// which a clone has with one more beside the third.
func published(t *testing.T) (s *gitServer, c clone, one, two, three, beside string) {
	t.Helper()
	s, c = newServer(t), newClone(t)
	c.write("f", "1\n")
	one = c.commit("one")
	c.write("f", "2\n")
	two = c.commit("two")
	c.git("push", "-q", "file://"+s.dir, "HEAD:refs/heads/main")
	c.write("f", "3\n")
	three = c.commit("three")
	c.git("checkout", "-q", "--detach", one)
	c.write("g", "x\n")
	beside = c.commit("beside")
	return s, c, one, two, three, beside
}
