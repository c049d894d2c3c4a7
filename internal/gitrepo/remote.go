package gitrepo

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/token"
)

// RemoteOptions say where a repository is fetched from and pushed to, and how.
type RemoteOptions struct {
	URL     string      // https, without user and query; as GitHub's API gives it (clone_url)
	Token   token.Token // zero: none, which public repositories can be fetched with
	CAPEM   []byte      // certificates to trust in place of the system's; nil: the system's
	Proxy   string      // "http://host:port", likewise https and socks5h; "": none
	NoProxy string      // hosts that are reached without it, as the variable NO_PROXY lists them
	// AllowLoopback allows http to an address of this machine, for tests.
	AllowLoopback bool
}

// Remote is a repository on a server. It prints without its secrets.
type Remote struct {
	url     *url.URL
	token   token.Token
	config  string // of git, for this remote
	ca      []byte // certificates to trust in place of the system's
	noProxy string
	hidden  []string // what messages must not show, besides the token
}

// String returns the URL, which holds no secret.
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
			return nil, fmt.Errorf("%s has a control character in it", name)
		}
	}
	if opt.Proxy != "" {
		p, err := url.Parse(opt.Proxy)
		if err != nil || p.Host == "" || !strings.Contains(" http https socks5 socks5h ", " "+p.Scheme+" ") {
			return nil, errors.New("the proxy is not written as http://HOST:PORT") // it may hold a password
		}
		if secret, ok := p.User.Password(); ok && secret != "" {
			m.hidden = append(m.hidden, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	m.config = remoteConfig(opt)
	return m, nil
}

// parseRemote allows nothing but a plain URL: git would take other forms for a
// local path, a program or an option.
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

func notInURL(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"'<>\^{|}`+"`", c) }

// cutUser leaves out what may be a password.
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

// checkHome refuses a token that belongs to another host.
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
		host, have := strings.ToLower(u.Hostname()), home.Hostname()
		if have == host || have == "api."+host {
			return nil
		}
	}
	return fmt.Errorf("refusing to send the GitHub token to %s: it belongs to %q", u.Host, t.Origin())
}

// remoteConfig is git's configuration for a remote, in a file because a proxy's
// password may be in it. It does not hold the token.
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
		fmt.Fprintf(&b, "\tproxy = \"%s\"\n", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(opt.Proxy))
	}
	// Borrowed objects: git would run in the clone to list what its refs name.
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
