//go:build unix

package main_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveArgs starts a coordinator on the store in dir with further arguments.
func serveArgs(t *testing.T, dir string, args ...string) coordinator {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--store", filepath.Join(dir, "store.db")}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return coordinator{cmd, startServer(t, cmd)}
}

// ask sends a request, whose headers are "Name: value", and returns the status and the body.
func ask(t *testing.T, client *http.Client, method, url, body string, headers ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// addToken adds a token to the store in dir and returns it.
func addToken(t *testing.T, dir, name string, scopes ...string) string {
	t.Helper()
	args := []string{"token", "add", name, "--store", filepath.Join(dir, "store.db")}
	for _, scope := range scopes {
		args = append(args, "--scope", scope)
	}
	r := run(t, dir, nil, "", args...)
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// selfSigned writes a certificate for loopback and its key into dir, and returns a pool that
// trusts it.
func selfSigned(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool
}

// TestCoordinatorOverTLS asserts that a server with a certificate speaks only TLS, and no old
// version of it. An address that other machines can reach needs a token, and a certificate or
// --insecure-behind-proxy.
func TestCoordinatorOverTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := selfSigned(t, dir)
	certificate := []string{"--tls-cert", "cert.pem", "--tls-key", "key.pem"}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--addr", "0.0.0.0:0"}, "can be reached from other machines: give --tls-cert and --tls-key, or --insecure-behind-proxy"},
		{append([]string{"--addr", "0.0.0.0:0"}, certificate...), "there is no token: make one with 'airlock token add NAME'"},
		{[]string{"--addr", "0.0.0.0:0", "--insecure-behind-proxy"}, "there is no token"},
		{[]string{"--addr", "127.0.0.1:0", "--tls-cert", "cert.pem"}, "--tls-cert and --tls-key belong together"},
		{[]string{"--addr", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "cert.pem"}, "--tls-cert: "},
		{[]string{"--addr", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "key.pem"}, "--tls-cert: open none.pem"},
		{[]string{"--addr", "8417"}, "is not HOST:PORT"},
		{[]string{"--addr", "unix:/run/airlock.sock"}, "is not HOST:PORT"},
		{[]string{"--fixer", "a=true", "--fixer", "b=true", "--fixer", "a=false"}, `two fixers are called "a"`},
		{[]string{"--addr", taken.Addr().String()}, "with a port that is free"},
	} {
		if r := run(t, dir, nil, "", append([]string{"serve", "--store", "store.db"}, c.args...)...); r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q ended with %d:\n%s", c.args, r.code, r.stderr)
		}
	}

	token := addToken(t, dir, "one", "run")
	c := serveArgs(t, dir, append([]string{"--addr", "0.0.0.0:0"}, certificate...)...)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(c.url, "https://"))
	if err != nil || !strings.HasPrefix(c.url, "https://") {
		t.Fatal(c.url, err)
	}
	c.url = "https://127.0.0.1:" + port
	client := func(cfg *tls.Config) *http.Client {
		transport := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	trusting := client(&tls.Config{RootCAs: pool})
	if status, body := ask(t, trusting, "GET", c.url+"/agents", ""); status != 401 || !strings.Contains(body, `"error":"unauthorized"`) {
		t.Errorf("without a token: %d %s", status, body)
	}
	status, body := ask(t, trusting, "POST", c.url+"/runs", `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`, "Authorization: Bearer "+token)
	if status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	started := parse[struct {
		RunID string `json:"run_id"`
	}](t, body)
	if status, body := ask(t, trusting, "GET", c.url+"/runs/"+started.RunID+"/events", "", "Authorization: Bearer "+token); status != 200 || !strings.Contains(body, `"status":"completed"`) {
		t.Errorf("the events: %d %s", status, body)
	}
	if status, body := ask(t, http.DefaultClient, "GET", "http://127.0.0.1:"+port+"/agents", ""); status != 400 || strings.Contains(body, "agents\":") {
		t.Errorf("without TLS: %d %s", status, body)
	}
	if res, err := client(&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}).Get(c.url + "/healthz"); err == nil {
		res.Body.Close()
		t.Error("TLS 1.1 is spoken")
	}
	// The command line sends its token only to a server that it trusts.
	env := []string{"AIRLOCK_TOKEN=" + token}
	if r := run(t, dir, env, "", "runs", "list", "--server", c.url); r.code == 0 || !strings.Contains(r.stderr, "certificate") {
		t.Errorf("%d: %s", r.code, r.stderr)
	}
	if r := run(t, dir, append(env, "SSL_CERT_FILE="+filepath.Join(dir, "cert.pem")), "", "runs", "list", "--server", c.url); r.code != 0 || !strings.Contains(r.stdout, started.RunID) {
		t.Errorf("%d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestCoordinatorLimitsRequests asserts that --rate limits each caller by itself, over the API,
// the tools and the pages.
func TestCoordinatorLimitsRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, rate := range []string{"-1", "NaN"} {
		if r := run(t, dir, nil, "", "serve", "--store", "store.db", "--rate", rate); r.code != 2 || !strings.Contains(r.stderr, "--rate") {
			t.Errorf("--rate %s ended with %d: %s", rate, r.code, r.stderr)
		}
	}
	greedy, modest := addToken(t, dir, "greedy", "run"), addToken(t, dir, "modest", "run")
	c := serveArgs(t, dir, "--rate", "0.01") // the next request is allowed after a hundred seconds
	const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, body := ask(t, http.DefaultClient, "GET", c.url+"/agents", "", "Authorization: Bearer "+greedy); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, path := range []string{"/agents", "/mcp", "/metrics", "/runs/run_none/events"} {
		method, body := "GET", ""
		if path == "/mcp" {
			method, body = "POST", listing
		}
		req, err := http.NewRequestWithContext(t.Context(), method, c.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + greedy}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 429 || !strings.Contains(string(raw), `"error":"rate_limited"`) || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, res.StatusCode, raw)
		}
	}
	if status, body := ask(t, http.DefaultClient, "GET", c.url+"/agents", "", "Authorization: Bearer "+modest); status != 200 {
		t.Errorf("another caller: %d %s", status, body)
	}
	// A caller that tries one token after another is counted by its address.
	for n := range 3 {
		status, body := ask(t, http.DefaultClient, "POST", c.url+"/ui/sign-in", "token=airlock_"+fmt.Sprint(n), "Content-Type: application/x-www-form-urlencoded", "Origin: "+c.url, "Accept: text/html")
		want := 429
		if n == 0 {
			want = 401
		}
		if status != want {
			t.Errorf("attempt %d to sign in: %d %s", n+1, status, body)
		}
	}
	if status, _ := ask(t, http.DefaultClient, "GET", c.url+"/healthz", ""); status != 200 {
		t.Errorf("/healthz, which has no limit: %d", status)
	}
}

// TestNoCommandOverTheWire asserts that a request, however it is written and sent, can name only
// directories below --root, and commands that the owner has configured. These commands work.
func TestNoCommandOverTheWire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openToOthers(dir)
	write(t, dir, map[string]string{
		"root/tree/a.js": "exports.a = 1;\n", "rootmate/a.js": "exports.a = 2;\n", "outside/a.js": "exports.a = 3;\n",
		"policy.yml": "checks:\n  format-command: test -f a.js\n  lint-command: test -f a.js\n  build-command: test -f a.js\n  test-command: test -f a.js\nacceptance:\n  commands: [test -f a.js]\n",
	})
	root, outside := filepath.Join(dir, "root"), filepath.Join(dir, "outside")
	for link, to := range map[string]string{"root/away": outside, "root/up": "..", "root/same": "tree", "door": root} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	tree := filepath.Join(root, "tree")
	makeRepository(t, tree)
	c := serveArgs(t, dir, "--config", "policy.yml", "--root", "root", "--fixer", "good=true")
	create := func(agent string, parameters map[string]any) (status int, body string) {
		t.Helper()
		return ask(t, http.DefaultClient, "POST", c.url+"/runs", jsonText(t, map[string]any{"agent_name": agent, "parameters": parameters}))
	}
	validation := func(more map[string]any) map[string]any {
		p := map[string]any{"working_directory": tree, "changed_files": []string{"a.js"}, "language": "javascript"}
		maps.Copy(p, more)
		return p
	}
	marker := filepath.Join(dir, "pwned")
	criterion := func(hint string) map[string]any {
		return map[string]any{"id": "c", "description": "d", "validation_hint": hint}
	}
	acceptance := func(more map[string]any) map[string]any {
		p := map[string]any{"task_id": "t-1", "worktree_path": tree, "validation_type": "code", "acceptance_criteria": []any{criterion("$ test -f a.js")}}
		maps.Copy(p, more)
		return p
	}
	loop := func(more map[string]any) map[string]any {
		p := map[string]any{"issue": 7, "directory": tree, "repository": "octo/shop", "fixer": "good"}
		maps.Copy(p, more)
		return p
	}
	type refusal struct {
		agent      string
		parameters map[string]any
		path       string
	}
	var refused []refusal
	for _, member := range []string{"format_command", "lint_command", "build_command", "test_command"} {
		for _, command := range []string{"touch " + marker, "test -f a.js; touch " + marker, " test -f a.js", "test  -f a.js", "test -f a.js\n"} {
			refused = append(refused, refusal{"phase-validation", validation(map[string]any{member: command}), "$." + member})
		}
	}
	for _, fixer := range []string{"touch " + marker, "true", "good=true", "Good", "good ", "../good"} {
		refused = append(refused, refusal{"fix-loop", loop(map[string]any{"fixer": fixer}), "$.fixer"})
	}
	for _, directory := range []string{outside, root + "/..", root + "/tree/../../outside", root + "/away", root + "/up/outside", root + "/nothing", root + "/tree/a.js", dir, root + "mate", "/", "../outside", root + "/tree\x00/"} {
		refused = append(refused,
			refusal{"phase-validation", validation(map[string]any{"working_directory": directory}), "$.working_directory"},
			refusal{"acceptance", acceptance(map[string]any{"worktree_path": directory}), "$.worktree_path"},
			refusal{"fix-loop", loop(map[string]any{"directory": directory}), "$.directory"})
	}
	somewhere := acceptance(nil)
	delete(somewhere, "worktree_path")
	refused = append(refused, refusal{"acceptance", somewhere, "$.worktree_path"})
	tools, err := overHTTP(t, c.url, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refused {
		status, body := create(r.agent, r.parameters)
		if status != 400 || !strings.Contains(body, `"error":"parameter_validation_failed"`) || !strings.Contains(body, `"path":"`+r.path+`"`) {
			t.Errorf("%s %v: %d %.300s", r.agent, r.parameters, status, body)
		}
		raw := jsonText(t, map[string]any{"agent_name": r.agent, "parameters": r.parameters})
		if answer, isError := asked[struct{ Error string }](t, tools, "start_run", raw); !isError || answer.Error != "parameter_validation_failed" {
			t.Errorf("start_run of %s %v: %+v", r.agent, r.parameters, answer)
		}
	}
	if status, body := ask(t, http.DefaultClient, "GET", c.url+"/runs", ""); status != 200 || body != `{"runs":[]}`+"\n" {
		t.Errorf("what was refused is recorded: %s", body)
	}

	finished := func(agent string, parameters map[string]any) (result string) {
		t.Helper()
		status, body := create(agent, parameters)
		var started struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(body), &started); err != nil || status != 201 {
			t.Fatalf("%s %v: %d %s", agent, parameters, status, body)
		}
		c.completed(t, started.RunID)
		return get(t, c.url+"/runs/"+started.RunID+"/result")
	}
	for _, directory := range []string{tree, root + "/same", dir + "/door/tree", root + "/tree/../tree"} {
		if got := finished("phase-validation", validation(map[string]any{"working_directory": directory, "test_command": "test -f a.js"})); !strings.Contains(got, `"tests":{"status":"pass"`) || !strings.Contains(got, `"command":"test -f a.js"`) {
			t.Errorf("%s: %s", directory, got)
		}
	}
	// A hint that names what is not configured is not refused: its criterion is blocked.
	for hint, want := range map[string]string{"$ test -f a.js": "PASS", "$ touch " + marker: "BLOCKED", "$ test -f a.js; touch " + marker: "BLOCKED", "$ test -f a.js && touch " + marker: "BLOCKED", "http://" + strings.TrimPrefix(c.url, "http://") + "/agents": "BLOCKED"} {
		var response struct {
			Results []struct{ Status string } `json:"criteria_results"`
		}
		got := finished("acceptance", acceptance(map[string]any{"acceptance_criteria": []any{criterion(hint)}}))
		if err := json.Unmarshal([]byte(got), &response); err != nil || len(response.Results) != 1 || response.Results[0].Status != want {
			t.Errorf("the hint %q, which is to be %s: %s", hint, want, got)
		}
	}
	// Another worker applies its own --root and configuration.
	for _, p := range []map[string]any{validation(map[string]any{"working_directory": outside}), validation(map[string]any{"test_command": "touch " + marker})} {
		if r := run(t, dir, nil, jsonText(t, p), "builtin", "phase-validation", "--root", "root", "--config", "policy.yml"); r.code != 2 || !strings.Contains(r.stderr, "this worker does not carry it out: $.") {
			t.Errorf("%v: %d %s%s", p, r.code, r.stdout, r.stderr)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command of a request has run")
	}
	// A caller that may start runs cannot add a command to the server.
	token := addToken(t, dir, "runner", "run")
	eventually(t, func() bool {
		status, _ := ask(t, http.DefaultClient, "GET", c.url+"/agents", "")
		return status == 401
	}, "the first token changes nothing")
	if status, body := ask(t, http.DefaultClient, "POST", c.url+"/agents", `{"name":"mine","type":"agent","command":["touch","`+marker+`"]}`, "Authorization: Bearer "+token); status != 403 || !strings.Contains(body, `"error":"forbidden"`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestCoordinatorKnowsItsVisitors asserts whom the server answers over loopback. While no token
// exists, it answers only its own user, and not the checks of a run. Later it answers anybody who
// has a token. The test needs root, because other users have to ask.
func TestCoordinatorKnowsItsVisitors(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		return
	}
	dir := t.TempDir()
	openToOthers(dir)
	work := filepath.Join(dir, "work")
	// A check that passes if the server does not answer it, or refuses to.
	probe := `code=$(curl -s -o /dev/null -w '%{http_code}' "$(cat url)/agents"); test "$code" = 401 -o "$code" = 000`
	write(t, dir, map[string]string{"work/a.js": "exports.a = 1;\n", "work/probe.sh": probe, "policy.yml": "checks:\n  format-command: \"true\"\n  lint-command: \"true\"\n  build-command: \"true\"\n  test-command: sh probe.sh\n"})
	c := serveArgs(t, dir, "--config", "policy.yml")
	writeFile(t, filepath.Join(work, "url"), c.url)
	as := func(user string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "setpriv", append([]string{"--reuid", user, "--clear-groups", "curl", "-s", "-w", " %{http_code}"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := as("0", c.url+"/agents"); !strings.HasSuffix(got, " 200") {
		t.Errorf("its own user is answered %s", got)
	}
	for _, args := range [][]string{{c.url + "/agents"}, {"-X", "POST", c.url + "/runs", "-d", `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`}, {c.url + "/metrics"},
		{"-X", "POST", "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", c.url + "/mcp", "-d", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}} {
		if got := as("65534", args...); !strings.HasSuffix(got, " 401") || !strings.Contains(got, "without a token only the server's own user is answered") {
			t.Errorf("another user is answered %s for %q", got, args)
		}
	}
	// The server cannot find the user of a caller that has already hung up.
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("setpriv", "--reuid", "65534", "--clear-groups", "curl", "-s", "-m", "0.5", c.url+"/agents", "-d", `{"name":"evil","type":"agent","command":["id"]}`)
	if err := gone.Run(); err == nil {
		t.Error("the server answers although it is stopped")
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		return strings.Contains(get(t, c.url+"/metrics"), `airlock_http_request_seconds_count{code="4xx",method="POST",path="/agents"} 1`)
	}, "the request of the one who has hung up is not refused")
	if list := get(t, c.url+"/agents"); strings.Contains(list, `"evil"`) {
		t.Errorf("another user who hangs up counts as the server's own: %s", list)
	}
	if got := as("65534", "-L", "-H", "Accept: text/html", c.url+"/"); strings.Contains(got, "What happens") {
		t.Errorf("another user sees the page %s", got)
	}
	tests := func(headers ...string) string {
		t.Helper()
		body := jsonText(t, map[string]any{"agent_name": "phase-validation", "parameters": map[string]any{"working_directory": work, "changed_files": []string{"a.js"}, "language": "javascript"}})
		status, answer := ask(t, http.DefaultClient, "POST", c.url+"/runs", body, headers...)
		var started struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(answer), &started); err != nil || status != 201 {
			t.Fatalf("%d %s", status, answer)
		}
		if status, answer := ask(t, http.DefaultClient, "GET", c.url+"/runs/"+started.RunID+"/wait?timeout=60", "", headers...); status != 200 || !strings.Contains(answer, `"status":"completed"`) {
			t.Fatalf("%d %s", status, answer)
		}
		_, result := ask(t, http.DefaultClient, "GET", c.url+"/runs/"+started.RunID+"/result", "", headers...)
		return result
	}
	answered := exec.Command("sh", "probe.sh") // as the server's own user
	answered.Dir = work
	if err := answered.Run(); err == nil {
		t.Error("the probe passes although it is answered")
	}
	if got := tests(); !strings.Contains(got, `"tests":{"status":"pass"`) || !strings.Contains(got, `"command":"sh probe.sh"`) {
		t.Errorf("the checks are answered: %s", got)
	}

	token := addToken(t, dir, "first", "admin")
	eventually(t, func() bool { return strings.HasSuffix(as("0", c.url+"/agents"), " 401") }, "the server's own user needs no token")
	for token, want := range map[string]string{token: " 200", "airlock_wrong": " 401"} {
		if got := as("65534", "-H", "Authorization: Bearer "+token, c.url+"/agents"); !strings.HasSuffix(got, want) {
			t.Errorf("another user with a token is answered %s, want%s", got, want)
		}
	}
	if got := tests("Authorization: Bearer " + token); !strings.Contains(got, `"tests":{"status":"pass"`) {
		t.Errorf("the checks are answered: %s", got)
	}
}

// TestCoordinatorIsNotForOtherSites asserts that the running server does nothing for a request
// under another host name, or from a page of another site: over the API, the tools and the pages.
func TestCoordinatorIsNotForOtherSites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"http://coordinator.example", "coordinator.example:8417", "*"} {
		if r := run(t, dir, nil, "", "serve", "--store", "store.db", "--host="+name); r.code != 2 || !strings.Contains(r.stderr, "--host") {
			t.Errorf("--host %q ended with %d: %s", name, r.code, r.stderr)
		}
	}
	c := serveArgs(t, dir, "--host", "coordinator.example")
	for _, r := range []struct{ method, path, body, kind string }{
		{"GET", "/agents", "", ""},
		{"POST", "/runs", `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`, "text/plain"},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "application/json"},
		{"GET", "/ui/runs", "", ""},
		{"POST", "/ui/agents/collect-output", "p.lines=x", "application/x-www-form-urlencoded"},
		{"GET", "/metrics", "", ""},
		{"GET", "/healthz", "", ""},
	} {
		for header, refused := range map[string]bool{
			"Host: evil.example": true, "Host: 127.0.0.1.evil.example": true, "Host: 0.0.0.0": true, "Origin: https://evil.example": true, "Origin: null": true, "Sec-Fetch-Site: cross-site": true,
			"Host: coordinator.example": false, "Host: LOCALHOST:1": false,
		} {
			if !refused && strings.HasPrefix(r.path, "/ui/") && r.method == "POST" {
				continue // a form needs an Origin header
			}
			status, body := ask(t, http.DefaultClient, r.method, c.url+r.path, r.body, header, "Content-Type: "+r.kind, "Accept: application/json, text/event-stream, text/html")
			if succeeded := status >= 200 && status < 400; refused && status != 403 || !refused && !succeeded {
				t.Errorf("%s %s with %s: %d %.200s", r.method, r.path, header, status, body)
			}
		}
	}
	var list struct{ Runs []json.RawMessage }
	if err := json.Unmarshal([]byte(get(t, c.url+"/runs")), &list); err != nil || len(list.Runs) != 2 { // those by the two good names
		t.Errorf("%v, %d runs", err, len(list.Runs))
	}
}

// TestCoordinatorBearsHostileAgents runs agents that flood, flee, ignore signals and vanish.
// Each ends as documented and leaves no process, and the log of one that floods is bounded.
func TestCoordinatorBearsHostileAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agents := filepath.Join(dir, "agents")
	const flee = `setsid sh -c 'echo $$ >> pids; trap "" TERM HUP INT; while :; do sleep 0.05; done' & echo $$ >> pids; `
	for name, script := range map[string]string{
		"floods": `head -c 268435456 /dev/zero`,
		"chats":  `head -c 268435456 /dev/zero >&2; echo 1`,
		"flees":  flee + `sleep 0.2; echo 1`,
		"stays":  flee + `trap "" TERM HUP INT; echo here > here; while :; do sleep 0.05; done`,
		"silent": `exit 0`,
		"closes": `exec >&- 2>&-; sleep 0.1`,
		"deaf":   `exec <&-; echo 1`,
		"deep":   `i=0; while [ $i -lt 3000 ]; do printf '['; i=$((i+1)); done`,
	} {
		addProgram(t, agents, name, script)
	}
	writeFile(t, filepath.Join(agents, "vanished.json"), `{"name":"vanished","type":"deterministic","command":["./gone"],"parameters_schema":{"type":"object"}}`)
	c := serveArgs(t, dir, "--agents", "agents", "--concurrency", "12")
	ends := map[string]string{
		"floods": `"code":"output_too_large"`, "chats": `"status":"completed"`, "flees": `"status":"completed"`, "stays": `"status":"stopped"`, "silent": `"code":"invalid_output"`,
		"closes": `"code":"invalid_output"`, "deaf": `"status":"completed"`, "deep": `"code":"invalid_output"`, "vanished": `"code":"not_started"`,
	}
	ids := map[string]string{}
	for agent := range ends {
		status, id, answer := c.post(t, agent, 300_000)
		if status != 201 {
			t.Fatalf("%s: %d %s", agent, status, answer)
		}
		ids[agent] = id
	}
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "here")); return err == nil }, `the agent "stays" does not begin`)
	if status, body := ask(t, http.DefaultClient, "POST", c.url+"/runs/"+ids["stays"]+"/stop", ""); status != 202 {
		t.Errorf("%d %s", status, body)
	}
	for agent, want := range ends {
		if got := get(t, c.url+"/runs/"+ids[agent]+"/wait?timeout=60"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", agent, shorten(got))
		}
	}
	if log := get(t, c.url+"/runs/"+ids["chats"]+"/log"); len(log) < 1<<20 || len(log) > 1<<20+100 {
		t.Errorf("the log of what floods has %d bytes", len(log))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil || bytes.Count(raw, []byte("\n")) != 4 {
		t.Fatalf("%v %s", err, raw)
	}
	for pid := range strings.FieldsSeq(string(raw)) {
		if cmdline, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && bytes.Contains(cmdline, []byte("pids")) {
			t.Errorf("the process %s of a run that has ended lives: %q", pid, cmdline)
		}
	}
}

// shorten leaves the many x of the parameters out of an answer.
func shorten(s string) string {
	if at := strings.Index(s, "xxxxx"); at >= 0 {
		return s[:at] + strings.TrimLeft(s[at:], "x")
	}
	return s
}
