package cli

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

// connection says how GitHub is reached.
type connection struct {
	tok     token.Token
	apiURL  string // "" for GitHub.com
	proxy   string
	noProxy string
	caFile  []byte
	pace    githubapi.PaceConfig
	log     func(string)
	agent   string
	graphQL string
}

// connectFromEnv fills in what the environment of a workflow run or of a shell says.
func connectFromEnv(w World) connection {
	c := connection{
		apiURL: w.Getenv("GITHUB_API_URL"), graphQL: w.Getenv("GITHUB_GRAPHQL_URL"),
		agent: "airlock/" + versionOf(w),
	}
	secret := w.Getenv("GITHUB_TOKEN")
	if secret == "" {
		secret = w.Getenv("GH_TOKEN")
	}
	api := c.apiURL
	if api == "" {
		api = githubapi.DefaultAPIURL
	}
	c.tok = token.New(secret, api)
	return c
}

// trustProxyOf takes the proxy from the environment, which every earlier step of
// a job can set: only on the user's word.
func (c *connection) trustProxyOf(getenv func(string) string) error {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if c.proxy == "" {
			c.proxy = getenv(name)
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if c.noProxy == "" {
			c.noProxy = getenv(name)
		}
	}
	if file := getenv("SSL_CERT_FILE"); file != "" && len(c.caFile) == 0 {
		pem, err := readCertificates(file)
		if err != nil {
			return fmt.Errorf("SSL_CERT_FILE: %w", err)
		}
		c.caFile = pem
	}
	return nil
}

// remote opens the repository at the address for cloning, with the same token,
// certificates and proxy as the API.
func (c connection) remote(cloneURL string) (*gitrepo.Remote, error) {
	return gitrepo.NewRemote(gitrepo.RemoteOptions{URL: cloneURL, Token: c.tok, CAPEM: c.caFile, Proxy: c.proxy, NoProxy: c.noProxy, AllowLoopback: true})
}

// open returns a client that holds the token; nil without one.
func (c connection) open() (*githubapi.Client, error) {
	if c.tok.IsZero() {
		return nil, nil
	}
	transport, err := githubapi.NewTransport(githubapi.TransportOptions{CAFile: c.caFile, Proxy: c.proxy, NoProxy: c.noProxy})
	if err != nil {
		return nil, usageError(err)
	}
	client, err := githubapi.New(githubapi.Options{
		Token: c.tok, APIURL: c.apiURL, GraphQLURL: c.graphQL, Transport: transport,
		Log: c.log, UserAgent: c.agent, Pace: c.pace,
	})
	if err != nil {
		return nil, usageError(err)
	}
	return client, nil
}
