package githubapi_test

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestTransportIgnoresTheEnvironment plays an earlier step of the job that sets a proxy and
// certificates of its own to catch the token.
func TestTransportIgnoresTheEnvironment(t *testing.T) {
	thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the thief was asked")
	}))
	t.Cleanup(thief.Close)
	thief.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, certPEM(thief), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"} {
		t.Setenv(name, thief.URL)
	}
	t.Setenv("SSL_CERT_FILE", ca)
	t.Setenv("SSL_CERT_DIR", filepath.Dir(ca))
	tr := transport(t, githubapi.TransportOptions{})
	if tr.Proxy != nil {
		t.Error("a proxy is set")
	}
	// The thief's certificate is not trusted, although the environment names it.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, thief.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := tr.RoundTrip(req); err == nil {
		resp.Body.Close()
		t.Error("the thief's certificate was accepted")
	}
	c := plainClient(t, thief.URL, tr)
	_, err = c.CreateIssueComment(t.Context(), repo, 1, "x")
	if !errors.Is(err, githubapi.Unreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("err = %v: a refused certificate does not make a write ambiguous", err)
	}
}

func certPEM(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func TestCAFile(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	srv := httptest.NewTLSServer(s)
	t.Cleanup(srv.Close)
	s.SetBaseURL(srv.URL)
	c := plainClient(t, srv.URL, transport(t, githubapi.TransportOptions{CAFile: certPEM(srv)}))
	if _, err := c.GetIssue(t.Context(), repo, 1); err != nil {
		t.Error(err)
	}
	c = plainClient(t, srv.URL, transport(t, githubapi.TransportOptions{}))
	if _, err := c.GetIssue(t.Context(), repo, 1); !errors.Is(err, githubapi.Unreachable) || !strings.Contains(err.Error(), "ca-file") {
		t.Errorf(`without the certificate: %v, want Unreachable with "ca-file"`, err)
	}
	if _, err := githubapi.NewTransport(githubapi.TransportOptions{CAFile: []byte("no certificate")}); err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf(`err = %v, want one with "PEM"`, err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	tr := transport(t, githubapi.TransportOptions{Proxy: proxy.URL, NoProxy: "direct.example"})
	c := plainClient(t, "https://api.github.com", tr)
	_, err := c.CreateIssueComment(t.Context(), repo, 1, "x")
	if err == nil || len(asked) == 0 || asked[0] != "CONNECT api.github.com:443" {
		t.Errorf("asked %q, err = %v", asked, err)
	}
	for host, want := range map[string]bool{"https://api.github.com": true, "https://direct.example": false} {
		u, _ := url.Parse(host)
		p, err := tr.Proxy(&http.Request{URL: u})
		if err != nil || (p != nil) != want {
			t.Errorf("%s: proxy %v, %v", host, p, err)
		}
	}
	for _, bad := range []string{"proxy:3128", "ftp://x", "http://", "::"} {
		if _, err := githubapi.NewTransport(githubapi.TransportOptions{Proxy: bad}); err == nil {
			t.Errorf("proxy %q was accepted", bad)
		}
	}
}

// TestTransportDoesNotSpeakHTTP2 asks a server that offers HTTP/2.
func TestTransportDoesNotSpeakHTTP2(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	versions := map[string]bool{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions[r.Proto] = true
		s.ServeHTTP(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	s.SetBaseURL(srv.URL)
	c := plainClient(t, srv.URL, transport(t, githubapi.TransportOptions{CAFile: certPEM(srv)}))
	if _, err := c.GetIssue(t.Context(), repo, 1); err != nil {
		t.Fatal(err)
	}
	if !versions["HTTP/1.1"] || len(versions) != 1 {
		t.Errorf("requests came by %v", versions)
	}
}

func TestTransportWantsModernTLS(t *testing.T) {
	t.Parallel()
	if v := transport(t, githubapi.TransportOptions{}).TLSClientConfig.MinVersion; v < tls.VersionTLS12 {
		t.Errorf("MinVersion = %x", v)
	}
}
