package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// started runs the command and returns its URL. The function stop ends the command, and returns the
// exit status and what was written to standard error.
func started(t *testing.T, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, w, &stderr)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("no URL: exit status %d, %s", <-code, stderr.String())
	}
	return strings.TrimSpace(line), func() (int, string) {
		cancel()
		return <-code, stderr.String()
	}
}

// ask sends a request and returns its answer.
func ask(t *testing.T, method, url, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// write writes a temporary file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestServer(t *testing.T) {
	fixture := write(t, "f.json", `{"repo":{"owner":"o","name":"r","id":9},"viewer":{"login":"me","id":5},"issues":[{"number":7,"title":"T","body":"B","state":"open"}]}`)
	faults := write(t, "faults.json", `[{"operation":"issues/get","times":1,"fault":{"status":503,"body":"{}"}}]`)
	record := filepath.Join(t.TempDir(), "record.ndjson")
	url, stop := started(t, "--fixture", fixture, "--record", record, "--faults", faults, "--enterprise")
	if !strings.HasSuffix(url, "/api/v3") {
		t.Errorf("URL = %s", url)
	}
	if code, _ := ask(t, "GET", url+"/repos/o/r/issues/7", ""); code != 503 {
		t.Errorf("the fault: %d", code)
	}
	if code, body := ask(t, "GET", url+"/repos/o/r/issues/7", ""); code != 200 || !strings.Contains(body, `"title":"T"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body := ask(t, "POST", url+"/repos/o/r/issues/7/comments", `{"body":"hi"}`); code != 201 {
		t.Errorf("%d %s", code, body)
	}
	_, state := ask(t, "GET", strings.TrimSuffix(url, "/api/v3")+"/_test/state", "")
	f, err := githubtest.ParseFixture([]byte(state))
	if err != nil || len(f.Issues[0].Comments) != 1 || f.Issues[0].Comments[0].Author.Login != "me" {
		t.Errorf("state: %s, %v", state, err)
	}
	if code, stderr := stop(); code != 0 || stderr != "" {
		t.Errorf("exit status %d, %s", code, stderr)
	}
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for line := range strings.Lines(string(data)) {
		var r githubtest.Request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		ops = append(ops, r.Operation)
	}
	if got := strings.Join(ops, " "); got != "issues/get issues/get issues/create-comment" {
		t.Errorf("recorded: %s", got)
	}
}

func TestViolations(t *testing.T) {
	out := filepath.Join(t.TempDir(), "violations.ndjson")
	url, stop := started(t, "--violations", out, "--addr", "0.0.0.0:0")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("URL = %s", url)
	}
	if code, _ := ask(t, "POST", url+"/repos/octo/repo/issues", `{"title":"x","lables":["a"]}`); code != 500 {
		t.Errorf("status %d", code)
	}
	if code, stderr := stop(); code != 1 || !strings.Contains(stderr, "/lables") {
		t.Errorf("exit status %d, %s", code, stderr)
	}
	data, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(data), "/lables") {
		t.Errorf("%s, %v", data, err)
	}
}

// TestGit asserts that the API shows what git pushed.
func TestGit(t *testing.T) {
	g := githubtest.NewGit(t)
	main := g.Commit("main", map[string]string{"a": "1"}, "One")
	url, stop := started(t, "--git", g.Dir(), "--enterprise")
	host := strings.TrimSuffix(url, "/api/v3")
	g.Run("push", "--quiet", strings.Replace(host, "://", "://any:token@", 1)+"/octo/repo.git", main+":refs/heads/topic")
	if code, body := ask(t, "GET", url+"/repos/octo/repo/git/ref/heads/topic", ""); code != 200 || !strings.Contains(body, main) {
		t.Errorf("%d %s", code, body)
	}
	if _, body := ask(t, "GET", url+"/repos/octo/repo", ""); !strings.Contains(body, `"clone_url":"`+host+`/octo/repo.git"`) {
		t.Errorf("repository: %s", body)
	}
	if code, stderr := stop(); code != 0 || stderr != "" {
		t.Errorf("exit status %d, %s", code, stderr)
	}
}

func TestBadArguments(t *testing.T) {
	for name, args := range map[string][]string{
		"flag":    {"--nonsense"},
		"fixture": {"--fixture", write(t, "x", `{"isues":[]}`)},
		"missing": {"--fixture", filepath.Join(t.TempDir(), "none")},
		"faults":  {"--faults", write(t, "y", `[{"fault":{"dely":"1s"}}]`)},
		"git":     {"--git", t.TempDir()},
		"address": {"--addr", "256.0.0.1:1"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, io.Discard, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%s: exit status %d, %q", name, code, stderr.String())
		}
	}
}
