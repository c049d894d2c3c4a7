package doors

import (
	"cmp"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

// Connection describes how GitHub is reached. The zero value has no token: it reaches only public
// repositories, through Remote, and has no Client.
type Connection struct {
	Token      token.Token
	APIURL     string // "" for github.com
	GraphQLURL string // "" to derive it from APIURL
	Proxy      string
	NoProxy    string
	CAFile     []byte // PEM certificates to trust besides the system's
	Pace       githubapi.PaceConfig
	Log        func(string)
	UserAgent  string
}

// EnvironmentConnection returns the connection that a workflow run's or a shell's
// environment describes, with the token of GITHUB_TOKEN or GH_TOKEN.
func EnvironmentConnection(getenv func(string) string, version string) Connection {
	c := Connection{APIURL: getenv("GITHUB_API_URL"), GraphQLURL: getenv("GITHUB_GRAPHQL_URL"), UserAgent: "airlock/" + version}
	c.Token = token.New(cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN")), cmp.Or(c.APIURL, githubapi.DefaultAPIURL))
	return c
}

// Route is how a user wants GitHub to be reached. Errors name its settings as flags.
type Route struct {
	Proxy    string
	CAFile   string        // the file of PEM certificates to trust besides the system's; "" for none
	TrustEnv bool          // see TrustEnvironment
	Pace     time.Duration // between two writes; 0 paces nothing
}

// Connection returns the connection that the environment describes, with the settings of the route.
// Its error carries its exit code.
func (r Route) Connection(getenv func(string) string, version string, log func(string)) (Connection, error) {
	c := EnvironmentConnection(getenv, version)
	c.Proxy, c.Log = r.Proxy, log
	c.Pace = githubapi.PaceConfig{Spacing: r.Pace}
	if r.Pace <= 0 {
		c.Pace = githubapi.Unpaced()
	}
	if r.CAFile != "" {
		pem, err := ReadCertificates(r.CAFile)
		if err != nil {
			return c, exitcode.UsageError(fmt.Errorf("--ca-file: %w", err))
		}
		c.CAFile = pem
	}
	if r.TrustEnv {
		if err := c.TrustEnvironment(getenv); err != nil {
			return c, exitcode.UsageError(err)
		}
	}
	return c, nil
}

// TrustEnvironment takes proxy and certificates from the environment where the
// connection has none yet. Every earlier step of a job can set it, so this is done only
// when the user asks for it.
func (c *Connection) TrustEnvironment(getenv func(string) string) error {
	c.Proxy = cmp.Or(c.Proxy, getenv("HTTPS_PROXY"), getenv("https_proxy"))
	c.NoProxy = cmp.Or(c.NoProxy, getenv("NO_PROXY"), getenv("no_proxy"))
	if file := getenv("SSL_CERT_FILE"); file != "" && len(c.CAFile) == 0 {
		pem, err := ReadCertificates(file)
		if err != nil {
			return fmt.Errorf("SSL_CERT_FILE: %w", err)
		}
		c.CAFile = pem
	}
	return nil
}

// MaxCertificates is how large a file of certificates may be, in bytes: the bundles of
// operating systems have a quarter of a megabyte.
const MaxCertificates = 16 << 20

// ReadCertificates reads a file of certificates that the user names.
func ReadCertificates(path string) ([]byte, error) {
	f, err := action.OpenUserFile(path, nil, MaxCertificates)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}

// Remote opens the repository at the address for cloning, with the same token,
// certificates and proxy as the API.
func (c Connection) Remote(cloneURL string) (*gitrepo.Remote, error) {
	return gitrepo.NewRemote(gitrepo.RemoteOptions{URL: cloneURL, Token: c.Token, CAPEM: c.CAFile, Proxy: c.Proxy, NoProxy: c.NoProxy, AllowLoopback: true})
}

// Client returns a client for the API that uses the token, or nil without a token. Its
// errors carry the exit code for wrong usage.
func (c Connection) Client() (*githubapi.Client, error) {
	if c.Token.IsZero() {
		return nil, nil
	}
	transport, err := githubapi.NewTransport(githubapi.TransportOptions{CAFile: c.CAFile, Proxy: c.Proxy, NoProxy: c.NoProxy})
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	client, err := githubapi.New(githubapi.Options{
		Token: c.Token, APIURL: c.APIURL, GraphQLURL: c.GraphQLURL, Transport: transport,
		Log: c.Log, UserAgent: c.UserAgent, Pace: c.Pace,
	})
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	return client, nil
}
