package githubapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// TransportOptions describe how connections are made.
type TransportOptions struct {
	CAFile  []byte // PEM certificates to trust in addition to the system's
	Proxy   string // http, https or socks5 URL; empty: connect directly
	NoProxy string // hosts to reach without the proxy, as in NO_PROXY
}

// NewTransport returns a transport that takes nothing from the environment: no
// proxy, and no certificates from SSL_CERT_FILE or SSL_CERT_DIR. An earlier step
// of a job can set these, and would then be handed the token. It speaks HTTP/1.1 alone:
// with GODEBUG=http2debug=2, the standard library's HTTP/2 prints every header that it
// sends, the token's too.
func NewTransport(o TransportOptions) (*http.Transport, error) {
	roots, err := systemRoots(os.ReadFile)
	if err != nil {
		return nil, err
	}
	if len(o.CAFile) > 0 && !roots.AppendCertsFromPEM(o.CAFile) {
		return nil, errors.New("the CA file contains no certificate that can be read: give one or more in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	t := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:   15 * time.Second,
		IdleConnTimeout:       60 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   4,
		Protocols:             new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, errors.New("the proxy cannot be used: give a URL such as http://proxy.example:3128")
		}
		choose := (&httpproxy.Config{HTTPProxy: o.Proxy, HTTPSProxy: o.Proxy, NoProxy: o.NoProxy}).ProxyFunc()
		t.Proxy = func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
	}
	return t, nil
}

// systemRoots reads the system's certificates. On most Unix systems crypto/x509 would let the
// environment name other files, so the usual files are read directly. On Windows, macOS and iOS the
// system's own verifier has the certificates.
func systemRoots(readFile func(string) ([]byte, error)) (*x509.CertPool, error) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || runtime.GOOS == "ios" {
		return x509.SystemCertPool()
	}
	pool := x509.NewCertPool()
	tried := []string{
		"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Alpine, Arch
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
		"/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem", // SUSE
		"/etc/ssl/cert.pem",      // Alpine, the BSDs
		"/usr/local/etc/ssl/cert.pem",
	}
	for _, name := range tried {
		data, err := readFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the system's certificates cannot be read: %w", err)
		}
		if pool.AppendCertsFromPEM(data) {
			return pool, nil
		}
	}
	// Without any, connections fail with a message about the certificate, unless
	// there is a CA file.
	return pool, nil
}
