package verify

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

// A private address is refused, by whatever name, unless the owner allows the host. An address that
// a stranger gives needs such a host even if it is public. A redirect never leads to another host.
func TestFetch(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect led to another host") }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" {
			t.Error("credentials were sent")
		}
		w.WriteHeader(http.StatusCreated)
		for range 1000 {
			_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
		}
	})
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/x", http.StatusFound) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "ftp://h/hunter2"+strings.Repeat("x", 100_000), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	server := httptest.NewServer(mux)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	whyIPv6 := "private"
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = l.Close()
	} else {
		whyIPv6 = "" // the system refuses it first, with a reason of its own
	}
	for _, c := range []struct {
		hosts     []string // that the owner allows
		url       string
		trust     acceptance.Trust
		redirects bool
		want      int    // 0: an error
		why       string // part of it, or of why a redirect was not followed; "" for none
	}{
		{nil, server.URL + "/ok", acceptance.Owner, true, 0, "private"},
		{nil, "http://localhost:" + port + "/ok", acceptance.Owner, true, 0, "private"},
		{nil, "http://[::1]:" + port + "/ok", acceptance.Owner, true, 0, whyIPv6},
		{nil, "http://[::ffff:127.0.0.1]:" + port + "/ok", acceptance.Owner, true, 0, "private"},
		{[]string{host}, server.URL + "/ok", acceptance.Owner, true, 201, ""},
		{[]string{"127.0.0.1"}, server.URL + "/ok", acceptance.Owner, true, 201, ""},
		{[]string{"127.0.0.1:1"}, server.URL + "/ok", acceptance.Owner, true, 0, "private"},
		{[]string{"LOCALHOST"}, "http://localhost:" + port + "/ok", acceptance.Owner, true, 201, ""},
		{[]string{host}, server.URL + "/here", acceptance.Owner, true, 201, ""},
		{[]string{host}, server.URL + "/here", acceptance.Owner, false, 302, ""},
		{[]string{"127.0.0.1"}, server.URL + "/away", acceptance.Owner, true, 302, "leads to another host or port than 127"},
		{[]string{host}, server.URL + "/long", acceptance.Owner, true, 302, `"ftp://h/***xxx`},
		{[]string{host}, server.URL + "/away", acceptance.Owner, false, 302, ""},
		{[]string{host}, server.URL + "/loop", acceptance.Owner, true, 302, "it comes after 5 others"},
		{nil, "http://user:pass@example.com/", acceptance.Owner, true, 0, "credentials"},
		{[]string{"example.com"}, "ftp://example.com/", acceptance.Owner, true, 0, "does not begin with http"},
		{nil, "http://", acceptance.Owner, true, 0, "names no host"},
		{nil, "http://a b/", acceptance.Owner, true, 0, "cannot be read"},
		{nil, "https://example.com/", acceptance.Stranger, true, 0, "example.com:443 is not among them"},
		{[]string{"[::1]:80"}, "https://[::1]/", acceptance.Stranger, true, 0, "[::1]:443 is not among them"},
		{[]string{host}, server.URL + "/ok", acceptance.Stranger, true, 201, ""},
	} {
		a, err := fetcher{c.hosts, maskHunter}.fetch(t.Context(), acceptance.Fetch{Method: "GET", URL: c.url, Redirects: c.redirects, Trust: c.trust})
		if a.Status != c.want || (err == nil) != (c.want != 0) || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q %s: %d, %v, want %d", c.hosts, c.url, a.Status, err, c.want)
		}
		if err == nil && (!strings.Contains(a.NotFollowed, c.why) || (a.NotFollowed == "") != (c.why == "") || len(a.NotFollowed) > 500) {
			t.Errorf("%q %s: not followed: %q, want %q", c.hosts, c.url, a.NotFollowed, c.why)
		}
		if len(a.Body) > maxBody {
			t.Errorf("%s: %d bytes are kept", c.url, len(a.Body))
		}
	}
	server.Close()
	if err := reach(t.Context(), host); err == nil {
		t.Error("a closed port is reached")
	}
}

// A redirect is followed only to a URL of the same host that the criterion may name itself.
func TestFollows(t *testing.T) {
	for _, c := range []struct {
		hosts    []string
		from, to string
		owner    bool // whether an owner's redirect is followed
		stranger bool
	}{
		{[]string{"example.com:80"}, "http://example.com/", "http://example.com/x", true, true},
		{[]string{"example.com:80"}, "http://example.com/", "https://example.com/", true, false},
		{[]string{"example.com:443"}, "https://example.com/", "http://example.com/", true, false},
		{[]string{"example.com:80", "example.com:443"}, "http://example.com/", "https://example.com/", true, true},
		{[]string{"example.com:80", "example.com:443"}, "https://example.com/", "http://example.com/", true, true},
		{[]string{"example.com"}, "http://example.com/", "https://example.com/", true, true},
		{[]string{"example.com:80"}, "http://example.com:80/", "https://example.com:80/", true, true}, // the same port
		{[]string{"EXAMPLE.com:80"}, "http://example.com/", "http://Example.COM/x", true, true},
		{[]string{"EXAMPLE.com:80"}, "http://example.com/", "HTTPS://Example.COM/x", true, false},
		{[]string{"[::1]:80"}, "http://[::1]/", "https://[::1]/", true, false},
		{[]string{"::1"}, "http://[::1]/", "https://[::1]/", true, true},
		{[]string{"example.com"}, "http://example.com/", "http://example.com./", false, false},
		{[]string{"example.com"}, "http://example.com/", "http://example.com:8080/", false, false},
		{[]string{"example.com"}, "http://example.com/", "http://www.example.com/", false, false},
		{[]string{"example.com"}, "http://example.com/", "http://user@example.com/", false, false},
		{[]string{"example.com"}, "http://example.com/", "http://user:pass@example.com/", false, false},
		{[]string{"example.com"}, "http://example.com/", "ftp://example.com/", false, false},
		{[]string{"example.com"}, "http://example.com/", "gopher://example.com/", false, false},
		{[]string{"example.com"}, "http://example.com/", "file:///etc/passwd", false, false},
		{[]string{"example.com"}, "http://example.com/", "mailto:a@example.com", false, false},
		{nil, "http://example.com/", "https://example.com/", true, false},
	} {
		f := fetcher{hosts: c.hosts}
		from, to := parsed(t, c.from), parsed(t, c.to)
		if owner, stranger := f.follows(acceptance.Owner, from, to) == nil, f.follows(acceptance.Stranger, from, to) == nil; owner != c.owner || stranger != c.stranger {
			t.Errorf("%q %s to %s: owner %t, stranger %t", c.hosts, c.from, c.to, owner, stranger)
		}
	}
}

func parsed(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A private address is refused at a port that the owner has not allowed, even after a redirect from
// one that is allowed.
func TestRedirectToAnotherPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:80")
	if err != nil {
		t.Skip(err) // only root may listen on it
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://127.0.0.1/")
		w.WriteHeader(http.StatusMovedPermanently)
	})}}
	server.Start()
	defer server.Close()
	get := acceptance.Fetch{Method: "GET", URL: "http://127.0.0.1/", Redirects: true, Trust: acceptance.Stranger}
	f := fetcher{[]string{"127.0.0.1:80"}, maskHunter}
	const why = `the redirect to "https://127.0.0.1/" is not followed: criteria from others may read only hosts that the owner allows (acceptance: allowed-hosts), and 127.0.0.1:443 is not among them`
	if a, err := f.fetch(t.Context(), get); a.Status != http.StatusMovedPermanently || a.NotFollowed != why || err != nil {
		t.Errorf("%d, %q, %v", a.Status, a.NotFollowed, err)
	}
	get.Trust = acceptance.Owner
	if _, err := f.fetch(t.Context(), get); err == nil || !strings.Contains(err.Error(), "the address 127.0.0.1 is private") {
		t.Error(err)
	}
	f.hosts = []string{"127.0.0.1"}
	if _, err := f.fetch(t.Context(), get); err == nil || strings.Contains(err.Error(), "private") { // nobody listens there
		t.Error(err)
	}
}

// A secret that the cut of an answer would split is masked.
func TestFetchMasksBeforeTheCut(t *testing.T) {
	before := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", before) + "hunter2" + strings.Repeat("y", 1<<20)))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for before = maxBody - 8; before <= maxBody; before++ {
		a, err := fetcher{[]string{host}, maskHunter}.fetch(t.Context(), acceptance.Fetch{Method: "GET", URL: server.URL, Trust: acceptance.Owner})
		if err != nil || len(a.Body) != maxBody || strings.Contains(string(a.Body), "h") {
			t.Errorf("a secret after %d bytes: %d bytes, ending in %q, %v", before, len(a.Body), a.Body[len(a.Body)-8:], err)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:4700::1": true, "127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "::1": false, "::": false, "fe80::1": false, "fd00::1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false, "2002:7f00:1::": false, "ff02::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public %t, want %t", address, got, want)
		}
	}
}
