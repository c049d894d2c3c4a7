package httpapi

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/runs"
)

// browser asks for pages as browsers do, and keeps its cookie.
type browser struct {
	*api
	cookie *http.Cookie
}

// visit asks for a page; a form that is not nil is posted to it. Headers are "Name: value"; one
// without a value is not sent.
func (b *browser) visit(path string, form url.Values, headers ...string) reply {
	b.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.url)
	}
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{res, string(raw)}
}

// signIn signs in with a token and keeps the cookie.
func (b *browser) signIn(token string) reply {
	b.t.Helper()
	r := b.visit("/ui/sign-in", url.Values{"token": {token}})
	for _, c := range r.Cookies() {
		b.cookie = &http.Cookie{Name: c.Name, Value: c.Value}
	}
	return r
}

// add adds a token and returns it.
func (b *browser) add(name string, scopes ...access.Scope) string {
	b.t.Helper()
	token, err := b.tokens.Add(b.t.Context(), name, scopes...)
	if err != nil {
		b.t.Fatal(err)
	}
	return token
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	if r := b.visit("/", nil); r.StatusCode != 200 || !strings.Contains(r.body, "the server&#39;s user") || strings.Contains(r.body, "Sign out") {
		t.Errorf("before the first token: %d %s", r.StatusCode, r.body)
	}
	token := b.add("ann", access.Run)
	for _, path := range []string{"/", "/ui/agents", "/ui/runs/x", "/ui/loops?repository=a%2Fb", "/ui/runs/x/log", "/ui/runs/x/events"} {
		r := b.visit(path, nil)
		if want := "/ui/sign-in?next=" + url.QueryEscape(path); r.StatusCode != 303 || r.Header.Get("Location") != want {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Header)
		}
	}
	b.visit("/ui/runs/x/stop", url.Values{}).want(t, 401, "You are not signed in")
	for _, form := range []url.Values{nil, {"p.prompt": {"x"}}} { // an agent may be called like the page
		if r := b.visit("/ui/agents/sign-in", form); r.StatusCode != 303 && r.StatusCode != 401 {
			t.Errorf("%d %s", r.StatusCode, r.body)
		}
	}
	b.visit("/ui/sign-in", nil).want(t, 200, `type="password"`)
	for _, wrong := range []string{"", "airlock_wrong", token + "x"} {
		if r := b.signIn(wrong); r.StatusCode != 401 || len(r.Cookies()) > 0 || !strings.Contains(r.body, "The token is not known") {
			t.Errorf("%q: %d %s", wrong, r.StatusCode, r.body)
		}
	}
	b.cookie = &http.Cookie{Name: "airlock-session", Value: "planted-by-somebody-else"}
	r := b.signIn(" " + token + "\n")
	if r.StatusCode != 303 || r.Header.Get("Location") != "/" || len(r.Cookies()) != 1 {
		t.Fatalf("%d %s %s", r.StatusCode, r.Header, r.body)
	}
	c := r.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != int((12*time.Hour).Seconds()) || c.Path != "/" || c.Domain != "" || c.Secure || strings.Contains(r.Header.Get("Set-Cookie"), token) || c.Value == "planted-by-somebody-else" || len(c.Value) < 50 {
		t.Errorf("the cookie is %s", r.Header.Get("Set-Cookie"))
	}
	if r := b.visit("/", nil); r.StatusCode != 200 || !strings.Contains(r.body, "ann") || !strings.Contains(r.body, "Sign out") || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	// The cookie is for pages alone.
	if r := b.visit("/agents", nil); r.StatusCode != 401 {
		t.Errorf("the API takes a cookie: %d", r.StatusCode)
	}
	if r := b.visit("/runs", nil); r.StatusCode != 401 {
		t.Errorf("the API takes a cookie: %d", r.StatusCode)
	}
	// Signing in again ends the earlier session.
	old := b.cookie
	b.signIn(token)
	fresh := b.cookie
	b.cookie = old
	if r := b.visit("/", nil); r.StatusCode != 303 {
		t.Error("the session before goes on")
	}
	b.cookie = fresh
	if r := b.visit("/ui/sign-out", url.Values{}); r.StatusCode != 303 || len(r.Cookies()) != 1 || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %s", r.StatusCode, r.Header)
	}
	if r := b.visit("/", nil); r.StatusCode != 303 {
		t.Error("a session goes on after signing out")
	}
	b.signIn(token)
	if err := b.tokens.Revoke(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	b.add("other", access.Read)
	if r := b.visit("/", nil); r.StatusCode != 303 {
		t.Error("a session outlives its token")
	}
	if strings.Contains(b.log.String(), token) || !strings.Contains(b.log.String(), "who=ann method=sign-in") || !strings.Contains(b.log.String(), `who="from 127.0.0.1" method=sign-in path=/ui/sign-in status=401`) {
		t.Error(b.log.String())
	}
}

func TestSessionCookieIsSecureBeyondLoopback(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, func(c *Config) { c.Public = true })}
	r := b.signIn(b.add("ann", access.Read))
	if c := r.Cookies(); len(c) != 1 || c[0].Name != "__Host-airlock-session" || !c[0].Secure {
		t.Errorf("%s", r.Header)
	}
	if r := b.visit("/", nil); r.StatusCode != 200 {
		t.Errorf("%d", r.StatusCode)
	}
	loopback := &browser{api: start(t, nil)}
	r = loopback.visit("/ui/sign-in", url.Values{"token": {loopback.add("ann", access.Read)}}, "X-Forwarded-Proto: https")
	if c := r.Cookies(); len(c) != 1 || c[0].Name != "__Host-airlock-session" || !c[0].Secure {
		t.Errorf("with a proxy in front: %s", r.Header)
	}
	if c := sessionCookie(&http.Request{TLS: &tls.ConnectionState{}}, false); c.Name != "__Host-airlock-session" || !c.Secure {
		t.Errorf("under TLS: %s", c)
	}
}

// TestWhereSigningInLeads asserts that nobody's link sends a visitor to another site.
func TestWhereSigningInLeads(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	token := b.add("ann", access.Read)
	for next, want := range map[string]string{
		"": "/", "/": "/", "/ui/runs": "/ui/runs", "/ui/runs?status=failed": "/ui/runs?status=failed", "/ui/loops/octo%2Fshop%237.1": "/ui/loops/octo%2Fshop%237.1",
		"https://evil.example/ui/": "/", "//evil.example/ui/": "/", `/\evil.example`: "/", "/\t/evil.example": "/", "javascript:alert(1)": "/", "/agents": "/", "ui/runs": "/", "/ui/sign-in": "/",
		"/ui/\r\nX-Evil: 1": "/", "/%2F/evil.example": "/", "http:/ui/": "/", "/ui/../../evil": "/ui/../../evil", `/ui/\evil`: "/",
	} {
		r := b.visit("/ui/sign-in", url.Values{"token": {token}, "next": {next}})
		if got := r.Header.Get("Location"); r.StatusCode != 303 || got != want || r.Header.Get("X-Evil") != "" {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// TestPagesAreGuarded asserts that the pages answer only requests to the server's own names and
// from its own site, and that a form without an Origin of the server is refused.
func TestPagesAreGuarded(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, func(c *Config) { c.Hosts = []string{"coordinator.example"} })}
	for header, status := range map[string]int{
		"Host: coordinator.example": 200, "Host: evil.example": 403, "Host: 127.0.0.1.evil.example": 403,
		"Origin: http://evil.example": 403, "Origin: null": 403, "Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403, "Sec-Fetch-Site: none": 200,
	} {
		for _, path := range []string{"/", "/ui/agents", "/ui/sign-in"} {
			want := status
			if status == 200 && path == "/ui/sign-in" {
				want = 303 // nobody has to sign in before the first token
			}
			if r := b.visit(path, nil, header); r.StatusCode != want || status == 403 && strings.Contains(r.body, "phase-validation") {
				t.Errorf("%s, %s: %d %s, want %d", path, header, r.StatusCode, r.body, want)
			}
		}
	}
	for _, headers := range [][]string{{"Origin: http://evil.example"}, {"Origin: null"}, {"Origin: "}, {"Origin: " + b.url, "Sec-Fetch-Site: cross-site"}} {
		for _, path := range []string{"/ui/agents/collect-output", "/ui/sign-in", "/ui/sign-out", "/ui/runs/x/stop", "/ui/loops/x/decision"} {
			if r := b.visit(path, url.Values{"p.lines": {"{}"}}, headers...); r.StatusCode != 403 {
				t.Errorf("%s, %s: %d", path, headers, r.StatusCode)
			}
		}
	}
	if r := b.do("GET", "/runs", ""); r.body != `{"runs":[]}`+"\n" {
		t.Errorf("a form of another site has started %s", r.body)
	}
	// A person who follows a link from elsewhere is asked, and sees nothing before.
	r := b.visit("/ui/agents?x=1", nil, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	if r.StatusCode != 403 || !strings.Contains(r.body, `<a href="/ui/agents?x=1">`) || strings.Contains(r.body, "phase-validation") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := b.visit("/ui/agents", nil, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"); strings.Contains(r.body, `href="/ui/agents"`) {
		t.Error("a frame is led on")
	}
	for _, path := range []string{"/", "/ui/agents", "/ui/nothing"} {
		h := b.visit(path, nil).Header
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", path, csp)
		}
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s: %q", path, name, h.Get(name))
			}
		}
	}
}

// TestStartPageIsForBrowsers asserts that a request to "/" that does not name HTML in its Accept
// header, or posts something, gets the API's 404, and that what the page refers to is served.
func TestStartPageIsForBrowsers(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	for _, accept := range []string{"", "*/*", "application/json"} {
		if r := b.visit("/", nil, "Accept: "+accept); r.StatusCode != 404 || r.code() != "not_found" {
			t.Errorf("%q: %d %s", accept, r.StatusCode, r.body)
		}
	}
	if r := b.visit("/", url.Values{}); r.StatusCode != 404 || r.code() != "not_found" {
		t.Errorf("a form: %d %s", r.StatusCode, r.body)
	}
	b.visit("/nothing", nil).wantError(t, 404, "not_found")
	page := b.visit("/", nil).body
	assets := regexp.MustCompile(`(?:src|href)="(/ui/[^"]+-[0-9a-f]+\.(?:js|css))"`).FindAllStringSubmatch(page, -1)
	if len(assets) != 2 {
		t.Errorf("the page refers to %q, want one script and one style sheet", assets)
	}
	for _, m := range assets {
		r := b.visit(m[1], nil)
		if r.StatusCode != 200 || len(r.body) < 500 || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/") {
			t.Errorf("%s: %d %s", m[1], r.StatusCode, r.Header)
		}
	}
	if strings.Count(page, "<script") != 1 || strings.Contains(page, "<style") || strings.Contains(page, " style=") || strings.Contains(page, "http-equiv") {
		t.Error(page)
	}
}

func TestPagesObeyTheRate(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, func(c *Config) { c.Rate = 2 })}
	b.add("ann", access.Read)
	last := reply{}
	for range 6 {
		last = b.signIn("airlock_wrong")
	}
	if last.StatusCode != 429 || last.Header.Get("Retry-After") == "" || !strings.Contains(last.body, "requests a second") {
		t.Errorf("six attempts to sign in at once pass a limit of two a second: %d", last.StatusCode)
	}
	// A page asks the API several times, and counts once.
	c := &browser{api: start(t, func(c *Config) { c.Rate = 1 })}
	c.visit("/", nil).want(t, 200)
	if strings.Contains(b.log.String(), "airlock_wrong") {
		t.Error("the log has what was tried as a token")
	}
}

const crawler = `{"name":"crawler","type":"deterministic","description":"<b>Crawls</b>","command":["sh","-c","printf '\\033[31mred\\033[0m </pre><script>alert(1)</script>\\n' >&2; cat"],
	"parameters_schema":{"type":"object","required":["url","depth"],"additionalProperties":false,"definitions":{"list":{"type":"array","items":{"$ref":"#/definitions/word"}},"word":{"type":"string"}},"properties":{
	"url":{"type":"string","format":"uri","description":"</textarea><script>alert(2)</script>"},"depth":{"type":"integer","minimum":1,"maximum":5,"default":2},"ratio":{"type":"number"},"follow":{"type":"boolean"},"mode":{"enum":["fast","full",3,null]},
	"tags":{"$ref":"#/definitions/list"},"sizes":{"type":"array","items":{"type":"integer"}},"headers":{"type":"object"},"note":{"type":["string","null"]},"a \"b\"":{"type":"string"},"x":true}}}`

func TestStartingARunByItsForm(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	for _, body := range []string{crawler, researcher} {
		if r := b.do("POST", "/agents", body); r.StatusCode != 201 {
			t.Fatal(r.body)
		}
	}
	page := b.visit("/ui/agents/crawler", nil)
	for _, want := range []string{`name="p.url"`, `1 to 5; default: 2`, `(required)`, `>full</option>`, `&lt;b&gt;Crawls`, `name="p.a &#34;b&#34;"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s in %s", want, page.body)
		}
	}
	if strings.Contains(page.body, "<script>") {
		t.Error("a description acts")
	}
	wrong := url.Values{"key": {"k1"}, "p.url": {"not a url"}, "p.depth": {"many"}, "p.headers": {"{\n  oops"}, "p.mode": {`"other"`}, "p.sizes": {"1\r\ntwo"}, "p.note": {"two\r\nlines <b>"}}
	r := b.visit("/ui/agents/crawler", wrong)
	for _, want := range []string{"Nothing was started", "&#39;not a url&#39; is not a valid URI", "&#39;many&#39; is not of type &#39;integer&#39;", "this is not JSON: line 2, column 3", "$.sizes[1]: &#39;two&#39;", `value="not a url"`, `value="many"`, "oops", "two\nlines &lt;b&gt;", `href="#p0"`} {
		if !strings.Contains(r.body, want) {
			t.Errorf("no %q in %s", want, r.body)
		}
	}
	if strings.Contains(r.body, "of type &#39;object&#39;") {
		t.Error("what is not JSON is called a wrong type, too")
	}
	if r.StatusCode != 400 || strings.Count(r.body, `aria-invalid="true"`) != 5 {
		t.Errorf("%d, %d fields are marked", r.StatusCode, strings.Count(r.body, `aria-invalid="true"`))
	}
	if list := b.do("GET", "/runs", ""); list.body != `{"runs":[]}`+"\n" {
		t.Errorf("started: %s", list.body)
	}

	good := url.Values{"key": {"k1"}, "p.url": {"https://example.org/"}, "p.depth": {" 3 "}, "p.ratio": {"1.50"}, "p.follow": {"false"}, "p.mode": {"3"}, "p.tags": {"a\r\nb c\r\n"}, "p.sizes": {"1\n2"}, "p.headers": {`{"A": 1}`}, "p.a \"b\"": {"odd"}, "p.x": {"null"}}
	r = b.visit("/ui/agents/crawler", good)
	address := r.Header.Get("Location")
	if r.StatusCode != 303 || !strings.HasPrefix(address, "/ui/runs/run_") {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if again := b.visit("/ui/agents/crawler", good); again.Header.Get("Location") != address {
		t.Errorf("the same form sent twice is two runs: %s", again.Header)
	}
	good.Set("p.depth", "4")
	if other := b.visit("/ui/agents/crawler", good); other.StatusCode != 303 || other.Header.Get("Location") == address {
		t.Errorf("another form with the same key: %d %s", other.StatusCode, other.Header)
	}
	id := strings.TrimPrefix(address, "/ui/runs/")
	const parameters = `{"url":"https://example.org/","depth":3,"ratio":1.50,"follow":false,"mode":3,"tags":["a","b c"],"sizes":[1,2],"headers":{"A":1},"a \"b\"":"odd","x":null}`
	ended := b.do("GET", "/runs/"+id+"/wait", "")
	var run runs.Run
	if err := json.Unmarshal([]byte(ended.body), &run); err != nil || string(run.Parameters) != parameters {
		t.Errorf("the parameters are %s", run.Parameters)
	}
	shown := b.visit(address, nil)
	for _, want := range []string{`<span class="badge ok">completed</span>`, "red &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;", "&#34;ratio&#34;: 1.50", "Run again with the same parameters"} {
		if !strings.Contains(shown.body, want) {
			t.Errorf("no %q in %s", want, shown.body)
		}
	}
	if strings.ContainsRune(shown.body, 0x1b) || strings.Contains(shown.body, "<script>") || strings.Contains(shown.body, "data-events") {
		t.Error("the log acts, or the page follows a run that has ended")
	}
	again := b.visit("/ui/agents/crawler?run="+id, nil)
	for _, want := range []string{`value="https://example.org/"`, `value="3"`, "a\nb c</textarea>", `<option value="3" selected>3</option>`, "\nodd</textarea>"} {
		if !strings.Contains(again.body, want) {
			t.Errorf("once more: no %q in %s", want, again.body)
		}
	}
	if r := b.visit("/ui/agents/crawler", url.Values{"json": {parameters}}); r.StatusCode != 303 {
		t.Errorf("as JSON: %d %s", r.StatusCode, r.body)
	}
	for text, want := range map[string]string{"": "this is not JSON", "[": "this is not JSON: line 1, column 2", "{}": "&#39;url&#39; is a required property", "null": "is not of type", `{"url":"https://e.example","depth":1,"y":2}`: "$.y"} {
		if r := b.visit("/ui/agents/crawler", url.Values{"json": {text}}); r.StatusCode != 400 || !strings.Contains(r.body, want) {
			t.Errorf("%q: %d %s", text, r.StatusCode, r.body)
		}
	}
	if r := b.visit("/ui/agents/researcher", url.Values{"p.prompt": {"Look\r\naround"}}); r.StatusCode != 303 {
		t.Errorf("a prompt: %d %s", r.StatusCode, r.body)
	} else if r := b.do("GET", strings.TrimPrefix(r.Header.Get("Location"), "/ui"), ""); !strings.Contains(r.body, `{"prompt":"Look\naround"}`) {
		t.Errorf("%s", r.body)
	}
	if r := b.visit("/ui/agents/crawler", url.Values{"json": {strings.Repeat("x", 1<<20)}}); r.StatusCode != 413 {
		t.Errorf("%d", r.StatusCode)
	}
	b.visit("/ui/agents/nobody", nil).want(t, 404, "There is no agent")
}

func TestWatchingAndStoppingARun(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	b.do("POST", "/agents", `{"name":"slow","type":"agent","command":["sh","-c","cat; exec sleep 600"]}`)
	r := b.visit("/ui/agents/slow", url.Values{"p.prompt": {"wait"}})
	address := r.Header.Get("Location")
	id := strings.TrimPrefix(address, "/ui/runs/")
	page := b.visit(address, nil).body
	if !strings.Contains(page, `data-events="`+address+`/events"`) || !strings.Contains(page, `aria-live="polite"`) || !strings.Contains(page, "Stop the run") {
		t.Error(page)
	}
	reader := b.add("reader", access.Read)
	runner := b.add("runner", access.Run)
	b.signIn(reader)
	if page := b.visit(address, nil).body; strings.Contains(page, "Stop the run") {
		t.Error("a reader sees a button that would be refused")
	}
	if page := b.visit("/ui/agents/slow", nil).body; strings.Contains(page, "<textarea") {
		t.Error("a reader sees a form that would be refused")
	}
	b.visit(address+"/stop", url.Values{}).want(t, 403, "does not have the scope run")
	b.visit("/ui/agents/slow", url.Values{"p.prompt": {"x"}}).want(t, 403, "does not have the scope run")
	b.signIn(runner)
	events := make(chan reply)
	go func() { events <- b.visit(address+"/events", nil) }()
	if r := b.visit(address+"/stop", url.Values{}); r.StatusCode != 303 || r.Header.Get("Location") != address {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if got := <-events; got.Header.Get("Content-Type") != "text/event-stream" || !strings.Contains(got.body, `"status":"stopped"`) {
		t.Errorf("%s %s", got.Header, got.body)
	}
	if r := b.visit(address+"/events", nil, "Last-Event-ID: 4"); r.StatusCode != 204 && !strings.Contains(r.body, `"stopped"`) {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if page := b.visit(address, nil).body; !strings.Contains(page, `<span class="badge idle">stopped</span>`) || strings.Contains(page, "Stop the run") {
		t.Error(page)
	}
	if r := b.visit(address+"/stop", url.Values{}); r.StatusCode != 303 { // it is stopped
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := b.visit("/ui/runs/"+id+"/log", nil); r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") || !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%d %s", r.StatusCode, r.Header)
	}
	b.visit("/ui/runs?status=gone", nil).want(t, 400, "There is no status")
	b.visit("/ui/runs?status=stopped&agent_name=slow", nil).want(t, 200, address)
	for range 10 { // newer runs, which have not ended
		if r := b.visit("/ui/agents/slow", url.Values{"p.prompt": {"wait"}}); r.StatusCode != 303 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	_, lately, _ := strings.Cut(b.visit("/", nil).body, "Lately")
	if !strings.Contains(lately, address) {
		t.Errorf("the start page lacks the run that has ended:\n%s", lately)
	}
}

// startLoop starts a loop that nobody drives, and returns its ID.
func (a *api) startLoop(l fixloop.Loop) (id string) {
	a.t.Helper()
	started, _, err := a.Loops.Start(a.t.Context(), l, json.RawMessage(`{}`), func(string) string { return "nobody" })
	if err != nil {
		a.t.Fatal(err)
	}
	return started.ID
}

// escalated starts a loop and leads it to where a person has to decide. It returns the address of
// the loop's page.
func (b *browser) escalated(issue int, title string) string {
	b.t.Helper()
	id := b.startLoop(fixloop.Loop{Repository: "octo/shop", Issue: issue, Title: title})
	hostile := fixloop.Failure{Severity: finding.Critical, Path: "<img src=x>.go", Line: 3, Message: "<script>alert(3)</script>"}
	results := []fixloop.Result{{Check: fixloop.SecurityReview, Status: fixloop.ResultFail, Critical: true, Failures: []fixloop.Failure{hostile}}}
	for _, c := range fixloop.Specialists() {
		if c != fixloop.SecurityReview {
			results = append(results, fixloop.Result{Check: c, Status: fixloop.ResultPass})
		}
	}
	for _, e := range []fixloop.Event{
		{Type: fixloop.EventStart, Head: "c0ffee"},
		{Type: fixloop.EventResult, Op: 1, Results: results},
	} {
		if err := b.Loops.Apply(b.t.Context(), id, string(e.Type), e); err != nil {
			b.t.Fatal(err)
		}
	}
	return "/ui/loops/" + url.PathEscape(id)
}

// TestManyLoops asserts that a page of loops leads to the next one, as the API's answer does, and
// that the loops that wait for a decision are found among many others.
func TestManyLoops(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	const last = 120
	for issue := 1; issue <= last; issue++ {
		if issue == 3 {
			b.escalated(issue, "Old, and waits")
		} else {
			b.startLoop(fixloop.Loop{Repository: "octo/shop", Issue: issue})
		}
	}
	b.startLoop(fixloop.Loop{Repository: "octo/toys", Issue: 1})
	link := regexp.MustCompile(`href="(/ui/loops/[^"]+)"`)
	next := regexp.MustCompile(`href="([^"]+)" rel="next"`)
	seen := map[string]int{}
	pages := 0
	for address := "/ui/loops?repository=octo/shop"; address != ""; pages++ {
		page := b.visit(address, nil).body
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			seen[m[1]]++
		}
		if (pages > 0) != strings.Contains(page, "From the beginning") {
			t.Errorf("%s: %s", address, page)
		}
		address = ""
		if m := next.FindStringSubmatch(page); m != nil {
			address = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if pages != 3 || len(seen) != last {
		t.Errorf("%d pages have %d loops of %d", pages, len(seen), last)
	}
	for address, n := range seen {
		if n != 1 || strings.Contains(address, "toys") {
			t.Errorf("%s is there %d times", address, n)
		}
	}
	for _, path := range []string{"/", "/ui/loops?show=decide", "/ui/loops?show=decide&repository=octo/shop"} {
		if page := b.visit(path, nil).body; !strings.Contains(page, "octo/shop#3<") {
			t.Errorf("%s does not show the loop that waits: %s", path, page)
		}
	}
	if page := b.visit("/ui/loops?show=decide&repository=octo/toys", nil).body; !strings.Contains(page, "There are no such loops") {
		t.Error(page)
	}
	b.visit("/ui/loops?show=some", nil).want(t, 400)

	var list struct {
		Loops []struct{ Loop string }
		Next  string `json:"next_cursor"`
	}
	var ids []string
	for target := "/loops?limit=100"; target != ""; {
		r := b.do("GET", target, "")
		list.Loops, list.Next = nil, ""
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list.Loops) == 0 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
		for _, l := range list.Loops {
			ids = append(ids, l.Loop)
		}
		target = ""
		if list.Next != "" {
			target = "/loops?limit=100&cursor=" + url.QueryEscape(list.Next)
		}
	}
	if len(ids) != last+1 || ids[0] != "octo/shop#120.1" || ids[last-1] != "octo/shop#1.1" || ids[last] != "octo/toys#1.1" {
		t.Errorf("%d loops: %q", len(ids), ids)
	}
	for _, query := range []string{"cursor=x", "cursor=octo%2Fshop%23x.1", "limit=0", "limit=201", "waits_for=fix", "page=2"} {
		if r := b.do("GET", "/loops?"+query, ""); r.StatusCode != 400 || r.code() != "invalid_request" {
			t.Errorf("%s: %d %s", query, r.StatusCode, r.body)
		}
	}
}

func TestDecidingAboutALoop(t *testing.T) {
	t.Parallel()
	b := &browser{api: start(t, nil)}
	address := b.escalated(7, "Sell <b>more</b>")
	for _, path := range []string{"/", "/ui/loops", address} {
		page := b.visit(path, nil).body
		if !strings.Contains(page, "A person has to decide.") || !strings.Contains(page, "Critical Vulnerability") || strings.Contains(page, "<script>") || strings.Contains(page, "<img") || strings.Contains(page, "<b>") {
			t.Errorf("%s: %s", path, page)
		}
	}
	page := b.visit(address, nil).body
	for _, want := range []string{"<svg", `<title id="diagram-title">`, "Failure report: 1 failure", "Escalation: Critical Vulnerability", "&lt;script&gt;alert(3)", "Skip …", "ESC-7"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	runner, decider := b.add("runner", access.Run), b.add("decider", access.Decide)
	b.signIn(runner)
	if page := b.visit(address, nil).body; strings.Contains(page, "/decision") || !strings.Contains(page, "needs the scope decide") {
		t.Error("a runner is offered to decide")
	}
	for _, form := range []url.Values{{"decision": {"retry"}}, {"decision": {"abort"}, "confirmed": {"yes"}}, {"decision": {"abort"}}} {
		if r := b.visit(address+"/decision", form); r.StatusCode != 403 {
			t.Errorf("%v: %d", form, r.StatusCode)
		}
	}
	b.signIn(decider)
	for n, want := range map[string]string{"many": "&#39;many&#39; is not of type", "0": "$.n", "1001": "$.n"} {
		if r := b.visit(address+"/decision", url.Values{"decision": {"extend"}, "n": {n}}); r.StatusCode != 400 || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %s", n, r.StatusCode, r.body)
		}
	}
	b.visit(address+"/decision", url.Values{"decision": {"maybe"}}).want(t, 400)
	extend := url.Values{"decision": {"extend"}, "n": {"2"}, "key": {"k"}}
	if r := b.visit(address+"/decision", extend); r.StatusCode != 303 || r.Header.Get("Location") != address {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := b.visit(address+"/decision", extend); r.StatusCode != 303 { // the same form again
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	b.visit(address+"/decision", url.Values{"decision": {"retry"}}).want(t, 409, "extend by 2")
	page = b.visit(address, nil).body
	if !strings.Contains(page, "iteration 1 of 7") || !strings.Contains(page, "It is the fixer’s turn.") && !strings.Contains(page, "It is the fixer&#39;s turn.") || !strings.Contains(page, "Until <time") {
		t.Error(page)
	}
	// What cannot be undone is asked about again.
	asked := b.visit(address+"/decision?decision=abort", nil)
	if asked.StatusCode != 200 || !strings.Contains(asked.body, "Really abort") || !strings.Contains(asked.body, `name="confirmed" value="yes"`) {
		t.Errorf("%d %s", asked.StatusCode, asked.body)
	}
	b.visit(address+"/decision", url.Values{"decision": {"abort"}}).want(t, 200, "Really abort")
	b.visit(address+"/decision", url.Values{"decision": {"abort"}, "confirmed": {"yes"}}).want(t, 303)
	if page := b.visit(address, nil).body; !strings.Contains(page, "It has ended.") || strings.Contains(page, "/decision") || !strings.Contains(page, "aborted") {
		t.Error(page)
	}
	b.visit(address+"/log", nil).want(t, 200, `"messages":[{`)
	b.visit("/ui/loops/octo%2Fshop%237.9", nil).want(t, 404)
	b.visit(address+"/decision?decision=retry", nil).want(t, 404)
}
