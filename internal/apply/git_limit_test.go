package apply

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// gitAnswer returns an answer of git's server, or of what stands before it.
func gitAnswer(status int, text, retryAfter string) githubtest.Fault {
	f := githubtest.Fault{Status: status, Body: text, Header: http.Header{"Content-Type": {"text/plain"}}}
	if retryAfter != "" {
		f.Header.Set("Retry-After", retryAfter)
	}
	return f
}

// TestLimitsOfGitAreWaitedFor asserts that a fetch or push waits as a request to the API does: for
// as long as the server asks for, but not longer than such a request would.
func TestLimitsOfGitAreWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		operation string
		fault     githubtest.Fault
		times     int
		least     time.Duration
		most      time.Duration
		state     string
		says      string
	}{
		"429 for 90 s":            {"git-http/refs-of-receive-pack", gitAnswer(429, "", "90"), 1, 90 * time.Second, 91 * time.Second, "applied", ""},
		"429 twice, when sending": {"git-http/receive-pack", gitAnswer(429, "", "90"), 2, 180 * time.Second, 182 * time.Second, "applied", ""},
		"503 for 120 s":           {"git-http/refs-of-receive-pack", gitAnswer(503, "", "120"), 1, 120 * time.Second, 121 * time.Second, "applied", ""},
		"503 without a time":      {"git-http/refs-of-receive-pack", gitAnswer(503, "", ""), 1, 2 * time.Second, 3 * time.Second, "applied", ""},
		"429 without a time":      {"git-http/refs-of-receive-pack", gitAnswer(429, "", ""), 1, time.Minute, time.Minute, "applied", ""},
		"403 in GitHub's words":   {"git-http/refs-of-receive-pack", gitAnswer(403, "You have exceeded a secondary rate limit.", "70"), 1, 70 * time.Second, 71 * time.Second, "applied", ""},
		"until a date":            {"git-http/refs-of-receive-pack", gitAnswer(429, "", noon.Add(5*time.Minute).Format(http.TimeFormat)), 1, 5 * time.Minute, 5*time.Minute + time.Second, "applied", ""},
		"for hours":               {"git-http/refs-of-receive-pack", gitAnswer(429, "Slow down", "7200"), 99, 0, 0, "failed(rate-limited)", "could not push to the branch topic in octo/repo: the rate limit is reached until 2026-01-15T14:00:0"},
		"for ever":                {"git-http/refs-of-receive-pack", gitAnswer(429, "", "99999999999999999999"), 99, 0, 0, "failed(rate-limited)", "wait, or write less in one go"},
		"again and again":         {"git-http/refs-of-receive-pack", gitAnswer(503, "", "100"), 99, 500 * time.Second, 10 * time.Minute, "failed(rate-limited)", "the rate limit is reached until"},
		"a fetch":                 {"git-http/upload-pack", gitAnswer(429, "", "90"), 1, 90 * time.Second, 91 * time.Second, "applied", ""},
		"a fetch, for hours":      {"git-http/refs-of-upload-pack", gitAnswer(429, "", "7200"), 99, 0, 0, "failed(rate-limited)", "could not fetch commits in octo/repo: the rate limit is reached until"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPullBench(t)
			b.write(map[string]string{"docs/a.md": "1\n"})
			if strings.HasPrefix(name, "a fetch") {
				b.git.Commit("topic", map[string]string{"other.md": "2\n"}, "Go on") // which the workspace does not have
			}
			b.srv.SetFault(times(tt.times, tt.operation, tt.fault))
			begun := b.clock.Now()
			r := b.run(aPush, `{"type":"add-issue-comment","body":"Hello."}`)
			want(t, r, tt.state+" applied")
			if took := b.clock.Now().Sub(begun); took < tt.least || took > tt.most {
				t.Errorf("it took %v, not between %v and %v", took, tt.least, tt.most)
			}
			if !strings.Contains(r[0].Message, tt.says) {
				t.Errorf("message %q, want %q", r[0].Message, tt.says)
			}
		})
	}
}
