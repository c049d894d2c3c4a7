//go:build unix

package gitrepo_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

func TestHTTPSTrustsTheGivenCertificatesOnly(t *testing.T) {
	s, c, _, _, three, _ := published(t)
	secure := httptest.NewTLSServer(s.Config.Handler)
	defer secure.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	for trusted, ok := range map[string]bool{ca: true, "": false} {
		m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: secure.URL + "/o/r.git", Token: token.New(secret, secure.URL), CAPEM: []byte(trusted)})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: "x"})
		var failed *gitrepo.PushError
		if ok && err != nil || !ok && (!errors.As(err, &failed) || failed.Kind != gitrepo.PushUnreachable || !strings.Contains(err.Error(), "certificate")) {
			t.Errorf("with %q: %v", trusted, err)
		}
	}
}

func TestProxy(t *testing.T) {
	s, c, _, _, three, _ := published(t)
	var through atomic.Int64
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL = r.In.URL }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		if r.Header.Get("Proxy-Authorization") == "" {
			w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
			http.Error(w, "", http.StatusProxyAuthRequired)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("user", "pass-word%")
	opt := gitrepo.RemoteOptions{URL: s.repoURL(), Token: token.New(secret, s.URL), AllowLoopback: true, Proxy: address.String()}
	push := func(branch string) error {
		m, err := gitrepo.NewRemote(opt)
		if err != nil {
			t.Fatal(err)
		}
		return c.Open().Push(t.Context(), m, gitrepo.PushRequest{Tip: three, Branch: branch})
	}
	if err := push("x"); err != nil || through.Load() == 0 {
		t.Errorf("%d requests went through the proxy: %v", through.Load(), err)
	}
	used := through.Load()
	opt.NoProxy = "127.0.0.1"
	if err := push("y"); err != nil || through.Load() != used {
		t.Errorf("%d requests went through the proxy: %v", through.Load()-used, err)
	}
	opt.NoProxy = ""
	proxy.Close()
	if err := push("z"); err == nil || strings.Contains(err.Error(), "pass-word") {
		t.Errorf("without the proxy: %v", err)
	}
}
