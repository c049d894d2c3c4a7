package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/token"
)

// RemoteOptions are where a repository is fetched from and pushed to, and how.
type RemoteOptions struct {
	URL     string      // required; https, without user and query, as GitHub's API gives it (clone_url)
	Token   token.Token // zero: none, which is enough to fetch public repositories
	CAPEM   []byte      // certificates to trust instead of the system's; nil: the system's
	Proxy   string      // "http://host:port", or with https, socks5 or socks5h; "": none
	NoProxy string      // hosts that are reached without the proxy, as the variable NO_PROXY lists them
	// AllowLoopback allows http to an address of this machine, for tests.
	AllowLoopback bool
}

// Remote is a repository on a server. It prints without its secrets.
type Remote struct {
	url     *url.URL
	token   token.Token
	config  string // of git, for this remote
	ca      []byte // certificates to trust instead of the system's
	noProxy string
	hidden  []string // what messages must not show, in addition to the token
}

// String returns the URL, which contains no secret.
func (m *Remote) String() string { return m.url.String() }

// NewRemote checks the options. The token must be meant for the URL's host: its
// API is at the same host or at "api." and the host.
func NewRemote(opt RemoteOptions) (*Remote, error) {
	u, err := parseRemote(opt.URL, opt.AllowLoopback)
	if err != nil {
		return nil, err
	}
	if err := checkHome(opt.Token, u); err != nil {
		return nil, err
	}
	m := &Remote{url: u, token: opt.Token, noProxy: opt.NoProxy, ca: opt.CAPEM}
	for name, value := range map[string]string{"the list of hosts without proxy": opt.NoProxy, "the proxy": opt.Proxy} {
		if strings.ContainsFunc(value, unicode.IsControl) {
			return nil, fmt.Errorf("%s contains a control character", name)
		}
	}
	if opt.Proxy != "" {
		p, err := url.Parse(opt.Proxy)
		if err != nil || p.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, p.Scheme) {
			return nil, errors.New("the proxy is not written as http://HOST:PORT") // it may contain a password
		}
		if secret, ok := p.User.Password(); ok && secret != "" {
			m.hidden = append(m.hidden, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	m.config = remoteConfig(opt)
	return m, nil
}

// parseRemote accepts nothing but a plain URL: git would take other forms for a local path,
// a program or an option.
func parseRemote(text string, loopback bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" || strings.ContainsFunc(text, notInURL) {
		return nil, fmt.Errorf("%q is not the URL of a repository, such as https://github.com/OWNER/REPO.git", cutUser(text))
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("the URL of the repository on %s must be given without user, password, query and fragment", u.Host)
	}
	if u.Scheme != "https" && !(loopback && u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, fmt.Errorf("the repository at %q must be reached by https", text)
	}
	return u, nil
}

// notInURL reports whether a character cannot be in the URL of a repository.
func notInURL(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"'<>\^{|}`+"`", c) }

// cutUser removes what may be a password.
func cutUser(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return "..." + text[i:]
	}
	return text
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// checkHome returns an error for a token that belongs to another host.
func checkHome(t token.Token, u *url.URL) error {
	if t.IsZero() {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	home, err := url.Parse(t.Origin())
	if err == nil && home.Scheme == u.Scheme && home.Port() == port {
		host, tokenHost := strings.ToLower(u.Hostname()), home.Hostname()
		if tokenHost == host || tokenHost == "api."+host {
			return nil
		}
	}
	return fmt.Errorf("refusing to send the GitHub token to %s: it belongs to %q", u.Host, t.Origin())
}

// remoteConfig returns git's configuration for a remote. It goes into a file, because it may
// contain a proxy's password. It does not contain the token.
func remoteConfig(opt RemoteOptions) string {
	var b strings.Builder
	b.WriteString(`[http]
	followRedirects = false
	sslVerify = true
	lowSpeedLimit = 1
	lowSpeedTime = 120
	emptyAuth = false
`)
	if opt.Proxy != "" {
		fmt.Fprintf(&b, "\tproxy = %s\n", quote(opt.Proxy))
	}
	// Where objects are borrowed from a clone, git runs a command in the clone to list its refs.
	// It runs the program true instead, which lists none.
	b.WriteString(`[core]
	alternateRefsCommand = true
[credential]
	helper =
	useHttpPath = false
[credentialStore]
	lockTimeoutMS = 0
[push]
	gpgSign = false
	recurseSubmodules = no
	followTags = false
[fetch]
	fsckObjects = true
	recurseSubmodules = no
[fetch "fsck"]
	zeroPaddedFilemode = warn
	missingSpaceBeforeDate = warn
	missingSpaceBeforeEmail = warn
	badTimezone = warn
	missingEmail = warn
	badEmail = warn
`)
	if !opt.Token.IsZero() {
		b.WriteString("[credential]\n\thelper = store --file=/dev/fd/3\n")
	}
	return b.String()
}

// remoteTimeout ends a fetch or a push that a server keeps alive.
const remoteTimeout = 15 * time.Minute

// Fetch gets from the remote those of the commits that the repository lacks, each with depth
// commits of its history, or with all of it if depth is 0. What the server sends is checked as git
// fsck does. Fetch does not ask for commits that are there, unless depth is 0 and the history is
// cut off. A commit that the server does not have, or does not give, is ErrMissing.
//
// If Fetch cuts a history off, it is cut off for every later question to the repository, even if a
// clone from which this one borrows objects has more of it.
func (r *Repo) Fetch(ctx context.Context, m *Remote, oids []string, depth int) error {
	shallow, err := r.isShallow()
	if err != nil {
		return err
	}
	want := unique(oids)
	lacking, err := r.lacking(ctx, want...) // which also checks that they are ids
	if err != nil {
		return err
	}
	if depth > 0 || !shallow {
		want = lacking
	}
	if len(want) == 0 {
		return nil
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
	switch {
	case depth < 0:
		return errors.New("a history cannot be less than one commit deep")
	case depth > 0:
		args = append(args, "--depth="+strconv.Itoa(depth))
	case shallow:
		args = append(args, "--unshallow")
	}
	out, err := r.runRemote(ctx, m, slices.Concat(args, []string{"--", m.url.String()}, want)...)
	if err != nil {
		return fmt.Errorf("fetching from %s: %w", m, err)
	}
	if out.ExitCode != 0 {
		return m.fetchError(out)
	}
	return r.Require(ctx, want...)
}

// isShallow reports whether the repository's history is cut off somewhere.
func (r *Repo) isShallow() (bool, error) {
	info, err := os.Stat(filepath.Join(r.gitDir(), "shallow"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// lostConnection matches what git prints when the connection failed or the server answered with a
// status of 5xx.
var lostConnection = lazyregexp.New(`unable to access|RPC failed|disconnect|early EOF|hung up|timed out|returned error: 5`)

// fetchError returns why a fetch failed, from what the server and git printed.
func (m *Remote) fetchError(out Output) error {
	own, server := splitStderr(out.Stderr)
	reason := messageLine(strings.Join(append(server, own...), "; "))
	code := httpStatus.FindStringSubmatch(reason)
	limit := limitOf(out, reason)
	switch {
	case limit != nil:
		return fmt.Errorf("fetching from %s: %w", m, limit)
	case strings.Contains(reason, "not our ref") || strings.Contains(reason, "unadvertised object"):
		return fmt.Errorf("%w: %s does not have it either: %s", ErrMissing, m, reason)
	case code != nil && kindOfStatus(code[1], true) == PushForbidden, strings.Contains(reason, "Authentication failed"), strings.Contains(reason, "could not read Username"):
		return fmt.Errorf("fetching from %s: the token may not read it: %s", m, reason)
	case lostConnection.MatchString(reason):
		return fmt.Errorf("fetching from %s: %w: %s", m, ErrUnreachable, reason)
	}
	return fmt.Errorf("fetching from %s: %s", m, reason)
}

// runRemote runs a command of git that talks to the remote. An exit code other than 0 is a result,
// and not an error. The output's Stderr contains no secret.
//
// The token goes through a pipe that git's own credential helper reads when the server asks for the
// token. It does not go through arguments, the environment or a file, because other processes could
// read these. The helper gives it to the remote's host only.
func (r *Repo) runRemote(ctx context.Context, m *Remote, args ...string) (Output, error) {
	config, remove, err := r.tempFile("config", m.config)
	if err != nil {
		return Output{}, err
	}
	defer remove()
	c := Call{MaxExit: AnyExit, Limit: 1 << 20, timeout: remoteTimeout, Env: []string{
		"GIT_ALLOW_PROTOCOL=" + m.url.Scheme,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=" + config,
	}}
	if len(m.ca) > 0 {
		ca, remove, err := r.tempFile("ca.pem", string(m.ca))
		if err != nil {
			return Output{}, err
		}
		defer remove()
		c.Env = append(c.Env, "GIT_SSL_CAINFO="+ca)
	}
	if m.noProxy != "" {
		c.Env = append(c.Env, "no_proxy="+m.noProxy, "NO_PROXY="+m.noProxy)
	}
	if !m.token.IsZero() {
		pipe, err := m.tokenPipe()
		if err != nil {
			return Output{}, err
		}
		defer pipe.Close()
		c.files = []*os.File{pipe}
	}
	trace, variables, err := newAnswerTrace(firstFile + len(c.files))
	if err != nil {
		return Output{}, err
	}
	c.files, c.Env = append(c.files, trace.write), append(c.Env, variables...)
	out, err := r.Run(ctx, c, args...)
	out.Stderr, out.wait = m.redact(out.Stderr), trace.end()
	return out, err
}

// firstFile is the descriptor of the first of Call.files.
const firstFile = 3

// tokenPipe returns a pipe that contains the token as a line of git's credential store.
func (m *Remote) tokenPipe() (*os.File, error) {
	line := (&url.URL{Scheme: m.url.Scheme, Host: m.url.Host, User: url.UserPassword("x-access-token", m.token.Reveal())}).String() + "\n"
	if len(line) > 4096 {
		return nil, errors.New("the token is too long") // for a pipe that nobody reads yet
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe for the token: %w", err)
	}
	_, err = io.WriteString(write, line)
	if err = cmp.Or(err, write.Close()); err != nil {
		_ = read.Close()
		return nil, fmt.Errorf("writing the token to a pipe: %w", err)
	}
	return read, nil
}

// redact removes the secrets from what git or the server printed.
func (m *Remote) redact(output string) string {
	output = m.token.Redact(output)
	for _, h := range m.hidden {
		output = strings.ReplaceAll(output, h, "***")
	}
	return output
}

// splitStderr returns the lines that git printed, its own and the server's, without empty ones. It
// leaves out that git cannot lock the store of credentials, which is a pipe here.
func splitStderr(stderr string) (own, server []string) {
	for _, line := range strings.FieldsFunc(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		rest, fromServer := strings.CutPrefix(line, "remote:")
		switch line = messageLine(rest); {
		case line == "" || strings.Contains(line, "credential storage lock"):
		case fromServer:
			server = append(server, line)
		default:
			own = append(own, line)
		}
	}
	return own, server
}

// messageLine makes a foreign text fit into a message: one line of at most 600 characters.
func messageLine(s string) string { return text.Truncate(text.OneLine(s), 600) }
