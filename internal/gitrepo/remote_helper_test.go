//go:build unix

package gitrepo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/token"
)

const secret = "ghs_Test0123456789abcdefghijklmnopqrstuv"

// gitServer serves a bare repository by git's own program. Pushing needs the
// secret.
type gitServer struct {
	clone // the bare repository
	*httptest.Server
	private bool // fetching needs the secret too
	// before is called with a request before git's program; done means that it has answered itself.
	before func(w http.ResponseWriter, r *http.Request) (done bool)

	mu    sync.Mutex
	asked []string // methods and paths
}

// execPath returns the directory of git's own programs.
var execPath = sync.OnceValue(func() string {
	res, err := command.Run(context.Background(), command.Spec{Program: "git", Args: []string{"--exec-path"}, Env: []string{"PATH=" + gitrepo.DefaultPath}, Dir: "/"})
	if err != nil || !res.OK() {
		panic(fmt.Sprint("git --exec-path: ", err, res.Stderr))
	}
	return strings.TrimSpace(res.Stdout.String())
})

// newBare makes an empty repository for a server.
func newBare(t *testing.T, dir string) gittest.Clone {
	t.Helper()
	c := gittest.Clone{T: t, Dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Git("init", "-q", "--bare", "--template=", "-b", "main")
	c.Git("config", "http.receivepack", "true")
	c.Git("config", "receive.autogc", "false")
	return c
}

// serve serves the repository at root/o/r.git.
func serve(t *testing.T, root string) *gitServer {
	t.Helper()
	s := &gitServer{clone: clone{gittest.Clone{T: t, Dir: filepath.Join(root, "o", "r.git")}}}
	backend := &cgi.Handler{
		Path: filepath.Join(execPath(), "git-http-backend"),
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

// repoURL returns where the repository is.
func (s *gitServer) repoURL() string { return s.URL + "/o/r.git" }

// remote returns the repository as gitrepo reaches it.
func (s *gitServer) remote() *gitrepo.Remote { return s.remoteWith(secret) }

func (s *gitServer) remoteWith(secret string) *gitrepo.Remote {
	s.T.Helper()
	m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: s.repoURL(), Token: token.New(secret, s.URL), AllowLoopback: true})
	if err != nil {
		s.T.Fatal(err)
	}
	return m
}

// head returns the commit that a branch is at, "" if there is no such branch.
func (s *gitServer) head(branch string) string {
	s.T.Helper()
	return s.Git("for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
}

// hook writes a hook of the server.
func (s *gitServer) hook(name, script string) {
	s.T.Helper()
	s.Write("hooks/"+name, "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(s.Dir, "hooks", name), 0o755); err != nil {
		s.T.Fatal(err)
	}
}

// history is a repository whose branch main has the first two of three commits, and a clone. The
// clone has all three, and a fourth commit, aside, which follows the first.
type history struct {
	once                   sync.Once
	bare, clone            gittest.Clone
	one, two, three, aside string
}

// shared is the history that every test gets a copy of.
var shared history

func (h *history) make(t *testing.T) {
	h.bare, h.clone = newBare(t, filepath.Join(sharedDir, "r.git")), gittest.Clone{T: t, Dir: filepath.Join(sharedDir, "clone")}
	if err := os.Mkdir(h.clone.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := h.clone
	c.Git("init", "-q", "--template=", "-b", "main")
	c.Write("f", "1\n")
	h.one = c.Commit("one")
	c.Write("f", "2\n")
	h.two = c.Commit("two")
	c.Git("push", "-q", "file://"+h.bare.Dir, "HEAD:refs/heads/main")
	c.Write("f", "3\n")
	h.three = c.Commit("three")
	c.Git("checkout", "-q", "--detach", h.one)
	c.Write("g", "x\n")
	h.aside = c.Commit("aside")
}

// published returns a server whose branch main has the first two of three commits, and a clone. The
// clone has all three, and a fourth commit, aside, which follows the first.
func published(t *testing.T) (s *gitServer, c clone, one, two, three, aside string) {
	t.Helper()
	shared.once.Do(func() { shared.make(t) })
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "o", "r.git"), os.DirFS(shared.bare.Dir)); err != nil {
		t.Fatal(err)
	}
	return serve(t, root), clone{shared.clone.Copy(t)}, shared.one, shared.two, shared.three, shared.aside
}
