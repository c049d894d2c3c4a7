package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/store"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these wait, send hundreds of requests, or start servers with other settings
		"TestManyLoops", "TestSlowBody", "TestPagesObeyTheRate", "TestWaitingEndsWithItsGrant",
		"TestSessionCookieIsSecureBeyondLoopback", "TestPublicServerNeedsATokenAlways", "TestRate",
	)
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
	os.Exit(m.Run())
}

// api is a server on loopback whose requests and answers are compared with openapi.json.
type api struct {
	*Server
	t      *testing.T
	url    string
	router routers.Router
	token  string
	log    *lockedBuffer
	tokens *access.Tokens
	store  *store.Store
}

// start starts a server with a worker; configure may change its settings.
func start(t *testing.T, configure func(*Config)) *api {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	st, err := store.Open(ctx, t.TempDir()+"/store.db", agents.Tables, access.Tables, runs.Tables, loops.Schema)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := agents.BuiltIns()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := agents.New(st, fixed...)
	if err != nil {
		t.Fatal(err)
	}
	same := func(s string) string { return s }
	quiet := slog.New(slog.DiscardHandler)
	worker := runs.NewWorker(st, runs.WorkerConfig{Concurrency: 4, Environ: os.Environ(), Dir: t.TempDir(), Log: quiet, Mask: same, MaskKnown: same})
	e, err := engine.Open(ctx, st, engine.Config{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	service := runs.New(registry, st, worker)
	if err := worker.Start(ctx); err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, log: &lockedBuffer{}, tokens: access.New(st), store: st}
	cfg := Config{Agents: registry, Runs: service, Loops: loops.NewWritable(e), Tokens: a.tokens, Version: "v1.2.3", Log: slog.New(slog.NewTextHandler(a.log, nil))}
	if configure != nil {
		configure(&cfg)
	}
	a.Server = New(cfg)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := a.HTTP()
	server.ReadTimeout = time.Second
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		a.Stop()
		_ = server.Close()
		worker.Close()
		service.Close()
		e.Close()
	})
	a.url = "http://" + listener.Addr().String()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if a.router, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatal(err)
	}
	return a
}

// lockedBuffer is a buffer that may be read while the server writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// reply is an answer whose body has been read.
type reply struct {
	*http.Response
	body string
}

// do sends a request and returns the answer, and compares both with openapi.json. Headers
// are "Name: value".
func (a *api) do(method, path, body string, headers ...string) reply {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	a.checkContract(req, body, res, raw)
	return reply{res, string(raw)}
}

// checkContract asserts that an exchange conforms to openapi.json. A request that is refused need
// not conform, and a request that openapi.json does not contain must be refused.
func (a *api) checkContract(req *http.Request, body string, res *http.Response, raw []byte) {
	a.t.Helper()
	known := req.Clone(req.Context())
	known.Body = io.NopCloser(strings.NewReader(body))
	known.Host, known.Method = known.URL.Host, strings.Replace(known.Method, "HEAD", "GET", 1)
	route, params, err := a.router.FindRoute(known)
	if err != nil {
		if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed && res.StatusCode != http.StatusForbidden {
			a.t.Errorf("%s %s is not described: %v", req.Method, req.URL.Path, err)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: known, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if res.StatusCode < 300 {
		if err := openapi3filter.ValidateRequest(a.t.Context(), in); err != nil {
			a.t.Errorf("%s %s: the request: %v", req.Method, req.URL.Path, err)
		}
	}
	if req.Method == http.MethodHead || res.StatusCode == http.StatusNoContent {
		return
	}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options}
	answer.SetBodyBytes(raw)
	if err := openapi3filter.ValidateResponse(a.t.Context(), answer); err != nil {
		a.t.Errorf("%s %s: the answer %d %s: %v", req.Method, req.URL.Path, res.StatusCode, raw, err)
	}
}

// code returns the error code of an answer.
func (r reply) code() string {
	var body ErrorBody
	_ = json.Unmarshal([]byte(r.body), &body)
	return body.Error
}

// want asserts the status of an answer, and that its body contains the parts.
func (r reply) want(t *testing.T, status int, parts ...string) {
	t.Helper()
	if r.StatusCode != status || slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(r.body, part) }) {
		t.Errorf("%d %s, want %d with %q", r.StatusCode, r.body, status, parts)
	}
}

// wantError asserts the status of an answer, and the code of its error.
func (r reply) wantError(t *testing.T, status int, code string) {
	t.Helper()
	if r.StatusCode != status || r.code() != code {
		t.Errorf("%d %s, want %d with the error %s", r.StatusCode, r.body, status, code)
	}
}

// member returns a text of the answer's object.
func (r reply) member(name string) string {
	var body map[string]any
	_ = json.Unmarshal([]byte(r.body), &body)
	text, _ := body[name].(string)
	return text
}

const researcher = `{"name":"researcher","type":"agent","description":"Research assistant","command":["cat"]}`

// TestSpec asserts the first five acceptance criteria of spec 004.
func TestSpec(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	if r := a.do("POST", "/agents", researcher); r.StatusCode != 201 || r.Header.Get("Location") != "/agents/researcher" {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	list := a.do("GET", "/agents", "")
	if !strings.Contains(list.body, `{"name":"researcher","type":"agent","description":"Research assistant","source":"stored","version":1}`) || !strings.Contains(list.body, `"name":"phase-validation","type":"deterministic"`) {
		t.Errorf("1: %s", list.body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "POST", a.url+"/runs", strings.NewReader(`{"agent_name": "researcher", "parameters": {"prompt": "Test"}}`))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as curl -d does
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 201 {
		t.Fatalf("2: %v, %v", res, err)
	}
	res.Body.Close()
	const schemaText = `{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1}},"additionalProperties":false}`
	const head = `{"error":"parameter_validation_failed","message":"Parameters do not match agent's parameters_schema","agent_name":"researcher","validation_errors":[{"path":"$.prompt","message":"'prompt' is a required property","schema_path":"required"}`
	for body, want := range map[string]string{
		`{"agent_name": "researcher", "parameters": {}}`:                 head + `],"parameters_schema":` + schemaText + "}\n",
		`{"agent_name": "researcher"}`:                                   head + `],"parameters_schema":` + schemaText + "}\n",
		`{"agent_name": "researcher", "parameters": {"wrong": "field"}}`: head + `,{"path":"$.wrong","message":"Additional properties are not allowed ('wrong' was unexpected)","schema_path":"additionalProperties"}],"parameters_schema":` + schemaText + "}\n",
	} {
		r := a.do("POST", "/runs", body)
		if d := cmp.Diff(want, r.body); r.StatusCode != 400 || d != "" {
			t.Errorf("3 to 5: %s: %d\n%s", body, r.StatusCode, d)
		}
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.do("POST", "/agents", researcher)
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/runs", ``, 400, "invalid_request"},
		{"POST", "/runs", `{`, 400, "invalid_request"},
		{"POST", "/runs", `[]`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":7}`, 400, "invalid_request"},
		{"POST", "/runs", `{"parameters":{}}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"researcher","parameters":{"prompt":"x"},"extra":1}`, 400, "invalid_request"},
		{"POST", "/runs", `{"Agent_Name":"researcher"}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"researcher","agent_name":"researcher"}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"researcher"} {}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"researcher","parameters":null}`, 400, "parameter_validation_failed"},
		{"POST", "/runs", `{"agent_name":"researcher","parameters":{"prompt":` + deep + `}}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"researcher","parameters":{"prompt":1e99999999}}`, 400, "invalid_request"},
		{"POST", "/runs", `{"agent_name":"nobody"}`, 404, "agent_not_found"},
		{"POST", "/runs", `{"agent_name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "request_too_large"},
		{"POST", "/runs", "{\"agent_name\":\"researcher\",\"parameters\":{\"prompt\":\"\xff\"}}", 400, "invalid_request"},
		{"POST", "/runs", "\ufeff{\"agent_name\":\"researcher\"}", 400, "invalid_request"},
		{"GET", "/runs?agent_name=%ff", ``, 400, "invalid_request"},
		{"GET", "/runs?agent_name=a%00b", ``, 400, "invalid_request"},
		{"GET", "/runs?limit=%zz", ``, 400, "invalid_request"},
		{"GET", "/agents/a%00b", ``, 400, "invalid_request"},
		{"GET", "/runs/%ff", ``, 400, "invalid_request"},
		{"POST", "/agents", `{}`, 400, "invalid_request"},
		{"POST", "/agents", researcher, 409, "agent_exists"},
		{"POST", "/agents", strings.Replace(researcher, "researcher", "acrawler", 1)[:60], 400, "invalid_request"},
		{"PATCH", "/agents/researcher", `{"name":"x"}`, 400, "invalid_request"},
		{"PATCH", "/agents/researcher", `[1]`, 400, "invalid_request"},
		{"PATCH", "/agents/nobody", `{}`, 404, "agent_not_found"},
		{"PATCH", "/agents/phase-validation", `{}`, 409, "agent_read_only"},
		{"DELETE", "/agents/collect-output", ``, 409, "agent_read_only"},
		{"DELETE", "/agents/nobody", ``, 404, "agent_not_found"},
		{"GET", "/agents/nobody", ``, 404, "agent_not_found"},
		{"GET", "/runs/run_none", ``, 404, "run_not_found"},
		{"GET", "/runs/run_none/result", ``, 404, "run_not_found"},
		{"GET", "/runs/run_none/log", ``, 404, "run_not_found"},
		{"GET", "/runs/run_none/events", ``, 404, "run_not_found"},
		{"GET", "/runs/run_none/wait?timeout=0", ``, 404, "run_not_found"},
		{"POST", "/runs/run_none/stop", ``, 404, "run_not_found"},
		{"GET", "/runs?limit=0", ``, 400, "invalid_request"},
		{"GET", "/runs?limit=201", ``, 400, "invalid_request"},
		{"GET", "/runs?status=gone", ``, 400, "invalid_request"},
		{"GET", "/runs?cursor=x", ``, 400, "invalid_request"},
		{"GET", "/runs?agent=x", ``, 400, "invalid_request"},
		{"GET", "/runs/run_none/wait?timeout=61", ``, 400, "invalid_request"},
		{"GET", "/nothing", ``, 404, "not_found"},
		{"GET", "/runs/run_none/nothing", ``, 404, "not_found"},
		{"PUT", "/agents", ``, 405, "method_not_allowed"},
		{"DELETE", "/runs/run_none", ``, 405, "method_not_allowed"},
		{"DELETE", "/runs/a%0d%0aX:%1b[31m%E2%80%AE", ``, 405, "method_not_allowed"},
		{"POST", "/loops/a%00b", `{}`, 405, "method_not_allowed"},
		{"GET", "/agents/a%0d%0aX:%1b[31m%E2%80%AE", ``, 404, "agent_not_found"},
		{"GET", "/nothing%0d%0a%E2%80%AE", ``, 404, "not_found"},
		{"GET", "/runs?status=%0d%0a%E2%80%AE", ``, 400, "invalid_request"},
	} {
		r := a.do(c.method, c.path, c.body)
		if r.StatusCode != c.status || r.code() != c.code || r.member("message") == "" {
			t.Errorf("%s %s %.80s: %d %s, want %d %s", c.method, c.path, c.body, r.StatusCode, r.body, c.status, c.code)
		}
		if strings.ContainsAny(r.member("message"), "\x00\r\n\x1b\u202e") {
			t.Errorf("%s %s: the message %q acts on a terminal", c.method, c.path, r.member("message"))
		}
		if r.StatusCode == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	a.do("POST", "/runs", `{"agent_name":"researcher","parameters":{"prompt":"x"}}`, "Idempotency-Key: "+strings.Repeat("k", 256)).wantError(t, 400, "invalid_request")
	if r := a.do("GET", "/runs", ""); r.body != `{"runs":[]}`+"\n" {
		t.Errorf("what was refused is recorded: %s", r.body)
	}
}

// TestSlowBody asserts that a request whose body does not arrive is answered after a time limit, also
// where a handler is mounted and where a page takes a form.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.Mount("/mounted", access.Read, func(access.Grant) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler has half a body") })
	})
	for path, want := range map[string]string{"/runs": "request_timeout", "/mounted": "request_timeout", "/ui/agents/collect-output": "The form took too long to arrive"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %d %s", path, res.StatusCode, raw)
		}
	}
}

// withDeadline records the deadline that an answer has when a piece of it is written.
type withDeadline struct {
	*httptest.ResponseRecorder
	until time.Time
	limit []time.Duration // of each piece
}

// SetWriteDeadline is for http.ResponseController.
func (w *withDeadline) SetWriteDeadline(until time.Time) error {
	w.until = until
	return nil
}

// Write implements io.Writer.
func (w *withDeadline) Write(p []byte) (int, error) {
	w.limit = append(w.limit, time.Until(w.until).Round(time.Minute))
	return w.ResponseRecorder.Write(p)
}

// TestAnswersAreNotKeptForever asserts that a client who does not read has a minute for each piece of
// an answer, also of a mounted handler.
func TestAnswersAreNotKeptForever(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	token, err := a.tokens.Add(t.Context(), "reader", access.Read)
	if err != nil {
		t.Fatal(err)
	}
	a.Mount("/mounted", access.Read, func(access.Grant) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "one")
			fmt.Fprint(w, "two")
		})
	})
	for request, pieces := range map[string]int{"GET /agents": 1, "POST /mounted": 2} {
		method, path, _ := strings.Cut(request, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := &withDeadline{ResponseRecorder: httptest.NewRecorder()}
		a.ServeHTTP(w, r)
		if !slices.Equal(w.limit, slices.Repeat([]time.Duration{time.Minute}, pieces)) {
			t.Errorf("%s: %d %s, with the limits %v", request, w.Code, w.Body, w.limit)
		}
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.do("POST", "/agents", researcher)
	r := a.do("PATCH", "/agents/researcher", `{"description":"Finds out","tags":["web"]}`)
	want := `{"name":"researcher","type":"agent","description":"Finds out","command":["cat"],"tags":["web"],"source":"stored","version":2}` + "\n"
	if r.StatusCode != 200 || r.body != want {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/agents/researcher", ""); r.body != want {
		t.Errorf("%s", r.body)
	}
	if r := a.do("HEAD", "/agents/researcher", ""); r.StatusCode != 200 || r.body != "" {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
	a.do("DELETE", "/agents/researcher", "").want(t, 204)
	a.do("GET", "/agents/researcher", "").want(t, 404)
}

func TestRuns(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.do("POST", "/agents", researcher)
	a.do("POST", "/agents", `{"name":"sleeper","type":"agent","command":["sleep","60"]}`)
	a.do("POST", "/agents", `{"name":"fails","type":"agent","command":["false"]}`)
	body := `{"agent_name":"researcher","parameters":{"prompt":"Test"}}`
	first := a.do("POST", "/runs", body, "Idempotency-Key: k1")
	again := a.do("POST", "/runs", body, "Idempotency-Key: k1")
	id := first.member("run_id")
	if first.StatusCode != 201 || first.Header.Get("Location") != "/runs/"+id || first.member("status") != "pending" || again.StatusCode != 201 || again.member("run_id") != id || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %s", first.body, again.body)
	}
	a.do("POST", "/runs", strings.Replace(body, "Test", "Other", 1), "Idempotency-Key: k1").wantError(t, 409, "idempotency_conflict")
	if r := a.do("GET", "/runs/"+id+"/wait", ""); r.member("status") != "completed" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/runs/"+id+"/result", ""); r.StatusCode != 200 || r.body != `{"text":"Test"}`+"\n" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	log := a.do("GET", "/runs/"+id+"/log", "")
	if log.StatusCode != 200 || log.body != "Test\n" || log.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", log.StatusCode, log.Header, log.body)
	}
	if r := a.do("GET", "/runs/"+id+"/log?from="+log.Header.Get("Airlock-Log-Next"), ""); r.StatusCode != 200 || r.body != "" || r.Header.Get("Airlock-Log-Next") != log.Header.Get("Airlock-Log-Next") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, r.body)
	}
	a.do("POST", "/runs/"+id+"/stop", "").wantError(t, 409, "run_ended")

	sleeper := a.do("POST", "/runs", `{"agent_name":"sleeper","parameters":{"prompt":"x"}}`).member("run_id")
	a.do("GET", "/runs/"+sleeper+"/result", "").wantError(t, 409, "run_not_ended")
	a.do("GET", "/runs/"+sleeper+"/wait?timeout=0", "").want(t, 200)
	if r := a.do("POST", "/runs/"+sleeper+"/stop", ""); r.StatusCode != 202 || r.member("run_id") != sleeper {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/runs/"+sleeper+"/wait", ""); r.member("status") != "stopped" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.do("GET", "/runs/"+sleeper+"/result", "").wantError(t, 409, "run_stopped")
	failing := a.do("POST", "/runs", `{"agent_name":"fails","parameters":{"prompt":"x"}}`).member("run_id")
	if r := a.do("GET", "/runs/"+failing+"/wait", ""); r.member("status") != "failed" || !strings.Contains(r.body, `"code":"exit_code"`) || !strings.Contains(r.body, `"exit_code":1`) {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.do("GET", "/runs/"+failing+"/result", "").wantError(t, 409, "run_failed")

	// This is what a run looks like after the server has deleted its outputs.
	if _, err := a.store.Exec(t.Context(), `UPDATE runs SET result = NULL, expired = 1 WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	a.do("GET", "/runs/"+id+"/result", "").wantError(t, 410, "result_expired")

	page := a.do("GET", "/runs?limit=2", "")
	if page.member("next_cursor") != sleeper || strings.Contains(page.body, id) {
		t.Errorf("%s", page.body)
	}
	if rest := a.do("GET", "/runs?limit=2&cursor="+sleeper, ""); !strings.Contains(rest.body, id) || rest.member("next_cursor") != "" {
		t.Errorf("%s", rest.body)
	}
	if list := a.do("GET", "/runs?status=stopped&agent_name=sleeper", ""); !strings.Contains(list.body, sleeper) || strings.Contains(list.body, failing) {
		t.Errorf("%s", list.body)
	}
	if m := a.do("GET", "/metrics", ""); !strings.Contains(m.body, "airlock_runs_created_total 3") || !strings.Contains(m.body, `airlock_runs{status="pending"} 0`) {
		t.Errorf("%s", m.body)
	}
	if !strings.Contains(a.log.String(), `msg=audit who="the server's user" method=POST path=/runs/`+sleeper+"/stop status=202") || strings.Contains(a.log.String(), "Test") {
		t.Errorf("the audit is\n%s", a.log)
	}
}

// TestEvents follows a run as an EventSource does, and connects again.
func TestEvents(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.do("POST", "/agents", `{"name":"sleeper","type":"agent","command":["sleep","60"]}`)
	id := a.do("POST", "/runs", `{"agent_name":"sleeper","parameters":{"prompt":"x"}}`).member("run_id")
	res, err := http.Get(a.url + "/runs/" + id + "/events")
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	var got []string
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e runs.Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s", e.N, e.Status))
			if e.Status == runs.Running {
				a.do("POST", "/runs/"+id+"/stop", "")
			}
		}
	}
	if d := cmp.Diff([]string{"1 pending", "2 running", "3 stopping", "4 stopped"}, got); d != "" {
		t.Error(d)
	}
	if r := a.do("GET", "/runs/"+id+"/events", "", "Last-Event-ID: 2"); strings.Contains(r.body, "id: 2\n") || !strings.HasPrefix(r.body, "id: 3\nevent: status\ndata: ") || !strings.Contains(r.body, "id: 4\n") {
		t.Errorf("%s", r.body)
	}
	a.do("GET", "/runs/"+id+"/events", "", "Last-Event-ID: 4").want(t, 204)
	a.do("GET", "/runs/"+id+"/events", "", "Last-Event-ID: x").wantError(t, 400, "invalid_request")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	if r := a.do("POST", "/agents", researcher); r.StatusCode != 201 { // before the first token
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	add := func(scope access.Scope) string {
		secret, err := a.tokens.Add(t.Context(), "t-"+string(scope), scope)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	secrets := map[access.Scope]string{access.Read: add(access.Read), access.Run: add(access.Run), access.Decide: add(access.Decide), access.Admin: add(access.Admin)}
	for _, c := range []struct {
		method, path, body string
		allowed            []access.Scope
	}{
		{"GET", "/agents", "", []access.Scope{access.Read, access.Run, access.Decide, access.Admin}},
		{"GET", "/runs", "", []access.Scope{access.Read, access.Run, access.Decide, access.Admin}},
		{"GET", "/metrics", "", []access.Scope{access.Read, access.Run, access.Decide, access.Admin}},
		{"GET", "/workers", "", []access.Scope{access.Read, access.Run, access.Decide, access.Admin}},
		{"POST", "/runs", `{"agent_name":"nobody"}`, []access.Scope{access.Run, access.Admin}},
		{"POST", "/runs/run_none/stop", ``, []access.Scope{access.Run, access.Admin}},
		{"POST", "/agents", `{}`, []access.Scope{access.Admin}},
		{"PATCH", "/agents/nobody", `{}`, []access.Scope{access.Admin}},
		{"DELETE", "/agents/nobody", ``, []access.Scope{access.Admin}},
	} {
		for scope, secret := range secrets {
			a.token = secret
			r := a.do(c.method, c.path, c.body)
			allowed := slices.Contains(c.allowed, scope)
			if (r.StatusCode == 403) == allowed || !allowed && r.code() != "forbidden" {
				t.Errorf("%s %s with %s: %d %s", c.method, c.path, scope, r.StatusCode, r.body)
			}
		}
		for _, wrong := range []string{"", "airlock_wrong"} {
			a.token = wrong
			if r := a.do(c.method, c.path, c.body); r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %q: %d %s", c.method, c.path, wrong, r.StatusCode, r.body)
			}
		}
	}
	a.token = ""
	a.do("GET", "/agents", "", "Authorization: Basic eDp5").want(t, 401)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if r := a.do("GET", path, ""); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	a.token = secrets[access.Read]
	if r := a.do("GET", "/agents/researcher", ""); strings.Contains(r.body, "command") {
		t.Errorf("a reader sees the command: %s", r.body)
	}
	a.token = secrets[access.Run]
	if err := a.tokens.Revoke(t.Context(), "t-run"); err != nil {
		t.Fatal(err)
	}
	a.do("GET", "/agents", "").wantError(t, 401, "invalid_token")
	for _, secret := range secrets {
		if strings.Contains(a.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}

// TestPagesOfOtherSites asserts that no web page of another site can use the server through a
// browser.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	a := start(t, func(c *Config) { c.Hosts = []string{"coordinator.example"} })
	for _, c := range []struct {
		header string
		status int
		code   string
	}{
		{"Host: localhost:8417", 200, ""}, {"Host: LOCALHOST", 200, ""}, {"Host: [::1]:1", 200, ""}, {"Host: coordinator.example", 200, ""},
		{"Host: evil.example", 403, "forbidden_host"}, {"Host: evil.example:8417", 403, "forbidden_host"}, {"Host: 127.0.0.1.evil.example", 403, "forbidden_host"}, {"Host: 0.0.0.0", 403, "forbidden_host"},
		{"Origin: " + a.url, 200, ""}, {"Origin: http://evil.example", 403, "forbidden_origin"}, {"Origin: null", 403, "forbidden_origin"}, {"Origin: http://localhost:1", 403, "forbidden_origin"},
		{"Sec-Fetch-Site: cross-site", 403, "forbidden_origin"}, {"Sec-Fetch-Site: same-site", 403, "forbidden_origin"}, {"Sec-Fetch-Site: same-origin", 200, ""}, {"Sec-Fetch-Site: none", 200, ""},
	} {
		if r := a.do("GET", "/agents", "", c.header); r.StatusCode != c.status || r.code() != c.code {
			t.Errorf("%s: %d %s", c.header, r.StatusCode, r.body)
		}
		if r := a.do("GET", "/healthz", "", c.header); r.StatusCode != c.status {
			t.Errorf("%s: /healthz %d", c.header, r.StatusCode)
		}
	}
}

// TestServerKnowsItsAddress asserts that a server which does not listen on 127.0.0.1, or has names, can
// be asked at its address and its names, and at no other.
func TestServerKnowsItsAddress(t *testing.T) {
	t.Parallel()
	s := New(Config{Hosts: []string{"coordinator.example"}, Public: true, Log: slog.New(slog.DiscardHandler)})
	for local, hosts := range map[string]map[string]bool{
		"127.0.0.2":        {"127.0.0.2": true, "127.0.0.2:8417": true, "127.0.0.3": false, "127.0.0.2.nip.example": false, "": false},
		"10.0.0.5":         {"10.0.0.5:8417": true, "10.0.0.6:8417": false, "coordinator.example": true},
		"2001:db8::1":      {"[2001:db8::1]:8417": true, "[2001:DB8:0::1]": true, "[2001:db8::2]": false},
		"::ffff:10.0.0.5":  {"10.0.0.5": true},
		"fe80::1%loopback": {"evil.example": false},
	} {
		address := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(local), 8417))
		for host, want := range hosts {
			r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, address), "GET", "/healthz", nil)
			r.Host = host
			if err := s.checkOrigin(r); (err == nil) != want {
				t.Errorf("%q at %s: %v", host, local, err)
			}
		}
	}
}

func TestPublicServerNeedsATokenAlways(t *testing.T) {
	t.Parallel()
	a := start(t, func(c *Config) { c.Public = true })
	a.do("GET", "/agents", "").want(t, 401)
	a.do("GET", "/healthz", "", "Host: any.example").want(t, 200)
}

func TestRate(t *testing.T) {
	t.Parallel()
	a := start(t, func(c *Config) { c.Rate = 2 })
	last := 0
	for range 5 {
		last = a.do("GET", "/agents", "").StatusCode
	}
	if r := a.do("GET", "/agents", ""); last != 429 && r.StatusCode != 429 {
		t.Errorf("five requests at once pass a limit of two a second: %d", last)
	}
	// Requests of a mounted handler do not count again. A batch counts as many requests as it has.
	b := start(t, func(c *Config) { c.Rate = 1 })
	b.Mount("/mounted", access.Read, func(g access.Grant) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				if status, answer, err := b.Call(r.Context(), g, "GET", "/agents", nil); status != 200 || err != nil {
					t.Errorf("%d %s, %v", status, answer, err)
				}
			}
			fmt.Fprint(w, "done")
		})
	})
	for _, c := range []struct {
		caller, body string
		status       int
	}{{"one", `{}`, 200}, {"a-batch-of-one", `[{}]`, 200}, {"two", `[{},{}]`, 429}} {
		token, err := b.tokens.Add(t.Context(), c.caller, access.Read)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/mounted", strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", c.body, w.Code, w.Body, c.status)
		}
	}
}

// TestLoops asserts who may decide about a loop, and that it is decided once.
func TestLoops(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	path := "/loops/" + url.PathEscape(a.startLoop(fixloop.Loop{Repository: "octo/shop", Issue: 7}))
	if r := a.do("GET", "/loops", ""); !strings.Contains(r.body, `"loop":"octo/shop#7.1"`) {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/loops?repository=octo/other", ""); r.body != `{"version":1,"loops":[]}`+"\n" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/loops?open=true&repository=octo%2Fshop", ""); !strings.Contains(r.body, `"loop":"octo/shop#7.1"`) {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.do("GET", "/loops?open=maybe", "").wantError(t, 400, "invalid_request")
	if r := a.do("GET", path, ""); r.StatusCode != 200 || r.member("repository") != "octo/shop" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.do("GET", path+"/log", "").want(t, 200, `"messages":[]`)
	secrets := map[access.Scope]string{}
	for _, scope := range []access.Scope{access.Run, access.Decide} {
		var err error
		if secrets[scope], err = a.tokens.Add(t.Context(), "t-"+string(scope), scope); err != nil {
			t.Fatal(err)
		}
	}
	a.token = secrets[access.Run]
	if r := a.do("POST", path+"/decision", `{"decision":"abort"}`); r.StatusCode != 403 || r.code() != "forbidden" {
		t.Errorf("who starts loops decides: %d %s", r.StatusCode, r.body)
	}
	if r := a.do("POST", path+"/fixed", `{"fixes":["x"]}`); r.StatusCode != 409 || !strings.HasPrefix(r.code(), "loop_") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	a.token = secrets[access.Decide]
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{"/loops/octo%2Fshop%237.9/decision", `{"decision":"abort"}`, 404, "loop_not_found"},
		{path + "/decision", `{"decision":"maybe"}`, 400, "invalid_request"},
		{path + "/decision", `{}`, 400, "invalid_request"},
		{path + "/decision", `{"decision":"extend","n":0}`, 400, "invalid_request"},
		{path + "/decision", `{"decision":"abort","n":2}`, 400, "invalid_request"},
		{path + "/decision", `{"decision":"skip"}`, 409, "loop_unexpected"},
		{path + "/fixed", `{}`, 403, "forbidden"},
	} {
		if r := a.do("POST", c.path, c.body); r.StatusCode != c.status || r.code() != c.code {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.StatusCode, r.body)
		}
	}
	// A whole number counts however it is written.
	a.do("POST", path+"/decision", `{"decision":"extend","n":2.0}`).wantError(t, 409, "loop_unexpected")
	r := a.do("POST", path+"/decision", `{"decision":"abort"}`, "Idempotency-Key: one")
	if r.StatusCode != 202 || r.member("outcome") == "" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := a.do("GET", "/loops?open=true", ""); r.body != `{"version":1,"loops":[]}`+"\n" {
		t.Errorf("a loop that has ended is open: %s", r.body)
	}
	if again := a.do("POST", path+"/decision", `{"decision":"abort"}`, "Idempotency-Key: one"); again.StatusCode != 202 {
		t.Errorf("%d %s", again.StatusCode, again.body)
	}
	for _, other := range []string{`{"decision":"skip"}`, `{"decision":"extend","n":2}`} {
		if r := a.do("POST", path+"/decision", other, "Idempotency-Key: one"); r.StatusCode != 409 || r.code() != "idempotency_conflict" {
			t.Errorf("%s under the key of another decision: %d %s", other, r.StatusCode, r.body)
		}
	}
	if twice := a.do("POST", path+"/decision", `{"decision":"abort"}`); twice.StatusCode != 409 {
		t.Errorf("%d %s", twice.StatusCode, twice.body)
	}
}

// TestStoreThatFails asserts that a defect of the store is answered with 503, without internal
// details, which are in the log.
func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	a := start(t, nil)
	a.do("POST", "/agents", researcher)
	a.do("GET", "/agents", "") // the tokens are known for a second
	if _, err := a.store.Exec(t.Context(), `DROP TABLE runs`); err != nil {
		t.Fatal(err)
	}
	r := a.do("POST", "/runs", `{"agent_name":"researcher","parameters":{"prompt":"x"}}`)
	if r.StatusCode != 503 || r.code() != "unavailable" || strings.Contains(r.body, "runs") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if !strings.Contains(a.log.String(), "no such table") {
		t.Errorf("the log does not say why: %s", a.log)
	}
}

func TestPeerUser(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) { testPeerUser(t, address) })
	}
}

func testPeerUser(t *testing.T, address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.DialTimeout("tcp", listener.Addr().String(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	here, there := listener.Addr().(*net.TCPAddr).AddrPort(), client.LocalAddr().(*net.TCPAddr).AddrPort()
	uid, err := peerUser(here, there)
	if err != nil || uid != os.Getuid() {
		t.Errorf("%d, %v", uid, err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	for _, c := range []struct {
		what string
		ctx  context.Context
		own  bool
	}{{"a connection of the same user", withConnection(t.Context(), accepted), true}, {"no connection", t.Context(), false}, {"a connection that is not TCP", withConnection(t.Context(), near), false}} {
		if isOwnUser(c.ctx) != c.own {
			t.Errorf("%s: isOwnUser reports %t, want %t", c.what, !c.own, c.own)
		}
	}
	client.Close() // the kernel shows it as root's from now on
	if isOwnUser(withConnection(t.Context(), accepted)) {
		t.Error("whoever has closed the connection is the server's own user")
	}
	if uid, err := peerUser(here, there); err == nil {
		t.Errorf("whoever has closed the connection is user %d", uid)
	}
	if uid, err := peerUser(here, here); err == nil {
		t.Errorf("nobody is user %d", uid)
	}
}

// TestMetricsWithoutTheStore asserts that the metrics that do not need the store are there if it
// cannot be used.
func TestMetricsWithoutTheStore(t *testing.T) {
	a := start(t, nil)
	rename := func(from, to string) {
		if _, err := a.store.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("runs", "gone")
	defer rename("gone", "runs")
	m := a.do("GET", "/metrics", "")
	if m.StatusCode != http.StatusOK || !strings.Contains(m.body, "airlock_info") || strings.Contains(m.body, "airlock_runs{") {
		t.Errorf("%d %.300s", m.StatusCode, m.body)
	}
	if !strings.Contains(a.log.String(), "airlock_runs") {
		t.Errorf("the log does not say why: %s", a.log)
	}
}
