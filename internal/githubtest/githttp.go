package githubtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// gitCall is a request of a git client.
type gitCall struct {
	req  *http.Request
	rest string // the address below the repository
	push bool
}

// receiveGit reports whether a request is a git client's, and completes c for it. Its operation is
// git-http/upload-pack for a fetch and git-http/receive-pack for a push. Before either, the client
// asks for the refs, with the operation git-http/refs-of-upload-pack or git-http/refs-of-receive-pack.
func (s *Server) receiveGit(c *conversation, req *http.Request) bool {
	if s.o.Git == nil {
		return false
	}
	parts := strings.SplitN(req.URL.Path, "/", 4)
	if len(parts) < 4 || !strings.EqualFold(parts[1], s.state.Repo.Owner) || !strings.EqualFold(strings.TrimSuffix(parts[2], ".git"), s.state.Repo.Name) {
		return false
	}
	service, operation := parts[3], "git-http/"
	if service == "info/refs" {
		service, operation = c.query.Get("service"), operation+"refs-of-"
	}
	plain, ok := strings.CutPrefix(service, "git-")
	if !ok {
		return false
	}
	if unpacked, err := gunzip(c.body); err == nil && req.Header.Get("Content-Encoding") == "gzip" {
		c.body = unpacked
		req = req.Clone(req.Context())
		req.Header.Del("Content-Encoding")
	}
	c.git = &gitCall{req: req, rest: "/" + parts[3], push: plain == "receive-pack"}
	c.rec.Operation = operation + plain
	c.rec.Write = c.git.push && req.Method == http.MethodPost
	if header := req.Header.Get("Authorization"); header != "" {
		_, secret, _ := req.BasicAuth() // "" for another scheme
		s.recognise(c, secret)
	}
	return true
}

// handleGit answers a git client. If the client may not do what it asks for, handleGit refuses in
// GitHub's words. git's own http-backend answers everything else.
func (s *Server) handleGit(c *conversation) reply {
	r := s.state.Repo
	switch {
	case c.badToken:
		return gitRefusal(http.StatusUnauthorized, "Invalid username or token. Password authentication is not supported for Git operations.")
	case c.token == nil && (c.git.push || r.Private):
		return gitRefusal(http.StatusUnauthorized, "No anonymous write access.")
	case c.git.push && r.Archived:
		return gitRefusal(http.StatusForbidden, "This repository was archived so it is read-only.")
	case c.git.push && !c.token.has("contents=write"):
		return gitRefusal(http.StatusForbidden, fmt.Sprintf("Permission to %s/%s.git denied to %s.", r.Owner, r.Name, c.account.Login))
	case r.Private && !c.token.has("contents=read"):
		return gitRefusal(http.StatusForbidden, "Write access to repository not granted.")
	}
	if c.rec.Write {
		if out, refused := s.guard(c.body); refused {
			c.refused = true
			return reply{status: http.StatusOK, raw: out, header: http.Header{"Content-Type": {"application/x-git-receive-pack-result"}, "Cache-Control": {"no-cache"}}}
		}
	}
	before, err := s.o.Git.refs()
	if err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	var settings []string
	if r.NoForce {
		settings = []string{"receive.denyNonFastForwards", "true"}
	}
	out := s.o.Git.serve(c.git, c.body, settings)
	if c.rec.Write {
		after, err := s.o.Git.refs()
		c.refused = err != nil || slices.Equal(before, after)
	}
	return out
}

// gitRefusal returns an answer with a text that the git client shows to the user.
func gitRefusal(status int, message string) reply {
	h := http.Header{"Content-Type": {"text/plain"}}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	return reply{status: status, header: h, raw: []byte(message)}
}

// serve answers with git's http-backend. settings are names and values of git's configuration.
func (g *Git) serve(call *gitCall, body []byte, settings []string) reply {
	req := call.req.Clone(context.WithoutCancel(call.req.Context())) // its client may have gone (Fault.Late)
	req.URL.Path = "/" + filepath.Base(g.dir) + call.rest
	req.TransferEncoding, req.ContentLength, req.Body = nil, int64(len(body)), io.NopCloser(bytes.NewReader(body))
	req.Header.Del("Authorization")
	req.Header.Del("Content-Length")
	env := append(gitEnv(settings...), "GIT_PROJECT_ROOT="+filepath.Dir(g.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_PROTOCOL="+req.Header.Get("Git-Protocol"))
	var stderr bytes.Buffer
	backend := cgi.Handler{Path: g.program, Args: []string{"http-backend"}, Dir: g.dir, Env: env, Stderr: &stderr}
	w := httptest.NewRecorder()
	backend.ServeHTTP(w, req)
	if w.Code >= 500 {
		return gitRefusal(w.Code, stderr.String())
	}
	return reply{status: w.Code, header: w.Header(), raw: w.Body.Bytes()}
}

// guard reports whether a push is refused because it writes a branch which only pull requests may
// change. The entire push is refused then, with an answer in git's protocol: to git it is not an HTTP
// error.
func (s *Server) guard(body []byte) (answer []byte, refused bool) {
	refs, capabilities := pushed(body)
	var messages, report strings.Builder
	report.WriteString(packet("unpack ok\n"))
	for _, name := range refs {
		reason := "pre-receive hook declined"
		branch, _ := strings.CutPrefix(name, "refs/heads/")
		switch {
		case matches(s.state.Repo.Protected, branch):
			refused, reason = true, "protected branch hook declined"
			fmt.Fprintf(&messages, "error: GH006: Protected branch update failed for %s.\n\n- %s\n", name, byPull)
		case matches(s.state.Repo.Ruled, branch):
			refused, reason = true, "push declined due to repository rule violations"
			fmt.Fprintf(&messages, "error: GH013: Repository rule violations found for %s.\nReview all repository rules at %s/rules?ref=%s\n\n- %s\n\n",
				name, s.siteURL(), strings.ReplaceAll(name, "/", "%2F"), byPull)
		}
		fmt.Fprint(&report, packet("ng "+name+" "+reason+"\n"))
	}
	report.WriteString("0000")
	if !slices.Contains(capabilities, "side-band-64k") {
		return []byte(report.String()), refused
	}
	return []byte(packet("\x02"+messages.String()) + packet("\x01"+report.String()) + "0000"), refused
}

// byPull is GitHub's message for a branch that only pull requests may change.
const byPull = "Changes must be made through a pull request."

// pushed returns the refs that a push is about to write, and the client's capabilities.
func pushed(body []byte) (refs, capabilities []string) {
	text := string(body)
	for len(text) >= 4 {
		n, err := strconv.ParseUint(text[:4], 16, 16)
		if err != nil || n < 4 || int(n) > len(text) {
			break // the end of the commands, or no commands at all
		}
		line, can, _ := strings.Cut(text[4:n], "\x00")
		if f := strings.Fields(line); len(f) == 3 {
			refs = append(refs, f[2])
		}
		capabilities = append(capabilities, strings.Fields(can)...)
		text = text[n:]
	}
	return refs, capabilities
}

// packet returns a line of git's protocol.
func packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
