//go:build image

package main_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// apiName is the API's host, which the container resolves to a loopback address. It is a name,
// because Go's HTTP client uses no proxy of the environment for a loopback address.
const apiName = "api.github.test"

// authority is a certificate authority, and a certificate that it issued for apiName.
type authority struct {
	pem  string
	leaf tls.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: apiName}, DNSNames: []string{apiName}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return authority{
		pem:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})),
		leaf: tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key},
	}
}

// thief is a proxy that impersonates the host a client asks for. It records the token of each
// request, "" for a request without one.
type thief struct {
	mu          sync.Mutex
	url         string
	connections int
	tokens      []string
}

func newThief(t *testing.T, a authority) *thief {
	t.Helper()
	th := &thief{}
	impostor := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		th.mu.Lock()
		th.tokens = append(th.tokens, r.Header.Get("Authorization"))
		th.mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
	})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		th.mu.Lock()
		th.connections++
		th.mu.Unlock()
		if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
			return
		}
		_ = impostor.Serve(&singleListener{conn: tls.Server(bufferedConn{conn, buf.Reader}, &tls.Config{Certificates: []tls.Certificate{a.leaf}})})
	}))
	t.Cleanup(srv.Close)
	th.url = srv.URL
	return th
}

func (th *thief) seen() (connections int, tokens []string) {
	th.mu.Lock()
	defer th.mu.Unlock()
	return th.connections, th.tokens
}

type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// singleListener is a listener that accepts one connection.
type singleListener struct{ conn net.Conn }

func (l *singleListener) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l *singleListener) Close() error   { return nil }
func (l *singleListener) Addr() net.Addr { return &net.TCPAddr{} }

// TestImageTakesNoProxyFromTheEnvironment checks rule R8 of docs/security.md with an
// attack: an earlier step puts its own proxy and certificates into the environment. A
// client that trusts the environment sends the token to that proxy, as the case
// trust-env shows.
func TestImageTakesNoProxyFromTheEnvironment(t *testing.T) {
	genuine, forged := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name    string
		inputs  []string
		env     bool      // the environment names the thief's proxy and certificates
		server  authority // the one that issued the API's certificate
		code    int
		want    string // on standard output
		writes  int
		proxied bool // the client connects to the thief's proxy
		stolen  bool // the thief gets the token
	}{
		{name: "nobody interferes", inputs: []string{"ca-file", "ca/genuine.pem"}, server: genuine, writes: 1},
		{name: "proxy and certificates", inputs: []string{"ca-file", "ca/genuine.pem"}, env: true, server: genuine, writes: 1},
		{name: "environment trusts a forged API", env: true, server: forged, code: 3, want: "certificate"},
		{name: "no certificate for the API", server: genuine, code: 3, want: "certificate"},
		{name: "input proxy", inputs: []string{"ca-file", "ca/genuine.pem", "proxy", "PROXY"}, server: genuine, code: 3, want: "certificate", proxied: true},
		{name: "trust-env", inputs: []string{"trust-env", "true"}, env: true, server: genuine, code: 3, proxied: true, stolen: true},
		{name: "trust-env, but certificates from the input", inputs: []string{"trust-env", "true", "ca-file", "ca/genuine.pem"}, env: true, server: genuine, code: 3, want: "certificate", proxied: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			thief := newThief(t, forged)
			s := githubtest.New(t, pullRequestFixture(), githubtest.Options{})
			api := httptest.NewUnstartedServer(s)
			api.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what is tested
			api.TLS = &tls.Config{Certificates: []tls.Certificate{c.server.leaf}}
			api.StartTLS()
			t.Cleanup(api.Close)
			_, port, err := net.SplitHostPort(api.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			s.SetBaseURL("https://" + net.JoinHostPort(apiName, port))

			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": threeLines, "ca/genuine.pem": genuine.pem})
			writeFile(j.t, filepath.Join(j.home, "forged.pem"), forged.pem)
			j.flags = []string{"--add-host", apiName + ":127.0.0.1"}
			j.input("config", "add-issue-comment:\n")
			for i, v := range c.inputs {
				if v == "PROXY" {
					c.inputs[i] = thief.url
				}
			}
			j.input(c.inputs...)
			if c.env {
				for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
					j.env[name] = thief.url
				}
				j.env["SSL_CERT_FILE"], j.env["SSL_CERT_DIR"] = "/github/home/forged.pem", "/github/home"
			}
			res := j.run()
			if res.code != c.code || !strings.Contains(res.stdout, c.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", res.code, c.code, c.want, res.stdout, res.stderr)
			}
			if len(s.Writes()) != c.writes {
				t.Errorf("%d writes, want %d", len(s.Writes()), c.writes)
			}
			if len(s.Requests()) > 0 && c.writes == 0 {
				t.Errorf("%d requests reached a server that should not be trusted", len(s.Requests()))
			}
			connections, tokens := thief.seen()
			if (connections > 0) != c.proxied {
				t.Errorf("%d connections to the proxy, want some: %t", connections, c.proxied)
			}
			if (len(tokens) > 0) != c.stolen || slices.Contains(tokens, "") {
				t.Errorf("the proxy received the tokens %q, want some: %t", tokens, c.stolen)
			}
		})
	}
}
