//go:build unix

package main_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sendRaw sends bytes to a coordinator and reads the answer to each of the requests, which have
// these methods. closeWrite closes the sending half of the connection after the bytes.
func sendRaw(t *testing.T, address, sent string, closeWrite bool, methods ...string) (answers []*http.Response, bodies []string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, sent) // the server need not read all of it
	if closeWrite {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	read := bufio.NewReader(conn)
	for _, method := range methods {
		res, err := http.ReadResponse(read, &http.Request{Method: method})
		if err != nil {
			t.Errorf("%.100q has no answer: %v", sent, err)
			break
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("%.100q: the body of the answer: %v", sent, err)
		}
		res.Body.Close()
		answers, bodies = append(answers, res), append(bodies, string(body))
	}
	return answers, bodies
}

// checkAPIError asserts that an answer is one of the API's errors, and returns its code.
func checkAPIError(t *testing.T, what string, res *http.Response, body string) string {
	t.Helper()
	var e struct{ Error, Message string }
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error == "" || len(e.Message) < 15 || len(e.Message) > 1200 ||
		res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %s, %v, %.300q", what, res.Status, res.Header, body)
	}
	return e.Error
}

// TestCoordinatorAnswersWhateverIsSent sends bytes that no client library would send: every
// answer that is not a success has the form of the API's errors, and the server goes on.
func TestCoordinatorAnswersWhateverIsSent(t *testing.T) {
	t.Parallel()
	address := serve(t, t.TempDir()).url
	const host = "Host: localhost\r\n"
	request := func(line string, more ...string) string {
		return line + " HTTP/1.1\r\n" + host + strings.Join(more, "")
	}
	const run = `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`
	chunked := func(chunks string, more ...string) string {
		return request("POST /runs", strings.Join(more, ""), "Transfer-Encoding: chunked\r\n\r\n", chunks)
	}
	tools := func(more ...string) string {
		return request("POST /mcp", "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n", strings.Join(more, ""))
	}
	for name, c := range map[string]struct {
		sent   string
		status int
		code   string // "" for an answer that reports no error
	}{
		"no HTTP":                     {"GARBAGE\r\n\r\n", 400, "invalid_request"},
		"a TLS greeting":              {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "invalid_request"},
		"HTTP/0.9":                    {"GET /agents\r\n\r\n", 400, "invalid_request"},
		"HTTP/1.0 without a host":     {"GET /agents HTTP/1.0\r\n\r\n", 403, "forbidden_host"},
		"HTTP/1.0":                    {"GET /agents HTTP/1.0\r\n" + host + "\r\n", 200, ""},
		"HTTP/1.0, nothing there":     {"GET /nothing HTTP/1.0\r\n" + host + "\r\n", 404, "not_found"},
		"HTTP/1.2":                    {"GET /agents HTTP/1.2\r\n" + host + "\r\n", 200, ""},
		"HTTP/2.0":                    {"GET /agents HTTP/2.0\r\n" + host + "\r\n", 505, "version_not_supported"},
		"HTTP/9.9":                    {"GET /agents HTTP/9.9\r\n" + host + "\r\n", 505, "version_not_supported"},
		"HTTP/2 without TLS":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404, "not_found"},
		"an upgrade to h2c":           {request("GET /agents", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n"), 200, ""},
		"an upgrade to WebSocket":     {request("GET /agents", "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), 200, ""},
		"bare line feeds":             {"GET /agents HTTP/1.1\nHost: localhost\n\n", 200, ""},
		"no host":                     {"GET /agents HTTP/1.1\r\n\r\n", 400, "invalid_request"},
		"two hosts":                   {request("GET /agents", host, "\r\n"), 400, "invalid_request"},
		"a host with a space":         {"GET /agents HTTP/1.1\r\nHost: local host\r\n\r\n", 400, "invalid_request"},
		"a host with a user":          {"GET /agents HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n", 400, "invalid_request"},
		"a header with a space":       {request("GET /agents", "A B: c\r\n\r\n"), 400, "invalid_request"},
		"a space before the colon":    {request("GET /agents", "Authorization : Bearer x\r\n\r\n"), 400, "invalid_request"},
		"a header without a name":     {request("GET /agents", ": c\r\n\r\n"), 400, "invalid_request"},
		"a header without a colon":    {request("GET /agents", "Authorization\r\n\r\n"), 400, "invalid_request"},
		"NUL in a header":             {request("GET /agents", "X-A: a\x00b\r\n\r\n"), 400, "invalid_request"},
		"a space in the path":         {request("GET /ag ents", "\r\n"), 400, "invalid_request"},
		"a control character":         {request("GET /ag\x01ents", "\r\n"), 400, "invalid_request"},
		"a broken escape":             {request("GET /agents/%zz", "\r\n"), 400, "invalid_request"},
		"an address of another host":  {request("GET http://evil.example/agents", "\r\n"), 403, "forbidden_host"},
		"an address of this host":     {request("GET http://localhost/agents", "\r\n"), 200, ""},
		"an expectation":              {request("POST /runs", "Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}"), 417, "expectation_failed"},
		"gzip as transfer":            {request("POST /runs", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501, "not_implemented"},
		"gzip as content":             {request("POST /runs", "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), 415, "unsupported_media_type"},
		"two lengths":                 {request("POST /runs", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), 400, "invalid_request"},
		"a length below 0":            {request("POST /runs", "Content-Length: -2\r\n\r\n{}"), 400, "invalid_request"},
		"an invalid length":           {request("POST /runs", "Content-Length: 0x2\r\n\r\n{}"), 400, "invalid_request"},
		"a length beyond numbers":     {request("POST /runs", "Content-Length: 99999999999999999999\r\n\r\n{}"), 400, "invalid_request"},
		"a length that never ends":    {request("POST /runs", "Content-Length: 9999999999\r\n\r\n{}"), 400, "invalid_request"},
		"a body that ends early":      {request("POST /runs", "Content-Length: 100\r\n\r\n"+run), 400, "invalid_request"},
		"no body":                     {request("POST /runs", "\r\n"), 400, "invalid_request"},
		"chunks":                      {chunked("5\r\n" + run[:5] + "\r\n36\r\n" + run[5:] + "\r\n0\r\n\r\n"), 201, ""},
		"chunks and a length":         {chunked("2\r\n{}\r\n0\r\n\r\n", "Content-Length: 3\r\n"), 400, "invalid_request"},
		"a chunk's length in letters": {chunked("zz\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request"},
		"a chunk beyond numbers":      {chunked("fffffffffffffffff\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request"},
		"a chunk below 0":             {chunked("-2\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request"},
		"a chunk without its end":     {chunked("2\r\n{}0\r\n\r\n"), 400, "invalid_request"},
		"a chunk beyond its length":   {chunked("1\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request"},
		"chunks without an end":       {chunked("2\r\n{}\r\n"), 400, "invalid_request"},
		"a chunk's long extension":    {chunked("2;" + strings.Repeat("x", 10_000) + "\r\n{}\r\n0\r\n\r\n"), 400, "invalid_request"},
		"one chunk over the limit":    {chunked("100001\r\n" + strings.Repeat(" ", 1<<20+1) + "\r\n0\r\n\r\n"), 413, "request_too_large"},
		"a trailer":                   {chunked("2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n"), 400, "invalid_request"},
		"OPTIONS of nothing":          {request("OPTIONS *", "\r\n"), 404, "not_found"},
		"GET of nothing":              {request("GET *", "\r\n"), 404, "not_found"},
		"OPTIONS":                     {request("OPTIONS /agents", "\r\n"), 405, "method_not_allowed"},
		"a preflight":                 {request("OPTIONS /runs", "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"), 405, "method_not_allowed"},
		"TRACE":                       {request("TRACE /agents", "X-Secret: s3cret\r\n\r\n"), 405, "method_not_allowed"},
		"CONNECT":                     {request("CONNECT localhost:22", "\r\n"), 404, "not_found"},
		"CONNECT of a path":           {request("CONNECT /agents", "\r\n"), 405, "method_not_allowed"},
		"a method in small letters":   {request("get /agents", "\r\n"), 405, "method_not_allowed"},
		"a method of its own":         {request("FROBNICATE /agents", "\r\n"), 405, "method_not_allowed"},
		"a long method":               {request(strings.Repeat("M", 10_000)+" /agents", "\r\n"), 405, "method_not_allowed"},
		"a method with a slash":       {request("GE/T /agents", "\r\n"), 400, "invalid_request"},
		"a double slash":              {request("GET //agents", "\r\n"), 404, "not_found"},
		"POST to a double slash":      {request("POST //runs", "Content-Length: 2\r\n\r\n{}"), 404, "not_found"},
		"another host as a path":      {request("GET //evil.example/%2e%2e", "\r\n"), 404, "not_found"},
		"a slash at the end":          {request("GET /agents/", "\r\n"), 404, "not_found"},
		"a dot":                       {request("GET /./agents", "\r\n"), 404, "not_found"},
		"two dots":                    {request("GET /runs/../agents", "\r\n"), 404, "not_found"},
		"two dots, escaped":           {request("GET /runs/%2e%2e/agents", "\r\n"), 404, "not_found"},
		"too many dots":               {request("GET /../../../../etc/passwd", "\r\n"), 404, "not_found"},
		"an escaped slash":            {request("GET /agents%2Fnobody", "\r\n"), 404, "not_found"},
		"an escaped slash in a name":  {request("GET /agents/..%2Fagents", "\r\n"), 404, "agent_not_found"},
		"an escaped letter":           {request("GET /%61gents", "\r\n"), 200, ""},
		"a backslash":                 {request("GET /agents\\nobody", "\r\n"), 404, "not_found"},
		"parameters of a path":        {request("GET /agents;v=1", "\r\n"), 404, "not_found"},
		"a semicolon in the query":    {request("GET /runs?status=failed;limit=1", "\r\n"), 400, "invalid_request"},
		"a path of 60 KB":             {request("GET /"+strings.Repeat("a", 60_000), "\r\n"), 404, "not_found"},
		"a path of 100 KB":            {request("GET /"+strings.Repeat("a", 100_000), "\r\n"), 431, "header_too_large"},
		"a header of 100 KB":          {request("GET /agents", "X-A: "+strings.Repeat("a", 100_000)+"\r\n\r\n"), 431, "header_too_large"},
		"10,000 headers":              {request("GET /agents", strings.Repeat("X-A: abcdefgh\r\n", 10_000)+"\r\n"), 431, "header_too_large"},
		"Basic":                       {request("GET /agents", "Authorization: Basic YTpi\r\n\r\n"), 401, "unauthorized"},
		"Bearer of nothing":           {request("GET /agents", "Authorization: Bearer\r\n\r\n"), 401, "invalid_token"},
		"an invalid token":            {request("GET /agents", "Authorization: Bearer "+strings.Repeat("a", 10_000)+"\r\n\r\n"), 401, "invalid_token"},
		"a key that is empty":         {request("POST /runs", "Idempotency-Key:\r\nContent-Length: 59\r\n\r\n"+run), 400, "invalid_request"},
		"a key with a tab":            {request("POST /runs", "Idempotency-Key: a\tb\r\nContent-Length: 59\r\n\r\n"+run), 400, "invalid_request"},
		"an invalid event id":         {request("GET /runs/run_none/events", "Last-Event-ID: -1\r\n\r\n"), 400, "invalid_request"},
		"tools: GET":                  {request("GET /mcp", "Accept: text/event-stream\r\n\r\n"), 405, "method_not_allowed"},
		"tools: DELETE":               {request("DELETE /mcp", "Mcp-Session-Id: x\r\n\r\n"), 405, "method_not_allowed"},
		"tools: OPTIONS":              {request("OPTIONS /mcp", "\r\n"), 405, "method_not_allowed"},
		"tools: a slash at the end":   {request("POST /mcp/", "Content-Length: 2\r\n\r\n{}"), 404, "not_found"},
		"tools: a double slash":       {request("POST //mcp", "Content-Length: 2\r\n\r\n{}"), 404, "not_found"},
		"tools: no body":              {tools("\r\n"), 400, "invalid_request"},
		"tools: no JSON":              {tools("Content-Length: 1\r\n\r\n{"), 400, "invalid_request"},
		"tools: too large":            {tools("Content-Length: 1048577\r\n\r\n" + strings.Repeat(" ", 1<<20+1)), 413, "request_too_large"},
		"tools: a broken chunk":       {tools("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400, "invalid_request"},
		"tools: ends early":           {tools("Content-Length: 100\r\n\r\n{}"), 400, "invalid_request"},
		"tools: gzip":                 {tools("Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), 415, "unsupported_media_type"},
		"tools: a form":               {request("POST /mcp", "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"), 415, "unsupported_media_type"},
		"tools: nothing is accepted":  {request("POST /mcp", "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"), 400, "invalid_request"},
		"tools: another protocol":     {tools("Mcp-Protocol-Version: 1999-01-01\r\nContent-Length: 2\r\n\r\n{}"), 400, "invalid_request"},
		"tools: replay of a POST":     {tools("Last-Event-ID: 1_1\r\nContent-Length: 46\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), 400, "invalid_request"},
		"tools: another site":         {tools("Origin: https://evil.example\r\nContent-Length: 2\r\n\r\n{}"), 403, "forbidden_origin"},
		"tools: another host's name":  {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}", 403, "forbidden_host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Most cases with this word in their names end too early: the server would wait for the rest.
			closeWrite := strings.Contains(name, "end")
			answers, bodies := sendRaw(t, address, c.sent, closeWrite, "GET")
			if len(answers) == 0 {
				return
			}
			res, body := answers[0], bodies[0]
			if res.StatusCode != c.status {
				t.Errorf("%s %.300s, want %d %s", res.Status, body, c.status, c.code)
			}
			if c.status < 400 {
				return
			}
			if code := checkAPIError(t, name, res, body); code != c.code {
				t.Errorf("%s, want %s: %.300s", code, c.code, body)
			}
			if c.status == 405 && res.Header.Get("Allow") == "" {
				t.Error("the answer names no method that is allowed")
			}
			if strings.Contains(body, "s3cret") {
				t.Errorf("it repeats what was sent: %s", body)
			}
		})
	}
	// After a request that was served, garbage is answered, too; a body is not read as a second
	// request.
	answers, bodies := sendRaw(t, address, request("GET /healthz", "\r\n")+request("POST /runs", "Content-Length: 2\r\n\r\n{}")+"GARBAGE\r\n\r\n", false, "GET", "POST", "GET")
	if len(answers) != 3 || answers[0].StatusCode != 200 || answers[1].StatusCode != 400 || checkAPIError(t, "garbage at the end", answers[2], bodies[2]) != "invalid_request" {
		t.Errorf("%d answers: %q", len(answers), bodies)
	}
	for _, path := range []string{"/agents", "/nothing", "/runs/run_none", "/mcp"} {
		if _, bodies := sendRaw(t, address, request("HEAD "+path, "\r\n"), false, "HEAD"); len(bodies) != 1 || bodies[0] != "" {
			t.Errorf("HEAD %s: %q", path, bodies)
		}
	}
}

// TestCoordinatorAnswersHTTPWhereTLSIs asserts that a client that speaks HTTP to a server with a
// certificate is asked to use https, and that HTTPS works with HTTP/1.1 and HTTP/2.
func TestCoordinatorAnswersHTTPWhereTLSIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := selfSigned(t, dir)
	c := serveArgs(t, dir, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	answers, bodies := sendRaw(t, strings.TrimPrefix(c.url, "https://"), "GET /agents HTTP/1.1\r\nHost: localhost\r\n\r\n", false, "GET")
	if len(answers) != 1 || checkAPIError(t, "without TLS", answers[0], bodies[0]) != "invalid_request" || !strings.Contains(bodies[0], "https") {
		t.Errorf("%q", bodies)
	}
	for _, protocol := range []string{"h2", "http/1.1"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, NextProtos: []string{protocol}}, ForceAttemptHTTP2: protocol == "h2"}
		status, body := ask(t, &http.Client{Transport: transport}, "GET", c.url+"/agents/nobody", "")
		transport.CloseIdleConnections()
		if status != 404 || !strings.Contains(body, `"error":"agent_not_found"`) {
			t.Errorf("%s: %d %s", protocol, status, body)
		}
	}
}
