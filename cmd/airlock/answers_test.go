package main_test

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// elsewhere is a server of somebody else's, which counts the connections to it.
type elsewhere struct {
	addr  string
	calls atomic.Int32
}

func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	e := &elsewhere{addr: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.calls.Add(1)
			_ = conn.Close()
		}
	}()
	return e
}

// answer returns an answer that replaces GitHub's: headers are pairs of names and values.
func answer(status int, body string, headers ...string) githubtest.Fault {
	h := http.Header{"Content-Type": {"application/json"}, "X-Ratelimit-Limit": {"1000"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return githubtest.Fault{Status: status, Body: body, Header: h}
}

// TestStrangeRefusals refuses a write in forms that GitHub and the proxies in front of it use. It
// asserts that the reason is one harmless line, that nothing is written or sent to another host,
// and that the program does not wait for a rate limit that ends much later or never.
func TestStrangeRefusals(t *testing.T) {
	t.Parallel()
	other := newElsewhere(t)
	const comment, create = "issues/create-comment", "graphql/CreateDiscussion"
	for name, c := range map[string]struct {
		operation string
		fault     githubtest.Fault
		code      string // of the result
		says      string
	}{
		"reasons by field":        {comment, answer(422, `{"message":"Validation Failed","errors":{"body":["is too long","has a bad word"]}}`), "validation", "body is too long; body has a bad word"},
		"one reason":              {comment, answer(422, `{"message":"Validation Failed","errors":"Body is odd"}`), "validation", "Body is odd"},
		"lists in lists":          {comment, answer(422, `{"message":"Validation Failed","errors":[["Body is odd"]]}`), "validation", "Body is odd"},
		"a message by field":      {comment, answer(422, `{"message":{"body":["is odd"]}}`), "validation", "body is odd"},
		"no reason":               {comment, answer(422, ``), "validation", "status 422"},
		"a page of HTML":          {comment, answer(422, `<html>no</html>`, "Content-Type", "text/html"), "validation", "status 422"},
		"marks and commands":      {comment, answer(422, `{"message":"Validation Failed","errors":["a\u001b[31m\r\n::error::b\u202ec\u200bd\u3164e"]}`), "validation", "<U+200B>d<U+3164>e"},
		"single sign-on":          {comment, answer(403, `{"message":"Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization."}`), "permission", "authorize the token for the organization's single sign-on"},
		"an IP allow list":        {comment, answer(403, "{\"message\":\"Although you appear to have the correct authorization credentials, the `o` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.\"}"), "permission", "permissions do not help"},
		"blocked":                 {comment, answer(451, `{"message":"Repository access blocked","block":{"reason":"dmca"}}`), "feature-disabled", "blocked access to the repository for legal reasons"},
		"gone":                    {comment, answer(410, ``), "not-found", "does not exist"},
		"too large for a proxy":   {comment, answer(413, `<html>413</html>`), "validation", "GitHub refuses the request: status 413"},
		"a limit for ever":        {comment, answer(403, `{"message":"You have exceeded a secondary rate limit"}`, "Retry-After", "99999999999999999999"), "rate-limited", "the rate limit is reached until 20"},
		"a limit until 9999":      {comment, answer(429, `{}`, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), "rate-limited", "the rate limit is reached until 20"},
		"a reset too far ahead":   {comment, answer(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "9223372036854775807"), "rate-limited", "the rate limit is reached until 20"},
		"renamed":                 {comment, answer(301, `{"message":"Moved Permanently"}`, "Location", "/repositories/42/issues/2/comments"), "not-found", "it has moved"},
		"sent to another issue":   {comment, answer(307, `{}`, "Location", "/repos/Codertocat/Hello-World/issues/1/comments"), "not-found", "it has moved"},
		"transferred":             {comment, answer(307, `{}`, "Location", "/repositories/7/issues/2/comments"), "not-found", "the issue was transferred"},
		"sent to another host":    {comment, answer(307, `{}`, "Location", "http://"+other.addr+"/repos/x"), "malformed", "a redirect to another host"},
		"moved to another host":   {comment, answer(301, `{}`, "Location", "//"+other.addr+"/repos/x"), "malformed", "a redirect to another host"},
		"moved nowhere":           {comment, answer(302, ``), "malformed", "a redirect that names no address"},
		"GraphQL: moved":          {create, answer(308, ``, "Location", "http://"+other.addr+"/graphql"), "malformed", "a redirect to another host"},
		"GraphQL: forbidden":      {create, answer(200, `{"data":{"createDiscussion":null},"errors":[{"type":"FORBIDDEN","path":["createDiscussion"],"message":"Resource not accessible by integration"}]}`), "permission", "discussions: write"},
		"GraphQL: limit for ever": {create, answer(200, `{"message":"You have exceeded a secondary rate limit."}`, "Retry-After", "999999999"), "rate-limited", "the rate limit is reached until 20"},
		"GraphQL: a second error": {create, answer(200, `{"data":null,"errors":[{"message":"a"},{"type":"RATE_LIMITED","message":"b"}]}`, "Retry-After", "999999999"), "rate-limited", "the rate limit is reached until 20"},
		"GraphQL: reasons":        {create, answer(200, `{"data":{"createDiscussion":null},"errors":[{"type":"UNPROCESSABLE","path":["createDiscussion"],"message":"Title is\u001b[0m odd"}]}`), "validation", "Title is [0m odd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{TrustAnswers: true})
			s.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: c.operation, Fault: c.fault}}))
			line := `{"type":"add-issue-comment","body":"Hello"}`
			if c.operation == create {
				line = `{"type":"create-discussion","title":"Hello","body":"Hello","category":"general"}`
			}
			dir := newWorkspace(t, map[string]string{"policy.yml": "add-issue-comment:\ncreate-discussion:\n", "lines.ndjson": line}).dir
			res := run(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml", "--json")
			if res.code != 1 || !strings.Contains(res.stdout, `"code": "`+c.code+`"`) {
				t.Errorf("exit code %d, want 1 and the result's code %q\n%s", res.code, c.code, res.stdout)
			}
			assertSays(t, res, 1, c.says)
			if i := strings.IndexFunc(res.stderr, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' || r == '\u200b' || r == '\u3164' }); i >= 0 {
				t.Errorf("it prints %q", res.stderr[i:])
			}
			if n := len(s.Requests()); n > 10 {
				t.Errorf("%d requests", n)
			}
			if slices.ContainsFunc(s.Writes(), func(w githubtest.Request) bool { return w.Effect }) {
				t.Error("something was written")
			}
		})
	}
	t.Cleanup(func() {
		if n := other.calls.Load(); n != 0 {
			t.Errorf("%d connections to another host", n)
		}
	})
}
