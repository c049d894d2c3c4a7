package githubapi_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// TestNeverSent: a write that certainly did not leave is tried again, and is not
// reported as ambiguous.
func TestNeverSent(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	var tries atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	for name, c := range map[string]*githubapi.Client{
		"nobody listens":      plainClient(t, "http://"+closed.Addr().String(), transport(t, githubapi.TransportOptions{})),
		"the proxy refuses":   plainClient(t, "https://api.github.com", transport(t, githubapi.TransportOptions{Proxy: proxy.URL})),
		"the proxy is not on": plainClient(t, "https://api.github.com", transport(t, githubapi.TransportOptions{Proxy: "http://" + closed.Addr().String()})),
	} {
		if _, err := c.CreateIssueComment(t.Context(), repo, 1, "x"); !errors.Is(err, githubapi.Unreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := tries.Load(); n != 4 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// TestSentIsAmbiguous: the connection stood, so the write may have arrived.
func TestSentIsAmbiguous(t *testing.T) {
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	c := plainClient(t, s.URL, transport(t, githubapi.TransportOptions{}))
	if _, err := c.CreateIssueComment(t.Context(), repo, 1, "x"); !errors.Is(err, githubapi.Ambiguous) || n.Load() != 1 {
		t.Errorf("err = %v after %d requests", err, n.Load())
	}
}
